//! Credentials in URLs are never shown.

use std::borrow::Cow;

/// Replaces the user information of every URL in `text` by as many `*`, so that columns stay where they were.
#[must_use]
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let end = after
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`'))
            .unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                out.extend(user.chars().map(|_| '*'));
                out.push('@');
                out.push_str(host);
            }
            None => out.push_str(authority),
        }
        rest = tail;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_user_information_is_masked() {
        for (text, masked) in [
            (
                "url = \"https://me:s3cret@corp.example/simple\"",
                "url = \"https://*********@corp.example/simple\"",
            ),
            ("https://tökén@a.example", "https://*****@a.example"),
            (
                "two https://a@b.example/x@y and ftp://c:d@e",
                "two https://*@b.example/x@y and ftp://***@e",
            ),
            ("https://p@ss@host/x", "https://****@host/x"),
            ("torch @ https://a.example/t.whl", "torch @ https://a.example/t.whl"),
            ("mail@a.example", "mail@a.example"),
        ] {
            assert_eq!(mask_credentials(text), masked);
        }
    }
}
