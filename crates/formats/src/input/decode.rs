//! From bytes to text, as pip decodes a requirements file: byte order mark, PEP 263 comment, UTF-8.

use encoding_rs::{Encoding as Codec, UTF_8, UTF_16BE, UTF_16LE};

/// How a text is stored in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The name of the encoding, such as `utf-8`, `utf-16le` or `gbk`.
    pub name: String,
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
}

/// What is wrong with the encoding of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EncodingProblem {
    /// The offset in the decoded text of the first character that is wrong.
    pub at: usize,
    pub message: String,
    pub help: String,
}

/// Decodes `bytes`; what cannot be decoded becomes U+FFFD.
///
/// With `forced`, the name of an encoding, nothing is guessed; a name that is not known counts as none.
#[must_use]
pub fn decode(bytes: &[u8], forced: Option<&str>) -> (String, Encoding) {
    let (text, encoding, _) = decode_as_pip(bytes, forced);
    (text, encoding)
}

/// The bytes of a text in the encoding it was read in; `None` where that encoding cannot be written, or has no such
/// character.
#[must_use]
pub fn encode(text: &str, encoding: &Encoding) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() + 4);
    let mark = if encoding.bom { "\u{feff}" } else { "" };
    let both = || mark.chars().chain(text.chars());
    match encoding.name.as_str() {
        "utf-8" => {
            out.extend_from_slice(mark.as_bytes());
            out.extend_from_slice(text.as_bytes());
        }
        "utf-16le" => {
            let units = both().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec());
            out.extend(units.flat_map(u16::to_le_bytes));
        }
        "utf-16be" => {
            let units = both().flat_map(|c| c.encode_utf16(&mut [0; 2]).to_vec());
            out.extend(units.flat_map(u16::to_be_bytes));
        }
        "utf-32le" => out.extend(both().flat_map(|c| u32::from(c).to_le_bytes())),
        "utf-32be" => out.extend(both().flat_map(|c| u32::from(c).to_be_bytes())),
        label => {
            let codec = Codec::for_label(label.as_bytes())?;
            let (bytes, _, unmappable) = codec.encode(text);
            if unmappable {
                return None;
            }
            out.extend_from_slice(&bytes);
        }
    }
    Some(out)
}

