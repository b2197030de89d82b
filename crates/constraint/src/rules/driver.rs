//! Drivers and CUDA: what a driver supports, what a CUDA version asks of it, and forward compatibility.
//!
//! A driver runs every CUDA version up to its own. Within one CUDA major version it also runs newer minors
//! (minor-version compatibility), from a lowest driver on; before CUDA 11 it does not.

use std::sync::Arc;

use super::limit::{Limit, branch_number, brand, fact, fact_with_symptom, from, system};
use super::rule::Rule;
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::{Brand, Gpu, Platform};
use crate::matrix;
use crate::matrix::rows::driver::{Branch, Floor};
use crate::package::Package;
use crate::rules::gpu;
use crate::version::SystemVersion;

/// The branch that a driver belongs to; `None` for drivers older than the matrix.
///
/// Windows numbers drift upwards within a branch (576.02 is R575), so the branch is the highest one that is not above
/// the driver's first number. A driver of a branch unknown here counts as the newest known one.
fn branch_of(driver: &SystemVersion) -> Option<&'static Branch> {
    matrix::driver().branch.iter().rfind(|row| row.branch <= driver.major())
}

/// The first driver of a branch on a platform. Where NVIDIA publishes none, the number of the branch stands for it.
fn first_driver(branch: &Branch, platform: Platform) -> SystemVersion {
    if platform.is_linux() {
        return branch.linux.clone();
    }
    branch.windows.clone().unwrap_or_else(|| branch_number(branch.branch))
}

/// The first branch whose own CUDA version is at least `cuda`.
pub(super) fn first_branch_with(cuda: &SystemVersion) -> Option<&'static Branch> {
    matrix::driver().branch.iter().find(|row| row.cuda >= cuda.major_minor())
}

/// The CUDA version that a driver supports by itself: what `nvidia-smi` prints in its header. `None` on macOS, and for
/// drivers older than the matrix.
#[must_use]
pub fn cuda_of_driver(driver: &SystemVersion, platform: Platform) -> Option<SystemVersion> {
    system(platform)?;
    branch_of(driver).map(|row| row.cuda.clone())
}

/// The lowest driver with which the CUDA runtime `cuda` starts. `None` on macOS, and for CUDA older than the matrix.
#[must_use]
pub fn lowest_driver(cuda: &SystemVersion, platform: Platform) -> Option<SystemVersion> {
    system(platform)?;
    if let Some(row) = floor_row(cuda) {
        return Some(if platform.is_linux() { row.linux.clone() } else { row.windows.clone() });
    }
    let newest = matrix::driver().branch.last()?;
    // A CUDA major version of the future: whatever driver it needs, no branch known here is it.
    (cuda.major() > newest.cuda.major()).then(|| branch_number(newest.branch + 1))
}

/// The row of exactly this version, or else of its major version.
fn floor_row(cuda: &SystemVersion) -> Option<&'static Floor> {
    let rows = &matrix::driver().floor;
    let exact =
        rows.iter().find(|row| row.cuda.as_str().contains('.') && row.cuda == cuda.major_minor());
    exact.or_else(|| {
        rows.iter().find(|row| !row.cuda.as_str().contains('.') && row.cuda.major() == cuda.major())
    })
}

/// Which drivers start the CUDA runtime `cuda`. The driver that a toolkit ships with is not a requirement: from
/// CUDA 11 on, one driver serves the whole major version.
#[must_use]
pub fn driver_floor(cuda: &SystemVersion, platform: Platform) -> Option<Limit> {
    let system = system(platform)?;
    let lowest = lowest_driver(cuda, platform)?;
    let symptom = matrix::driver().forward.insufficient.clone();
    let (text, sources) = match floor_row(cuda) {
        Some(row) => {
            let which = if row.cuda.as_str().contains('.') {
                row.cuda.to_string()
            } else {
                format!("{}.x", row.cuda)
            };
            (format!("CUDA {which} needs driver >= {lowest} on {system}"), &row.source)
        }
        None => {
            let newest = matrix::driver().branch.last()?;
            let text = format!(
                "CUDA {cuda} needs a driver for CUDA {}; the newest branch known here, R{}, supports CUDA {}",
                cuda.major(),
                newest.branch,
                newest.cuda
            );
            (text, &newest.source)
        }
    };
    Some(Limit {
        package: Package::Driver,
        range: from(lowest),
        fact: fact_with_symptom(Rule::DriverFloor, text, sources, symptom),
    })
}

