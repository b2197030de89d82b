//! Why a layer of the machine is at its version, and what stands against a newer one.

use std::sync::Arc;

use pep440_rs::Version as Pep440;

use super::{Explanation, Newer, holders, next_and_newest, verdict};
use crate::catalog::Catalog;
use crate::constraint::{Force, Reason};
use crate::machine::Libraries;
use crate::matrix;
use crate::package::Package;
use crate::rules;
use crate::solve::{LayerBound, Problem, Solution};
use crate::target::Target;
use crate::version::{Range, SystemVersion, Version};

/// Explains a layer; `None` when nothing needs it.
///
/// CUDA and cuDNN are tried at the newer versions that the matrices know, Python at the newer minor versions. What the
/// machine has and no change of env.toml moves is not: its GPU, its driver, the CUDA of a system or an image.
#[must_use]
pub fn layer(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
    package: Package,
) -> Option<Explanation> {
    let version = solution.layers.get(&package)?;
    let of_system = problem.machine.libraries == Libraries::System;
    let (newer, not_tried) = match package {
        Package::Cuda | Package::Cudnn if !of_system => {
            libraries(problem, catalog, solution, package)
        }
        Package::Python => pythons(problem, catalog, solution),
        _ => (Vec::new(), 0),
    };
    let version = match package {
        Package::Python => problem.target.python.to_string(),
        _ => version.to_string(),
    };
    let held_by = holders(solution, package);
    Some(Explanation { name: package.to_string(), version, held_by, newer, not_tried })
}

/// Newer versions of CUDA or cuDNN. Releases of one minor version are alike here: one of them is tried.
fn libraries(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
    package: Package,
) -> (Vec<Newer>, usize) {
    let Some(current) = solution.layers.get(&package).and_then(Version::as_system) else {
        return (Vec::new(), 0);
    };
    let known = rules::known_versions(package).iter().filter_map(Version::as_system);
    let mut minors: Vec<SystemVersion> =
        known.map(|known| SystemVersion::new(known.major(), known.minor())).collect();
    let current = SystemVersion::new(current.major(), current.minor());
    minors.sort();
    minors.dedup();
    minors.retain(|minor| *minor > current);
    let (tried, not_tried) = next_and_newest(&minors);
    let judge = |minor: &SystemVersion| {
        let question = format!("{package} {minor}");
        let mut forced = problem.clone();
        forced.bounds.push(LayerBound {
            package,
            range: Range::between(
                Version::System(minor.clone()),
                Version::System(minor.next_sibling()),
            ),
            force: Force::Requires,
            reason: Reason::Manifest { text: Arc::from(question.as_str()) },
        });
        verdict((minor.to_string(), (package, &question)), forced, catalog, solution)
    };
    (tried.into_iter().map(judge).collect(), not_tried)
}

/// Newer minor versions of Python.
fn pythons(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
) -> (Vec<Newer>, usize) {
    let (major, minor) = problem.target.python_minor();
    let of_row = |version: &Pep440| {
        let release = version.release();
        let newer = *release.first()? == major && *release.get(1)? > minor;
        newer.then(|| version.clone())
    };
    let mut newer: Vec<Pep440> =
        matrix::python().minor.iter().filter_map(|row| of_row(&row.version)).collect();
    newer.sort();
    let (tried, not_tried) = next_and_newest(&newer);
    let judge = |version: &Pep440| {
        let old = &problem.target;
        let mut forced = problem.clone();
        forced.target = Target {
            libc: old.libc.clone(),
            free_threaded: old.free_threaded,
            macos: old.macos.clone(),
            ..Target::new(old.platform, version)
        };
        let question = format!("python = \"{}\"", forced.target.python);
        verdict((version.to_string(), (Package::Python, &question)), forced, catalog, solution)
    };
    (tried.into_iter().map(judge).collect(), not_tried)
}
