//! Tells JSON from HTML, and both from anything else.

use cuda_lock_constraint::name::Name;
use url::Url;

use super::html::parse_html;
use super::json::parse_json;
use super::parsed::{PageError, ParsedPage, check_api_version};

/// Reads a project page of either kind. `content_type` is the header of the answer, as sent.
///
/// The header decides only about the version of the API; whether the body is JSON or HTML is seen in the body, because
/// static mirrors send pages under all kinds of types.
///
/// # Errors
/// When the body is neither, or is not a page that can be read.
pub fn parse_page(
    content_type: Option<&str>,
    body: &[u8],
    page_url: &Url,
    project: Name,
) -> Result<ParsedPage, PageError> {
    let media_type = content_type
        .and_then(|text| text.split(';').next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if let Some(version) = media_type
        .strip_prefix("application/vnd.pypi.simple.v")
        .and_then(|rest| rest.split('+').next())
    {
        check_api_version(version)?;
    }
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    match body.trim_ascii_start().first() {
        Some(b'{') => parse_json(body, page_url, project),
        Some(b'<') => parse_html(body, page_url, project),
        _ => Err(PageError::NotAPage(describe(body, &media_type))),
    }
}

/// Words for a body that is neither.
fn describe(body: &[u8], media_type: &str) -> String {
    let kind = if media_type.is_empty() { String::new() } else { format!(" of type {media_type}") };
    let start = body.get(..200).unwrap_or(body).trim_ascii();
    if start.is_empty() {
        return format!("an empty answer{kind}");
    }
    let binary = |b: &u8| b.is_ascii_control() && !b.is_ascii_whitespace();
    if start.iter().any(binary) {
        return format!("binary data{kind}");
    }
    let text: String = String::from_utf8_lossy(start).chars().take(60).collect();
    format!("text{kind} that begins with '{}'", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::parse_flat;

    fn parse(content_type: Option<&str>, body: &[u8]) -> Result<ParsedPage, PageError> {
        let url = Url::parse("https://index.example/simple/foo/").expect("valid");
        parse_page(content_type, body, &url, Name::new("foo").expect("valid"))
    }

    #[test]
    fn the_body_says_what_it_is() {
        let json = br#" {"files":[{"filename":"foo-1.zip","url":"foo-1.zip","hashes":{}}]}"#;
        let html = b"\xef\xbb\xbf\r\n<a href=foo-1.zip>x</a>";
        for content_type in
            [None, Some("text/html"), Some("application/vnd.pypi.simple.v1+json; charset=utf-8")]
        {
            for body in [&json[..], &html[..]] {
                assert_eq!(parse(content_type, body).expect("valid").releases.len(), 1);
            }
        }
    }

    #[test]
    fn anything_else_is_named() {
        let error = |kind, body: &[u8]| parse(kind, body).expect_err("no page").to_string();
        insta::assert_snapshot!(error(None, b" \n"), @"the body is not an index page, but an empty answer");
        insta::assert_snapshot!(error(Some("text/plain"), b"Unauthorized\n"), @"the body is not an index page, but text of type text/plain that begins with 'Unauthorized'");
        insta::assert_snapshot!(error(Some("application/gzip"), b"\x1f\x8b\x08"), @"the body is not an index page, but binary data of type application/gzip");
        insta::assert_snapshot!(error(Some("application/vnd.pypi.simple.v2+json"), b"{}"), @"the page follows version 2 of the simple repository API, of which only version 1 is known here: use a newer release of this program, or an index that offers version 1");
    }

    #[test]
    fn a_page_has_so_many_links_and_no_more() {
        let links = |count: usize, one: &str| vec![one; count].join(",");
        let most = crate::page::parsed::MOST_FILES;
        for (fits, count) in [(true, most), (false, most + 1)] {
            let entry = r#"{"filename":"foo-1.zip","url":"f","hashes":{}}"#;
            let json = format!(r#"{{"files":[{}]}}"#, links(count, entry));
            let html = format!("<html>{}", links(count, "<a href=foo-1.zip>x</a>"));
            for body in [json, html] {
                assert_eq!(parse(None, body.as_bytes()).is_ok(), fits, "{count}");
            }
        }
    }

    /// Pieces that pages are made of, so that random bodies get past the first checks.
    const PIECES: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"files\"",
        "\"filename\"",
        "\"foo-1.0.zip\"",
        "\"url\"",
        "\"hashes\"",
        "null",
        "1",
        "<",
        ">",
        "<a ",
        "href=",
        "foo-1.0-py3-none-any.whl",
        "#sha256=",
        "'",
        "\"",
        "</a>",
        "&gt;",
        "%2B",
        "%",
        "é",
        "/",
        " ",
        "<base href=//",
        "<script>",
        "<!--",
        "data-yanked",
        "data-core-metadata=sha256=",
    ];

    fn parse_all(body: &[u8]) {
        let url = Url::parse("https://index.example/simple/foo/").expect("valid");
        let name = Name::new("foo").expect("valid");
        let _ = parse_page(None, body, &url, name);
        let _ = parse_json(body, &url, name);
        let _ = parse_html(body, &url, name);
        let _ = parse_flat(body, &url);
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            parse_all(&bytes);
        }

        #[test]
        fn any_pieces_do_no_harm(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40)) {
            parse_all(pieces.concat().as_bytes());
        }
    }
}
