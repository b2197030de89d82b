//! Versions as the solver compares them: of Python distributions, of system layers, and of module owners.

mod dist;
#[cfg(test)]
mod order;
mod specifiers;
mod system;

use std::fmt;

pub use dist::{DistVersion, SourceId, local_label};
pub use specifiers::{
    SystemRangeError, any_build, dist_range, exact_range, if_present, python_minor_range,
    python_range, specifiers_mention_prerelease, system_range, without_upper_bounds,
};
pub use system::{InvalidSystemVersion, SystemVersion};

use crate::name::Name;

/// A set of versions of one package.
pub type Range = pubgrub::Ranges<Version>;

/// A version of any package of the graph. Versions of one package are always of one kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// A version of a system layer, numbered the way NVIDIA numbers things.
    System(SystemVersion),
    /// A build of a Python distribution, or a Python version (both are PEP 440).
    Dist(DistVersion),
    /// The distribution that owns an import package.
    Owner(Name),
}

impl Version {
    /// The distribution build, when this is one.
    #[must_use]
    pub fn as_dist(&self) -> Option<&DistVersion> {
        match self {
            Self::Dist(version) => Some(version),
            Self::System(_) | Self::Owner(_) => None,
        }
    }

    /// The system version, when this is one.
    #[must_use]
    pub fn as_system(&self) -> Option<&SystemVersion> {
        match self {
            Self::System(version) => Some(version),
            Self::Dist(_) | Self::Owner(_) => None,
        }
    }
}

impl From<SystemVersion> for Version {
    fn from(version: SystemVersion) -> Self {
        Self::System(version)
    }
}

impl From<DistVersion> for Version {
    fn from(version: DistVersion) -> Self {
        Self::Dist(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(version) => version.fmt(f),
            Self::Dist(version) => version.fmt(f),
            Self::Owner(name) => name.fmt(f),
        }
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
