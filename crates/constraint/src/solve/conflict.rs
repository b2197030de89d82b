//! A proof that there is no answer, as data: the facts that collide, each with its source.
//!
//! PubGrub's proof is a tree whose leaves are facts and whose inner nodes are deductions. People need the leaves: what
//! the machine is, what each package needs and who says so. Leaves about the same pair of packages are folded over their
//! versions, so that twenty releases of torch become one line.

mod words;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use pubgrub::{DerivationTree, Derived, External};

use crate::constraint::{Constraint, Reason};
use crate::name::Name;
use crate::package::Package;
use crate::solve::candidates::Rejection;
use crate::solve::provider::{Provider, Unusable};
use crate::version::{Range, Version};

pub use words::{describe, range_text};

type Tree = DerivationTree<Package, Range, Unusable>;

/// Why no environment satisfies a problem.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The facts that collide, machine first.
    pub facts: Vec<CollidingFact>,
    /// Builds that were passed over and would have mattered.
    pub rejections: Vec<Rejection>,
    /// Set when other indexes might have had an answer and could not be asked: why not.
    pub unasked: Option<String>,
}

/// One fact of the proof.
#[derive(Clone, Debug)]
pub enum CollidingFact {
    /// A package at some versions needs another.
    Needs {
        /// Who needs it.
        subject: Package,
        /// Its versions of which this is true, folded.
        versions: Range,
        /// All of its versions that are known, ascending, for printing.
        known: Vec<Version>,
        /// What is needed.
        package: Package,
        /// Any of these would do for at least one of the versions.
        range: Range,
        /// Who says so: the distinct reasons, newest subject first.
        reasons: Vec<(Version, Reason)>,
    },
    /// There is no version that could be chosen.
    NoVersion {
        /// The package.
        package: Package,
        /// Where nothing was found.
        range: Range,
        /// What exists instead, ascending.
        known: Vec<Version>,
        /// No source has the project at all.
        unknown_project: bool,
    },
    /// Builds that cannot be used, for a reason of their own.
    Unusable {
        /// The package.
        package: Package,
        /// Which versions.
        versions: Range,
        /// Why.
        why: Arc<str>,
    },
}

impl Conflict {
    pub(super) fn new(provider: &Provider, tree: &Tree) -> Self {
        let mut leaves = Leaves::default();
        leaves.gather(tree);
        leaves.finish(provider)
    }

    /// The distributions that take part, in the order of the facts.
    #[must_use]
    pub fn distributions(&self) -> Vec<Name> {
        let mut names = Vec::new();
        for fact in &self.facts {
            let packages = match fact {
                CollidingFact::Needs { subject, package, .. } => vec![*subject, *package],
                CollidingFact::NoVersion { package, .. }
                | CollidingFact::Unusable { package, .. } => vec![*package],
            };
            for name in packages.into_iter().filter_map(|package| package.dist_name()) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

/// The leaves of a proof, folded by pairs of packages.
#[derive(Default)]
struct Leaves {
    needs: BTreeMap<(Package, Package), (Range, Vec<Range>)>,
    none: BTreeMap<Package, Range>,
    unusable: Vec<(Package, Range, Arc<str>)>,
    seen: std::collections::BTreeSet<usize>,
}

impl Leaves {
    fn gather(&mut self, tree: &Tree) {
        // The tree can be deep; a stack of our own does not overflow.
        let mut open = vec![tree];
        while let Some(node) = open.pop() {
            match node {
                DerivationTree::Derived(Derived { cause1, cause2, shared_id, .. }) => {
                    if shared_id.is_some_and(|id| !self.seen.insert(id)) {
                        continue;
                    }
                    open.push(cause1);
                    open.push(cause2);
                }
                DerivationTree::External(external) => self.leaf(external),
            }
        }
    }

    fn leaf(&mut self, external: &External<Package, Range, Unusable>) {
        match external {
            External::NotRoot(..) => {}
            External::NoVersions(package, range) => {
                let all = self.none.entry(*package).or_insert_with(Range::empty);
                *all = all.union(range);
            }
            External::Custom(package, range, why) => {
                self.unusable.push((*package, range.clone(), Arc::clone(why)));
            }
            External::FromDependencyOf(subject, versions, package, range) => {
                let (all, ranges) = self
                    .needs
                    .entry((*subject, *package))
                    .or_insert_with(|| (Range::empty(), Vec::new()));
                *all = all.union(versions);
                if !ranges.contains(range) {
                    ranges.push(range.clone());
                }
            }
        }
    }

    fn finish(self, provider: &Provider) -> Conflict {
        let mut facts = Vec::new();
        for ((subject, package), (versions, ranges)) in self.needs {
            // An extra always has the version of its distribution: nobody learns from that.
            if subject.dist_name().is_some() && subject.dist_name() == package.dist_name() {
                continue;
            }
            let mut reasons: Vec<(Version, Reason)> = Vec::new();
            let mut edges: Vec<Rc<Constraint>> = provider
                .reasons(subject, package)
                .into_iter()
                .filter(|edge| versions.contains(&edge.subject.1) && ranges.contains(&edge.range))
                .collect();
            edges.sort_by(|a, b| b.subject.1.cmp(&a.subject.1));
            for edge in edges {
                if !reasons.iter().any(|(_, reason)| *reason == edge.reason) {
                    reasons.push((edge.subject.1.clone(), edge.reason.clone()));
                }
            }
            let range = ranges.iter().fold(Range::empty(), |all, range| all.union(range));
            let known = provider.known_versions(subject);
            facts.push(CollidingFact::Needs { subject, versions, known, package, range, reasons });
        }
        for (package, range) in self.none {
            let known = provider.known_versions(package);
            // That there is nothing beside the known versions proves nothing to a reader.
            if !known.is_empty() && !known.iter().any(|version| range.contains(version)) && facts.iter().any(|fact| matches!(fact, CollidingFact::Needs { subject, .. } if *subject == package)) {
                continue;
            }
            let unknown_project = package.dist_name().is_some() && known.is_empty();
            facts.push(CollidingFact::NoVersion { package, range, known, unknown_project });
        }
        for (package, versions, why) in self.unusable {
            facts.push(CollidingFact::Unusable { package, versions, why });
        }
        facts.sort_by_key(CollidingFact::place);
        let mut conflict = Conflict { facts, rejections: Vec::new(), unasked: None };
        let names = conflict.distributions();
        conflict.rejections = provider.take_rejections();
        conflict.rejections.retain(|rejection| names.contains(&rejection.name));
        conflict
    }
}

impl CollidingFact {
    /// Machine first, then what the layers need of each other, then distributions, then the wishes of env.toml.
    fn place(&self) -> (u8, Package, Package) {
        let is_dist = |package: &Package| package.dist_name().is_some();
        match self {
            Self::Needs { subject: Package::Root, package, .. } => {
                (if is_dist(package) { 1 } else { 0 }, *package, *package)
            }
            Self::Needs { subject, package, .. } => {
                let place = match (is_dist(subject), is_dist(package)) {
                    (false, _) => 2,
                    (true, true) => 4,
                    (true, false) => 3,
                };
                (place, *subject, *package)
            }
            Self::NoVersion { package, .. } => (6, *package, *package),
            Self::Unusable { package, .. } => (5, *package, *package),
        }
    }
}