/// The first driver whose own CUDA version is at least `cuda`: the one that offers all of that toolkit, its PTX
/// included. `None` when no branch known here does.
#[must_use]
pub fn full_support_driver(cuda: &SystemVersion, platform: Platform) -> Option<SystemVersion> {
    system(platform)?;
    first_branch_with(cuda).map(|row| first_driver(row, platform))
}

/// Which drivers run PTX that the toolkit `toolkit` wrote: those whose own PTX ISA is at least that of the code.
/// `None` on macOS.
#[must_use]
pub fn ptx_driver(toolkit: &SystemVersion, platform: Platform) -> Option<Limit> {
    let system = system(platform)?;
    let row = matrix::cuda().toolkit.iter().find(|row| row.cuda == toolkit.major_minor());
    let isa = row.and_then(|row| row.ptx_isa.as_ref());
    let branch = match isa {
        Some(isa) => {
            matrix::driver().branch.iter().find(|row| isa_of(&row.cuda) >= Some(isa.clone()))
        }
        None => first_branch_with(toolkit),
    };
    let newest = matrix::driver().branch.last()?;
    let lowest = branch
        .map_or_else(|| branch_number(newest.branch + 1), |branch| first_driver(branch, platform));
    let what = isa.map_or_else(
        || format!("PTX from CUDA {}", toolkit.major_minor()),
        |isa| format!("PTX from CUDA {} (PTX ISA {isa})", toolkit.major_minor()),
    );
    let sources: Vec<String> = row
        .map(|row| row.source.as_slice())
        .into_iter()
        .chain([branch.unwrap_or(newest).source.as_slice()])
        .flatten()
        .cloned()
        .collect();
    Some(Limit {
        package: Package::Driver,
        range: from(lowest.clone()),
        fact: fact_with_symptom(
            Rule::PtxIsa,
            format!("{what} needs driver >= {lowest} on {system}, whose compiler reads it"),
            &sources,
            "cudaErrorUnsupportedPtxVersion (222): the provided PTX was compiled with an unsupported toolchain"
                .to_owned(),
        ),
    })
}

/// The PTX ISA that a driver of this CUDA version reads: that of the newest toolkit which is not newer.
fn isa_of(cuda: &SystemVersion) -> Option<SystemVersion> {
    let rows = matrix::cuda().toolkit.iter();
    let known = rows.rev().filter(|row| row.cuda <= *cuda);
    known.filter_map(|row| row.ptx_isa.clone()).next()
}

/// What is said about a package of the operating system that brings a Linux driver.
#[must_use]
pub fn package_with_driver(package: &str) -> Option<Arc<Fact>> {
    let named = |name: &String| match name.strip_suffix('*') {
        // `cuda-11-*` is the package of a toolkit with a driver: what follows is the minor version alone.
        Some(prefix) => package.strip_prefix(prefix).is_some_and(|rest| {
            !prefix.ends_with('-')
                || rest.bytes().all(|b| b.is_ascii_digit())
                || prefix.contains("driver")
        }),
        None => package == name,
    };
    let row = matrix::driver().package.iter().find(|row| row.names.iter().any(named))?;
    Some(fact_with_symptom(Rule::HostDriver, row.text.clone(), &row.source, row.symptom.clone()))
}

