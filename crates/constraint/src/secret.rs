//! Secrets in addresses: sent to their own server, and repeated nowhere.
//!
//! A user, a password and a token can stand before the host, among the query's parameters, and in the path. What is
//! printed shows none of them, and what is stored or compared has none of them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use url::Url;

/// What stands for a secret in a message.
const MASK: &str = "****";

/// How tokens of well-known services begin. They are recognised wherever they stand in an address.
const TOKENS: [&str; 9] =
    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "pypi-Ag", "npm_"];

/// Names of parameters that carry a secret, in small letters and without `-` and `_`; longer names may end in one.
const PARAMETERS: [&str; 13] = [
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "signature",
    "key",
    "auth",
    "authorization",
    "credential",
    "credentials",
    "jwt",
    "accesskeyid",
];

/// An address that may have a secret in it.
///
/// Printed, compared and ordered without it; only [`secret`](Self::secret) gives it away, to the code that asks a server.
#[derive(Clone)]
pub struct SecretUrl(Url);

impl SecretUrl {
    /// The address with its secret, for a request.
    #[must_use]
    pub fn secret(&self) -> &Url {
        &self.0
    }

    /// The address without its secret, for files and comparisons. Parameters that carry none stay.
    #[must_use]
    pub fn public(&self) -> Url {
        public(&self.0)
    }

    /// The query, when it carries a secret.
    #[must_use]
    pub fn secret_query(&self) -> Option<&str> {
        self.0.query().filter(|query| has_secret(query))
    }
}

impl From<Url> for SecretUrl {
    fn from(url: Url) -> Self {
        Self(url)
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(public(&self.0).as_str()))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for SecretUrl {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SecretUrl {}

impl PartialOrd for SecretUrl {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SecretUrl {
    fn cmp(&self, other: &Self) -> Ordering {
        self.public().cmp(&other.public())
    }
}

/// `url` without user and password, and without a query that carries a secret. The fragment, which may state a digest,
/// stays.
#[must_use]
pub fn public(url: &Url) -> Url {
    let mut url = url.clone();
    // Both fail only for URLs that cannot have credentials.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some_and(has_secret) {
        url.set_query(None);
    }
    url
}

/// The same for an address as text; what is no address stays as it is.
#[must_use]
pub fn public_text(text: &str) -> Cow<'_, str> {
    if !text.contains('@') && !text.contains('?') {
        return Cow::Borrowed(text);
    }
    match Url::parse(text) {
        Ok(url) => match public(&url) {
            stripped if stripped == url => Cow::Borrowed(text),
            stripped => Cow::Owned(stripped.into()),
        },
        Err(_) => Cow::Borrowed(text),
    }
}

/// `text` with `****` in the place of every secret of the addresses in it.
#[must_use]
pub fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for secret in secrets(text) {
        out.push_str(text.get(at..secret.start).unwrap_or_default());
        out.push_str(MASK);
        at = secret.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Where the secrets of the addresses in `text` are, in bytes, ascending.
#[must_use]
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find("://")) {
        let start = from + start + 3;
        let rest = text.get(start..).unwrap_or_default();
        let host_end = rest.find(|c| ends_url(c) || matches!(c, '/' | '?' | '#'));
        let host_end = start + host_end.unwrap_or(rest.len());
        let authority = text.get(start..host_end).unwrap_or_default();
        if let Some(user) = authority.rfind('@') {
            found.push(start..start + user);
        }
        let end = text.get(host_end..).and_then(|rest| rest.find(ends_url));
        let end = end.map_or(text.len(), |length| host_end + length);
        let tail = text.get(host_end..end).unwrap_or_default();
        // An address within an address is one of its own.
        let length = tail.find("://").map_or(tail.len(), |at| at + 3);
        in_tail(tail.get(..length).unwrap_or_default(), host_end, &mut found);
        from = if length < tail.len() { host_end + length - 3 } else { end };
    }
    found
}

