//! The text of METADATA and PKG-INFO files.
//!
//! The format is that of e-mail headers, as Python's `email` package reads them, because that is what wrote and what
//! installs these files: headers end at the first line that is neither a header nor the continuation of one, and bytes
//! that are not UTF-8 do no harm. A solve reads thousands of these files and needs five headers of each, so they are
//! found in one pass without gathering the others.

use std::borrow::Cow;
use std::sync::Arc;

use cuda_lock_constraint::catalog::Metadata;
use cuda_lock_constraint::text::clean_lines;

/// Why a METADATA file cannot be used. The caller knows which file, and names it before these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// A header that must be there is not.
    #[error("its METADATA has no {0}")]
    Missing(&'static str),
    /// A major version of the core metadata that tools must not guess at.
    #[error(
        "its METADATA has version {0} of the core metadata, of which only versions 1 and 2 are known here: use a newer \
         release of this program, or an older release of the package"
    )]
    Version(String),
    /// A web page in its place, such as one to sign in.
    #[error("in the place of its METADATA the server sends a web page, perhaps one to sign in")]
    WebPage,
    /// More requirements than any project has.
    #[error("its METADATA has more than {most} requirements", most = MOST_REQUIREMENTS)]
    Requirements,
}

/// The most `Requires-Dist` of one file. The largest known have some hundreds, and each may cost a request.
const MOST_REQUIREMENTS: usize = 4000;

/// Reads a METADATA file. Requirements are kept as text.
///
/// # Errors
/// When `Name` or `Version` is missing, `Metadata-Version` is 3 or later, there are too many requirements, or the bytes
/// are a web page.
pub fn parse_metadata(bytes: &[u8]) -> Result<Metadata, MetadataError> {
    parse(bytes).map(|core| core.metadata)
}

/// METADATA with what only sdists are asked for.
pub(super) struct Core {
    pub(super) metadata: Metadata,
    /// `Metadata-Version`, perhaps empty.
    pub(super) version: String,
    /// The names of `Dynamic` headers.
    pub(super) dynamic: Vec<String>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Core, MetadataError> {
    if bytes.trim_ascii_start().first() == Some(&b'<') {
        return Err(MetadataError::WebPage);
    }
    let mut metadata = Metadata::default();
    let mut version = String::new();
    let mut dynamic = Vec::new();
    for (name, value) in Headers::new(bytes) {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        if is("Requires-Dist") {
            let text = unfold(value);
            if !text.is_empty() {
                if metadata.requires_dist.len() == MOST_REQUIREMENTS {
                    return Err(MetadataError::Requirements);
                }
                metadata.requires_dist.push(Arc::from(text.as_ref()));
            }
        } else if is("Provides-Extra") {
            metadata.provides_extra.push(unfold(value).into_owned());
        } else if is("Requires-Python") {
            let text = unfold(value);
            if metadata.requires_python.is_none() && !text.is_empty() {
                metadata.requires_python = Some(Arc::from(text.as_ref()));
            }
        } else if is("Name") {
            keep_first(&mut metadata.name, value);
        } else if is("Version") {
            keep_first(&mut metadata.version, value);
        } else if is("Metadata-Version") {
            keep_first(&mut version, value);
        } else if is("Dynamic") {
            dynamic.push(unfold(value).into_owned());
        }
    }
    if version.split('.').next().and_then(|major| major.parse::<u64>().ok()).is_some_and(|m| m >= 3)
    {
        return Err(MetadataError::Version(version));
    }
    if metadata.name.is_empty() {
        return Err(MetadataError::Missing("Name"));
    }
    if metadata.version.is_empty() {
        return Err(MetadataError::Missing("Version"));
    }
    Ok(Core { metadata, version, dynamic })
}

fn keep_first(slot: &mut String, value: &[u8]) {
    if slot.is_empty() {
        *slot = unfold(value).into_owned();
    }
}

/// The text of a value, fit to be shown: trimmed, with line breaks inside and the white space around them as one space.
fn unfold(value: &[u8]) -> Cow<'_, str> {
    let text = match String::from_utf8_lossy(value.trim_ascii()) {
        text if !text.contains('\n') => text,
        text => text.lines().map(str::trim).collect::<Vec<_>>().join(" ").into(),
    };
    let cleaned = match clean_lines(&text) {
        Cow::Owned(cleaned) => Some(cleaned),
        Cow::Borrowed(_) => None,
    };
    cleaned.map_or(text, Cow::Owned)
}

