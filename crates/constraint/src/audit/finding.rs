//! What an audit says.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use crate::constraint::{Fact, Reason};
use crate::name::Name;
use crate::package::Package;
use crate::rules::loading::Step;
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
        Self::row(&fact.text, &fact.sources)
    }

    /// The words of a row, with the first of its sources.
    pub(super) fn row(text: &str, sources: &[String]) -> Self {
        Self::new(text, sources.first().cloned().unwrap_or_default())
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

/// Where a finding stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line: a place in [`super::Question::lines`].
    Line(usize),
    /// The container image.
    Image,
    /// Something else in the file, which the caller numbered.
    Mark(usize),
}

/// What a finding hangs on that is not known. The sink makes its severity of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Nothing: it counts as its code says.
    #[default]
    None,
    /// The build exists, and the installer may be told of its index elsewhere.
    IndexElsewhere,
    /// Whether there is a GPU to be used.
    HasGpu,
    /// The same, of something that most people install without one.
    NeedsNoGpu,
    /// Something outside the file may do what is missing.
    Elsewhere,
    /// It concerns a part that few programs use.
    Optional,
    /// What somebody else said of it already.
    Said(Severity),
}

/// What collides with a build. Findings of builds that bring each other along, on the same target, are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// A layer that the machine fixes: the driver, a GPU, the glibc.
    Machine(Package),
    /// A layer that everything shares: CUDA, cuDNN, an import package.
    Shared(Package),
    /// What METADATA asks of others.
    Requirements,
    /// Libraries that nothing supplies.
    Libraries,
    /// Files of an installed folder.
    Overwritten,
}

/// A build that does not go with others, as it is put into words once all others are known.
#[derive(Clone, Debug)]
pub(super) struct Clash {
    pub(super) subject: String,
    pub(super) others: Vec<String>,
    pub(super) because: Vec<String>,
}

impl Clash {
    pub(super) fn message(&self) -> String {
        let others = listed(&self.others);
        format!("{} does not go with {others}: {}", self.subject, self.because.join("; "))
    }
}

/// `a, b and c`.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Something that does not hold.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The stable code, such as `driver-too-old`.
    pub code: Code,
    /// How much it counts, before any setting.
    pub severity: Severity,
    /// The distribution that it is about.
    pub package: Option<Name>,
    /// Others that have the same fault, because they come along with it.
    pub sharing: BTreeSet<Name>,
    /// Those that it collides with, or that are missing.
    pub against: BTreeSet<Name>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where it stands.
    pub place: Option<Place>,
    /// The facts that collide.
    pub facts: Vec<FactText>,
    /// The message that people meet otherwise.
    pub symptom: Option<String>,
    /// What to do.
    pub fix: Option<String>,
    pub(super) doubt: Doubt,
    pub(super) target: Option<Target>,
    pub(super) clash: Option<Clash>,
}

impl Finding {
    /// A finding of a code. Everything else is added.
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.page().severity,
            package: None,
            sharing: BTreeSet::new(),
            against: BTreeSet::new(),
            message: message.into(),
            place: None,
            facts: Vec::new(),
            symptom: None,
            fix: None,
            doubt: Doubt::None,
            target: None,
            clash: None,
        }
    }

    /// A violated row of a matrix: its code, its words and its symptom.
    pub(super) fn of_fact(fact: &Fact, message: impl Into<String>) -> Self {
        let mut finding = Self::new(Code::of(fact.rule), message).because(FactText::of(fact));
        finding.symptom.clone_from(&fact.symptom);
        finding
    }

    pub(super) fn about(mut self, name: Name) -> Self {
        self.package = Some(name);
        self
    }

    pub(super) fn at(mut self, line: Option<usize>) -> Self {
        self.place = line.map(Place::Line).or(self.place);
        self
    }

    pub(super) fn at_place(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    pub(super) fn because(mut self, fact: FactText) -> Self {
        self.facts.push(fact);
        self
    }

    pub(super) fn otherwise(mut self, symptom: impl Into<String>) -> Self {
        self.symptom = Some(symptom.into());
        self
    }

    pub(super) fn advise(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    pub(super) fn unless(mut self, doubt: Doubt) -> Self {
        self.doubt = doubt;
        self
    }

    pub(super) fn on(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    pub(super) fn opposing(mut self, names: impl IntoIterator<Item = Name>) -> Self {
        self.against.extend(names);
        self
    }

    /// The line that it stands in: a place in [`super::Question::lines`].
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        match self.place {
            Some(Place::Line(line)) => Some(line),
            _ => None,
        }
    }

    /// The distributions that have the fault: the one that it is about, and those that share it.
    pub fn faulty(&self) -> impl Iterator<Item = Name> + '_ {
        self.package.into_iter().chain(self.sharing.iter().copied())
    }

    /// The fault of each of them, by which findings before and after a change are compared.
    pub fn keys(&self) -> impl Iterator<Item = (Code, Option<Name>)> + '_ {
        let own = self.package.is_none().then_some((self.code, None));
        own.into_iter().chain(self.faulty().map(|name| (self.code, Some(name))))
    }

    /// All distributions that take part.
    pub fn involved(&self) -> impl Iterator<Item = Name> + '_ {
        self.faulty().chain(self.against.iter().copied())
    }
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
    /// What a program has to do before it finds the libraries that are installed.
    pub steps: Vec<Step>,
}