/// The secrets in path, query and fragment, which begin at `offset` of the text.
fn in_tail(tail: &str, offset: usize, found: &mut Vec<Range<usize>>) {
    let path_end = tail.find('?').unwrap_or(tail.len());
    let mut at = 0;
    for part in tail.split_inclusive(['/', '?', '&', '#', ';']) {
        let body = part.trim_end_matches(['/', '?', '&', '#', ';']);
        let value = body.find('=').map_or(0, |equals| equals + 1);
        let is_token =
            TOKENS.iter().any(|token| body.get(value..).is_some_and(|v| v.starts_with(token)));
        let is_parameter =
            at > path_end && value > 0 && is_secret(body.get(..value - 1).unwrap_or_default());
        if (is_token || is_parameter) && value < body.len() {
            found.push(offset + at + value..offset + at + body.len());
        }
        at += part.len();
    }
}

fn ends_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '\\')
}

fn has_secret(query: &str) -> bool {
    query.split(['&', ';']).any(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        is_secret(name) || TOKENS.iter().any(|token| value.starts_with(token))
    })
}

/// Whether a parameter of this name carries a secret: `token`, `X-Amz-Signature`, `private_token`, `sig`.
fn is_secret(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | '.'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    matches!(name.as_str(), "sig" | "pass" | "sas")
        || PARAMETERS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_show_no_secret() {
        for (text, shown) in [
            ("-i https://u:p@host.example/simple b", "-i https://****@host.example/simple b"),
            ("git+ssh://git@host.example/x@v1", "git+ssh://****@host.example/x@v1"),
            ("a://b c@d", "a://b c@d"),
            ("torch @ https://a.example/t.whl", "torch @ https://a.example/t.whl"),
            ("git+https://ghp_x1@a.example/r", "git+https://****@a.example/r"),
            (
                "https://a.example/s/?token=x&page=2#sha256=ab",
                "https://a.example/s/?token=****&page=2#sha256=ab",
            ),
            ("(https://a.example/?X-Amz-Signature=1f)", "(https://a.example/?X-Amz-Signature=****"),
            ("https://a.example/glpat-s3cr3t/simple/", "https://a.example/****/simple/"),
            (
                "https://a.example/?next=https://u:p@b.example/",
                "https://a.example/?next=https://****@b.example/",
            ),
            ("https://a.example/?design=1&monkeys=2", "https://a.example/?design=1&monkeys=2"),
            ("https://a.example/token=x/y", "https://a.example/token=x/y"),
        ] {
            assert_eq!(redact(text), shown);
        }
    }

    #[test]
    fn files_and_comparisons_have_no_secret() {
        let url = |text: &str| SecretUrl::from(Url::parse(text).expect("valid"));
        for (text, stored) in [
            ("https://u:p@a.example/simple/", "https://a.example/simple/"),
            ("https://a.example/simple/?token=s3cr3t", "https://a.example/simple/"),
            ("https://a.example/f.whl?raw=1#sha256=ab", "https://a.example/f.whl?raw=1#sha256=ab"),
            ("https://a.example/f.whl?sig=x&se=1#sha256=ab", "https://a.example/f.whl#sha256=ab"),
        ] {
            assert_eq!(url(text).public().as_str(), stored);
            assert_eq!(public_text(text), stored);
            assert_eq!(url(text), url(stored));
            assert!(!format!("{:?} {}", url(text), url(text)).contains("s3cr3t"));
        }
        assert_eq!(public_text("./a@b?token=1"), "./a@b?token=1");
        assert_eq!(url("https://a.example/?token=1").secret_query(), Some("token=1"));
        assert_eq!(url("https://a.example/?raw=1").secret_query(), None);
    }

    proptest! {
        #[test]
        fn no_user_information_survives(
            before in "[a-z =]{0,6}", user in "[a-zA-Z0-9:%.~]{1,12}", after in "[a-z0-9/?&=#@.]{0,20}"
        ) {
            let text = format!("{before}https://S3CR3T{user}@host.example/{after} S");
            prop_assert!(!redact(&text).contains("S3CR3T"));
            prop_assert_eq!(redact(&redact(&text)), redact(&text));
        }

        #[test]
        fn places_are_in_order_and_within(text in "[a-z:/@?&=# ]{0,60}") {
            let mut at = 0;
            for place in secrets(&text) {
                prop_assert!(place.start >= at && place.end >= place.start);
                prop_assert!(text.get(place.clone()).is_some());
                at = place.end;
            }
        }
    }
}