/// The headers before the first blank or foreign line, values still folded.
struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let colon = self.rest.iter().position(|&b| b == b':' || !(b'!'..=b'~').contains(&b))?;
        let (name, rest) = self.rest.split_at_checked(colon)?;
        let rest = rest.strip_prefix(b":")?;
        let mut end = line_end(rest, 0);
        while matches!(rest.get(end), Some(b' ' | b'\t')) {
            end = line_end(rest, end);
        }
        let (value, rest) = rest.split_at_checked(end)?;
        self.rest = rest;
        Some((name, value))
    }
}

/// Where the line after the one at `from` begins.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let line = bytes.get(from..).unwrap_or_default();
    line.iter().position(|&b| b == b'\n').map_or(bytes.len(), |at| from + at + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_headers_that_matter_are_read() {
        let text = "Metadata-Version: 2.1\nname:  Foo.Bar \nVersion: 1.0\nSummary: x\nRequires-Python: >=3.8\n\
                    Requires-Dist: a (>=1) ; extra == 'x'\nProvides-Extra: x\nRequires-Dist:b\n\nRequires-Dist: body\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}")] {
            let metadata = parse_metadata(text.as_bytes()).expect("valid");
            assert_eq!((metadata.name.as_str(), metadata.version.as_str()), ("Foo.Bar", "1.0"));
            assert_eq!(metadata.requires_python.as_deref(), Some(">=3.8"));
            assert_eq!(metadata.provides_extra, ["x"]);
            let requires: Vec<_> = metadata.requires_dist.iter().map(AsRef::as_ref).collect();
            assert_eq!(requires, ["a (>=1) ; extra == 'x'", "b"]);
        }
    }

    #[test]
    fn folded_lines_are_one_and_belong_to_their_header() {
        let text = "Name: a\nVersion: 1\nLicense: Some\n  Requires-Dist: no\n\tVersion: 2\nRequires-Dist: b\r\n  >=1,\n  <2\n";
        let metadata = parse_metadata(text.as_bytes()).expect("valid");
        assert_eq!(metadata.version, "1");
        assert_eq!(metadata.requires_dist, [Arc::from("b >=1, <2")]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_do_no_harm() {
        let metadata = parse_metadata(b"Name: a\nAuthor: J\xf6rg\nVersion: 1\nRequires-Dist: b\n")
            .expect("valid");
        assert_eq!(metadata.requires_dist.len(), 1);
    }

    #[test]
    fn headers_end_where_python_ends_them() {
        for stop in ["", "\n", "no header here\n", "two words: x\n"] {
            let text = format!("Name: a\nVersion: 1\n{stop}Requires-Dist: b\n");
            let metadata = parse_metadata(text.as_bytes()).expect("valid");
            assert_eq!(metadata.requires_dist.is_empty(), !stop.is_empty(), "{stop:?}");
        }
    }

    #[test]
    fn what_is_missing_or_too_new_is_said() {
        let error = |text: &str| parse_metadata(text.as_bytes()).expect_err(text).to_string();
        insta::assert_snapshot!(error("Name: a\n"), @"its METADATA has no Version");
        insta::assert_snapshot!(error("Name:\nVersion: 1\n"), @"its METADATA has no Name");
        insta::assert_snapshot!(error("Metadata-Version: 3.0\nName: a\nVersion: 1\n"), @"its METADATA has version 3.0 of the core metadata, of which only versions 1 and 2 are known here: use a newer release of this program, or an older release of the package");
        assert!(parse_metadata(b"Metadata-Version: 2.9\nName: a\nVersion: 1").is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_metadata(&bytes);
        }

        #[test]
        fn any_headers_do_no_harm(text in "((Name|Version|Requires-Dist|[a-z ]{0,3}):? ?[a-zé\r\t\n]{0,4}\r?\n){0,8}") {
            let _ = parse_metadata(text.as_bytes());
        }
    }
}
