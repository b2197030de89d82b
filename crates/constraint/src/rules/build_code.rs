//! The GPU code that a build carries, as data for the rule that compares it with the GPUs of a machine.

use pep440_rs::Version as Pep440;

use super::build::Build;
use super::span::{Fit, Found, find};
use super::torch::{TORCH, accelerator, backend_cuda, backend_name};
use super::{compiled, machine_code, onnxruntime};
use crate::machine::Platform;
use crate::matrix::rows::compiled::Dependence;
use crate::matrix::{self, rows};
use crate::version::SystemVersion;

pub use crate::matrix::rows::torch::Gap;

/// The machine code of one build.
#[derive(Clone, Debug)]
pub struct MachineCode {
    /// Native code: `sm_86`, `sm_90a`.
    pub cubins: &'static [String],
    /// Code that the driver compiles: `compute_90`.
    pub ptx: &'static [String],
    /// The toolkit that made it; a driver has to know its PTX.
    pub toolkit: SystemVersion,
    /// Capabilities for which some kernels have no code.
    pub gaps: &'static [Gap],
    /// Public sources.
    pub sources: &'static [String],
    /// The lowest capability that the project supports: code for older ones means nothing.
    pub lowest: Option<&'static SystemVersion>,
    /// Set when no fact speaks of this very build: what was taken instead, in words.
    pub assumed_from: Option<String>,
}

impl MachineCode {
    /// Its targets; `None` when one of them cannot be read.
    #[must_use]
    pub fn targets(&self) -> Option<machine_code::MachineCode> {
        let mut code = machine_code::MachineCode::parse(self.cubins.iter().chain(self.ptx)).ok()?;
        let counts = |target: &machine_code::Target| {
            self.lowest.is_none_or(|lowest| target.capability >= *lowest)
        };
        code.cubins.retain(counts);
        code.ptx.retain(counts);
        Some(code)
    }
}

/// The machine code of a build of torch or onnxruntime-gpu. `None` when the build has none (a CPU build), or when nothing
/// near enough is known: then a GPU cannot be checked against it.
#[must_use]
pub fn machine_code(build: &Build, platform: Platform) -> Option<MachineCode> {
    match build.name.as_str() {
        TORCH => torch_code(build, platform),
        onnxruntime::GPU => ort_code(build, platform),
        _ => compiled_code(build, platform),
    }
}

/// The code of a distribution that is known to need it.
fn compiled_code(build: &Build, platform: Platform) -> Option<MachineCode> {
    let known =
        compiled::dependence(build.name).filter(|known| known.kernels == Dependence::Needed)?;
    let found = compiled::row(build, Some(platform))?;
    let row = found.row;
    if row.cubins.is_empty() && row.ptx.is_empty() {
        return None;
    }
    let assumed_from = match found.fit {
        Fit::Known => None,
        Fit::Older(at) | Fit::Newer(at) => Some(format!("{} {at}", build.name)),
    };
    // Without PTX nothing is compiled by the driver, and the toolkit does not matter.
    let toolkit = row.ptx_isa.as_ref().and_then(compiled::toolkit_of);
    Some(MachineCode {
        cubins: &row.cubins,
        ptx: &row.ptx,
        toolkit: toolkit.unwrap_or_else(|| SystemVersion::new(0, 0)),
        gaps: &[],
        sources: compiled::source(row),
        lowest: known.lowest.as_ref(),
        assumed_from,
    })
}

fn torch_code(build: &Build, platform: Platform) -> Option<MachineCode> {
    let accelerator = accelerator(build, platform)?;
    if accelerator.is_cpu() {
        return None;
    }
    let backend = backend_name(&accelerator.cuda);
    let release = build.release()?;
    if let Some(found) = nearest(&matrix::torch().machine_code, &release, &backend, platform) {
        return Some(read(found, &format!("torch {{release}}+{backend}")));
    }
    let neighbour = older_backend(&accelerator.cuda, platform)?;
    let found = nearest(&matrix::torch().machine_code, &release, &neighbour, platform)?;
    let mut code = read(found, "torch {release}");
    let release = found.fit.release(&release);
    code.assumed_from = Some(format!("torch {release}+{neighbour}"));
    Some(code)
}

/// The newest backend below `cuda` in the same major version that has a row for the platform.
fn older_backend(cuda: &SystemVersion, platform: Platform) -> Option<String> {
    matrix::torch()
        .machine_code
        .iter()
        .filter(|row| row.platform == platform)
        .filter_map(|row| backend_cuda(&row.build))
        .filter(|other| other.major() == cuda.major() && other < cuda)
        .max()
        .map(|other| backend_name(&other))
}

