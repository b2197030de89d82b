//! Which of the known indexes are worth asking.
//!
//! PyPI holds one CUDA build of each torch; PyTorch's own indexes hold the others, one index for each accelerator, and
//! ONNX Runtime's feeds hold builds of other CUDA versions. They are asked only when one of their builds is wanted: because
//! env.toml says so, because the build on PyPI does not run on this machine, or because nothing else has an answer.

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use crate::machine::Platform;
use crate::matrix;
use crate::name::Name;
use crate::package::Package;
use crate::rules;
use crate::rules::torch::TORCH;
use crate::solve::conflict::Conflict;
use crate::solve::problem::{Problem, Source, SourceKind};
use crate::version::{Range, SourceId, SystemVersion, Version, dist_range};

/// How far a solve reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The general indexes, and what env.toml pins.
    General,
    /// Also the indexes of single distributions that are not built per backend: ONNX Runtime's feeds, NVIDIA's index.
    Feeds,
    /// Also the accelerators' own indexes, as far as their builds can run on the machine.
    Accelerators {
        /// Only those that can have a torch newer than this one.
        above: Option<Pep440>,
    },
    /// The general indexes and the accelerators' own: the builds of PyPI do not use the GPU, whoever brings them along.
    Backends,
    /// Builds for the CPU: the machine has no GPU.
    Cpu,
    /// The index of one accelerator, whose torch an earlier lock pins.
    Kept {
        /// Such as `cu118`.
        backend: String,
        /// Also the indexes of single distributions that are not built per backend.
        feeds: bool,
    },
}

impl Reach {
    /// Every index whose builds can run on the machine.
    pub(super) const ALL: Self = Self::Accelerators { above: None };
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
    pub(super) fn places(&self, name: Name, reach: &Reach) -> Places {
        if let Some(pinned) = self.pinned_sources.get(&name) {
            return Places { general: vec![*pinned], special: Vec::new() };
        }
        let open = || self.sources.iter().filter(|source| !source.explicit);
        let mut general: Vec<&Source> = open().filter(|source| source.only.is_none()).collect();
        if has_own_index(name) {
            // A private index that lists a torch of its own does not come before PyPI and PyTorch's indexes.
            general.sort_by_key(|source| source.kind != SourceKind::PyPi);
        }
        let mut special: Vec<&Source> = open()
            .filter(|source| source.serves_only(name) && self.is_asked(source, reach))
            .collect();
        special.sort_by_key(|source| self.preference(source));
        let ids = |sources: Vec<&Source>| sources.into_iter().map(|source| source.id).collect();
        Places { general: ids(general), special: ids(special) }
    }

    fn is_asked(&self, source: &Source, reach: &Reach) -> bool {
        let SourceKind::PyTorch { backend } = &source.kind else {
            return match reach {
                Reach::General | Reach::Backends | Reach::Cpu => false,
                Reach::Kept { feeds, .. } => *feeds,
                Reach::Feeds | Reach::Accelerators { .. } => true,
            };
        };
        match reach {
            Reach::General | Reach::Feeds => false,
            Reach::Backends => self.can_use(source) && self.may_have_torch(backend, None),
            Reach::Cpu => is_cpu(backend) && self.can_use(source),
            Reach::Kept { backend: kept, .. } => backend == kept && self.can_use(source),
            Reach::Accelerators { above } => {
                self.can_use(source) && self.may_have_torch(backend, above.as_ref())
            }
        }
    }

    /// Whether a build on a source is taken for what its place says it is.
    ///
    /// PyTorch's index of one backend also lists wheels that lie in the root of all its indexes, and wheels of other
    /// labels. Only wheels with the label of the backend count, and on the index for the CPU those without one for macOS
    /// and Arm, which is how these are named there (pytorch/pytorch#193651).
    pub(super) fn takes(&self, source: SourceId, version: &Pep440) -> bool {
        let Some(SourceKind::PyTorch { backend }) = self.source(source).map(|s| &s.kind) else {
            return true;
        };
        match version.local() {
            [] => {
                let platform = self.machine.platform;
                is_cpu(backend) && (platform.is_macos() || platform == Platform::LinuxAarch64)
            }
            [label] => label.to_string() == *backend,
            _ => false,
        }
    }

    /// The same; without a version, whether every build on the source is taken, whichever it is.
    pub(super) fn takes_some(&self, source: SourceId, version: Option<&Pep440>) -> bool {
        match version {
            Some(version) => self.takes(source, version),
            None => {
                !matches!(self.source(source).map(|s| &s.kind), Some(SourceKind::PyTorch { .. }))
            }
        }
    }

