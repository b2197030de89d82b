//! Credentials in URLs are never shown.

use std::borrow::Cow;

use cuda_lock_constraint::secret::secrets;

/// Replaces the user information and the secret parameters of every URL in `text` by as many `*`, so that columns stay where they were.
#[must_use]
pub fn mask_credentials(text: &str) -> Cow<'_, str> {
    if !text.contains('@') && !text.contains("://") {
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
            // A port has digits only: anything else is a password whose `@` is missing.
            None if has_no_port(authority) => out.extend(authority.chars().map(|_| '*')),
            None => out.push_str(authority),
        }
        rest = tail;
    }
    out.push_str(rest);
    let mut masked = mask_broken(&out);
    for place in secrets(&masked).into_iter().rev() {
        let stars = masked.get(place.clone()).map_or(0, |secret| secret.chars().count());
        masked.replace_range(place, &"*".repeat(stars));
    }
    Cow::Owned(masked)
}

/// Whether a colon in the authority of a URL is followed by something else than a port. An IPv6 address is no such case.
fn has_no_port(authority: &str) -> bool {
    !authority.starts_with('[')
        && authority
            .split_once(':')
            .is_some_and(|(_, port)| !port.bytes().all(|digit| digit.is_ascii_digit()))
}

/// What stands before an `@` where the URL around it is damaged: a message about the damage must not show it either.
/// A project name before a URL (`torch@https://...`) stays.
fn mask_broken(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '`');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('@') {
        let start = before.rfind(is_end).map_or(0, |at| {
            at + before.get(at..).and_then(|tail| tail.chars().next()).map_or(0, char::len_utf8)
        });
        let (kept, user) = before.split_at(start);
        out.push_str(kept);
        let word = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let names_a_url = after.get(word..).is_some_and(|tail| tail.starts_with("://"));
        if names_a_url {
            out.push_str(user);
        } else {
            out.extend(user.chars().map(|_| '*'));
        }
        out.push('@');
        rest = after;
    }
    out.push_str(rest);
    out
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
                "two https://*@b.example/*@y and ftp://***@e",
            ),
            ("https://p@ss@host/x", "https://****@host/x"),
            ("https://host/x?token=abc&a=b", "https://host/x?token=***&a=b"),
            ("torch @ https://a.example/t.whl", "torch @ https://a.example/t.whl"),
            ("torch@https://a.example/t.whl", "torch@https://a.example/t.whl"),
            ("mail@a.example", "****@a.example"),
            (
                "name = \"corp\"\"//me:s3cret@corp.example",
                "name = \"corp\"\"//*********@corp.example",
            ),
            ("https://me:s3cret\"corp.example", "https://*********\"corp.example"),
            ("http://[::1]:80/ http://h.example:8080/", "http://[::1]:80/ http://h.example:8080/"),
            ("https\"s3cret@corp.example", "https\"******@corp.example"),
        ] {
            assert_eq!(mask_credentials(text), masked);
        }
    }
}
