//! The leaves of PubGrub's proof: the facts it rests on, without the deductions.

use std::collections::{BTreeMap, BTreeSet};

use pubgrub::{DerivationTree, Derived, External};

use crate::package::Package;
use crate::solve::provider::Unusable;
use crate::version::Range;

pub(super) type Tree = DerivationTree<Package, Range, Unusable>;

/// What a proof rests on, folded by pairs of packages.
#[derive(Default)]
pub(super) struct Leaves {
    /// Who needs whom: the versions of the subject, each set with the range that it asks for.
    pub(super) needs: BTreeMap<(Package, Package), Vec<(Range, Range)>>,
    /// Where there is no version that could be chosen.
    pub(super) none: BTreeMap<Package, Range>,
    /// Versions that cannot be used, by reason.
    pub(super) unusable: BTreeMap<(Package, Unusable), Range>,
}

impl Leaves {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut leaves = Self::default();
        let mut seen = BTreeSet::new();
        // The tree can be deep; a stack of our own does not overflow.
        let mut open = vec![tree];
        while let Some(node) = open.pop() {
            match node {
                DerivationTree::Derived(Derived { cause1, cause2, shared_id, .. }) => {
                    if shared_id.is_some_and(|id| !seen.insert(id)) {
                        continue;
                    }
                    open.push(cause1);
                    open.push(cause2);
                }
                DerivationTree::External(external) => leaves.add(external),
            }
        }
        leaves
    }

    /// Adds that the subject of a pair needs a range at these versions.
    pub(super) fn need(&mut self, pair: (Package, Package), versions: &Range, range: &Range) {
        let edges = self.needs.entry(pair).or_default();
        match edges.iter_mut().find(|(_, known)| known == range) {
            Some((all, _)) => *all = all.union(versions),
            None => edges.push((versions.clone(), range.clone())),
        }
    }

    fn add(&mut self, external: &External<Package, Range, Unusable>) {
        match external {
            External::NotRoot(..) => {}
            External::NoVersions(package, range) => unite(self.none.entry(*package), range),
            External::Custom(package, range, why) => {
                unite(self.unusable.entry((*package, why.clone())), range);
            }
            External::FromDependencyOf(subject, versions, package, range) => {
                self.need((*subject, *package), versions, range);
            }
        }
    }
}

fn unite<K: Ord>(entry: std::collections::btree_map::Entry<'_, K, Range>, range: &Range) {
    let all = entry.or_insert_with(Range::empty);
    *all = all.union(range);
}
