//! Distributions that use one CUDA major version without saying so in METADATA.

use super::build::{Build, from_within_major, major_range};
use super::rule::Rule;
use super::span::{Fit, Found, find};
use crate::constraint::{Constraint, Fact, Force};
use pep440_rs::Version as Pep440;

use crate::machine::{Libraries, Machine, Platform};
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::Range;

/// The CUDA and the cuDNN that such a build uses. A release without a row is like the nearest one.
#[must_use]
pub fn constraints(build: &Build, machine: &Machine) -> Vec<Constraint> {
    let rows = matrix::bound().bound.of(build.name);
    if rows.is_empty() {
        return Vec::new();
    }
    let concerns = |row: &rows::bound::Bound| {
        row.platforms.is_empty() || row.platforms.contains(&machine.platform)
    };
    let Some(release) = build.release() else { return Vec::new() };
    let system = machine.libraries == Libraries::System;
    let kinds = [false, true].into_iter().filter(|of_system| !of_system || system);
    let found =
        kinds.filter_map(|kind| find(rows, &release, |row| concerns(row) && row.system == kind));
    let known = found.filter(|found| !(found.row.ends && matches!(found.fit, Fit::Older(_))));
    known.flat_map(|found| of_row(build, found)).collect()
}

/// Whether a row says which CUDA a build uses on a platform, whatever else is there.
#[must_use]
pub fn uses_cuda(build: &Build, platform: Platform) -> bool {
    matrix::bound().bound.of(build.name).iter().any(|row| {
        row.cuda_major.is_some()
            && !row.if_present
            && !row.system
            && (row.platforms.is_empty() || row.platforms.contains(&platform))
    })
}

/// What a build opens of the system's libraries, when wheels do not bring them, and the extra that brings the wheels.
#[must_use]
pub fn system_libraries(build: &Build, platform: Platform) -> Option<(Fact, Option<&'static str>)> {
    let concerns = |row: &rows::bound::Bound| row.system && row.platforms.contains(&platform);
    let row = find(matrix::bound().bound.of(build.name), &build.release()?, concerns)?.row;
    let cudnn = row.cudnn.as_ref().map_or_else(String::new, |cudnn| format!(" and cuDNN {cudnn}"));
    let fact = Fact {
        rule: Rule::MissingLibrary,
        text: format!(
            "{} opens CUDA {}{cudnn} of the system, and runs on the CPU without them",
            build.title(),
            row.cuda_major?
        ),
        sources: row.source.clone(),
        symptom: row.symptom.clone(),
    };
    Some((fact, row.extra.as_deref()))
}

/// Builds without GPU code on a machine whose GPUs are to be used.
#[must_use]
pub fn cpu_only(build: &Build, machine: &Machine) -> Vec<Constraint> {
    let here = |row: &&rows::bound::CpuOnly| {
        (row.platforms.is_empty() || row.platforms.contains(&machine.platform))
            && build.version.version().is_some_and(|version| row.versions.contains(version))
    };
    let mut rows = matrix::bound().cpu_only.of(build.name).iter();
    let Some(row) = rows.find(here) else { return Vec::new() };
    let fact = Fact {
        rule: Rule::CpuBuild,
        text: format!("{}; {}", row.text, row.fix),
        sources: row.source.clone(),
        symptom: None,
    };
    let gpus = machine.gpus.as_ref().map_or(0, Vec::len);
    let gpus = u8::try_from(gpus).unwrap_or(u8::MAX);
    (0..gpus)
        .map(|gpu| {
            build.constraint(Package::Gpu(gpu), Range::empty(), Force::IfPresent, fact.clone())
        })
        .collect()
}

/// The newest release that is known of a nightly build under a name of its own.
#[must_use]
pub fn nightly(name: Name) -> Option<Pep440> {
    let row = matrix::bound().bound.of(name).iter().find(|row| row.nightly)?;
    Some(row.span.to.clone())
}

fn of_row(build: &Build, found: Found<rows::bound::Bound>) -> Vec<Constraint> {
    let force = if found.row.if_present { Force::IfPresent } else { Force::Requires };
    let fact = |rule, what: String| Fact {
        rule,
        text: format!("{} {what}{}", build.title(), found.fit.assumption()),
        sources: found.row.source.clone(),
        symptom: found.row.symptom.clone(),
    };
    let cuda = found.row.cuda_major.map(|major| {
        let fact = fact(Rule::CudaMajorMismatch, format!("uses CUDA {major}"));
        build.constraint(Package::Cuda, major_range(major), force, fact)
    });
    let cudnn = found.row.cudnn.as_ref().map(|lowest| {
        let fact = fact(
            Rule::CudnnMismatch,
            format!("uses cuDNN {lowest} or a newer {}.x", lowest.major()),
        );
        build.constraint(Package::Cudnn, from_within_major(lowest), force, fact)
    });
    cuda.into_iter().chain(cudnn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, machine};

    #[test]
    fn ctranslate2_changed_its_cudnn_twice() {
        let lines = |version: &str| -> Vec<String> {
            let constraints = constraints(&Pin::pypi("ctranslate2", version).build(), &machine());
            constraints.iter().map(|c| format!("{} {}", c.package, c.range)).collect()
        };
        assert_eq!(lines("4.4.0"), ["CUDA >=12.0, <13.0", "cuDNN >=8, <9.0"]);
        assert_eq!(lines("4.5.0"), ["CUDA >=12.0, <13.0", "cuDNN >=9, <10.0"]);
        assert_eq!(lines("4.8.5"), ["CUDA >=12.0, <13.0"]);
    }
}
