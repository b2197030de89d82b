//! Which facts of a proof are needed: what can be left out without an answer appearing is left out.
//!
//! A proof that PubGrub finds first is rarely the shortest. Its facts are a small closed world: solving that world again
//! with one group of facts removed takes well under a millisecond and reads no index, so the facts are reduced to a set of
//! which none can go. Everything in the set then really takes part in the conflict.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Bound;

use pubgrub::{Dependencies, DependencyProvider, PackageResolutionStatistics, PubGrubError};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::matrix;
use crate::name::Name;
use crate::package::Package;
use crate::rules::library;
use crate::solve::candidates::PassedOver;
use crate::solve::conflict::leaves::Leaves;
use crate::solve::layers;
use crate::solve::provider::Provider;
use crate::version::{DistVersion, Range, SourceId, Version};

/// So many trials at most: proofs with more groups of facts than this are not reduced to the end.
const TRIALS: usize = 400;

/// Drops what the proof does not need.
pub(super) fn reduce(provider: &Provider, mut leaves: Leaves) -> Leaves {
    add_layers(provider, &mut leaves);
    let mut world = World::new(provider, leaves);
    if world.has_answer() {
        // The little world leaves something out that the proof used: better a long proof than a wrong one.
        return world.leaves;
    }
    let mut trials = 0;
    let mut pairs: Vec<(Package, Package)> = world.leaves.needs.keys().copied().collect();
    pairs.retain(|pair| !is_tie(pair) && !world.is_machine(pair));
    pairs.sort_by_key(|pair| (Reverse(world.ease_of_dropping(pair)), *pair));
    world.drop_needless(&pairs, false, &mut trials);
    world.reduce_edges(&mut trials);
    // What the machine is matters where something asks for something else.
    let pairs: Vec<(Package, Package)> = world.leaves.needs.keys().copied().collect();
    for pair in &pairs {
        if world.is_machine(pair)
            && !pairs
                .iter()
                .any(|(subject, package)| *package == pair.1 && *subject != Package::Root)
        {
            world.leaves.needs.remove(pair);
        }
    }
    let reasons: Vec<_> = world.leaves.unusable.keys().cloned().collect();
    for key in reasons {
        let Some(removed) = world.leaves.unusable.remove(&key) else { continue };
        if world.has_answer() {
            world.leaves.unusable.insert(key, removed);
        }
    }
    let packages: Vec<Package> = world.leaves.none.keys().copied().collect();
    for package in packages {
        let Some(removed) = world.leaves.none.remove(&package) else { continue };
        if world.has_answer() || !world.exists(package, &removed) {
            world.leaves.none.insert(package, removed);
        }
    }
    world.leaves
}

/// Adds what the builds of the proof are known to need of the layers in it. The solver may have met the wheel of a library
/// first; that a build needs another CUDA says more, and then the wheel can go.
fn add_layers(provider: &Provider, leaves: &mut Leaves) {
    let is_layer = |package: &Package| package.dist_name().is_none() && *package != Package::Root;
    let packages = |pick: fn(&(Package, Package)) -> Package| -> BTreeSet<Package> {
        leaves.needs.keys().map(pick).collect()
    };
    let subjects = packages(|(subject, _)| *subject);
    let layers = packages(|(_, package)| *package);
    for subject in subjects.iter().filter(|subject| subject.dist_name().is_some()) {
        for layer in layers.iter().filter(|package| is_layer(package)) {
            for edge in provider.reasons(*subject, *layer) {
                let version = Range::singleton(edge.subject.1.clone());
                leaves.need((*subject, *layer), &version, &edge.range);
            }
        }
    }
    // Who owns an import package owns it in every release, also in those that were never looked at.
    let limited = |name: Name| !matrix::owners().moved.of(name).is_empty();
    for ((subject, package), edges) in &mut leaves.needs {
        let is_owner = matches!(package, Package::Provider(_))
            && subject.dist_name().is_some_and(|name| !limited(name));
        if is_owner && let [(versions, _)] = edges.as_mut_slice() {
            *versions = Range::full();
        }
    }
}

/// An extra always has the version of its distribution: that is no fact of its own.
fn is_tie((subject, package): &(Package, Package)) -> bool {
    matches!((subject, package),
        (Package::Dist { name, extra: Some(_) }, Package::Dist { name: other, extra: None }) if name == other)
}

/// The facts of a proof as PubGrub sees them.
struct World<'a> {
    leaves: Leaves,
    provider: &'a Provider,
    known: FxHashMap<Name, Vec<Version>>,
    /// The known versions of a package outside its range in `leaves.none`: those ranges come and go, but do not change.
    existing: RefCell<FxHashMap<Package, Vec<Version>>>,
}