/// A forward-compatibility package that makes an older driver run a CUDA version.
#[derive(Clone, Debug)]
pub struct ForwardPackage {
    /// The system package, such as `cuda-compat-12-4`.
    pub package: String,
    /// The CUDA version that the driver then supports.
    pub cuda: SystemVersion,
    /// Why it works.
    pub fact: Arc<Fact>,
}

/// The oldest forward-compatibility package with which `driver` runs `cuda` on `gpu`. `None` when the driver runs it
/// anyway, or when no package helps: on Windows, on GeForce, on driver branches that NVIDIA does not list, and on GPUs
/// that the CUDA version does not target.
#[must_use]
pub fn forward_compat(
    cuda: &SystemVersion,
    driver: &SystemVersion,
    gpu: &Gpu,
    platform: Platform,
) -> Option<ForwardPackage> {
    let matrix = matrix::driver();
    if !platform.is_linux() || cuda_of_driver(driver, platform)? >= cuda.major_minor() {
        return None;
    }
    if !matrix.forward.brands.iter().any(|name| brand(name) == gpu.brand) {
        return None;
    }
    if !gpu::toolkit_window(cuda)?.allows(&gpu.capability) {
        return None;
    }
    let branch = branch_of(driver)?.branch;
    let row = matrix.forward_package.iter().find(|row| {
        let brings = row.cuda.clone();
        brings.major() == cuda.major()
            && brings >= cuda.major_minor()
            && row.branches.contains(&branch)
            && (gpu.brand == Brand::DataCenter || !row.data_center_only.contains(&branch))
    })?;
    let brings = row.cuda.clone();
    let package = format!("cuda-compat-{}-{}", brings.major(), brings.minor());
    let mut text =
        format!("{package} makes drivers of R{branch} run CUDA {brings} on {}", gpu.name);
    if gpu.brand == Brand::Professional {
        text.push_str(" (");
        text.push_str(&matrix.forward.note);
        text.push(')');
    }
    let sources: Vec<String> = row.source.iter().chain(&matrix.forward.source).cloned().collect();
    Some(ForwardPackage { package, cuda: brings, fact: fact(Rule::ForwardCompat, text, &sources) })
}

/// What the CUDA runtime `cuda` asks of the driver and of the machine's GPUs.
#[must_use]
pub fn cuda_constraints(cuda: &SystemVersion, platform: Platform, gpus: u8) -> Vec<Constraint> {
    let subject = (Package::Cuda, cuda.clone().into());
    let mut constraints = Vec::with_capacity(1 + usize::from(gpus));
    if let Some(limit) = driver_floor(cuda, platform) {
        constraints.push(limit.constraint(subject.clone(), Force::Requires));
    }
    if let Some(limit) = gpu::toolkit_floor(cuda) {
        for index in 0..gpus {
            let limit = Limit { package: Package::Gpu(index), ..limit.clone() };
            constraints.push(limit.constraint(subject.clone(), Force::Requires));
        }
    }
    constraints
}

/// Drivers that rules name, ascending: the first of every branch, and the floors of CUDA versions. The lowest driver that
/// a machine can do with is one of them. Empty on macOS.
#[must_use]
pub fn known_drivers(platform: Platform) -> Vec<SystemVersion> {
    if system(platform).is_none() {
        return Vec::new();
    }
    let matrix = matrix::driver();
    let firsts = matrix.branch.iter().map(|row| first_driver(row, platform));
    let floors = matrix
        .floor
        .iter()
        .map(|row| if platform.is_linux() { row.linux.clone() } else { row.windows.clone() });
    let mut drivers: Vec<SystemVersion> = firsts.chain(floors).collect();
    drivers.sort();
    drivers.dedup();
    drivers
}

/// The CUDA versions that exist, ascending, as major and minor.
#[must_use]
pub fn known_cuda() -> Vec<SystemVersion> {
    matrix::cuda().toolkit.iter().map(|row| row.cuda.clone()).collect()
}

#[cfg(test)]
mod tests;
