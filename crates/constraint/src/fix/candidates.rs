//! Which changes are worth trying, from the facts that collide.

use std::ops::Bound;
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use super::change::Change;
use crate::constraint::Reason;
use crate::machine::{Libc, Libraries};
use crate::matrix;
use crate::name::Name;
use crate::package::Package;
use crate::requirement::Requirement;
use crate::rules::owner;
use crate::solve::{CollidingFact, Conflict, PassedOver, Prerelease, Problem, Rejection};
use crate::version::{SystemVersion, Version};

/// Pythons that are tried at most.
const PYTHONS: usize = 4;

/// Candidates by what they cost.
pub(super) struct Candidates {
    /// Changes after which everything is still installed, cheapest first.
    pub(super) keeping: Vec<Change>,
    /// What could be left out.
    pub(super) dropping: Vec<Arc<Requirement>>,
}

/// The candidates for a conflict.
pub(super) fn of(problem: &Problem, conflict: &Conflict) -> Candidates {
    let involved = involved(problem, conflict);
    let moves: Vec<Change> = involved
        .iter()
        .filter(|requirement| !requirement.specifiers.is_empty() || requirement.url.is_some())
        .filter(|requirement| !problem.policy.nearest.contains_key(&requirement.name))
        .map(|requirement| Change::Move {
            requirement: Arc::clone(requirement),
            now: String::new(),
        })
        .collect();
    let mut keeping = renames(&involved, conflict);
    keeping.extend(trust(problem, conflict));
    keeping.extend(substitutions(problem, conflict));
    keeping.extend(moves);
    keeping.extend(options(problem, conflict));
    keeping.extend(machine(problem, conflict));
    keeping.extend(plain(&involved, conflict));
    Candidates { keeping, dropping: involved }
}

/// The requirements of env.toml that take part, themselves or by a layer that they name.
fn involved(problem: &Problem, conflict: &Conflict) -> Vec<Arc<Requirement>> {
    let asked = |requirement: &Requirement| {
        let name = problem.substituted(requirement.name);
        conflict.facts.iter().any(|fact| match fact {
            CollidingFact::Needs { subject: Package::Root, package, reasons, .. } => {
                let states = |reason: &Reason| {
                    matches!(reason, Reason::Manifest { text } if text == requirement.text())
                };
                package.dist_name() == Some(name) || reasons.iter().any(|(_, reason)| states(reason))
            }
            _ => false,
        })
    };
    problem.requirements.iter().filter(|requirement| asked(requirement)).cloned().collect()
}

/// Names that no index has, as they were probably meant.
fn renames(involved: &[Arc<Requirement>], conflict: &Conflict) -> Vec<Change> {
    let meant = |requirement: &Arc<Requirement>| {
        conflict.facts.iter().find_map(|fact| match fact {
            CollidingFact::NoVersion { package, unknown_project: Some(Some(meant)), .. }
                if package.dist_name() == Some(requirement.name) =>
            {
                Change::rename(requirement, meant)
            }
            _ => None,
        })
    };
    involved.iter().filter_map(meant).collect()
}

/// Source distributions that record what they need, with a doubt.
fn trust(problem: &Problem, conflict: &Conflict) -> Vec<Change> {
    let doubted = conflict.undeclared.iter().filter(|(_, _, found)| found.trusted().is_some());
    doubted
        .map(|(name, ..)| *name)
        .filter(|name| !problem.policy.trust_recorded.contains(name))
        .map(|name| Change::TrustRecorded { name })
        .collect()
}

/// For a distribution that has nothing for this platform the plain one that owns the same import package.
fn plain(involved: &[Arc<Requirement>], conflict: &Conflict) -> Vec<Change> {
    let owner = |requirement: &Arc<Requirement>| {
        conflict.facts.iter().find_map(|fact| match fact {
            CollidingFact::NoVersion { package, passed_over, .. }
                if package.dist_name() == Some(requirement.name) =>
            {
                Change::rename(requirement, plain_owner(requirement.name, passed_over)?)
            }
            _ => None,
        })
    };
    involved.iter().filter_map(owner).collect()
}

/// The distribution with the shorter name that owns the same import package, when nothing of this one is for the platform.
fn plain_owner(name: Name, passed_over: &[Rejection]) -> Option<&'static str> {
    let other_platform =
        |r: &Rejection| matches!(&r.why, PassedOver::NoFile(why) if !why.platforms.is_empty());
    if !passed_over.iter().any(other_platform) {
        return None;
    }
    let rivals = owner::rivals(name);
    let is_plain = |other: &&Name| name.as_str().starts_with(other.as_str());
    rivals.iter().find(is_plain).map(|name| name.as_str())
}

