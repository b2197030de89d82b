//! URLs as they may be shown and stored: nobody's password in them.

use cuda_lock_constraint::secret::redact;
use url::Url;

/// The URL without user, password and fragment: safe to store and to send elsewhere.
pub(crate) fn without_secrets(url: &Url) -> Url {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url
}

/// The URL for messages. A query is left out too: signed links carry their key in it.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = without_secrets(url);
    let query = url.query().is_some();
    url.set_query(None);
    let url = redact(url.as_str());
    if query { format!("{url}?…") } else { url }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_is_shown() {
        let url = Url::parse("https://me:pass@index.example/a?Signature=x#f").expect("valid");
        assert_eq!(shown(&url), "https://index.example/a?…");
        assert_eq!(without_secrets(&url).as_str(), "https://index.example/a?Signature=x");
    }
}
