//! Who walks through its releases because of something that was decided before it.
//!
//! PubGrub keeps what was decided first and takes one release after the other of what was decided later. When the newest
//! `dateutil` does not go with what every `boto3` of the last years needs, the order of the two is the difference between
//! one step back and a thousand. Nobody knows the order beforehand, but the walk itself tells: a project of which a few
//! releases were tried in vain goes before its peers, and the solve starts again with all that was read. Each project is
//! moved once, so there is an end. Who is moved later goes before those that were moved earlier: where two walk because
//! of each other, the order that they had stays.

use rustc_hash::FxHashMap;

use crate::name::Name;
use crate::package::Package;
use crate::version::{Range, Version};

/// So many releases of a project are tried in vain before it goes before its peers.
const PATIENCE: usize = 4;

/// Every so many projects that were moved, one release more is tried: what is thrown away grows with them.
const STEADIER: usize = 4;

/// The projects that go before their peers, each with its place among them, the least first.
pub(super) type Ranks = FxHashMap<Name, u32>;

/// The decisions that stand, and how often each project was tried in vain.
#[derive(Default)]
pub(super) struct Walks {
    standing: Vec<Decision>,
    places: FxHashMap<Package, usize>,
    tries: FxHashMap<Name, Tries>,
    /// Whose last decision turned out to be impossible since the last decision of all.
    refused: Vec<Name>,
    ranks: Ranks,
}

struct Decision {
    package: Package,
    /// Whether others could have been decided before it.
    is_free: bool,
}

/// At whose time a version is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing else was possible: no other order would have changed it.
    Forced,
    /// It goes before its peers already.
    Moved,
    /// Among its peers.
    Peer,
}

#[derive(Default)]
struct Tries {
    in_vain: usize,
    /// The version that was decided last, until it is ruled out.
    last: Option<Version>,
    /// Whether that was at a time of its own choice.
    is_peer: bool,
}

impl Walks {
    pub(super) fn new(ranks: Ranks) -> Self {
        Self { ranks, ..Self::default() }
    }

    /// The projects that go before their peers.
    pub(super) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// PubGrub asks for the priority of a package: it is open, and so is everything that was decided after it.
    pub(super) fn is_open(&mut self, package: Package, range: &Range) {
        if let Some(place) = self.places.get(&package).copied() {
            for undone in self.standing.drain(place..) {
                self.places.remove(&undone.package);
            }
        }
        if let Package::Dist { name, extra: None } = package
            && let Some(tries) = self.tries.get_mut(&name)
            && tries.last.take_if(|last| !range.contains(last)).is_some()
            && tries.is_peer
        {
            self.refused.push(name);
        }
    }

    /// Called before each decision. True when a project has to be decided earlier than it was, so that the solve must
    /// start again.
    pub(super) fn must_start_again(&mut self) -> bool {
        let patience = PATIENCE + self.ranks.len() / STEADIER;
        let among_others = self.standing.iter().any(|decision| decision.is_free);
        let before = self.ranks.len();
        for name in self.refused.drain(..) {
            let Some(tries) = self.tries.get_mut(&name) else { continue };
            tries.in_vain += 1;
            if among_others && tries.in_vain >= patience {
                let next = u32::MAX - u32::try_from(self.ranks.len()).unwrap_or(u32::MAX);
                self.ranks.entry(name).or_insert(next);
            }
        }
        self.ranks.len() > before
    }

    /// A version was decided.
    pub(super) fn decided(&mut self, package: Package, version: &Version, turn: Turn) {
        if let Package::Dist { name, extra: None } = package {
            let tries = self.tries.entry(name).or_default();
            tries.last = Some(version.clone());
            tries.is_peer = turn == Turn::Peer;
        }
        self.places.insert(package, self.standing.len());
        self.standing.push(Decision { package, is_free: turn != Turn::Forced });
    }

    /// The version that was decided last cannot be used on this machine, whatever else is decided: that is no walk.
    pub(super) fn is_unfit(&mut self, package: Package) {
        let Package::Dist { name, extra: None } = package else { return };
        if let Some(tries) = self.tries.get_mut(&name) {
            tries.last = None;
        }
    }

    /// Forgets what was decided, not what was learnt of the order.
    pub(super) fn start_again(&mut self) {
        *self = Self::new(std::mem::take(&mut self.ranks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::{DistVersion, SourceId};

    fn build(number: u32) -> Version {
        Version::Dist(DistVersion::new(number.to_string().parse().expect("valid"), SourceId(0)))
    }

    fn dist(name: &str) -> Package {
        Package::dist(Name::new(name).expect("valid"))
    }

    /// Decides `b` after `a`, and has one release after the other ruled out.
    fn walk(walks: &mut Walks, numbers: impl Iterator<Item = u32>, unfit: bool) -> Option<u32> {
        walks.decided(dist("a"), &build(1), Turn::Peer);
        for number in numbers {
            if walks.must_start_again() {
                return Some(number);
            }
            walks.decided(dist("b"), &build(number), Turn::Peer);
            if unfit {
                walks.is_unfit(dist("b"));
            }
            walks.is_open(dist("b"), &Range::strictly_lower_than(build(number)));
        }
        None
    }

    #[test]
    fn a_few_releases_in_vain_are_a_walk() {
        let mut walks = Walks::default();
        assert_eq!(walk(&mut walks, (0..40).rev(), false), Some(35));
        walks.start_again();
        assert_eq!(walks.ranks().get(&Name::new("b").expect("valid")), Some(&u32::MAX));
        // It goes first now; that it walks on is its own affair.
        assert_eq!(walk(&mut walks, (0..40).rev(), false), None);
    }

    #[test]
    fn releases_that_cannot_be_used_here_are_no_walk() {
        assert_eq!(walk(&mut Walks::default(), (0..40).rev(), true), None);
    }

    #[test]
    fn what_is_decided_first_of_all_does_not_walk_because_of_others() {
        let mut walks = Walks::default();
        for number in (0..40).rev() {
            assert!(!walks.must_start_again());
            walks.decided(dist("b"), &build(number), Turn::Peer);
            walks.decided(dist("a"), &build(1), Turn::Peer);
            walks.is_open(dist("b"), &Range::strictly_lower_than(build(number)));
        }
    }
}
