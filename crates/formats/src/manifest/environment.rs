//! `[environment]`: what should run.

use std::str::FromStr;

use pep440_rs::{Version, VersionSpecifiers};
use serde_spanned::Spanned;
use toml::de::DeTable;

use super::requirement::requirements;
use crate::document::{Report, owned, text, texts};
use crate::schema::{Key, Kind};

pub(super) const PYTHON: Key = Key::new(
    "python",
    Kind::Text,
    "\"3.11\"",
    "The Python version (3.11), or a range (>=3.10,<3.13), of which the newest that has a solution is taken.",
);

pub(super) const DEPENDENCIES: Key = Key::new(
    "dependencies",
    Kind::Texts,
    "[\"torch>=2.3\"]",
    "What to install, as in pyproject.toml (PEP 508).",
);

/// The keys of `[environment]`.
pub(super) const KEYS: &[Key] = &[
    Key::new("name", Kind::Text, "\"detector\"", "What the environment is called in messages."),
    PYTHON.required(),
    DEPENDENCIES,
];

/// `[environment]`.
#[derive(Clone, Debug)]
pub struct Environment {
    /// What it is called.
    pub name: Option<Spanned<String>>,
    /// The interpreter.
    pub python: Spanned<PythonRequest>,
    /// PEP 508 requirements, checked, as written.
    pub dependencies: Vec<Spanned<String>>,
}

/// Which interpreter is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PythonRequest {
    /// A version, such as 3.11 (any of its patch releases) or 3.11.9.
    Version(Version),
    /// The free-threaded build of a version (PEP 703), written 3.13t.
    FreeThreaded(Version),
    /// A range: the newest that has a solution is chosen.
    Range(VersionSpecifiers),
}

impl std::fmt::Display for PythonRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::FreeThreaded(version) => write!(f, "{version}t"),
            Self::Range(specifiers) => specifiers.fmt(f),
        }
    }
}

impl Environment {
    pub(super) fn read(table: &DeTable<'_>, report: &mut Report) -> Option<Self> {
        let name = text(table, "name").as_ref().map(owned);
        let python = text(table, "python").and_then(|text| python(&text, report));
        let dependencies = texts(table, "dependencies").unwrap_or_default();
        let dependencies = requirements(dependencies, report);
        Some(Self { name, python: python?, dependencies })
    }
}

/// Reads a version or a range of Python.
pub(super) fn python(text: &Spanned<&str>, report: &mut Report) -> Option<Spanned<PythonRequest>> {
    let raw = text.get_ref().trim();
    let request = if let Some(version) = interpreter(raw) {
        Some(PythonRequest::Version(version))
    } else if let Some(version) = raw.strip_suffix('t').and_then(interpreter) {
        Some(PythonRequest::FreeThreaded(version))
    } else {
        VersionSpecifiers::from_str(raw).ok().filter(|s| !s.is_empty()).map(PythonRequest::Range)
    };
    match request {
        Some(request) => Some(Spanned::new(text.span(), request)),
        None => {
            report
                .error(text.span(), format!("invalid Python version \"{}\"", text.get_ref()))
                .help("write a version, such as \"3.11\", or a range, such as \">=3.10,<3.13\"");
            None
        }
    }
}

/// A version that an interpreter can have. Of "3" nobody knows which was meant.
fn interpreter(text: &str) -> Option<Version> {
    let version = Version::from_str(text).ok()?;
    let odd = version.is_local() || version.is_post() || version.is_dev() || version.epoch() != 0;
    (!odd && (2..=3).contains(&version.release().len())).then_some(version)
}
