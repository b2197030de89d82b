//! Links on a page: made absolute, freed of fragments and credentials.

use percent_encoding::percent_decode_str;
use url::Url;

/// What relative links on a page are relative to.
pub(super) struct Base(Url);

/// A link to a file.
pub(super) struct Link<'a> {
    /// The absolute URL, without fragment and credentials.
    pub(super) url: String,
    /// What followed `#`.
    pub(super) fragment: &'a str,
}

impl Base {
    /// The page's own URL (after redirects).
    pub(super) fn new(page: &Url) -> Self {
        Self(without_secrets(page.clone()))
    }

    /// Takes over `<base href>`; one that cannot be read, or that leads away from the web, is ignored as browsers do.
    pub(super) fn rebase(&mut self, href: &str) {
        if let Ok(url) = self.0.join(href)
            && self.may_lead_to(&url)
        {
            self.0 = without_secrets(url);
        }
    }

    /// Whether a link may be followed. Only a page that lies on this machine may lead to files of it: an index must not
    /// choose what is read here.
    fn may_lead_to(&self, url: &Url) -> bool {
        match url.scheme() {
            "http" | "https" => true,
            "file" => self.0.scheme() == "file" && url.host().is_none(),
            _ => false,
        }
    }

    /// Resolves a link, `None` when it is not one to a file that may be fetched (`mailto:`, garbage).
    pub(super) fn resolve<'a>(&self, href: &'a str) -> Option<Link<'a>> {
        let (href, fragment) = href.split_once('#').unwrap_or((href, ""));
        let url = if is_plain(href) {
            href.to_owned()
        } else {
            let url = self.0.join(href).ok().filter(|url| self.may_lead_to(url))?;
            without_secrets(url).into()
        };
        Some(Link { url: escape_plus(url), fragment })
    }
}

/// The last segment of a URL's or link's path, percent-decoded. `+` stays `+`: it means a space in forms only.
pub(super) fn filename(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next()?;
    let segment = path.rsplit('/').next()?;
    percent_decode_str(segment).decode_utf8().ok().map(Into::into)
}

fn without_secrets(mut url: Url) -> Url {
    // Both fail only for URLs without a host, which have nothing to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url
}

/// True for an absolute URL that parsing would leave as it is. Most pages hold nothing else, and parsing twenty
/// thousand URLs to get the same text back is a large part of reading them.
fn is_plain(href: &str) -> bool {
    let Some(rest) = href.strip_prefix("https://").or_else(|| href.strip_prefix("http://")) else {
        return false;
    };
    let Some((host, path)) = rest.split_once('/') else { return false };
    // A last label that begins with a letter is not an IPv4 address, which parsing would rewrite.
    let named = host
        .rsplit('.')
        .next()
        .is_some_and(|label| label.starts_with(|c: char| c.is_ascii_lowercase()));
    let host_bytes =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-');
    let path_bytes = |b: u8| b.is_ascii_alphanumeric() || b"/._-+!%~=".contains(&b);
    named
        && host.bytes().all(host_bytes)
        && !host.contains("xn--")
        && path.bytes().all(path_bytes)
        // Segments that might be `.` or `..`, also in their escaped spelling.
        && !rest.contains("/.")
        && !rest.contains("/%2")
}

/// Writes a `+` in the file name as `%2B`. Servers hold the two equal in a path, except object stores, which read a
/// plain `+` as a space; local versions (`2.4.0+cu121`) are full of them.
fn escape_plus(url: String) -> String {
    let end = url.find('?').unwrap_or(url.len());
    let start = url.get(..end).and_then(|path| path.rfind('/')).unwrap_or(end);
    match (url.get(..start), url.get(start..end), url.get(end..)) {
        (Some(head), Some(name), Some(tail)) if name.contains('+') => {
            format!("{head}{}{tail}", name.replace('+', "%2B"))
        }
        _ => url,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Base {
        Base::new(
            &Url::parse("https://me:secret@index.example/whl/cu121/torch/?x#y").expect("valid"),
        )
    }

    #[test]
    fn links_become_absolute_without_fragment_and_credentials() {
        for (href, url, fragment) in [
            ("a-1.whl#sha256=ab", "https://index.example/whl/cu121/torch/a-1.whl", "sha256=ab"),
            ("/whl/a-1%2Bcu121.whl", "https://index.example/whl/a-1%2Bcu121.whl", ""),
            ("../../p/a+f/a-1+cu121.whl", "https://index.example/whl/p/a+f/a-1%2Bcu121.whl", ""),
            ("//cdn.example/a-1.whl", "https://cdn.example/a-1.whl", ""),
            ("https://u:p@cdn.example/a-1.whl", "https://cdn.example/a-1.whl", ""),
            (
                "https://cdn.example/a-1+x.whl?sig=a+b",
                "https://cdn.example/a-1%2Bx.whl?sig=a+b",
                "",
            ),
            (" a 1.whl ", "https://index.example/whl/cu121/torch/a%201.whl", ""),
        ] {
            let link = base().resolve(href).expect(href);
            assert_eq!((link.url.as_str(), link.fragment), (url, fragment), "{href}");
        }
        for href in ["mailto:a@b.example", "javascript:void(0)", "https://", "file:///etc/passwd"] {
            assert!(base().resolve(href).is_none(), "{href}");
        }
    }

    #[test]
    fn the_first_usable_base_counts() {
        let mut base = base();
        base.rebase("javascript:0");
        base.rebase("/files/");
        assert_eq!(base.resolve("a.whl").expect("valid").url, "https://index.example/files/a.whl");
    }

    #[test]
    fn file_names_are_decoded_and_plus_is_no_space() {
        assert_eq!(
            filename("https://a.example/x/a-1%2Bcu+1.whl?q=/b").as_deref(),
            Some("a-1+cu+1.whl")
        );
        assert_eq!(filename("https://a.example/%ff"), None);
    }

    proptest! {
        #[test]
        fn plain_urls_are_what_parsing_gives(
            href in "https?://[a-z0-9.:-]{1,12}(/|/[a-zA-Z0-9/._%+!~=-]{0,3}){0,4}"
        ) {
            if is_plain(&href) {
                prop_assert_eq!(String::from(Url::parse(&href).expect("valid")), href);
            }
        }
    }
}
