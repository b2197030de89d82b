//! The text of a file, its lines and columns.

use std::ops::Range;
use std::sync::Arc;

use super::Diagnostic;

/// A place in a file, both counted from 1. Columns count characters (Unicode scalar values); a tab is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// A file's name and text. A byte order mark is not part of the text.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// A text that is already decoded; `name` is how messages call the file.
    #[must_use]
    pub fn new(name: impl Into<String>, text: &str) -> Arc<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Arc::new(Self { name: name.into(), text: text.to_owned() })
    }

    /// Decodes the bytes of a file.
    ///
    /// # Errors
    /// When they are not UTF-8. UTF-16, which some Windows tools write, is named as such.
    pub fn decode(name: impl Into<String>, bytes: &[u8]) -> Result<Arc<Self>, Diagnostic> {
        let name = name.into();
        if looks_like_utf16(bytes) {
            let source = Self::new(name, "");
            return Err(Diagnostic::error(&source, "the file is UTF-16, expected UTF-8")
                .help("save it as UTF-8 (in PowerShell: Set-Content -Encoding utf8)"));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self::new(name, text)),
            Err(error) => {
                // The valid part comes first and is the same in the lossy text, so the offset holds there.
                let lossy = String::from_utf8_lossy(bytes);
                let bom = if lossy.starts_with('\u{feff}') { 3 } else { 0 };
                let start = error.valid_up_to().saturating_sub(bom);
                let source = Self::new(name, &lossy);
                let byte = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
                Err(Diagnostic::error(&source, format!("byte 0x{byte:02x} is not valid UTF-8"))
                    .at(start..start + '\u{fffd}'.len_utf8())
                    .help("save the file as UTF-8"))
            }
        }
    }

    /// How messages call the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text, without a byte order mark.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let before = &self.text[..self.boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The bytes of the line that `offset` is on, without its end (`\n` or `\r\n`).
    pub(super) fn line(&self, offset: usize) -> Range<usize> {
        let offset = self.boundary(offset);
        let start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[start..];
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        start..start + line.strip_suffix('\r').unwrap_or(line).len()
    }

    /// Moves a span to character boundaries inside the text.
    pub(super) fn clamp(&self, span: Range<usize>) -> Range<usize> {
        let start = self.boundary(span.start);
        start..self.boundary(span.end).max(start)
    }

    /// The largest character boundary up to `offset`.
    fn boundary(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }
}

fn looks_like_utf16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        // Without a mark: ASCII text has a zero in every other byte.
        [0, b, ..] | [b, 0, ..] => *b != 0,
        _ => false,
    }
}
