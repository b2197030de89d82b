//! Why a requirement cannot be read, and where.

use std::fmt;
use std::ops::Range;

/// A requirement or marker that cannot be read in the [`Mode`](super::Mode) that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct RequirementError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    text: String,
    at: Range<usize>,
    fault: Fault,
}

/// What is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Something else stands where the name of the project should.
    #[error("expected a package name at the start of the requirement")]
    NoName,
    /// The name of the project or of an extra is not allowed.
    #[error("{0}")]
    Name(#[from] crate::name::InvalidName),
    /// Something else stands where an extra should.
    #[error("expected the name of an extra")]
    NoExtra,
    /// Something else follows an extra.
    #[error("expected a comma or ']' after the name of an extra")]
    NoComma,
    /// Something follows the name that is neither a version, a URL nor a marker.
    #[error("expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end")]
    AfterName,
    /// Something follows a version that is neither another one nor a marker.
    #[error("expected a comma (within the version specifier), a semicolon (after it) or the end")]
    AfterVersion,
    /// Something follows the URL that is no marker.
    #[error("expected a semicolon (after the URL and white space) or the end")]
    AfterUrl,
    /// Something else than a version specifier stands in a list of them.
    #[error("expected a version operator (==, >=, <=, ~=, !=, <, >) or the end")]
    NoOperator,
    /// Nothing follows an operator.
    #[error("expected a version after '{0}'")]
    NoVersion(String),
    /// A specifier that PEP 440 does not have, and why.
    #[error("'{0}' is not a version specifier: {1}")]
    Specifier(String, SpecifierFault),
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
    /// `not` without `in`.
    #[error("expected 'in' after 'not'")]
    NotAlone,
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

/// Why PEP 440 has no such specifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecifierFault {
    /// What follows the operator is no version.
    #[error("it has no version of PEP 440")]
    NotAVersion,
    /// A star where none may be.
    #[error("'.*' goes with == and != only, and follows plain numbers")]
    Star,
    /// A local label where none may be.
    #[error("a local label (+...) goes with == and != only")]
    Label,
    /// `~=` with one number.
    #[error("~= needs at least two numbers, as in ~=1.0")]
    Compatible,
}

impl RequirementError {
    /// `at` counts bytes of `text`.
    pub(super) fn new(text: &str, at: Range<usize>, fault: Fault) -> Self {
        Self(Box::new(Details { text: text.to_owned(), at, fault }))
    }

    /// The same error within the longer text that holds this one from byte `start` on.
    pub(super) fn within(self, text: &str, start: usize) -> Self {
        let Details { at, fault, .. } = *self.0;
        Self::new(text, start + at.start..start + at.end, fault)
    }

    /// The text that cannot be read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Which bytes of the text are wrong; an empty range where something is missing.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.0.at.clone()
    }

    /// Where it goes wrong, in characters from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.0.text.char_indices().take_while(|(at, _)| *at < self.0.at.start).count() + 1
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
