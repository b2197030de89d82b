//! What an audit says.

use std::collections::{BTreeMap, BTreeSet};

use super::table::Code;
use crate::constraint::{Fact, Reason};
use crate::name::Name;
use crate::version::DistVersion;

/// How much a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something to know.
    Note,
    /// It depends on something that is not known here.
    Warning,
    /// It will fail, or silently not use the GPU.
    Error,
}

impl Severity {
    /// The word that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A fact in words, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FactText {
    /// The fact.
    pub text: String,
    /// Its source, the most authoritative one.
    pub source: String,
}

impl FactText {
    /// A fact with its source.
    #[must_use]
    pub fn new(text: impl Into<String>, source: impl Into<String>) -> Self {
        Self { text: text.into(), source: source.into() }
    }

    /// A row of a matrix as it is quoted.
    #[must_use]
    pub fn of(fact: &Fact) -> Self {
        Self::new(fact.text.clone(), fact.sources.first().cloned().unwrap_or_default())
    }

    /// A reason of `subject` (a name and a version).
    pub(super) fn of_reason(subject: &str, reason: &Reason) -> Self {
        match reason {
            Reason::Matrix(fact) => Self::of(fact),
            Reason::Metadata { requirement } => Self::new(
                format!("{subject} requires {requirement}"),
                format!("METADATA of {subject}"),
            ),
            Reason::RequiresPython { specifiers } => Self::new(
                format!("{subject} requires Python {specifiers}"),
                format!("Requires-Python of {subject}"),
            ),
            Reason::WheelTag { text } => {
                Self::new(format!("{subject} {text}"), format!("wheel tags of {subject}"))
            }
            Reason::Manifest { text } => Self::new(text.to_string(), "the machine"),
            Reason::Extra => Self::new(format!("{subject} is an extra"), "PEP 508"),
        }
    }
}

/// Something that does not hold.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The stable code, such as `driver-too-old`.
    pub code: Code,
    /// How much it counts by itself, before any setting.
    pub severity: Severity,
    /// The distribution that it is about.
    pub package: Option<Name>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The line that it comes from: a place in [`super::Question::lines`].
    pub line: Option<usize>,
    /// The facts that collide.
    pub facts: Vec<FactText>,
    /// The message that people meet otherwise.
    pub symptom: Option<String>,
    /// What to do.
    pub fix: Option<String>,
}

/// Everything that an audit found out about one environment.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// What does not hold.
    pub findings: Vec<Finding>,
    /// The builds that were judged.
    pub checked: BTreeMap<Name, DistVersion>,
    /// Those of them whose METADATA could not be read: what they require is not known.
    pub opaque: BTreeSet<Name>,
    /// What could not be judged, and why.
    pub unchecked: BTreeSet<String>,
}
