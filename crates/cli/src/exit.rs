//! How a run ends: the exit codes, which scripts and CI jobs rely on, and the one place where a failure is put into words.

use std::io::Write as _;
use std::process::ExitCode;

use cuda_lock_commands::Failure;
use cuda_lock_constraint::catalog::CatalogError;
use cuda_lock_formats::diagnostic::Diagnostic;
use serde::Serialize;

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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// How a run ends that has no report.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        match failure {
            Failure::Input(_) | Failure::Argument { .. } | Failure::System { .. } => Self::BadInput,
            Failure::Index(CatalogError::Reference(_)) => Self::BadInput,
            Failure::Index(_) => Self::Network,
            Failure::Unwritable(_) | Failure::Strayed { .. } => Self::No,
        }
    }
}

/// Says why there is no report: in words, and with `json` also as one document on standard output, where a program waits
/// for one.
pub fn failed(failure: &Failure, json: bool) -> Exit {
    match failure {
        Failure::Input(diagnostics) => message::diagnostics(diagnostics),
        _ => message::error(failure),
    }
    if let Some(help) = help(failure) {
        message::help(help);
    }
    if json && let Ok(text) = serde_json::to_string_pretty(&Document::of(failure)) {
        let _ = writeln!(crate::output::stdout(), "{text}");
    }
    Exit::of(failure)
}

fn help(failure: &Failure) -> Option<&str> {
    match failure {
        Failure::Argument { help, .. } | Failure::System { help, .. } => help.as_deref(),
        Failure::Strayed { help, .. } => Some(help),
        Failure::Input(_) | Failure::Index(_) | Failure::Unwritable(_) => None,
    }
}

/// A failure for programs.
#[derive(Serialize)]
struct Document {
    schema: u32,
    error: Error,
}

#[derive(Serialize)]
struct Error {
    /// `input`, `argument`, `system`, `index`, `unwritable` or `strayed`.
    kind: &'static str,
    message: String,
    help: Option<String>,
    /// Where, in files that people write.
    places: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    file: String,
    line: Option<usize>,
    column: Option<usize>,
    message: String,
    help: Vec<String>,
}

impl Document {
    fn of(failure: &Failure) -> Self {
        let places = match failure {
            Failure::Input(diagnostics) => diagnostics.iter().map(Place::of).collect(),
            _ => Vec::new(),
        };
        let message = match failure {
            Failure::Input(diagnostics) => {
                diagnostics.iter().map(Diagnostic::one_line).collect::<Vec<_>>().join("\n")
            }
            other => other.to_string(),
        };
        let help = help(failure).map(str::to_owned);
        Self { schema: 1, error: Error { kind: failure.kind(), message, help, places } }
    }
}

impl Place {
    fn of(diagnostic: &Diagnostic) -> Self {
        let position = diagnostic.position();
        Self {
            file: diagnostic.file().to_owned(),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            message: diagnostic.message().to_owned(),
            help: diagnostic.helps().to_vec(),
        }
    }
}
