//! One change to env.toml.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use pep440_rs::Version as Pep440;

use super::moved;
use crate::constraint::{Force, Reason};
use crate::machine::{Libc, Libraries, Platform};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::Requirement;
use crate::rules::torch;
use crate::solve::{LayerBound, Prerelease, Problem, Solution, SourceKind};
use crate::version::{Range, SystemVersion, Version};

/// One change to env.toml. It names what is to be written; where that stands is known to whoever read the file.
#[derive(Clone, Debug)]
pub enum Change {
    /// Ask for other versions.
    Move {
        /// The requirement as it is.
        requirement: Arc<Requirement>,
        /// As it has to be written. Empty while it is not known: any version was allowed for the try.
        now: String,
    },
    /// Ask for a distribution by the name that was probably meant.
    Rename {
        /// The requirement as it is.
        requirement: Arc<Requirement>,
        /// As it has to be written.
        now: String,
    },
    /// Do without a distribution.
    Drop {
        /// The requirement that goes.
        requirement: Arc<Requirement>,
    },
    /// Let one distribution stand in for another, wherever that one is required.
    Substitute {
        /// The one that goes.
        from: Name,
        /// The one that takes its place.
        to: Name,
    },
    /// Trust what a source distribution recorded when it was made.
    TrustRecorded {
        /// The distribution.
        name: Name,
    },
    /// Allow pre-releases.
    Prerelease,
    /// Let newer files count.
    ExcludeNewer {
        /// The earliest moment that will do; unset while it is not known.
        until: Option<Timestamp>,
    },
    /// Let builds for this accelerator count, which env.toml leaves out.
    Backend {
        /// Such as `cu118`; unset while it is not known: every accelerator was allowed for the try.
        name: Option<String>,
    },
    /// Withdraw the wish for a CUDA or a cuDNN.
    NoWish {
        /// Which one.
        layer: Package,
    },
    /// Let the CUDA libraries come from wheels, not from the system or the image.
    Wheels,
    /// A driver of at least this version.
    Driver {
        /// The lowest that was tried with success.
        at_least: SystemVersion,
    },
    /// A system with at least this glibc.
    Glibc {
        /// The lowest that was tried with success.
        at_least: SystemVersion,
    },
    /// Another Python.
    Python {
        /// As env.toml writes it: `3.12`.
        version: Pep440,
    },
}

impl Change {
    /// The requirement on the distribution that was probably meant.
    pub(super) fn rename(requirement: &Arc<Requirement>, name: &str) -> Option<Self> {
        let now = moved::renamed(requirement, name);
        now.parse::<Requirement>().ok()?;
        Some(Self::Rename { requirement: Arc::clone(requirement), now })
    }

    /// Changes the problem; a requirement that moves is left open to every version.
    pub(super) fn make(&self, problem: &mut Problem) {
        match self {
            Self::Move { requirement, .. } => {
                if let Ok(open) = moved::open(requirement).parse::<Requirement>() {
                    replace(problem, requirement, Some(open));
                }
                // An earlier lock has no say where its pin is what collides.
                problem.policy.preferences.remove(&requirement.name);
                if let Some(pin) = moved::pin(requirement) {
                    problem.policy.nearest.insert(requirement.name, pin);
                }
                problem.bounds.extend(accelerated(requirement, problem));
            }
            Self::Rename { requirement, now } => {
                if let Ok(now) = now.parse::<Requirement>() {
                    replace(problem, requirement, Some(now));
                }
            }
            Self::Drop { requirement } => replace(problem, requirement, None),
            Self::Substitute { from, to } => {
                problem.substitute.insert(*from, *to);
            }
            Self::TrustRecorded { name } => {
                problem.policy.trust_recorded.insert(*name);
            }
            Self::Prerelease => problem.policy.prerelease = Prerelease::Allow,
            Self::ExcludeNewer { until } => problem.policy.exclude_newer = *until,
            Self::Backend { name } => {
                problem.backends = name.as_ref().map(|name| vec![name.clone()])
            }
            Self::NoWish { layer: Package::Cuda } => problem.machine.cuda = None,
            Self::NoWish { .. } => problem.machine.cudnn = None,
            Self::Wheels => {
                problem.machine.libraries = Libraries::Wheels;
                problem.machine.cuda = None;
                problem.machine.cudnn = None;
            }
            Self::Driver { at_least } => problem.machine.driver = Some(at_least.clone()),
            Self::Glibc { at_least } => {
                problem.machine.libc = Some(Libc::Glibc(at_least.clone()));
                problem.target.libc = Some(Libc::Glibc(at_least.clone()));
            }
            Self::Python { version } => {
                problem.target = problem.target.with_python(version);
            }
        }
    }