/// Decodes `bytes` and says where pip would stop.
pub(super) fn decode_as_pip(
    bytes: &[u8],
    forced: Option<&str>,
) -> (String, Encoding, Option<EncodingProblem>) {
    if let Some(codec) = forced.and_then(|name| Codec::for_label(name.as_bytes())) {
        return with_codec(codec, bytes, false);
    }
    // The mark of UTF-32 LE starts with that of UTF-16 LE, so it goes first.
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe\0\0") {
        return utf32(rest, u32::from_le_bytes, "utf-32le");
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        return utf32(rest, u32::from_be_bytes, "utf-32be");
    }
    let marks: [(&[u8], &'static Codec); 3] =
        [(b"\xef\xbb\xbf", UTF_8), (b"\xff\xfe", UTF_16LE), (b"\xfe\xff", UTF_16BE)];
    for (mark, codec) in marks {
        if let Some(rest) = bytes.strip_prefix(mark) {
            return with_codec(codec, rest, true);
        }
    }
    if let Some(label) = declared(bytes) {
        return match Codec::for_label(label.as_bytes()) {
            Some(codec) => with_codec(codec, bytes, false),
            None => {
                let (text, encoding, _) = with_codec(UTF_8, bytes, false);
                let at = text.find(&label).unwrap_or(0);
                let problem = EncodingProblem {
                    at,
                    message: format!("unknown encoding: {label}"),
                    help: "save the file as UTF-8 and remove the coding comment".to_owned(),
                };
                (text, encoding, Some(problem))
            }
        };
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => match utf16_without_mark(bytes) {
            Some(codec) => {
                let (text, encoding, _) = with_codec(codec, bytes, false);
                let problem = EncodingProblem {
                    at: 0,
                    message:
                        "the file is UTF-16 without a byte order mark, which pip reads as UTF-8"
                            .to_owned(),
                    help: "save the file as UTF-8".to_owned(),
                };
                (text, encoding, Some(problem))
            }
            None => (text.to_owned(), Encoding { name: "utf-8".to_owned(), bom: false }, None),
        },
        Err(error) => not_utf8(bytes, error.valid_up_to()),
    }
}

fn with_codec(
    codec: &'static Codec,
    bytes: &[u8],
    bom: bool,
) -> (String, Encoding, Option<EncodingProblem>) {
    let encoding = Encoding { name: codec.name().to_ascii_lowercase(), bom };
    let (text, had_errors) = codec.decode_without_bom_handling(bytes);
    let text = text.into_owned();
    let problem = had_errors.then(|| EncodingProblem {
        at: text.find('\u{fffd}').unwrap_or(0),
        message: format!("the file is not valid {}", codec.name()),
        help: "save the file as UTF-8".to_owned(),
    });
    (text, encoding, problem)
}

/// Text that is not UTF-8: pip would fall back to the locale, so what it means depends on the machine. Requirements are
/// ASCII, so they are read all the same, and the rest is kept as U+FFFD.
fn not_utf8(bytes: &[u8], valid_up_to: usize) -> (String, Encoding, Option<EncodingProblem>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let byte = bytes.get(valid_up_to).copied().unwrap_or_default();
    let guess = ["gbk", "shift_jis", "euc-kr", "big5"].into_iter().find(|label| {
        Codec::for_label(label.as_bytes()).is_some_and(|codec| {
            codec.decode_without_bom_handling_and_without_replacement(bytes).is_some()
        })
    });
    let looks = guess
        .map_or(String::new(), |label| format!("; it looks like {}", label.to_ascii_uppercase()));
    let coding = guess.unwrap_or("NAME");
    let problem = EncodingProblem {
        at: text.find('\u{fffd}').unwrap_or(0),
        message: format!(
            "not UTF-8: byte 0x{byte:02x} at offset {valid_up_to} does not start a character{looks}"
        ),
        help: format!(
            "save the file as UTF-8, or make its first line `# -*- coding: {coding} -*-`"
        ),
    };
    (text, Encoding { name: "unknown".to_owned(), bom: false }, Some(problem))
}

fn utf32(
    bytes: &[u8],
    unit: fn([u8; 4]) -> u32,
    name: &str,
) -> (String, Encoding, Option<EncodingProblem>) {
    let (units, rest) = bytes.as_chunks::<4>();
    let mut text: String =
        units.iter().map(|u| char::from_u32(unit(*u)).unwrap_or('\u{fffd}')).collect();
    if !rest.is_empty() {
        text.push('\u{fffd}');
    }
    let problem = text.find('\u{fffd}').map(|at| EncodingProblem {
        at,
        message: format!("the file is not valid {name}"),
        help: "save the file as UTF-8".to_owned(),
    });
    (text, Encoding { name: name.to_owned(), bom: true }, problem)
}

/// The encoding that one of the first two lines declares (PEP 263).
fn declared(bytes: &[u8]) -> Option<String> {
    bytes.split(|b| *b == b'\n').take(2).filter(|line| line.first() == Some(&b'#')).find_map(
        |line| {
            let line = String::from_utf8_lossy(line);
            line.match_indices("coding").find_map(|(at, word)| {
                let rest = line.get(at + word.len()..)?.strip_prefix([':', '='])?.trim_start();
                let end = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
                    .unwrap_or(rest.len());
                rest.get(..end).filter(|label| !label.is_empty()).map(python_label)
            })
        },
    )
}

/// The label of the Encoding Standard for a name that Python knows.
fn python_label(name: &str) -> String {
    let lower = name.to_ascii_lowercase().replace('_', "-");
    match lower.as_str() {
        "utf-8-sig" | "utf8-sig" => "utf-8".to_owned(),
        "cp936" | "936" => "gbk".to_owned(),
        "cp932" | "932" | "mskanji" => "shift_jis".to_owned(),
        "cp949" => "euc-kr".to_owned(),
        "cp950" => "big5".to_owned(),
        "latin-1" | "latin1" | "iso8859-1" => "iso-8859-1".to_owned(),
        "shift-jis" => "shift_jis".to_owned(),
        "ascii" | "us-ascii" => "us-ascii".to_owned(),
        _ => lower,
    }
}

/// ASCII text in UTF-16 has a NUL in every second byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Codec> {
    let head = bytes.get(..bytes.len().min(64))?;
    let (pairs, _) = head.as_chunks::<2>();
    if pairs.len() < 4 {
        return None;
    }
    let all = |place: usize| {
        pairs.iter().all(|pair| pair.get(place) == Some(&0) && pair.get(1 - place) != Some(&0))
    };
    match (all(1), all(0)) {
        (true, _) => Some(UTF_16LE),
        (_, true) => Some(UTF_16BE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_comments_are_honoured() {
        let cases: [(&[u8], &str, &str); 7] = [
            (b"\xef\xbb\xbfa", "a", "utf-8"),
            (b"\xff\xfea\0", "a", "utf-16le"),
            (b"\xfe\xff\0a", "a", "utf-16be"),
            (b"\xff\xfe\0\0a\0\0\0", "a", "utf-32le"),
            (b"# coding: gbk\n#\xd3\xef", "# coding: gbk\n#\u{8bed}", "gbk"),
            (
                b"#!x\n# vim: set fileencoding=latin-1 :\n#\xe9",
                "#!x\n# vim: set fileencoding=latin-1 :\n#\u{e9}",
                "windows-1252",
            ),
            (b"a\0b\0c\0d\0", "abcd", "utf-16le"),
        ];
        for (bytes, text, name) in cases {
            let (decoded, encoding) = decode(bytes, None);
            assert_eq!((decoded.as_str(), encoding.name.as_str()), (text, name));
        }
    }

    #[test]
    fn what_was_decoded_is_encoded_to_the_same_bytes() {
        let cases: [&[u8]; 8] = [
            b"a\r\n",
            b"\xef\xbb\xbfa\n",
            b"\xff\xfea\0",
            b"\xfe\xff\0a",
            b"\xff\xfe\0\0a\0\0\0",
            b"# coding: gbk\n#\xd3\xef",
            b"# coding: latin-1\n#\xe9",
            b"a\0b\0c\0d\0",
        ];
        for bytes in cases {
            let (text, encoding) = decode(bytes, None);
            assert_eq!(encode(&text, &encoding).as_deref(), Some(bytes), "{encoding:?}");
        }
        let (text, encoding) = decode(b"#\xd3\xef\n", None);
        assert_eq!(encode(&text, &encoding), None, "an unknown encoding is not written");
    }

    #[test]
    fn what_is_not_utf8_is_reported_and_still_read() {
        let (text, _, problem) = decode_as_pip(b"# \xd3\xef\xd2\xf4\ntorch==2.3.1\n", None);
        assert!(text.ends_with("\ntorch==2.3.1\n"));
        let problem = problem.expect("a problem");
        assert_eq!(problem.at, 2);
        assert_eq!(
            problem.message,
            "not UTF-8: byte 0xd3 at offset 2 does not start a character; it looks like GBK"
        );
        assert_eq!(decode(b"\xd3\xef", Some("gbk")).0, "\u{8bed}");
    }
}
