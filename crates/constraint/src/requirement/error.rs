//! Why a requirement cannot be read.

use std::fmt;

/// A requirement or marker that cannot be read, even with the repairs that pip and uv make.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RequirementError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    text: String,
    offset: usize,
    fault: Fault,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Something else stands where the name of a project or an extra should.
    #[error("expected a name")]
    NoName,
    /// The name of the project or of an extra is not allowed.
    #[error("{0}")]
    Name(#[from] crate::name::InvalidName),
    /// Something else stands where an operator should.
    #[error("expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end")]
    NoOperator,
    /// Nothing follows an operator.
    #[error("expected a version after '{0}'")]
    NoVersion(String),
    /// A specifier that PEP 440 does not have, and why.
    #[error("'{0}' is not a version specifier: {1}")]
    Specifier(String, &'static str),
    /// `[` or `(` is never closed.
    #[error("'{0}' is never closed")]
    Unclosed(char),
    /// `@` without a URL.
    #[error("expected a URL after '@'")]
    NoUrl,
    /// A marker ends too early, or has something else where a variable or a quoted text should be.
    #[error("expected a marker variable or a quoted text")]
    NoMarkerValue,
    /// A word of a marker that is no variable of PEP 508.
    #[error("'{0}' is not a marker variable (PEP 508)")]
    Variable(String),
    /// Something else stands where a marker's operator should.
    #[error("expected a marker operator (==, !=, <, <=, >, >=, ~=, ===, in, not in)")]
    NoMarkerOperator,
    /// A quoted text never ends.
    #[error("the quoted text is never closed")]
    Quote,
    /// Text remains after a complete marker.
    #[error("expected 'and', 'or' or the end of the marker")]
    Trailing,
    /// Parentheses are nested deeper than any real marker nests them.
    #[error("the parentheses are nested too deeply")]
    Depth,
}

impl RequirementError {
    /// `offset` counts bytes from the start of `text`.
    pub(super) fn new(text: &str, offset: usize, fault: Fault) -> Self {
        Self(Box::new(Details { text: text.to_owned(), offset, fault }))
    }

    /// The same error within the longer text that holds this one from byte `start` on.
    pub(super) fn within(self, text: &str, start: usize) -> Self {
        Self::new(text, start + self.0.offset, self.0.fault)
    }

    /// The text that cannot be read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Where it goes wrong, in characters from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.text.char_indices().take_while(|(at, _)| *at < self.0.offset).count() + 1
    }

    /// What is wrong.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }
}

impl fmt::Display for RequirementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read '{}' at column {}: {}", self.text(), self.column(), self.fault())
    }
}
