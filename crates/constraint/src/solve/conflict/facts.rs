//! From leaves to facts: versions folded, reasons gathered, what was passed over told by its kind.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::constraint::{Constraint, Reason};
use crate::package::Package;
use crate::solve::candidates::{PassedOver, Rejection};
use crate::solve::conflict::leaves::Leaves;
use crate::solve::conflict::{CollidingFact, near};
use crate::solve::provider::Provider;
use crate::version::{DistVersion, Range, Version};

/// Turns leaves into facts.
pub(super) struct Facts<'a> {
    pub(super) provider: &'a Provider,
    pub(super) leaves: &'a Leaves,
}

impl Facts<'_> {
    pub(super) fn all(&self) -> Vec<CollidingFact> {
        let mut facts: Vec<CollidingFact> = Vec::new();
        for (&(subject, package), edges) in &self.leaves.needs {
            // An extra always has the version of its distribution: nobody learns from that.
            if subject.dist_name().is_some() && subject.dist_name() == package.dist_name() {
                continue;
            }
            facts.push(self.needs(subject, package, edges));
        }
        facts.extend(self.leaves.none.keys().flat_map(|package| self.none(*package)));
        for ((package, why), versions) in &self.leaves.unusable {
            let known = self.provider.known_versions(*package);
            facts.push(CollidingFact::Unusable {
                package: *package,
                versions: versions.clone(),
                known,
                why: why.clone(),
            });
        }
        facts.sort_by_key(CollidingFact::place);
        facts
    }

    fn needs(&self, subject: Package, package: Package, edges: &[(Range, Range)]) -> CollidingFact {
        let allowed = self.asked_for(subject);
        let known: Vec<Version> = self
            .choosable(subject)
            .into_iter()
            .filter(|version| allowed.contains(version))
            .collect();
        // A release that env.toml rules out anyway is no part of the argument.
        let counts =
            |versions: &Range| known.is_empty() || known.iter().any(|v| versions.contains(v));
        let relevant: Vec<&(Range, Range)> = {
            let some: Vec<_> = edges.iter().filter(|(versions, _)| counts(versions)).collect();
            if some.is_empty() { edges.iter().collect() } else { some }
        };
        let united = |pick: fn(&(Range, Range)) -> &Range| {
            relevant.iter().fold(Range::empty(), |all, edge| all.union(pick(edge)))
        };
        let (versions, range) = (united(|edge| &edge.0), united(|edge| &edge.1));
        let mut found: Vec<Rc<Constraint>> = self
            .provider
            .reasons(subject, package)
            .into_iter()
            .filter(|edge| versions.contains(&edge.subject.1))
            .filter(|edge| relevant.iter().any(|(_, range)| *range == edge.range))
            .collect();
        found.sort_by(|a, b| telling(a).cmp(&telling(b)));
        let mut reasons: Vec<(Version, Reason)> = Vec::new();
        for edge in found {
            if !reasons.iter().any(|(_, reason)| *reason == edge.reason) {
                reasons.push((edge.subject.1.clone(), edge.reason.clone()));
            }
        }
        let existing = self.provider.known_versions(package);
        CollidingFact::Needs { subject, versions, known, package, range, existing, reasons }
    }

    /// What env.toml asks of a package, as far as the proof uses it.
    fn asked_for(&self, package: Package) -> Range {
        let asked = self.leaves.needs.get(&(Package::Root, package));
        let base = package.dist_name().map(Package::dist);
        let asked = asked.or_else(|| self.leaves.needs.get(&(Package::Root, base?)));
        asked.into_iter().flatten().fold(Range::full(), |all, (_, range)| all.intersection(range))
    }

    /// The versions of a distribution that were not passed over.
    fn choosable(&self, package: Package) -> Vec<Version> {
        let rejections = self.provider.rejections();
        let mut known = self.provider.known_versions(package);
        known.retain(|version| {
            !rejections.iter().any(|rejection| {
                Some(rejection.name) == package.dist_name()
                    && version.as_dist() == Some(&rejection.version)
                    && !matches!(rejection.why, PassedOver::NoFile(_))
            })
        });
        known
    }

    /// Why there is nothing to choose from, where that matters: nothing exists, or what exists was passed over.
    /// One fact for each kind of reason, that of the newest build first.
    fn none(&self, package: Package) -> Vec<CollidingFact> {
        let Some(name) = package.dist_name() else { return Vec::new() };
        let known = self.provider.known_versions(package);
        let asking: Vec<&Range> = self
            .leaves
            .needs
            .iter()
            .filter(|((_, needed), _)| *needed == package)
            .flat_map(|(_, edges)| edges.iter().map(|(_, range)| range))
            .collect();
        let range = match self.leaves.needs.get(&(Package::Root, package)) {
            Some(_) => self.asked_for(package),
            None => asking.iter().fold(Range::empty(), |all, range| all.union(range)),
        };
        if known.is_empty() {
            let meant = near::nearest_name(name, &self.provider.problem);
            let unknown_project = Some(meant);
            return vec![CollidingFact::NoVersion {
                package,
                range,
                known,
                unknown_project,
                passed_over: Vec::new(),
            }];
        }
        if range.is_empty() {
            return Vec::new();
        }
        let existing: Vec<&Version> =
            known.iter().filter(|version| range.contains(version)).collect();
        let said = |version: &Version| {
            self.leaves.needs.iter().any(|((subject, _), edges)| {
                subject.dist_name() == Some(name)
                    && edges.iter().any(|(versions, _)| versions.contains(version))
            })
        };
        // A release of which more is said needs no word about its builds for other platforms.
        let public = |v: &Version| v.as_dist()?.version().cloned().map(|v| v.without_local());
        let spoken_of: BTreeSet<_> = known.iter().filter(|v| said(v)).map(public).collect();
        let told = |version: &DistVersion| {
            let version = Version::Dist(version.clone());
            said(&version) || spoken_of.contains(&public(&version))
        };
        let mut passed_over: Vec<Rejection> = self
            .provider
            .rejections()
            .into_iter()
            .filter(|r| r.name == name && range.contains(&Version::Dist(r.version.clone())))
            .filter(|r| !told(&r.version))
            .collect();
        let all_prereleases = passed_over.len() == existing.len()
            && passed_over.iter().all(|r| r.why == PassedOver::Prerelease);
        if !all_prereleases {
            // That pre-releases are not taken unasked surprises nobody, as long as there is something else.
            passed_over.retain(|rejection| rejection.why != PassedOver::Prerelease);
        }
        passed_over.sort_by(|a, b| b.version.cmp(&a.version));
        if passed_over.is_empty() {
            if !existing.is_empty() {
                return Vec::new();
            }
            let unknown_project = None;
            return vec![CollidingFact::NoVersion {
                package,
                range,
                known,
                unknown_project,
                passed_over,
            }];
        }
        let mut kinds: Vec<Vec<Rejection>> = Vec::new();
        for rejection in passed_over {
            match kinds
                .iter_mut()
                .find(|kind| kind.first().is_some_and(|first| first.why.is_like(&rejection.why)))
            {
                Some(kind) => kind.push(rejection),
                None => kinds.push(vec![rejection]),
            }
        }
        let fact = |passed_over| CollidingFact::NoVersion {
            package,
            range: range.clone(),
            known: known.clone(),
            unknown_project: None,
            passed_over,
        };
        kinds.into_iter().map(fact).collect()
    }
}

