//! What is wrong with a piece of text, before it is known where in the file the piece stands.

use std::ops::Range;

use cuda_lock_constraint::requirement::RequirementError;

/// A fault of a text, with its place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    /// Which bytes of the text are wrong.
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl SyntaxError {
    pub fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), help: None }
    }
}

impl From<RequirementError> for SyntaxError {
    fn from(error: RequirementError) -> Self {
        Self { at: error.range(), message: error.fault().to_string(), help: error.help() }
    }
}
