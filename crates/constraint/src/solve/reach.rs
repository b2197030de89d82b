//! Which of the known indexes are worth asking.
//!
//! PyPI holds one CUDA build of each torch; PyTorch's own indexes hold the others, one index for each accelerator. They
//! are asked only when one of their builds is wanted: because env.toml says so, because the build on PyPI does not run on
//! this machine, or because nothing else has an answer.

use crate::machine::Platform;
use crate::name::Name;
use crate::package::Package;
use crate::rules;
use crate::solve::conflict::Conflict;
use crate::solve::problem::{Problem, Source, SourceKind};
use crate::version::{SourceId, SystemVersion, Version};

/// How far a solve reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The general indexes, and what env.toml pins.
    General,
    /// Also the accelerators' own indexes, as far as their builds can run on the machine.
    Accelerators,
}

/// Where a distribution may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// The first of these that has the name is the only one it is taken from, so that a project of the same name
    /// elsewhere, with a higher version perhaps, is never taken by accident.
    pub(super) general: Vec<SourceId>,
    /// All of these, beside it: the indexes that exist for this distribution.
    pub(super) special: Vec<SourceId>,
}

impl Problem {
    /// Where `name` may come from: the source it is pinned to, else the indexes that are known for it and PyPI, else the
    /// first of the general ones.
    pub(super) fn places(&self, name: Name, reach: Reach) -> Places {
        if let Some(pinned) = self.pinned_sources.get(&name) {
            return Places { general: vec![*pinned], special: Vec::new() };
        }
        let open = || self.sources.iter().filter(|source| !source.explicit);
        let has_own = open().any(|source| source.serves_only(name));
        let mut general: Vec<&Source> = open().filter(|source| source.only.is_none()).collect();
        if has_own {
            // A private index that lists a torch of its own does not come before PyPI and PyTorch's indexes.
            general.sort_by_key(|source| source.kind != SourceKind::PyPi);
        }
        let mut special: Vec<&Source> = match reach {
            Reach::General => Vec::new(),
            Reach::Accelerators => {
                open().filter(|source| source.serves_only(name) && self.can_use(source)).collect()
            }
        };
        special.sort_by_key(|source| self.preference(source));
        let ids = |sources: Vec<&Source>| sources.into_iter().map(|source| source.id).collect();
        Places { general: ids(general), special: ids(special) }
    }

    /// True when some index could have other builds of what is asked for.
    pub(super) fn has_accelerators(&self) -> bool {
        self.sources
            .iter()
            .any(|source| !source.explicit && source.only.is_some() && self.can_use(source))
    }

    /// True when a distribution with builds on the accelerators' indexes takes part in a conflict.
    pub(super) fn concerns_accelerators(&self, conflict: &Conflict) -> bool {
        conflict.distributions().into_iter().any(|name| {
            self.sources.iter().any(|source| !source.explicit && source.serves_only(name))
        })
    }

    /// Whether env.toml itself makes the accelerators' indexes necessary.
    pub(super) fn needs_accelerators(&self) -> bool {
        let family = |name| self.sources.iter().any(|source| source.serves_only(name));
        let labelled = self
            .requirements
            .iter()
            .any(|requirement| requirement.local_label().is_some() && family(requirement.name));
        let no_gpu = self.machine.gpus.as_ref().is_some_and(Vec::is_empty);
        let windows_gpu = self.machine.platform == Platform::WindowsX86_64
            && (self.machine.driver.is_some()
                || self.machine.gpus.as_ref().is_some_and(|g| !g.is_empty()));
        let concerned = || self.requirements.iter().any(|requirement| family(requirement.name));
        labelled || self.backends.is_some() || ((no_gpu || windows_gpu) && concerned())
    }

    /// Whether builds from this source can run on the machine at all.
    pub(super) fn can_use(&self, source: &Source) -> bool {
        let SourceKind::PyTorch { backend } = &source.kind else { return true };
        if let Some(allowed) = &self.backends {
            return allowed.contains(backend);
        }
        let labels: Vec<String> = self
            .requirements
            .iter()
            .filter_map(|requirement| requirement.local_label())
            .filter(|label| {
                self.sources
                    .iter()
                    .any(|s| matches!(&s.kind, SourceKind::PyTorch { backend } if backend == label))
            })
            .collect();
        if !labels.is_empty() {
            return labels.contains(backend);
        }
        let Some(cuda) = rules::torch::backend_cuda(backend) else { return false };
        let has_gpu = match &self.machine.gpus {
            Some(gpus) => !gpus.is_empty(),
            None => self.machine.driver.is_some(),
        };
        if cuda == SystemVersion::new(0, 0) {
            return !has_gpu;
        }
        if self.machine.gpus.as_ref().is_some_and(Vec::is_empty) {
            return false;
        }
        self.cuda_runs(&cuda)
    }

    /// Whether a CUDA runtime starts on the machine's driver and GPUs.
    pub(super) fn cuda_runs(&self, cuda: &SystemVersion) -> bool {
        let facts = super::layers::MachineFacts::new(self);
        let version = Version::System(cuda.clone());
        let wished = self.machine.cuda.as_ref().is_none_or(|(_, range)| range.contains(&version));
        wished
            && rules::layer_constraints(Package::Cuda, &version, &self.machine)
                .iter()
                .all(|constraint| facts.holds(constraint.package, &constraint.range) != Some(false))
    }

    /// How much a source is preferred among those that have the same public version: smaller is better.
    ///
    /// What PyPI has comes first, unless there is no GPU; then the newest CUDA that the driver fully supports; then the
    /// newest that it starts by minor-version compatibility; the CPU last.
    pub(super) fn preference(&self, source: &Source) -> (u8, std::cmp::Reverse<SystemVersion>) {
        let zero = SystemVersion::new(0, 0);
        let SourceKind::PyTorch { backend } = &source.kind else {
            return (1, std::cmp::Reverse(zero));
        };
        let Some(cuda) = rules::torch::backend_cuda(backend) else {
            return (9, std::cmp::Reverse(zero));
        };
        let no_gpu = self.machine.gpus.as_ref().is_some_and(Vec::is_empty);
        let place = if cuda == zero {
            if no_gpu { 0 } else { 4 }
        } else {
            let full = self
                .machine
                .driver
                .as_ref()
                .and_then(|driver| rules::driver::cuda_of_driver(driver, self.machine.platform))
                .is_none_or(|supported| cuda <= supported);
            if full { 2 } else { 3 }
        };
        (place, std::cmp::Reverse(cuda))
    }
}