fn ort_code(build: &Build, platform: Platform) -> Option<MachineCode> {
    let origin = onnxruntime::origin_name(build.origin);
    let release = build.release()?;
    let own = nearest(&matrix::onnxruntime().machine_code, &release, origin, platform);
    if let Some(found) = own.filter(|found| origin == onnxruntime::PYPI || found.fit == Fit::Known)
    {
        return Some(read(found, "onnxruntime-gpu {release}"));
    }
    // A feed's build that nobody has looked into: the nearest build on PyPI for the same CUDA.
    let major = onnxruntime::target(build)?.cuda_major;
    let found = find(&matrix::onnxruntime().machine_code, &release, |row| {
        row.platform == platform && row.toolkit.major() == major
    })?;
    let mut code = read(found, "onnxruntime-gpu {release}");
    let nearest = found.fit.release(&release);
    code.assumed_from = Some(format!("the CUDA {major} build of onnxruntime-gpu {nearest}"));
    Some(code)
}

fn nearest(
    rows: &'static [rows::torch::MachineCode],
    release: &Pep440,
    build: &str,
    platform: Platform,
) -> Option<Found<rows::torch::MachineCode>> {
    find(rows, release, |row| row.build == build && row.platform == platform)
}

fn read(found: Found<rows::torch::MachineCode>, template: &str) -> MachineCode {
    let row = found.row;
    let assumed_from = match found.fit {
        Fit::Known => None,
        Fit::Older(at) | Fit::Newer(at) => Some(template.replace("{release}", &at.to_string())),
    };
    MachineCode {
        cubins: &row.cubins,
        ptx: &row.ptx,
        toolkit: row.toolkit.clone(),
        gaps: &row.gaps,
        sources: &row.source,
        lowest: None,
        assumed_from,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    fn code(pin: &Pin, platform: Platform) -> MachineCode {
        machine_code(&pin.build(), platform).expect("known")
    }

    #[test]
    fn torch_from_pypi_has_no_ptx_and_index_builds_may() {
        let pypi = code(&Pin::pypi("torch", "2.7.1"), linux());
        assert_eq!(pypi.cubins.last().map(String::as_str), Some("sm_90"));
        assert!(pypi.ptx.is_empty() && pypi.assumed_from.is_none());
        let index = code(&Pin::pypi("torch", "2.7.1+cu128"), linux());
        assert_eq!(index.ptx, ["compute_120"]);
        assert_eq!(index.toolkit, SystemVersion::new(12, 8));
    }

    #[test]
    fn what_no_fact_speaks_of_is_taken_from_the_nearest_and_said() {
        let newer = code(&Pin::pypi("torch", "2.17.0+cu132"), linux());
        assert_eq!(newer.assumed_from.as_deref(), Some("torch 2.15.0+cu132"));
        let backend = code(&Pin::pypi("torch", "2.16.0+cu133"), linux());
        assert_eq!(backend.assumed_from.as_deref(), Some("torch 2.15.0+cu132"));
        let windows = code(&Pin::pypi("torch", "2.7.1+cu126"), Platform::WindowsX86_64);
        assert_eq!(windows.assumed_from.as_deref(), Some("torch 2.9.0+cu126"));
        assert!(machine_code(&Pin::pypi("torch", "3.0+cu140").build(), linux()).is_none());
        assert!(machine_code(&Pin::pypi("torch", "2.9.1+cpu").build(), linux()).is_none());
    }

    #[test]
    fn windows_and_linux_differ_for_one_onnxruntime_release() {
        let linux_code = code(&Pin::pypi("onnxruntime-gpu", "1.30.0"), linux());
        let windows = code(&Pin::pypi("onnxruntime-gpu", "1.30.0"), Platform::WindowsX86_64);
        assert!(linux_code.cubins.iter().any(|c| c == "sm_90a"));
        assert!(!windows.cubins.iter().any(|c| c == "sm_90a"));
        assert_eq!(linux_code.gaps[0].to_string(), "7.5: 48 of 278");
        let dead_end = code(&Pin::pypi("onnxruntime-gpu", "1.23.0"), linux());
        assert_eq!(dead_end.ptx, ["compute_90a"]);
    }

    #[test]
    fn a_feed_build_is_like_the_nearest_build_for_the_same_cuda() {
        let known = Pin::feed("onnxruntime-gpu", "1.29.0", "onnxruntime-cuda-12");
        assert!(code(&known, linux()).assumed_from.is_none());
        let old = Pin::feed("onnxruntime-gpu", "1.18.0", "onnxruntime-cuda-12");
        assert_eq!(
            code(&old, linux()).assumed_from.as_deref(),
            Some("the CUDA 12 build of onnxruntime-gpu 1.19.0")
        );
    }
}
