//! A place in a text that is being read. Everything that PEP 508 gives a meaning to is ASCII, so it moves by bytes and
//! never rests inside a character.

use std::ops::Range;

use super::Mode;
use super::error::{Fault, RequirementError};

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    mode: Mode,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, mode: Mode) -> Self {
        Self { text, at: 0, mode }
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    pub(super) fn is_strict(&self) -> bool {
        self.mode == Mode::Strict
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at + 1).copied()
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The text in a place that was read.
    pub(super) fn part(&self, at: Range<usize>) -> &'a str {
        self.text.get(at).unwrap_or_default()
    }

    /// Takes `token` if it comes next. Tokens are ASCII.
    pub(super) fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Takes bytes while `wanted` holds. A byte above 127 is taken with its whole character or not at all, so `wanted`
    /// has to answer alike for all of those.
    pub(super) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().position(|b| !wanted(b)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Takes characters while `wanted` holds.
    pub(super) fn take_chars(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// Skips what may stand between two tokens: blanks and tabs for pip, any ASCII white space with repairs.
    pub(super) fn skip_space(&mut self) {
        let strict = self.is_strict();
        self.take_while(
            |b| {
                if strict { matches!(b, b' ' | b'\t') } else { b.is_ascii_whitespace() }
            },
        );
    }

    /// The place of the character that comes next; empty at the end.
    fn here(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    /// An error about the character that comes next.
    pub(super) fn fail<T>(&self, fault: Fault) -> Result<T, RequirementError> {
        Err(RequirementError::new(self.text, self.here(), fault))
    }

    /// An error about the text from `start` to here.
    pub(super) fn fail_from<T>(&self, start: usize, fault: Fault) -> Result<T, RequirementError> {
        Err(RequirementError::new(self.text, start..self.at, fault))
    }
}
