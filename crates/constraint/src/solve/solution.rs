//! The answer of a solve: one build of each distribution, and the system layers under them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::{File, Metadata, Place};
use crate::constraint::Constraint;
use crate::name::Name;
use crate::package::Package;
use crate::solve::sdists::PassedRelease;
use crate::version::{DistVersion, Version};

/// What will load and run.
#[derive(Clone, Debug)]
pub struct Solution {
    /// One build of each distribution, by name.
    pub builds: BTreeMap<Name, Chosen>,
    /// The version of each system layer that took part.
    pub layers: BTreeMap<Package, Version>,
    /// Every constraint that holds a system layer or a distribution where it is, in a stable order.
    pub constraints: Vec<Constraint>,
    /// Things a person should know: a yanked release that was pinned, an extra that does not exist.
    pub warnings: Vec<String>,
    /// Newer releases that were not taken because what they need could not be known.
    pub passed_over: Vec<PassedRelease>,
    /// How many versions the solver chose on the way.
    pub decisions: u64,
}

/// A build that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its version and source.
    pub version: DistVersion,
    /// The file to install.
    pub file: File,
    /// The extras that are asked for.
    pub extras: BTreeSet<Name>,
    /// Where it is, when a direct reference names it.
    pub place: Option<Place>,
    /// Its METADATA.
    pub metadata: Arc<Metadata>,
    /// The distributions it requires here.
    pub requires: BTreeSet<Name>,
    /// Who requires it: distributions, or `None` for env.toml.
    pub required_by: BTreeSet<Option<Name>>,
    /// The reason given when the release was withdrawn and pinned all the same.
    pub yanked: Option<Arc<str>>,
}

impl Solution {
    /// The version of a layer.
    #[must_use]
    pub fn layer(&self, package: Package) -> Option<&Version> {
        self.layers.get(&package)
    }

    /// The chosen build of a distribution.
    #[must_use]
    pub fn build(&self, name: &str) -> Option<&Chosen> {
        self.builds.get(&Name::new(name).ok()?)
    }
}
