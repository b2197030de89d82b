//! A constraint: a fact with a source, used by resolve, audit, explain and the lock alike.

use std::sync::Arc;

use crate::package::Package;
use crate::rules::Rule;
use crate::version::{Range, Version};

/// *subject* needs *package* in *range*, because *reason*.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Who needs it.
    pub subject: (Package, Version),
    /// What is needed.
    pub package: Package,
    /// Which versions will do. For [`Force::IfPresent`] on a distribution the range holds "not installed" as well.
    pub range: Range,
    /// Whether the package has to be there at all.
    pub force: Force,
    /// Who says so.
    pub reason: Reason,
}

/// Whether a constraint brings its package along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// The package must be installed (or the layer must exist).
    Requires,
    /// If the package is installed, it must be in the range.
    IfPresent,
}

/// Who says that a constraint holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A `Requires-Dist` line of the build's METADATA.
    Metadata {
        /// The requirement as the METADATA has it.
        requirement: Arc<str>,
    },
    /// `Requires-Python` of the index page or the METADATA.
    RequiresPython {
        /// The specifiers as published.
        specifiers: Arc<str>,
    },
    /// The tags of the wheels that a release has.
    WheelTag {
        /// What the tags say, in words: "has wheels for glibc >= 2.28".
        text: Arc<str>,
    },
    /// A row of a compatibility matrix.
    Matrix(Arc<Fact>),
    /// A line of env.toml, or a flag.
    Manifest {
        /// What was written: `torch>=2.3`, `driver = "535.104.05"`.
        text: Arc<str>,
    },
    /// An extra belongs to its distribution.
    Extra,
}

/// A row of a compatibility matrix, as it is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The rule; audit's codes build on it.
    pub rule: Rule,
    /// The fact in words: "CUDA 12.x needs driver >= 525.60.13 on Linux".
    pub text: String,
    /// Public sources, most authoritative first. Never empty.
    pub sources: Vec<String>,
    /// The literal message that people meet when the constraint is violated, where one is known.
    pub symptom: Option<String>,
}
