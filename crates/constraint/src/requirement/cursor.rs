//! A place in a text that is being read. Everything that PEP 508 gives a meaning to is ASCII, so it moves by bytes and
//! never rests inside a character.

use super::error::{Fault, RequirementError};

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn offset(&self) -> usize {
        self.at
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

    pub(super) fn skip_space(&mut self) {
        self.take_while(|b| b.is_ascii_whitespace());
    }

    pub(super) fn fail<T>(&self, fault: Fault) -> Result<T, RequirementError> {
        self.fail_at(self.at, fault)
    }

    pub(super) fn fail_at<T>(&self, offset: usize, fault: Fault) -> Result<T, RequirementError> {
        Err(RequirementError::new(self.text, offset, fault))
    }
}
