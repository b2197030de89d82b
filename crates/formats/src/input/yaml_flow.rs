//! Flow style of YAML: `[a, b]`, `{k: v}`, and quoted scalars.

use std::rc::Rc;

use super::model::Span;
use super::syntax_error::SyntaxError;
use super::text::Mapped;
use super::yaml::Node;

/// Deeper nesting than anyone writes.
const MAX_DEPTH: usize = 32;

/// A reader of one value that starts at an offset.
pub(super) struct Flow<'t> {
    text: &'t str,
    file: usize,
    at: usize,
    errors: Vec<SyntaxError>,
}

impl<'t> Flow<'t> {
    pub fn new(text: &'t str, file: usize, at: usize) -> Self {
        Self { text, file, at, errors: Vec::new() }
    }

    /// Where the value ended, and what was wrong.
    pub fn finish(self) -> (usize, Vec<SyntaxError>) {
        (self.at, self.errors)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// White space, line ends and comments.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn error(&mut self, start: usize, message: &str) {
        if self.errors.is_empty() {
            self.errors.push(SyntaxError::new(start..self.at.max(start), message));
        }
    }

    /// The value at the cursor.
    pub fn value(&mut self, depth: usize) -> Node {
        let start = self.at;
        if depth > MAX_DEPTH {
            self.at = self.text.len();
            self.error(start, "nested too deep");
            return Node::Null(Span { file: self.file, start, end: start });
        }
        match self.peek() {
            Some(b'[') => self.sequence(depth),
            Some(b'{') => self.mapping(depth),
            Some(b'"') => Node::Scalar(self.double()),
            Some(b'\'') => Node::Scalar(self.single()),
            _ => Node::Scalar(self.plain()),
        }
    }

    fn sequence(&mut self, depth: usize) -> Node {
        let start = self.at;
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                None => {
                    self.error(start, "this '[' is not closed");
                    break;
                }
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b',' | b'}' | b':') => self.at += 1,
                _ => items.push(Rc::new(self.value(depth + 1))),
            }
        }
        Node::Seq(items, Span { file: self.file, start, end: self.at })
    }

    fn mapping(&mut self, depth: usize) -> Node {
        let start = self.at;
        let mut entries = Vec::new();
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                None => {
                    self.error(start, "this '{' is not closed");
                    break;
                }
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',' | b']' | b':') => self.at += 1,
                _ => {
                    let key = match self.peek() {
                        Some(b'"') => self.double(),
                        Some(b'\'') => self.single(),
                        _ => self.plain(),
                    };
                    self.space();
                    let mut node = Node::Null(key.whole());
                    if self.peek() == Some(b':') {
                        self.at += 1;
                        self.space();
                        if !matches!(self.peek(), None | Some(b',' | b'}')) {
                            node = self.value(depth + 1);
                        }
                    }
                    entries.push((key, Rc::new(node)));
                }
            }
        }
        Node::Map(entries, Span { file: self.file, start, end: self.at })
    }

    /// Up to what ends a plain scalar; always moves on by at least one character.
    fn plain(&mut self) -> Mapped {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let end = rest
            .char_indices()
            .find(|(at, c)| match c {
                ',' | '[' | ']' | '{' | '}' | '\n' => true,
                ':' => matches!(
                    bytes.get(at + 1),
                    None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}' | b']')
                ),
                '#' => *at > 0 && matches!(bytes.get(at - 1), Some(b' ' | b'\t')),
                _ => false,
            })
            .map_or(rest.len(), |(at, _)| at)
            .max(rest.chars().next().map_or(0, char::len_utf8));
        let text = rest.get(..end).unwrap_or_default().trim_end();
        let mapped = Mapped::copied(text, self.file, self.at);
        self.at += end;
        mapped
    }

    fn single(&mut self) -> Mapped {
        let start = self.at;
        let mut text = Mapped::new(self.file);
        text.push_replaced("", start + 1, start + 1);
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(quote) = rest.find('\'') else {
                self.unclosed(start, &mut text);
                return text;
            };
            text.push(rest.get(..quote).unwrap_or_default(), self.at);
            self.at += quote + 1;
            if self.peek() != Some(b'\'') {
                return text;
            }
            // Two quotes stand for one.
            text.push_replaced("'", self.at - 1, self.at + 1);
            self.at += 1;
        }
    }

    fn double(&mut self) -> Mapped {
        let start = self.at;
        let mut text = Mapped::new(self.file);
        text.push_replaced("", start + 1, start + 1);
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(stop) = rest.find(['"', '\\']) else {
                self.unclosed(start, &mut text);
                return text;
            };
            text.push(rest.get(..stop).unwrap_or_default(), self.at);
            self.at += stop + 1;
            if rest.as_bytes().get(stop) == Some(&b'"') {
                return text;
            }
            let Some(escaped) = self.rest().chars().next() else { continue };
            let end = self.at + escaped.len_utf8();
            let meaning = match escaped {
                'n' => "\n",
                't' => "\t",
                'r' => "\r",
                '0' => "\0",
                // A backslash at the end of a line joins it with the next.
                '\n' => "",
                _ => self.text.get(self.at..end).unwrap_or_default(),
            };
            text.push_replaced(meaning, self.at - 1, end);
            self.at = end;
        }
    }

    /// A quote without an end: the scalar ends with the line, so that the rest can be read.
    fn unclosed(&mut self, start: usize, text: &mut Mapped) {
        let rest = self.rest();
        let end = rest.find('\n').unwrap_or(rest.len());
        text.push(rest.get(..end).unwrap_or_default().trim_end(), self.at);
        self.at += end;
        self.error(start, "this quote is not closed");
    }
}