/// Where an edge stands among those of one argument: of what is said in words the most lenient says most; file names
/// come after it and speak for the newest release.
///
/// A key and no comparison of pairs: kinds that are compared by different rules have no order.
fn telling(edge: &Constraint) -> (bool, Option<&Version>, Reverse<&Version>) {
    let from_tags = matches!(edge.reason, Reason::WheelTag { .. });
    let lenient = if from_tags { None } else { lowest(&edge.range) };
    (from_tags, lenient, Reverse(&edge.subject.1))
}

/// The lower end of a range, for finding the most lenient of several.
fn lowest(range: &Range) -> Option<&Version> {
    match range.iter().next()?.0 {
        std::ops::Bound::Included(version) | std::ops::Bound::Excluded(version) => Some(version),
        std::ops::Bound::Unbounded => None,
    }
}

impl CollidingFact {
    /// Machine first, then what the layers need of each other, then the wishes of env.toml, then distributions.
    fn place(&self) -> (u8, Package, Package) {
        let is_dist = |package: &Package| package.dist_name().is_some();
        match self {
            Self::Needs { subject: Package::Root, package, .. } => {
                (if is_dist(package) { 2 } else { 0 }, *package, *package)
            }
            Self::Needs { subject, package, .. } => {
                let place = match (is_dist(subject), is_dist(package)) {
                    (false, _) => 1,
                    (true, true) => 3,
                    // Old releases for old Pythons are what is least surprising.
                    (true, false) if *package == Package::Python => 5,
                    (true, false) => 4,
                };
                (place, *subject, *package)
            }
            Self::Unusable { package, .. } => (6, *package, *package),
            Self::NoVersion { package, .. } => (7, *package, *package),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::constraint::Force;
    use crate::version::{SourceId, SystemVersion};

    fn edge((from_tags, bound, subject): (bool, Option<u32>, u32)) -> Constraint {
        let number = |n: u32| SystemVersion::new(n.into(), 0);
        let build = DistVersion::new(pep440_rs::Version::new([u64::from(subject)]), SourceId(0));
        Constraint {
            subject: (Package::Root, Version::Dist(build)),
            package: Package::Glibc,
            range: bound
                .map_or_else(Range::full, |n| Range::higher_than(Version::System(number(n)))),
            force: Force::Requires,
            reason: if from_tags {
                Reason::WheelTag { text: "tags".into() }
            } else {
                Reason::Extra
            },
        }
    }

    proptest! {
        // Three kinds of edges in one list: those from tags went by the release, the others by what they allow, and a pair
        // of both kinds by what they allow as well. Sorting ended with a panic.
        #[test]
        fn edges_of_every_kind_have_one_order(
            edges in prop::collection::vec((any::<bool>(), prop::option::of(0_u32..4), 0_u32..4), 0..40)
        ) {
            let mut edges: Vec<Constraint> = edges.into_iter().map(edge).collect();
            edges.sort_by(|a, b| telling(a).cmp(&telling(b)));
            for pair in edges.windows(2) {
                let [a, b] = pair else { continue };
                prop_assert!(telling(a) <= telling(b));
                let newer = matches!(a.reason, Reason::WheelTag { .. }) || a.range == b.range;
                let same_kind = matches!(b.reason, Reason::WheelTag { .. })
                    == matches!(a.reason, Reason::WheelTag { .. });
                prop_assert!(!(newer && same_kind) || a.subject.1 >= b.subject.1);
            }
        }
    }
}