    /// What the change is made to, and for the machine also how: two changes with one name are the same one.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Move { requirement, .. } => format!("move {}", requirement.text()),
            Self::Rename { requirement, .. } => format!("rename {}", requirement.text()),
            Self::Drop { requirement } => format!("drop {}", requirement.text()),
            other => format!("{other:?}"),
        }
    }

    /// Whether both are made to the same place of env.toml.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let stated = |change: &Self| match change {
            Self::Move { requirement, .. }
            | Self::Rename { requirement, .. }
            | Self::Drop { requirement } => Some(Arc::clone(requirement.text())),
            _ => None,
        };
        if let (Self::TrustRecorded { name }, Self::TrustRecorded { name: other }) = (self, other) {
            return name == other;
        }
        match (stated(self), stated(other)) {
            (Some(one), Some(other)) => one == other,
            (None, None) => std::mem::discriminant(self) == std::mem::discriminant(other),
            _ => false,
        }
    }

    /// Whether it takes another machine or interpreter.
    pub(super) fn is_of_machine(&self) -> bool {
        matches!(self, Self::Driver { .. } | Self::Glibc { .. } | Self::Python { .. })
    }

    /// The distribution that moves.
    pub(super) fn distribution(&self) -> Option<Name> {
        match self {
            Self::Move { requirement, .. } => Some(requirement.name),
            Self::Rename { now, .. } => now.parse::<Requirement>().ok().map(|now| now.name),
            _ => None,
        }
    }

    /// The change as it has to be written for this answer; `None` when the answer does not need it.
    pub(super) fn settle(&self, problem: &Problem, solution: &Solution) -> Option<Self> {
        match self {
            Self::Move { requirement, .. } => {
                let chosen = solution.builds.get(&requirement.name)?.version.version()?;
                let now = moved::rewritten(requirement, chosen)?;
                Some(Self::Move { requirement: Arc::clone(requirement), now })
            }
            Self::ExcludeNewer { .. } => {
                let times = solution.builds.values().filter_map(|chosen| chosen.file.upload_time);
                let until = times.max()?.checked_add(SignedDuration::from_secs(1)).ok()?;
                Some(Self::ExcludeNewer { until: Some(until) })
            }
            Self::Backend { .. } => {
                let sources = solution.builds.values().map(|chosen| chosen.version.source());
                let backend = sources.filter_map(|id| problem.source(id)).find_map(|source| {
                    match &source.kind {
                        SourceKind::PyTorch { backend } => Some(backend.clone()),
                        _ => None,
                    }
                });
                Some(Self::Backend { name: Some(backend?) })
            }
            other => Some(other.clone()),
        }
    }
}

/// Who pins a build for CUDA is not helped by one for the CPU. A Mac has no others.
fn accelerated(requirement: &Requirement, problem: &Problem) -> Option<LayerBound> {
    let cpu = SystemVersion::new(0, 0);
    let cuda = torch::backend_cuda(&requirement.local_label()?)?;
    (cuda > cpu && problem.machine.platform != Platform::MacosArm64).then(|| LayerBound {
        package: Package::Backend,
        range: Range::strictly_higher_than(Version::System(cpu)),
        force: Force::IfPresent,
        reason: Reason::Manifest { text: Arc::clone(requirement.text()) },
    })
}

fn replace(problem: &mut Problem, old: &Arc<Requirement>, new: Option<Requirement>) {
    let place = problem.requirements.iter().position(|known| known.text() == old.text());
    let Some(place) = place else { return };
    match new {
        Some(new) => {
            if let Some(slot) = problem.requirements.get_mut(place) {
                *slot = Arc::new(new);
            }
        }
        None => {
            problem.requirements.remove(place);
        }
    }
}