impl<'a> World<'a> {
    fn new(provider: &'a Provider, leaves: Leaves) -> Self {
        let rejected: FxHashSet<(Name, DistVersion)> = provider
            .rejections()
            .iter()
            .filter(|rejection| !matches!(rejection.why, PassedOver::NoFile(_)))
            .map(|rejection| (rejection.name, rejection.version.clone()))
            .collect();
        let mut known: FxHashMap<Name, Vec<Version>> = FxHashMap::default();
        let packages = leaves.needs.keys().flat_map(|(subject, package)| [*subject, *package]);
        for package in packages.chain(leaves.none.keys().copied()) {
            let Some(name) = package.dist_name() else { continue };
            known.entry(name).or_insert_with(|| {
                let mut versions = provider.known_versions(package);
                versions.retain(|version| {
                    version
                        .as_dist()
                        .is_some_and(|build| !rejected.contains(&(name, build.clone())))
                });
                versions
            });
        }
        Self { leaves, provider, known, existing: RefCell::default() }
    }

    /// Drops the pairs without which there is still no answer, as if they were tried one by one in their order: a run of
    /// pairs that can go together needs one trial, and most can. `needed` says that some of them are known to be needed.
    fn drop_needless(&mut self, pairs: &[(Package, Package)], needed: bool, trials: &mut usize) {
        if pairs.is_empty() || *trials >= TRIALS || needed && pairs.len() == 1 {
            return;
        }
        if !needed {
            *trials += 1;
            let removed: Vec<_> =
                pairs.iter().filter_map(|pair| self.leaves.needs.remove_entry(pair)).collect();
            if !self.has_answer() {
                return;
            }
            self.leaves.needs.extend(removed);
        }
        if pairs.len() > 1 {
            let (first, second) = pairs.split_at(pairs.len() / 2);
            let before = self.leaves.needs.len();
            self.drop_needless(first, false, trials);
            // When all of the first half could go, something in the second is what keeps the whole from going.
            let first_went = before - self.leaves.needs.len() == first.len();
            self.drop_needless(second, first_went, trials);
        }
    }

    /// Drops, of each pair, what some versions need beside what already decides; the loosest first.
    fn reduce_edges(&mut self, trials: &mut usize) {
        let pairs: Vec<(Package, Package)> = self.leaves.needs.keys().copied().collect();
        for pair in pairs.into_iter().filter(|pair| !is_tie(pair)) {
            let edges = self.leaves.needs.get(&pair).cloned().unwrap_or_default();
            if edges.len() < 2 {
                continue;
            }
            let looseness = |range: &Range| edges.iter().filter(|e| e.1.subset_of(range)).count();
            let mut ranges: Vec<&Range> = edges.iter().map(|(_, range)| range).collect();
            ranges.sort_by_key(|range| Reverse(looseness(range)));
            for range in ranges {
                if *trials == TRIALS {
                    return;
                }
                *trials += 1;
                let all = self.leaves.needs.get(&pair).cloned().unwrap_or_default();
                let fewer = all.iter().filter(|edge| edge.1 != *range).cloned().collect();
                self.leaves.needs.insert(pair, fewer);
                if self.has_answer() {
                    self.leaves.needs.insert(pair, all);
                }
            }
        }
    }

    fn has_answer(&self) -> bool {
        let solved = pubgrub::resolve(self, Package::Root, layers::root_version());
        !matches!(solved, Err(PubGrubError::NoSolution(_)))
    }

    /// Whether the pair says what the machine is: the little world has no other machine.
    fn is_machine(&self, (subject, package): &(Package, Package)) -> bool {
        *subject == Package::Root && self.provider.facts().get(*package).is_some()
    }

    /// Whether a known version lies in the range.
    fn exists(&self, package: Package, range: &Range) -> bool {
        let known = package.dist_name().and_then(|name| self.known.get(&name));
        known.is_none_or(|known| known.iter().any(|version| range.contains(version)))
    }

    /// Facts that explain little go first: wishes of env.toml that name no version, libraries behind a layer.
    fn ease_of_dropping(&self, (subject, package): &(Package, Package)) -> u8 {
        let is_library = |package: &Package| package.dist_name().is_some_and(library::is_library);
        match (subject, package) {
            (Package::Root, Package::Dist { name, .. }) => {
                let pinned = self.provider.is_pinned(*name);
                if pinned { 8 } else { 9 }
            }
            (Package::Root, _) => 7,
            (subject, package) if is_library(subject) || is_library(package) => 6,
            (Package::Dist { .. }, Package::Backend) => 5,
            (Package::Dist { .. }, Package::Dist { .. }) => 4,
            (Package::Dist { .. }, _) => 3,
            _ => 2,
        }
    }

