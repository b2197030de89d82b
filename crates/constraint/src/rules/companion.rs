//! Companions: distributions that belong to one torch, also where their METADATA does not say which.

use std::str::FromStr;
use std::sync::LazyLock;

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use super::build::{Build, major_range, pinned_version};
use super::rule::Rule;
use super::span::Table;
use super::torch::{Accelerator, TORCH, describe, labelled_accelerator, pypi_accelerator};
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::Platform;
use crate::matrix::rows::companions::Tied;
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{DistVersion, Range, SourceId, SystemVersion, Version, dist_range};

static CUDA_CHOICE: LazyLock<Table<rows::companions::CudaChoice>> =
    LazyLock::new(|| Table::new(&matrix::companions().cuda_choice));

/// How a distribution is tied to torch, when it is one of the family.
#[must_use]
pub fn family(name: Name) -> Option<&'static rows::companions::Family> {
    matrix::companions().family.iter().find(|row| row.name == name.as_str())
}

/// What a companion needs: its torch, and the accelerator that torch is built for.
#[must_use]
pub fn constraints(build: &Build, platform: Platform) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    let row = torch_row(build);
    if let Some(row) = row {
        constraints.extend(torch_constraint(build, row));
    }
    if let Some(family) = family(build.name).filter(|family| family.name != TORCH) {
        constraints.extend(tie(build, platform, family, row));
    }
    constraints.extend(cuda_choice(build));
    constraints
}

fn torch_row(build: &Build) -> Option<&'static rows::companions::Torch> {
    let mut rows =
        matrix::companions().torch.iter().filter(|r| r.name == build.name.as_str()).peekable();
    rows.peek()?;
    let public = build.version.version()?.clone().without_local();
    let release = public.only_release();
    let named = |row: &&'static rows::companions::Torch| row.version.parse::<Pep440>().ok();
    let mut rows: Vec<_> = rows.filter_map(|row| Some((named(&row)?, row))).collect();
    // A post-release may be built for another torch than its release.
    rows.sort_by_key(|(version, _)| *version != public);
    let of_post = public.is_post();
    let found = rows
        .into_iter()
        .find(|(version, _)| *version == public || (!of_post && *version == release));
    found.map(|(_, row)| row)
}

fn torch_constraint(build: &Build, row: &rows::companions::Torch) -> Option<Constraint> {
    let specifiers = VersionSpecifiers::from_str(&row.torch).ok()?;
    let fact = Fact {
        rule: Rule::CompanionMismatch,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: row.symptom.clone(),
    };
    let torch = Package::dist(Name::new(TORCH).ok()?);
    Some(build.constraint(torch, dist_range(&specifiers), Force::Requires, fact))
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
    if let Some(major) = row.and_then(|row| row.cuda_major).filter(|_| platform.is_linux()) {
        return Some(cuda_major(build, major, row.map_or(&[][..], |row| &row.source)));
    }
    let torch = torch_of(build, row)?;
    // Distributions of other makers carry kernels on PyPI for every platform, also where torch itself does not.
    let built_for = match tied {
        Tied::CudaMajor if !platform.is_macos() => Platform::LinuxX86_64,
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
            .find_map(|requirement| pinned_version(&requirement))
    };
    let by_row = || {
        let specifiers = VersionSpecifiers::from_str(&row?.torch).ok()?;
        let first = specifiers.iter().next()?;
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
    if !matrix::companions().cuda_choice.iter().any(|row| row.name == build.name.as_str()) {
        return None;
    }
    let found = CUDA_CHOICE.find(&build.release()?, |row| row.name == build.name.as_str())?;
    let versions: Vec<SystemVersion> =
        found.row.cuda.iter().filter_map(|text| text.parse().ok()).collect();
    let mut range = Range::singleton(Version::System(SystemVersion::new(0, 0)));
    for version in &versions {
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
            found.row.cuda.join(", "),
            found.fit.assumption()
        ),
        sources: found.row.source.clone(),
        symptom: found.row.symptom.clone(),
    };
    Some(build.constraint(Package::Backend, range, Force::IfPresent, fact))
}
