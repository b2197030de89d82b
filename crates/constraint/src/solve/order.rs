//! In which order packages are decided, and which version is taken.

use std::cmp::Reverse;

use crate::name::Name;
use crate::package::Package;
use crate::solve::layers;
use crate::solve::provider::{Halt, Provider};
use crate::solve::walks::Turn;
use crate::version::{DistVersion, Range, Version};

/// Conflicts after which a distribution is decided before its peers.
const CONTESTED: u32 = 5;

/// Which package is decided next; the greatest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Priority {
    tier: Tier,
    conflicts: u32,
    order: Reverse<u32>,
}

/// From what is decided last to what is decided first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    /// The driver and glibc, when they are not given: the lowest that everything else allows.
    Driver,
    /// Distributions that nothing requires so far.
    PerhapsAbsent,
    /// CUDA and cuDNN while several versions are possible: the libraries' own versions settle them.
    Layer,
    /// Distributions.
    Dist,
    /// Distributions that keep taking part in conflicts.
    Contested,
    /// Distributions that walked through their releases because of others that were decided before them.
    First,
    /// Distributions whose pin is being moved: how far is for them to say.
    Moving,
    /// Whatever has one possible version, or none any more: that is a conflict, and nothing is built on it.
    Single,
}

impl Provider {
    /// The priority of a package; called whenever one appears or its range changes, so fetching starts here.
    pub(super) fn priority(&self, package: Package, range: &Range, conflicts: u32) -> Priority {
        let mut order = self.order_of(package);
        self.walks.borrow_mut().is_open(package, range);
        let tier = match package {
            Package::Dist { name, extra } => {
                if range.contains(&Version::Dist(DistVersion::absent())) {
                    Tier::PerhapsAbsent
                } else {
                    self.expect(name, extra, range);
                    if is_single(range) || self.is_exhausted(name, range) {
                        Tier::Single
                    } else if self.problem.policy.nearest.contains_key(&name) {
                        Tier::Moving
                    } else if let Some(rank) = self.walks.borrow().ranks().get(&name) {
                        order = *rank;
                        Tier::First
                    } else if conflicts >= CONTESTED {
                        Tier::Contested
                    } else {
                        Tier::Dist
                    }
                }
            }
            // What the machine leaves open takes the lowest version that everything else allows.
            Package::Driver | Package::Glibc if self.facts().get(package).is_none() => Tier::Driver,
            // A CUDA that the machine cannot start is a conflict at once, before anything is built on it.
            Package::Cuda if self.starts_no_cuda(range) => Tier::Single,
            Package::Cuda | Package::Cudnn | Package::Backend if range.as_singleton().is_none() => {
                Tier::Layer
            }
            _ => Tier::Single,
        };
        // Only among the contested does the number of conflicts count: elsewhere the order of env.toml decides.
        let conflicts = if tier == Tier::Contested { conflicts } else { 0 };
        Priority { tier, conflicts, order: Reverse(order) }
    }

    /// The version that is tried for a package.
    pub(super) fn choose(&self, package: Package, range: &Range) -> Result<Option<Version>, Halt> {
        if self.walks.borrow_mut().must_start_again() {
            return Err(Halt::Walking);
        }
        self.count_decision();
        let chosen = match package {
            Package::Dist { name, extra } => self.choose_dist(name, extra.is_some(), range)?,
            _ => match self.facts().get(package) {
                Some(version) => range.contains(version).then(|| version.clone()),
                None => layers::choose(package, range),
            },
        };
        if let Some(version) = &chosen {
            let turn = self.turn_of(package, range);
            self.walks.borrow_mut().decided(package, version, turn);
        }
        Ok(chosen)
    }

    /// Whether no release of a project is left in a range, as far as is known without asking for it.
    fn is_exhausted(&self, name: Name, range: &Range) -> bool {
        range.is_empty()
            || self
                .known_candidates(name)
                .is_some_and(|c| c.in_range(range, false).next().is_none())
    }

    /// Whether another order would have decided a package earlier or later.
    fn turn_of(&self, package: Package, range: &Range) -> Turn {
        let Package::Dist { name, .. } = package else { return Turn::Forced };
        let is_forced = range.contains(&Version::Dist(DistVersion::absent()))
            || is_single(range)
            || self.problem.policy.nearest.contains_key(&name);
        if is_forced {
            Turn::Forced
        } else if self.walks.borrow().ranks().contains_key(&name) {
            Turn::Moved
        } else {
            Turn::Peer
        }
    }
}

/// True for `==V`: one version, with any of its local labels.
fn is_single(range: &Range) -> bool {
    if range.as_singleton().is_some() {
        return true;
    }
    let Some((Version::Dist(low), Version::Dist(high))) = bounds(range) else { return false };
    high.is_after_locals() && low.version() == high.version()
}

fn bounds(range: &Range) -> Option<(&Version, &Version)> {
    let (low, high) = range.bounding_range()?;
    match (low, high) {
        (std::ops::Bound::Included(low), std::ops::Bound::Included(high)) => Some((low, high)),
        _ => None,
    }
}
