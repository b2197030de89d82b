//! What rules return, and small helpers that they share.

use std::sync::Arc;

use super::rule::Rule;
use crate::constraint::{Constraint, Fact, Force, Reason};
use crate::machine::{Brand, Platform};
use crate::package::Package;
use crate::version::{Range, SystemVersion, Version};

/// Which versions of a package will do, and the fact that says so.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The package that is limited.
    pub package: Package,
    /// The versions that will do.
    pub range: Range,
    /// Why.
    pub fact: Arc<Fact>,
}

impl Limit {
    /// The limit as a constraint that `subject` puts on the package.
    #[must_use]
    pub fn constraint(self, subject: (Package, Version), force: Force) -> Constraint {
        Constraint {
            subject,
            package: self.package,
            range: self.range,
            force,
            reason: Reason::Matrix(self.fact),
        }
    }

    /// True when `version` will do.
    #[must_use]
    pub fn allows(&self, version: &SystemVersion) -> bool {
        self.range.contains(&version.clone().into())
    }
}

/// A fact from matrix rows.
pub(super) fn fact(rule: Rule, text: String, sources: &[String]) -> Arc<Fact> {
    Arc::new(Fact { rule, text, sources: sources.to_vec(), symptom: None })
}

/// A fact with the message that people meet.
pub(super) fn fact_with_symptom(
    rule: Rule,
    text: String,
    sources: &[String],
    symptom: String,
) -> Arc<Fact> {
    Arc::new(Fact { rule, text, sources: sources.to_vec(), symptom: Some(symptom) })
}

/// All versions from `low` on.
pub(super) fn from(low: SystemVersion) -> Range {
    Range::higher_than(low)
}

/// All versions from `low` up to, but not including, `high`.
pub(super) fn between(low: SystemVersion, high: SystemVersion) -> Range {
    Range::from_range_bounds(Version::from(low)..Version::from(high))
}

/// Exactly `version`.
pub(super) fn exactly(version: SystemVersion) -> Range {
    Range::singleton(Version::from(version))
}

/// All versions of a major version.
pub(super) fn major(major: u64) -> Range {
    between(whole(major), whole(major + 1))
}

/// A version of one number.
pub(super) fn whole(major: u64) -> SystemVersion {
    major.to_string().parse().expect("a number is a version")
}

/// Below every driver of a branch, on both systems: Windows numbers of a branch stay below those of the next.
pub(super) fn branch_number(branch: u64) -> SystemVersion {
    whole(branch)
}

/// The system as messages name it; drivers have one number on Linux and another on Windows.
pub(super) fn system(platform: Platform) -> Option<&'static str> {
    match platform {
        Platform::LinuxX86_64 | Platform::LinuxAarch64 => Some("Linux"),
        Platform::WindowsX86_64 => Some("Windows"),
        Platform::MacosArm64 => None,
    }
}

/// A product line as the matrices spell it.
pub(super) fn brand(text: &str) -> Brand {
    match text {
        "data-center" => Brand::DataCenter,
        "professional" => Brand::Professional,
        "geforce" => Brand::GeForce,
        "jetson" => Brand::Jetson,
        _ => Brand::Unknown,
    }
}
