//! Do these versions satisfy these constraints? The same facts that the solver is given, evaluated on a set of pins.
//!
//! Knows nothing of how an answer was found: audit uses it on other people's files, the tests on the solver's answers.

use std::collections::BTreeMap;

use crate::constraint::{Constraint, Force};
use crate::package::Package;
use crate::version::{DistVersion, Version};

/// A set of pins: at most one version of each package.
pub type Assignment = BTreeMap<Package, Version>;

/// A constraint that does not hold, and what is there instead.
#[derive(Clone, Debug)]
pub struct Violation<'a> {
    /// The constraint.
    pub constraint: &'a Constraint,
    /// The version that is there; `None` when the package is missing.
    pub found: Option<&'a Version>,
}

/// Every constraint that the pins violate, in the order of the constraints.
///
/// A constraint binds only while its subject is at the version it speaks of.
#[must_use]
pub fn violations<'a>(pins: &'a Assignment, constraints: &'a [Constraint]) -> Vec<Violation<'a>> {
    constraints
        .iter()
        .filter(|constraint| pins.get(&constraint.subject.0) == Some(&constraint.subject.1))
        .filter_map(|constraint| {
            let found = pins.get(&constraint.package).filter(|version| !is_absent(version));
            let holds = match (found, constraint.force) {
                (Some(version), _) => constraint.range.contains(version),
                (None, Force::IfPresent) => true,
                (None, Force::Requires) => false,
            };
            (!holds).then_some(Violation { constraint, found })
        })
        .collect()
}

fn is_absent(version: &Version) -> bool {
    version.as_dist().is_some_and(DistVersion::is_absent)
}
