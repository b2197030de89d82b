//! Companions: distributions that belong to one torch, also where their METADATA does not say which.

use pep440_rs::Version as Pep440;

use super::build::{Build, major_range};
use super::rule::Rule;
use super::span::find;
use super::torch::{Accelerator, TORCH, describe, labelled_accelerator, pypi_accelerator};
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::Platform;
use crate::matrix::rows::companions::Tied;
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{DistVersion, Range, SourceId, SystemVersion, Version, dist_range};

/// How a distribution is tied to torch, when it is one of the family.
#[must_use]
pub fn family(name: Name) -> Option<&'static rows::companions::Family> {
    matrix::companions().family.of(name).first()
}

/// What a companion needs: its torch, and the accelerator that torch is built for.
#[must_use]
pub fn constraints(build: &Build, platform: Platform) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    let row = torch_row(build);
    if let Some(row) = row {
        constraints.extend(torch_constraint(build, row));
    }
    if let Some(family) = family(build.name).filter(|family| family.name.as_str() != TORCH) {
        constraints.extend(tie(build, platform, family, row));
    }
    constraints.extend(cuda_choice(build));
    constraints
}

/// The row that names the torch of a release.
pub(super) fn torch_row(build: &Build) -> Option<&'static rows::companions::Torch> {
    let rows = matrix::companions().torch.of(build.name);
    if rows.is_empty() {
        return None;
    }
    let public = build.version.version()?.clone().without_local();
    let release = public.only_release();
    // A post-release may be built for another torch than its release.
    let exact = rows.iter().find(|row| row.version == public);
    exact.or_else(|| rows.iter().find(|row| !public.is_post() && row.version == release))
}

fn torch_constraint(build: &Build, row: &rows::companions::Torch) -> Option<Constraint> {
    let fact = Fact {
        rule: Rule::CompanionMismatch,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: row.symptom.clone(),
    };
    let torch = Package::dist(Name::new(TORCH).ok()?);
    Some(build.constraint(torch, dist_range(&row.torch), Force::Requires, fact))
}

/// The constraint that ties a companion to the accelerator of its torch.
fn tie(
    build: &Build,
    platform: Platform,
    family: &rows::companions::Family,
    row: Option<&rows::companions::Torch>,
) -> Option<Constraint> {
    let tied = family.tied;
    if tied == Tied::None {
        return None;
    }
    if let Some(labelled) = labelled_accelerator(build) {
        return labelled.map(|accelerator| tied_to(build, family, &accelerator));
    }
    let exact = row.and_then(|row| Some((row, row.cuda.clone()?)));
    if let Some((row, cuda)) = exact.filter(|_| platform.is_linux()) {
        return Some(same_cuda(build, cuda, row));
    }
    if let Some(major) = row.and_then(|row| row.cuda_major).filter(|_| platform.is_linux()) {
        return Some(cuda_major(build, major, row.map_or(&[][..], |row| &row.source)));
    }
    let torch = torch_of(build, row)?;
    // Distributions of other makers carry kernels on PyPI for every platform, also where torch itself does not.
    let built_for = match tied {
        Tied::CudaMajor if platform != Platform::MacosArm64 => Platform::LinuxX86_64,
        _ => platform,
    };
    let accelerator = pypi_accelerator(&torch.only_release(), built_for, || None)?;
    if accelerator.assumed {
        // Which CUDA a torch of tomorrow is built for is not known here. Its build on PyPI is the one without a label.
        return unlabelled_torch(build, family, &torch);
    }
    let text = match tied {
        Tied::CudaMajor => {
            format!("is built for torch {torch} with {}", describe(&accelerator.cuda))
        }
        Tied::Backend | Tied::None => {
            format!("belongs to torch {torch}, which {}", accelerator.text)
        }
    };
    Some(tied_to(build, family, &Accelerator { text, ..accelerator }))
}

/// The one torch of a companion, by its row or its METADATA.
fn torch_of(build: &Build, row: Option<&rows::companions::Torch>) -> Option<Pep440> {
    let pinned = || {
        build
            .base_requirements(|name| name == TORCH)
            .find_map(|requirement| requirement.pinned().cloned())
    };
    let by_row = || {
        let first = row?.torch.iter().next()?;
        (!first.operator().is_star()).then(|| first.version().clone())
    };
    by_row().or_else(pinned)
}

fn tied_to(
    build: &Build,
    family: &rows::companions::Family,
    accelerator: &Accelerator,
) -> Constraint {
    let range = if family.tied == Tied::CudaMajor && !accelerator.is_cpu() {
        major_range(accelerator.cuda.major())
    } else {
        Range::singleton(Version::System(accelerator.cuda.clone()))
    };
    let fact = Fact {
        rule: Rule::BackendMismatch,
        text: format!("{} {}", build.title(), accelerator.text),
        sources: accelerator.sources.clone(),
        symptom: family.symptom.clone(),
    };
    build.constraint(Package::Backend, range, Force::Requires, fact)
}