/// One owner of an import package for another.
fn substitutions(problem: &Problem, conflict: &Conflict) -> Vec<Change> {
    let owners: Vec<Name> = conflict
        .facts
        .iter()
        .filter_map(|fact| match fact {
            CollidingFact::Needs { subject, package: Package::Provider(_), .. } => {
                subject.dist_name()
            }
            _ => None,
        })
        .collect();
    let asked = |name: &Name| problem.requirements.iter().any(|r| r.name == *name);
    let mut found = Vec::new();
    for from in &owners {
        for to in owners.iter().filter(|to| *to != from) {
            // The one with the longer name is the special build: it can do what the plain one does.
            let is_special = to.as_str().len() > from.as_str().len();
            if owner::rivals(*from).contains(to) && (is_special || !asked(from)) {
                found.push(Change::Substitute { from: *from, to: *to });
            }
        }
    }
    found
}

/// Settings of env.toml that rule something out.
fn options(problem: &Problem, conflict: &Conflict) -> Vec<Change> {
    let mut found = Vec::new();
    let passed_over =
        |wanted: fn(&PassedOver) -> bool| conflict.rejections.iter().any(|r| wanted(&r.why));
    if passed_over(|why| *why == PassedOver::Prerelease)
        && problem.policy.prerelease != Prerelease::Allow
    {
        found.push(Change::Prerelease);
    }
    if problem.policy.exclude_newer.is_some() && passed_over(|why| *why == PassedOver::TooNew) {
        found.push(Change::ExcludeNewer { until: None });
    }
    let wishes = [
        (Package::Cuda, problem.machine.cuda.is_some()),
        (Package::Cudnn, problem.machine.cudnn.is_some()),
    ];
    let mut wished =
        wishes.into_iter().filter(|(layer, wished)| *wished && needed(conflict, *layer)).peekable();
    if problem.machine.libraries == Libraries::System {
        // What the system has cannot be wished away, but libraries can come from wheels.
        found.extend(wished.peek().map(|_| Change::Wheels));
    } else {
        found.extend(wished.map(|(layer, _)| Change::NoWish { layer }));
    }
    found
}

fn needed(conflict: &Conflict, layer: Package) -> bool {
    conflict
        .facts
        .iter()
        .any(|fact| matches!(fact, CollidingFact::Needs { package, .. } if *package == layer))
}

/// Another machine or interpreter.
fn machine(problem: &Problem, conflict: &Conflict) -> Vec<Change> {
    let mut found = Vec::new();
    if conflict.is_about(Package::Python) {
        found.extend(pythons(problem).into_iter().map(|version| Change::Python { version }));
    }
    if let Some(driver) = &problem.machine.driver
        && needed(conflict, Package::Driver)
    {
        let above = lower_ends(conflict, Package::Driver, driver);
        found.extend(above.into_iter().map(|at_least| Change::Driver { at_least }));
    }
    if let Some(Libc::Glibc(glibc)) = &problem.machine.libc
        && needed(conflict, Package::Glibc)
    {
        let above = lower_ends(conflict, Package::Glibc, glibc);
        found.extend(above.into_iter().map(|at_least| Change::Glibc { at_least }));
    }
    found
}

/// The versions of a layer, above the machine's own, from which on something of the proof holds; ascending.
fn lower_ends(conflict: &Conflict, layer: Package, current: &SystemVersion) -> Vec<SystemVersion> {
    let ranges = conflict.proof.iter().filter_map(|fact| match fact {
        CollidingFact::Needs { subject, package, range, .. }
            if *package == layer && *subject != Package::Root =>
        {
            Some(range)
        }
        _ => None,
    });
    let mut ends: Vec<SystemVersion> = ranges
        .flat_map(|range| range.iter())
        .filter_map(|(low, _)| match low {
            Bound::Included(Version::System(version)) => Some(version.clone()),
            _ => None,
        })
        .filter(|version| version > current)
        .collect();
    ends.sort();
    ends.dedup();
    ends
}

/// Other Pythons, the nearest first.
fn pythons(problem: &Problem) -> Vec<Pep440> {
    let (major, minor) = problem.target.python_minor();
    let mut found: Vec<(u64, Pep440)> = matrix::python()
        .minor
        .iter()
        .filter_map(|row| {
            let version = &row.version;
            let release = version.release();
            let (other_major, other) = (release.first().copied()?, release.get(1).copied()?);
            (other_major == major && other != minor)
                .then(|| (other.abs_diff(minor), version.clone()))
        })
        .collect();
    found.sort();
    found.into_iter().take(PYTHONS).map(|(_, version)| version).collect()
}