    fn candidates(&self, package: Package, range: &Range) -> Range {
        match self.leaves.none.get(&package) {
            Some(none) => range.intersection(&none.complement()),
            None => range.clone(),
        }
    }
}

/// The last version in the range, of versions that ascend.
fn newest<'v>(known: &'v [Version], range: &Range) -> Option<&'v Version> {
    let in_run = |(low, high): (&Bound<Version>, &Bound<Version>)| {
        let end = match high {
            Bound::Included(high) => known.partition_point(|version| version <= high),
            Bound::Excluded(high) => known.partition_point(|version| version < high),
            Bound::Unbounded => known.len(),
        };
        let last = known.get(end.checked_sub(1)?)?;
        let inside = match low {
            Bound::Included(low) => last >= low,
            Bound::Excluded(low) => last > low,
            Bound::Unbounded => true,
        };
        inside.then_some(last)
    };
    range.iter().filter_map(in_run).last()
}

/// A version in the range, whether it exists or not.
fn some_version(range: &Range) -> Option<Version> {
    let lowest = |bound: &Bound<Version>| match bound {
        Bound::Included(version) => Some(version.clone()),
        Bound::Excluded(Version::Dist(build)) => Some(Version::Dist(match build.version() {
            Some(version) => DistVersion::after_locals(version.clone()),
            None => DistVersion::new(pep440_rs::Version::new([0]), SourceId(0)),
        })),
        Bound::Excluded(_) | Bound::Unbounded => None,
    };
    range
        .iter()
        .flat_map(|(low, high)| [lowest(low), lowest(high)])
        .flatten()
        .find(|version| range.contains(version))
}

impl DependencyProvider for World<'_> {
    type P = Package;
    type V = Version;
    type VS = Range;
    type Priority = (bool, u32, Reverse<Package>);
    type M = &'static str;
    type Err = Infallible;

    fn prioritize(
        &self,
        package: &Package,
        range: &Range,
        statistics: &PackageResolutionStatistics,
    ) -> Self::Priority {
        let open =
            package.dist_name().is_some() && range.contains(&Version::Dist(DistVersion::absent()));
        (!open, statistics.conflict_count(), Reverse(*package))
    }

    fn choose_version(
        &self,
        package: &Package,
        range: &Range,
    ) -> Result<Option<Version>, Infallible> {
        let absent = Version::Dist(DistVersion::absent());
        let Some(name) = package.dist_name() else {
            return Ok(match self.provider.facts().get(*package) {
                Some(version) => range.contains(version).then(|| version.clone()),
                None => layers::choose(*package, &self.candidates(*package, range)),
            });
        };
        if range.contains(&absent) {
            return Ok(Some(absent));
        }
        if !self.provider.was_asked_for(name) {
            // The proof ended before the project's page was read: any version in the range may exist.
            return Ok(some_version(&self.candidates(*package, range)));
        }
        let known = self.known.get(&name).map(Vec::as_slice).unwrap_or_default();
        let Some(none) = self.leaves.none.get(package) else {
            return Ok(newest(known, range).cloned());
        };
        let mut existing = self.existing.borrow_mut();
        let existing = existing.entry(*package).or_insert_with(|| {
            known.iter().filter(|version| !none.contains(version)).cloned().collect()
        });
        Ok(newest(existing, range).cloned())
    }

    fn get_dependencies(
        &self,
        package: &Package,
        version: &Version,
    ) -> Result<Dependencies<Package, Range, &'static str>, Infallible> {
        let unusable = self.leaves.unusable.iter();
        if unusable.into_iter().any(|((p, _), range)| p == package && range.contains(version)) {
            return Ok(Dependencies::Unavailable("unusable"));
        }
        let mut found: Vec<(Package, Range)> = Vec::new();
        // Pairs are sorted by their subject: those of one subject lie together.
        let from = (*package, Package::Root);
        for ((subject, needed), edges) in self.leaves.needs.range(from..) {
            if subject != package {
                break;
            }
            for (_, range) in edges.iter().filter(|(versions, _)| versions.contains(version)) {
                match found.iter_mut().find(|(known, _)| known == needed) {
                    Some((_, all)) => *all = all.intersection(range),
                    None => found.push((*needed, range.clone())),
                }
            }
        }
        Ok(Dependencies::Available(found.into_iter().collect()))
    }
}