fn cuda_major(build: &Build, major: u64, sources: &[String]) -> Constraint {
    let fact = Fact {
        rule: Rule::BackendMismatch,
        text: format!("{} from PyPI is built for CUDA {major}", build.title()),
        sources: sources.to_vec(),
        symptom: Some(format!(
            "OSError: libcudart.so.{major}: cannot open shared object file: No such file or directory"
        )),
    };
    build.constraint(Package::Backend, major_range(major), Force::Requires, fact)
}

/// A companion that compares the CUDA version of torch with its own, and refuses another one.
fn same_cuda(build: &Build, cuda: SystemVersion, row: &rows::companions::Torch) -> Constraint {
    let fact = Fact {
        rule: Rule::BackendMismatch,
        text: format!(
            "{} from PyPI is built for {}, and compares it with that of torch",
            build.title(),
            describe(&cuda)
        ),
        sources: row.source.clone(),
        symptom: row.symptom.clone(),
    };
    let range = Range::singleton(Version::System(cuda));
    build.constraint(Package::Backend, range, Force::Requires, fact)
}

/// `torch` of one version, without a local label, from any source.
fn unlabelled_torch(
    build: &Build,
    family: &rows::companions::Family,
    torch: &Pep440,
) -> Option<Constraint> {
    let at = |source| Version::Dist(DistVersion::new(torch.clone(), source));
    let range = Range::from_range_bounds(at(SourceId(0))..=at(SourceId::MAX));
    let fact = Fact {
        rule: Rule::BackendMismatch,
        text: format!(
            "{} without a local label is built for the torch {torch} without a local label",
            build.title()
        ),
        sources: family.source.clone(),
        symptom: family.symptom.clone(),
    };
    let torch = Package::dist(Name::new(TORCH).ok()?);
    Some(build.constraint(torch, range, Force::Requires, fact))
}

/// Distributions with kernels for a list of CUDA versions: the CUDA of torch must be one of them, or torch without CUDA.
fn cuda_choice(build: &Build) -> Option<Constraint> {
    let rows = matrix::companions().cuda_choice.of(build.name);
    if rows.is_empty() {
        return None;
    }
    let found = find(rows, &build.release()?, |_| true)?;
    let mut range = Range::singleton(Version::System(SystemVersion::new(0, 0)));
    for version in &found.row.cuda {
        range = range.union(&if found.row.exact {
            Range::singleton(Version::System(version.clone()))
        } else {
            major_range(version.major())
        });
    }
    let fact = Fact {
        rule: Rule::CompanionMismatch,
        text: format!(
            "{} has kernels for CUDA {}{}",
            build.title(),
            found.row.cuda.iter().map(SystemVersion::as_str).collect::<Vec<_>>().join(", "),
            found.fit.assumption()
        ),
        sources: found.row.source.clone(),
        symptom: found.row.symptom.clone(),
    };
    Some(build.constraint(Package::Backend, range, Force::IfPresent, fact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    /// Whether a companion's build goes with a torch that is built for a CUDA.
    fn goes_with(pin: &Pin, torch: &str, cuda: (u64, u64)) -> bool {
        let torch = DistVersion::new(torch.parse().expect("valid"), SourceId(0));
        let backend = Version::System(SystemVersion::new(cuda.0, cuda.1));
        constraints(&pin.build(), linux()).iter().all(|constraint| match constraint.package {
            Package::Backend => constraint.range.contains(&backend),
            _ => constraint.range.contains(&Version::Dist(torch.clone())),
        })
    }

    #[test]
    fn torchaudio_compares_the_cuda_of_torch_with_its_own() {
        let audio = Pin::pypi("torchaudio", "2.11.0");
        assert!(goes_with(&audio, "2.11.0", (13, 0)) && goes_with(&audio, "2.13.0", (13, 0)));
        assert!(goes_with(&audio, "2.15.0+cu130", (13, 0)));
        assert!(!goes_with(&audio, "2.15.0", (13, 2)) && !goes_with(&audio, "2.10.0", (13, 0)));
        // The next release compares no more.
        let audio = Pin::pypi("torchaudio", "2.11.1");
        assert!(goes_with(&audio, "2.13.0", (13, 0)) && goes_with(&audio, "2.15.0", (13, 2)));
    }

    #[test]
    fn the_stable_abi_goes_with_the_torch_that_metadata_allows() {
        let vision = Pin::pypi("torchvision", "0.29.2");
        assert!(goes_with(&vision, "2.14.1", (13, 0)) && goes_with(&vision, "2.15.0", (13, 2)));
        assert!(!goes_with(&vision, "2.14.1+cu126", (12, 6)));
    }

    #[test]
    fn bitsandbytes_has_what_its_wheel_has() {
        for (version, has, lacks) in [
            ("0.39.1", (12, 1), (12, 2)),
            ("0.41.0", (12, 2), (12, 3)),
            ("0.45.5", (12, 8), (12, 9)),
            ("0.46.1", (12, 9), (13, 0)),
        ] {
            let pin = Pin::pypi("bitsandbytes", version);
            assert!(goes_with(&pin, "2.7.1", has), "{version}");
            assert!(!goes_with(&pin, "2.7.1", lacks), "{version}");
        }
    }
}
