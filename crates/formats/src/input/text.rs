//! Text that knows where in the file each of its parts comes from.

use super::model::Span;

/// Text that was put together from pieces of a file: joined lines, unquoted words, replaced variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapped {
    text: String,
    /// In the order of `at`.
    pieces: Vec<Piece>,
    file: usize,
}

/// A piece of text. Where `copied` is false, the text stands for something else in the file, such as a variable.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: usize,
    start: usize,
    end: usize,
    copied: bool,
}

impl Mapped {
    /// Empty text of `file`.
    pub fn new(file: usize) -> Self {
        Self { text: String::new(), pieces: Vec::new(), file }
    }

    /// Text that stands in the file at `start` as it is.
    pub fn copied(text: &str, file: usize, start: usize) -> Self {
        let mut mapped = Self::new(file);
        mapped.push(text, start);
        mapped
    }

    /// Text that stands for `span`.
    pub fn replaced(text: &str, span: Span) -> Self {
        let mut mapped = Self::new(span.file);
        mapped.push_replaced(text, span.start, span.end);
        mapped
    }

    /// Appends text that stands in the file at `start` as it is.
    pub fn push(&mut self, text: &str, start: usize) {
        if let Some(last) = self.pieces.last_mut()
            && last.copied
            && last.end == start
            && last.end - last.start == self.text.len() - last.at
        {
            last.end += text.len();
        } else if !text.is_empty() {
            self.pieces.push(Piece {
                at: self.text.len(),
                start,
                end: start + text.len(),
                copied: true,
            });
        }
        self.text.push_str(text);
    }

    /// Appends text that the file has in another form from `start` to `end`.
    pub fn push_replaced(&mut self, text: &str, start: usize, end: usize) {
        self.pieces.push(Piece { at: self.text.len(), start, end, copied: false });
        self.text.push_str(text);
    }

    /// Appends other mapped text of the same file.
    pub fn append(&mut self, other: &Self) {
        self.append_part(other, 0, other.text.len());
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The place of the file.
    pub fn file(&self) -> usize {
        self.file
    }

    /// The part from `start` to `end`; offsets outside the text or within a character give less.
    pub fn slice(&self, start: usize, end: usize) -> Self {
        let mut part = Self::new(self.file);
        part.append_part(self, start, end);
        part
    }

    /// Appends the part of `other` from `start` to `end`.
    pub fn append_part(&mut self, other: &Self, start: usize, end: usize) {
        let first = other.pieces.partition_point(|p| p.at <= start).saturating_sub(1);
        for (i, piece) in other.pieces.iter().enumerate().skip(first) {
            if piece.at >= end {
                break;
            }
            let piece_end = other.pieces.get(i + 1).map_or(other.text.len(), |next| next.at);
            let (from, to) = (start.max(piece.at), end.min(piece_end));
            let Some(text) = other.text.get(from..to).filter(|t| !t.is_empty()) else { continue };
            if piece.copied {
                self.push(text, piece.start + (from - piece.at));
            } else {
                self.push_replaced(text, piece.start, piece.end);
            }
        }
    }

    /// The part without white space at both ends.
    pub fn trim(&self) -> Self {
        let inner = self.text.trim_matches(is_space);
        let start = self.text.len() - self.text.trim_start_matches(is_space).len();
        self.slice(start, start + inner.len())
    }

    /// Where the part from `start` to `end` stands in the file.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let from = self.locate(start, true);
        let to = if end > start { self.locate(end, false) } else { from };
        Span { file: self.file, start: from, end: to.max(from) }
    }

    /// Where all of it stands in the file.
    pub fn whole(&self) -> Span {
        self.span(0, self.text.len())
    }

    /// The offset in the file of the offset `at`. At the seam of two pieces, `as_start` chooses the later one.
    fn locate(&self, at: usize, as_start: bool) -> usize {
        let after = if as_start {
            self.pieces.partition_point(|p| p.at <= at)
        } else {
            self.pieces.partition_point(|p| p.at < at)
        };
        let Some(piece) = self.pieces.get(after.saturating_sub(1)) else { return 0 };
        if piece.copied {
            (piece.start + at.saturating_sub(piece.at)).min(piece.end)
        } else if as_start && at < self.text.len() {
            piece.start
        } else {
            piece.end
        }
    }
}

/// White space as Python's `str.strip` and `\s` see it.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// Where lines end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// As Python's `str.splitlines`, by which pip reads requirements files: vertical tabs and form feeds count.
    Python,
    /// LF, CRLF and CR.
    Plain,
}

/// The lines of a text with their offsets, without line ends.
pub(super) fn lines(text: &str, ends: LineEnds) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let ends_line = match c {
            '\n' | '\r' => true,
            '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                ends == LineEnds::Python
            }
            _ => false,
        };
        if ends_line {
            lines.push((start, text.get(start..at).unwrap_or_default()));
            start = at + c.len_utf8();
            if c == '\r' && chars.next_if(|(_, next)| *next == '\n').is_some() {
                start += 1;
            }
        }
    }
    if start < text.len() {
        lines.push((start, text.get(start..).unwrap_or_default()));
    }
    lines
}

/// The offsets at which lines start. Never empty.
pub(super) fn line_starts(text: &str, ends: LineEnds) -> Vec<usize> {
    let mut starts: Vec<usize> = lines(text, ends).into_iter().map(|(start, _)| start).collect();
    if starts.is_empty() {
        starts.push(0);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lead_back_to_the_file() {
        // torch==${V}+cu118 \
        //   ,<3
        let mut mapped = Mapped::new(0);
        mapped.push("torch==", 0);
        mapped.push_replaced("2.3.1", 7, 11);
        mapped.push("+cu118", 11);
        mapped.push(",<3", 22);
        assert_eq!(mapped.as_str(), "torch==2.3.1+cu118,<3");
        assert_eq!(mapped.span(0, 5), Span { file: 0, start: 0, end: 5 });
        assert_eq!(mapped.span(7, 18), Span { file: 0, start: 7, end: 17 });
        assert_eq!(mapped.span(7, 12), Span { file: 0, start: 7, end: 11 });
        assert_eq!(mapped.span(18, 21), Span { file: 0, start: 22, end: 25 });
        let part = mapped.slice(7, 20);
        assert_eq!(part.as_str(), "2.3.1+cu118,<");
        assert_eq!(part.whole(), Span { file: 0, start: 7, end: 24 });
    }

    #[test]
    fn lines_end_where_python_ends_them() {
        let text = "a\rb\r\nc\u{b}d\u{2028}e\n\nf";
        let python: Vec<&str> = lines(text, LineEnds::Python).into_iter().map(|(_, l)| l).collect();
        assert_eq!(python, ["a", "b", "c", "d", "e", "", "f"]);
        assert_eq!(lines(text, LineEnds::Plain).len(), 5);
    }
}
