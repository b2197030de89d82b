//! The exit codes, which scripts and CI jobs rely on.

use std::process::ExitCode;

use cuda_lock_constraint::catalog::CatalogError;
use cuda_lock_formats::diagnostic::Diagnostics;

use crate::output::message;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything holds.
    Ok = 0,
    /// No solution, a stale lock, or findings.
    No = 1,
    /// The input cannot be used: env.toml, a flag, a file.
    BadInput = 2,
    /// An index could not be read.
    Network = 3,
}

impl Exit {
    /// Prints what is wrong with a file.
    pub fn bad_input(diagnostics: Diagnostics) -> Self {
        message::diagnostics(&diagnostics);
        Self::BadInput
    }

    /// Prints why an index could not be read, or what a direct reference leads to.
    pub fn unreadable(error: &CatalogError) -> Self {
        message::error(error);
        match error {
            CatalogError::Reference(_) => Self::BadInput,
            _ => Self::Network,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
