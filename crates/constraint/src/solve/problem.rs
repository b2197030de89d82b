//! What is to be solved: one target with its requirements, sources and policies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use pep440_rs::Version as Pep440;

use crate::constraint::{Force, Reason};
use crate::machine::Machine;
use crate::matrix::rows::indexes::Kind;
use crate::name::Name;
use crate::package::Package;
use crate::requirement::Requirement;
use crate::rules::Origin;
use crate::rules::index::Known;
use crate::rules::onnx_model::Model;
use crate::target::Target;
use crate::version::{Range, SourceId};

/// One solve: a machine, what should run on it, and where it may come from.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The interpreter and platform that tags and markers are evaluated for.
    pub target: Target,
    /// The machine with its driver and GPUs.
    pub machine: Machine,
    /// What env.toml asks for, in its order.
    pub requirements: Vec<Arc<Requirement>>,
    /// Bounds that hold only if the distribution is needed anyway.
    pub constraints: Vec<Arc<Requirement>>,
    /// Requirements that replace every other requirement on the same distribution, whoever states it.
    pub overrides: Vec<Arc<Requirement>>,
    /// Distributions that stand in for another one, wherever that one is required.
    pub substitute: BTreeMap<Name, Name>,
    /// The sources, in the order of their preference; `sources[i].id == SourceId(i)`.
    pub sources: Vec<Source>,
    /// The source a distribution must come from, by name.
    pub pinned_sources: BTreeMap<Name, SourceId>,
    /// The accelerators that the torch family may be built for, when env.toml narrows them.
    pub backends: Option<Vec<String>>,
    /// What must hold for the model that is exported and run here, when one is named.
    pub model: Option<Model>,
    /// What else must hold: what a container image asks of the driver, what other targets ask of this one.
    pub bounds: Vec<LayerBound>,
    /// How versions are chosen.
    pub policy: Policy,
}

/// A bound on one package that no build states.
#[derive(Clone, Debug)]
pub struct LayerBound {
    /// The layer, or a distribution.
    pub package: Package,
    /// Which versions will do. For a distribution that need not be there the range holds "not installed" as well.
    pub range: Range,
    /// Whether it has to be there.
    pub force: Force,
    /// Who says so.
    pub reason: Reason,
}

impl Problem {
    /// Nothing but `requirements`, to be taken from `sources`.
    #[must_use]
    pub fn new(
        target: Target,
        machine: Machine,
        requirements: Vec<Arc<Requirement>>,
        sources: Vec<Source>,
    ) -> Self {
        Self {
            target,
            machine,
            requirements,
            constraints: Vec::new(),
            overrides: Vec::new(),
            substitute: BTreeMap::new(),
            sources,
            pinned_sources: BTreeMap::new(),
            backends: None,
            model: None,
            bounds: Vec::new(),
            policy: Policy::default(),
        }
    }

    /// A source by its number; `None` for a URL.
    #[must_use]
    pub fn source(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(usize::from(id.0))
    }

    /// The distribution that is installed where `name` is required.
    #[must_use]
    pub fn substituted(&self, name: Name) -> Name {
        self.substitute.get(&name).copied().unwrap_or(name)
    }
}

/// An index, or another place with files.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its number: the position in [`Problem::sources`].
    pub id: SourceId,
    /// Its name in messages and in the lock: `PyPI`, `corp`, `pytorch-cu118`.
    pub name: String,
    /// Whose index it is, and so what is known of the builds there.
    pub kind: SourceKind,
    /// Asked only for these distributions; `None` means for any.
    pub only: Option<BTreeSet<Name>>,
    /// Never asked unless a distribution is pinned to it.
    pub explicit: bool,
    /// Whether `linux_x86_64` is accepted as a tag for the target (PyTorch's own index tags its wheels so).
    pub plain_linux: bool,
}

/// Whose index a source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// PyPI, or a mirror of it.
    PyPi,
    /// PyTorch's index for one accelerator.
    PyTorch {
        /// Such as `cpu` or `cu128`.
        backend: String,
    },
    /// One of ONNX Runtime's feeds.
    OrtFeed {
        /// As `matrices/indexes.toml` names it.
        name: String,
    },
    /// Any other.
    Other,
}

impl From<&Known> for SourceKind {
    fn from(known: &Known) -> Self {
        match known.row.kind {
            Kind::Pypi => Self::PyPi,
            Kind::Pytorch => Self::PyTorch { backend: known.backend.clone().unwrap_or_default() },
            Kind::Onnxruntime => Self::OrtFeed { name: known.name.clone() },
            Kind::Nvidia => Self::Other,
        }
    }
}

impl Source {
    /// As the rules see it.
    #[must_use]
    pub fn origin(&self) -> Origin<'_> {
        match &self.kind {
            SourceKind::PyPi => Origin::PyPi,
            SourceKind::PyTorch { backend } => Origin::PyTorch { backend },
            SourceKind::OrtFeed { name } => Origin::OrtFeed { name },
            SourceKind::Other => Origin::Other,
        }
    }

    /// True when this source exists for some distributions only, and `name` is one of them.
    pub(super) fn serves_only(&self, name: Name) -> bool {
        self.only.as_ref().is_some_and(|only| only.contains(&name))
    }
}

/// How versions are chosen among those that would do.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Newest or oldest first.
    pub resolution: Resolution,
    /// Which pre-releases may be chosen.
    pub prerelease: Prerelease,
    /// Files uploaded at this moment or later do not exist.
    pub exclude_newer: Option<Timestamp>,
    /// Advice ([`crate::rules::advice`]) is a preference: it binds as long as there is an answer that follows it. Set, it
    /// never does, and is only warned of.
    pub ignore_advice: bool,
    /// Distributions of which is trusted what a source distribution recorded when it was made, in spite of doubts.
    pub trust_recorded: BTreeSet<Name>,
    /// Source distributions whose metadata may be built, which runs their code.
    pub builds: Builds,
    /// Versions to keep where they still hold, from an earlier lock.
    pub preferences: BTreeMap<Name, Pep440>,
    /// Versions whose neighbours are tried first: other builds of the same release, then the releases above it, the
    /// lowest first, then those below it. For finding the smallest move of a pin.
    pub nearest: BTreeMap<Name, Pep440>,
}

/// What may be built to learn its metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Builds {
    /// Nothing.
    #[default]
    None,
    /// These.
    Only(BTreeSet<Name>),
    /// Everything.
    All,
}

impl Builds {
    /// Whether `name` may be built.
    #[must_use]
    pub fn allow(&self, name: Name) -> bool {
        match self {
            Self::None => false,
            Self::Only(names) => names.contains(&name),
            Self::All => true,
        }
    }
}

/// Which version is tried first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolution {
    /// The newest.
    #[default]
    Highest,
    /// The oldest, of everything.
    Lowest,
    /// The oldest of what env.toml names, the newest of the rest.
    LowestDirect,
}

/// Which pre-releases may be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prerelease {
    /// None.
    Disallow,
    /// All, like any other release.
    Allow,
    /// Any, where no other release of the range can be used: a requirement, of env.toml or of METADATA, names one or lies
    /// above the last stable release, or everything else was tried.
    IfNecessary,
    /// Those of a project that env.toml names with a pre-release, where no other release can be used.
    Explicit,
    /// The same as [`Prerelease::IfNecessary`], which takes in what is named.
    #[default]
    IfNecessaryOrExplicit,
}
