//! All rules together.

use std::sync::LazyLock;

use crate::constraint::{Constraint, Fact};
use crate::machine::Machine;
use crate::package::Package;
use crate::rules::onnx_model::Model;
use crate::rules::{Build, broken, driver, gpu, gpu_code, index, library, stack, torch};
use crate::version::{SystemVersion, Version};

/// Everything the rules say about one build on one machine, beyond what its METADATA says.
///
/// # Errors
/// The fact that makes the build unusable as a whole.
pub fn constraints(
    build: &Build<'_>,
    machine: &Machine,
    model: Option<&Model>,
) -> Result<Vec<Constraint>, Fact> {
    let platform = machine.platform;
    if let Some(fact) = broken::unusable(build, platform) {
        return Err(fact);
    }
    let mut constraints = stack::constraints(build, machine, model);
    constraints.extend(library::library_constraints(build.name, build.version, gpu_count(machine)));
    constraints.extend(gpu_code::constraints(build, machine));
    Ok(constraints)
}

/// What one version of a system layer needs of the others.
#[must_use]
pub fn layer_constraints(
    package: Package,
    version: &Version,
    machine: &Machine,
) -> Vec<Constraint> {
    match (package, version) {
        (Package::Cuda, Version::System(cuda)) => {
            driver::cuda_constraints(cuda, machine.platform, gpu_count(machine))
        }
        (Package::Gpu(n), Version::System(_)) => {
            let gpus = machine.gpus.as_deref().unwrap_or_default();
            gpus.get(usize::from(n))
                .map_or_else(Vec::new, |found| gpu::gpu_constraints(n, found, machine.platform))
        }
        _ => Vec::new(),
    }
}

/// The versions of a layer that are known, ascending: what can be chosen when nothing names one.
#[must_use]
pub fn known_versions(package: Package) -> &'static [Version] {
    static CUDA: LazyLock<Vec<Version>> = LazyLock::new(|| ascending(driver::known_cuda()));
    static CUDNN: LazyLock<Vec<Version>> = LazyLock::new(|| ascending(library::known_cudnn()));
    static BACKEND: LazyLock<Vec<Version>> = LazyLock::new(|| {
        let backends = index::pytorch_backends().iter();
        ascending(backends.filter_map(|backend| torch::backend_cuda(backend)).collect())
    });
    match package {
        Package::Cuda => &CUDA,
        Package::Cudnn => &CUDNN,
        Package::Backend => &BACKEND,
        _ => &[],
    }
}

fn ascending(mut known: Vec<SystemVersion>) -> Vec<Version> {
    known.sort();
    known.dedup();
    known.into_iter().map(Version::System).collect()
}

fn gpu_count(machine: &Machine) -> u8 {
    u8::try_from(machine.gpus.as_ref().map_or(0, Vec::len)).unwrap_or(u8::MAX)
}