    /// The general indexes that are asked for a distribution, in order.
    #[must_use]
    pub fn asked_for(&self, name: Name) -> Vec<SourceId> {
        self.places(name, &Reach::General).general
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

    /// True when a distribution takes part in a conflict that has an index of its own which is not built per backend.
    pub(super) fn concerns_feeds(&self, conflict: &Conflict) -> bool {
        let is_feed = |source: &Source| {
            !source.explicit && !matches!(source.kind, SourceKind::PyTorch { .. })
        };
        conflict.distributions().into_iter().any(|name| {
            self.sources.iter().any(|source| is_feed(source) && source.serves_only(name))
        })
    }

    /// Whether env.toml itself makes the accelerators' indexes necessary.
    pub(super) fn needs_accelerators(&self) -> bool {
        let labelled = !self.labels().is_empty();
        let pypi_lacks_cuda = self.has_gpu() && pypi_is_for_cpu(self.machine.platform);
        let narrowed = self.backends.as_ref().is_some_and(|backends| !backends.is_empty());
        // A pin with a label that is being moved still asks for that kind of build.
        let moved = self.policy.nearest.values().any(|version| !version.local().is_empty());
        labelled || moved || ((narrowed || pypi_lacks_cuda) && self.asks_for_family())
    }

    /// How far the first attempt reaches. Nothing is asked of the accelerators' indexes unless one of their distributions
    /// turns up; but then they have to be there, or the answer would be a release that does not bring torch along.
    pub(super) fn first_reach(&self) -> Reach {
        let narrowed = self.backends.as_ref().is_some_and(|backends| !backends.is_empty());
        let some_for_cpu = self.has_gpu() && pypi_has_for_cpu(self.machine.platform);
        if (narrowed || some_for_cpu) && self.has_accelerators() && !self.asks_for_family() {
            Reach::Backends
        } else {
            Reach::General
        }
    }

    /// Whether builds for the CPU are wanted that PyPI does not have, should one of them turn up.
    pub(super) fn wants_cpu_builds(&self) -> bool {
        self.has_no_gpu()
            && self.backends.is_none()
            && !pypi_is_for_cpu(self.machine.platform)
            && self
                .sources
                .iter()
                .any(|source| self.is_asked(source, &Reach::Cpu) && !source.explicit)
    }

    /// True when env.toml says that there is no GPU.
    pub(super) fn has_no_gpu(&self) -> bool {
        self.machine.gpus.as_ref().is_some_and(Vec::is_empty)
    }

    /// True when env.toml names a GPU, or a driver and nothing about GPUs.
    fn has_gpu(&self) -> bool {
        match &self.machine.gpus {
            Some(gpus) => !gpus.is_empty(),
            None => self.machine.driver.is_some(),
        }
    }

    /// Whether env.toml names a distribution that has builds on the accelerators' indexes.
    pub(super) fn asks_for_family(&self) -> bool {
        self.requirements
            .iter()
            .any(|requirement| self.is_family(self.substituted(requirement.name)))
    }

    fn is_family(&self, name: Name) -> bool {
        let builds = |source: &Source| matches!(source.kind, SourceKind::PyTorch { .. });
        self.sources.iter().any(|source| builds(source) && source.serves_only(name))
    }

    /// The local labels that env.toml asks for, in whatever it says of the family: a bound or an override names a build as
    /// well as a requirement does.
    fn labels(&self) -> Vec<String> {
        let stated = self.requirements.iter().chain(&self.constraints).chain(&self.overrides);
        stated
            .filter(|requirement| self.is_family(requirement.name))
            .filter_map(|requirement| requirement.local_label())
            .collect()
    }

    /// Whether builds from this source can run on the machine at all.
    pub(super) fn can_use(&self, source: &Source) -> bool {
        let SourceKind::PyTorch { backend } = &source.kind else { return true };
        if let Some(allowed) = &self.backends {
            return allowed.contains(backend);
        }
        let labels = self.labels();
        if !labels.is_empty() {
            return labels.contains(backend);
        }
        let Some(cuda) = rules::torch::backend_cuda(backend) else { return false };
        if is_cpu(backend) {
            return !self.has_gpu();
        }
        !self.has_no_gpu() && self.cuda_runs(&cuda)
    }

    /// Whether a CUDA runtime starts on the machine's driver and GPUs.
    pub(super) fn cuda_runs(&self, cuda: &SystemVersion) -> bool {
        let facts = super::layers::MachineFacts::new(self);
        let version = Version::System(cuda.clone());
        // A wish for 12.4 is a wish for its libraries: a build for an older 12 runs with them as well.
        let wished = self.machine.cuda.as_ref().is_none_or(|(_, range)| {
            !range.intersection(&rules::build::from_within_major(cuda)).is_empty()
        });
        wished
            && rules::layer_constraints(Package::Cuda, &version, &self.machine)
                .iter()
                .all(|constraint| facts.holds(constraint.package, &constraint.range) != Some(false))
    }

    /// Whether the index of a backend can have a torch that is asked for, newer than `above`. A backend that no row of the
    /// matrices knows can; one that newer releases of torch left behind has nothing beyond its last release.
    fn may_have_torch(&self, backend: &str, above: Option<&Pep440>) -> bool {
        let Some(built) = releases_built_for(backend) else { return true };
        let Ok(torch) = Name::new(TORCH) else { return true };
        let mut wanted = built;
        let stated = self.requirements.iter().chain(&self.constraints);
        for requirement in
            stated.filter(|requirement| requirement.name == torch && requirement.url.is_none())
        {
            wanted = wanted.intersection(requirement.range());
        }
        if let Some(above) = above.and_then(|version| specifiers(&format!(">{version}"))) {
            wanted = wanted.intersection(&above);
        }
        !wanted.is_empty()
    }

    /// How much a source is preferred among those that have the same public version: smaller is better.
    ///
    /// What PyPI has comes first, unless its builds are for the CPU and there is a GPU, or there is none; then the newest
    /// CUDA that the driver fully supports; then the newest that it starts by minor-version compatibility; the CPU last.
    pub(super) fn preference(&self, source: &Source) -> (u8, std::cmp::Reverse<SystemVersion>) {
        let zero = SystemVersion::new(0, 0);
        let SourceKind::PyTorch { backend } = &source.kind else {
            let for_cpu = source.kind == SourceKind::PyPi && pypi_is_for_cpu(self.machine.platform);
            return (if for_cpu && self.has_gpu() { 5 } else { 1 }, std::cmp::Reverse(zero));
        };
        let Some(cuda) = rules::torch::backend_cuda(backend) else {
            return (9, std::cmp::Reverse(zero));
        };
        let place = if cuda == zero {
            if self.has_no_gpu() { 0 } else { 4 }
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

fn is_cpu(backend: &str) -> bool {
    rules::torch::backend_cuda(backend).is_some_and(|cuda| cuda == SystemVersion::new(0, 0))
}

/// True for a distribution that the matrices know an index for, whether or not it may be asked.
pub(super) fn has_own_index(name: Name) -> bool {
    !rules::index::special_for(name).is_empty()
}

/// Whether every torch that PyPI is known to have for a platform is built for the CPU.
fn pypi_is_for_cpu(platform: Platform) -> bool {
    let mut rows = matrix::torch().pypi.iter().filter(|row| row.platform == platform).peekable();
    rows.peek().is_some() && rows.all(|row| row.cuda.major() == 0)
}

/// Whether some torch that PyPI is known to have for a platform is built for the CPU.
fn pypi_has_for_cpu(platform: Platform) -> bool {
    let mut rows = matrix::torch().pypi.iter().filter(|row| row.platform == platform);
    rows.any(|row| row.cuda.major() == 0)
}

/// The releases of torch that are known to be built for a backend, as a range that is open upwards while the newest
/// release is among them. `None` for a backend that no row knows.
fn releases_built_for(backend: &str) -> Option<Range> {
    let rows = &matrix::torch().variant;
    let of_backend = || rows.iter().filter(|row| row.backend == backend);
    let first = of_backend().map(|row| &row.span.from).min()?;
    let last = of_backend().map(|row| &row.span.to).max()?;
    let newest = rows.iter().map(|row| &row.span.to).max()?;
    let ([major, minor, ..], [_, newest_minor, ..]) = (last.release(), newest.release()) else {
        return None;
    };
    let text = if last >= newest {
        format!(">={first}")
    } else if minor + 1 == *newest_minor {
        // A patch release of the line before the newest may still come.
        format!(">={first},<{major}.{newest_minor}")
    } else {
        format!(">={first},<={last}")
    };
    specifiers(&text)
}

fn specifiers(text: &str) -> Option<Range> {
    text.parse::<VersionSpecifiers>().ok().map(|specifiers| dist_range(&specifiers))
}
