//! In which order packages are decided, and which version is taken.

use std::cmp::Reverse;

use crate::catalog::CatalogError;
use crate::package::Package;
use crate::solve::layers;
use crate::solve::provider::Provider;
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
    /// The driver, glibc and macOS, when they are not given: the lowest that everything else allows.
    Driver,
    /// Distributions that nothing requires so far.
    PerhapsAbsent,
    /// CUDA and cuDNN while several versions are possible: the libraries' own versions settle them.
    Layer,
    /// Distributions.
    Dist,
    /// Distributions that keep taking part in conflicts.
    Contested,
    /// Distributions whose pin is being moved: how far is for them to say.
    Moving,
    /// Whatever has one possible version.
    Single,
}

impl Provider {
    /// The priority of a package; called whenever one appears or its range changes, so fetching starts here.
    pub(super) fn priority(&self, package: Package, range: &Range, conflicts: u32) -> Priority {
        let order = self.order_of(package);
        let tier = match package {
            Package::Dist { name, extra } => {
                if range.contains(&Version::Dist(DistVersion::absent())) {
                    Tier::PerhapsAbsent
                } else {
                    self.expect(name, extra, range);
                    if is_single(range) {
                        Tier::Single
                    } else if self.problem.policy.nearest.contains_key(&name) {
                        Tier::Moving
                    } else if conflicts >= CONTESTED {
                        Tier::Contested
                    } else {
                        Tier::Dist
                    }
                }
            }
            // What the machine leaves open takes the lowest version that everything else allows.
            Package::Driver | Package::Glibc | Package::Macos
                if self.facts().get(package).is_none() =>
            {
                Tier::Driver
            }
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
    pub(super) fn choose(
        &self,
        package: Package,
        range: &Range,
    ) -> Result<Option<Version>, CatalogError> {
        self.count_decision();
        match package {
            Package::Dist { name, extra } => self.choose_dist(name, extra.is_some(), range),
            _ => match self.facts().get(package) {
                Some(version) => Ok(range.contains(version).then(|| version.clone())),
                None => Ok(layers::choose(package, range)),
            },
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
