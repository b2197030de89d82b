//! The last place that text passes on its way out: nothing in it is obeyed, and no secret of an address is in it.
//!
//! Texts of strangers are cleaned where they enter. What slips through, or comes from the user's own files, is caught
//! here. Colours, which are our own, pass.

use std::borrow::Cow;
use std::io::{self, Write};

use cuda_lock_constraint::secret::redact;
use cuda_lock_constraint::text::clean_lines;

/// `text` as it may be printed.
#[must_use]
pub fn shown(text: &str) -> String {
    redact(&without_orders(text))
}

/// Standard output, for text.
#[must_use]
pub fn stdout() -> Shown<anstream::AutoStream<io::Stdout>> {
    Shown { inner: anstream::stdout(), line: Vec::new() }
}

/// A writer whose every line is [`shown`].
pub struct Shown<W: Write> {
    inner: W,
    line: Vec<u8>,
}

impl<W: Write> Shown<W> {
    fn emit(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            return Ok(());
        }
        let line = std::mem::take(&mut self.line);
        self.inner.write_all(shown(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

impl<W: Write> Write for Shown<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.emit()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.emit()?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for Shown<W> {
    fn drop(&mut self) {
        // A closed pipe is nobody's concern here.
        let _ = self.emit();
    }
}

/// Replaces what a terminal obeys, colours apart.
fn without_orders(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return clean_lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, order) = rest.split_at(at);
        out.push_str(&clean_lines(before));
        let length = colour(order).unwrap_or(1);
        let (order, after) = order.split_at(length);
        out.push_str(if length > 1 { order } else { "\u{fffd}" });
        rest = after;
    }
    out.push_str(&clean_lines(rest));
    Cow::Owned(out)
}

/// The length of the colour sequence at the start of `text`: `ESC [ numbers m`.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
    numbers.get(end..)?.starts_with('m').then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_pass_and_orders_do_not() {
        assert_eq!(shown("\u{1b}[1;31mred\u{1b}[0m\n"), "\u{1b}[1;31mred\u{1b}[0m\n");
        assert_eq!(
            shown("a\u{1b}[2Jb\u{1b}]0;x\u{7}c\u{1b}"),
            "a\u{fffd}[2Jb\u{fffd}]0;x\u{fffd}c\u{fffd}"
        );
        assert_eq!(shown("x\r::error::y\u{202e}"), "x ::error::y\u{fffd}");
        assert_eq!(shown("at https://u:p@a.example/x"), "at https://****@a.example/x");
    }

    #[test]
    fn lines_are_whole_whatever_the_pieces() {
        let mut written = Vec::new();
        let mut out = Shown { inner: &mut written, line: Vec::new() };
        for piece in ["https://u:", "p@a.example\nhttps://", "t@b.example"] {
            out.write_all(piece.as_bytes()).expect("a vector takes everything");
        }
        drop(out);
        assert_eq!(written, b"https://****@a.example\nhttps://****@b.example");
    }
}
