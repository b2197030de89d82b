//! What a rule looks at: one build of a distribution, with where it comes from.

use std::sync::Arc;

use pep440_rs::{Operator, Version as Pep440};

use crate::catalog::Metadata;
use crate::constraint::{Constraint, Fact, Force, Reason};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::{Requirement, RequirementCache};
use crate::version::{DistVersion, Range, SystemVersion, Version, local_label};

/// One build of a distribution.
#[derive(Clone, Copy)]
pub struct Build<'a> {
    /// The project.
    pub name: Name,
    /// The version with its local label, and the source.
    pub version: &'a DistVersion,
    /// The file, when one is chosen.
    pub filename: Option<&'a str>,
    /// Whose index it comes from.
    pub origin: Origin<'a>,
    /// Its METADATA, when known.
    pub metadata: Option<&'a Metadata>,
    /// Reads requirements and evaluates their markers for the target.
    pub requirements: &'a RequirementCache,
}

/// Whose index a build comes from. One version number can mean different builds on different indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin<'a> {
    /// PyPI.
    PyPi,
    /// PyTorch's index for one backend.
    PyTorch {
        /// Such as `cpu` or `cu128`; empty for a page with all of them.
        backend: &'a str,
    },
    /// One of ONNX Runtime's feeds.
    OrtFeed {
        /// As `matrices/indexes.toml` names it.
        name: &'a str,
    },
    /// Another index. Builds without a local label are taken to be PyPI's.
    Other,
}

impl<'a> Build<'a> {
    /// The version without local label and without pre-release, post-release and development parts: what the rows of the
    /// matrices speak of. `None` for "not installed".
    #[must_use]
    pub fn release(&self) -> Option<Pep440> {
        self.version.version().map(Pep440::only_release)
    }

    /// The local label: `cu128` of `2.9.1+cu128`.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        local_label(self.version.version()?)
    }

    /// `name version`, as messages write it.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// The requirements of the METADATA on distributions that `wanted` accepts, those of extras included. A requirement
    /// that cannot be read is passed over here; reading METADATA reports it.
    pub(super) fn requirements_on(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Arc<Requirement>> {
        let cache = self.requirements;
        let lines = self.metadata.map_or(&[][..], |metadata| &metadata.requires_dist);
        lines.iter().filter_map(move |line| {
            let end = line
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
                .unwrap_or(line.len());
            let name = Name::new(line.get(..end)?).ok()?;
            if wanted(name.as_str()) { cache.get(line).ok() } else { None }
        })
    }

    /// The requirements that hold in the environment without any extra.
    pub(super) fn base_requirements(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Arc<Requirement>> {
        let cache = self.requirements;
        self.requirements_on(wanted).filter(move |requirement| cache.applies(requirement, None))
    }

    /// Makes a constraint with this build as its subject.
    pub(super) fn constraint(
        &self,
        package: Package,
        range: Range,
        force: Force,
        fact: Fact,
    ) -> Constraint {
        Constraint {
            subject: (Package::dist(self.name), Version::Dist(self.version.clone())),
            package,
            range,
            force,
            reason: Reason::Matrix(Arc::new(fact)),
        }
    }
}

/// The version that a requirement names, the first one by any operator but `!=`.
pub(super) fn named_version(requirement: &Requirement) -> Option<Pep440> {
    let positive = |o: &Operator| !matches!(o, Operator::NotEqual | Operator::NotEqualStar);
    let lower = |o: &Operator| !matches!(o, Operator::LessThan | Operator::LessThanEqual);
    requirement
        .specifiers
        .iter()
        .find(|s| positive(s.operator()) && lower(s.operator()))
        .map(|s| s.version().clone())
}

/// Every version of a system layer of one major version.
#[must_use]
pub fn major_range(major: u64) -> Range {
    from_within_major(&SystemVersion::new(major, 0))
}

/// `low` and everything above it in the same major version: what a build made with `low` runs with.
#[must_use]
pub fn from_within_major(low: &SystemVersion) -> Range {
    let high = SystemVersion::new(low.major() + 1, 0);
    Range::from_range_bounds(Version::System(low.clone())..Version::System(high))
}
