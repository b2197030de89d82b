//! GPUs: which driver branches run them, and which toolkits target them.

use std::sync::{Arc, LazyLock};

use super::limit::{Limit, branch_number, exactly, fact, from, system};
use super::products;
use super::rule::Rule;
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::{Brand, Gpu, Platform};
use crate::matrix;
use crate::matrix::rows::gpus::Capability;
use crate::package::Package;
use crate::version::{Range, SystemVersion, Version};

/// The compute capabilities that exist, ascending.
#[must_use]
pub fn known_capabilities() -> Vec<SystemVersion> {
    rows().iter().map(|(capability, _)| capability.clone()).collect()
}

/// All rows with their capabilities read.
fn rows() -> &'static [(SystemVersion, &'static Capability)] {
    static ROWS: LazyLock<Vec<(SystemVersion, &'static Capability)>> = LazyLock::new(|| {
        matrix::gpus().capability.iter().map(|row| (row.capability.clone(), row)).collect()
    });
    &ROWS
}

/// The row of a capability.
pub(super) fn row(capability: &SystemVersion) -> Option<&'static Capability> {
    rows().iter().find(|(known, _)| known == capability).map(|(_, row)| *row)
}

/// True for capabilities of Tegra systems, whose machine code runs nowhere else.
pub(super) fn is_tegra(capability: &SystemVersion) -> bool {
    row(capability).is_some_and(|row| row.tegra)
}

/// Which drivers run a GPU: from the first branch that knows it to the last one before it was dropped. `None` when the
/// matrices bound neither end, and for Jetson, whose driver belongs to the system image.
#[must_use]
pub fn driver_branches(gpu: &Gpu, platform: Platform) -> Option<Limit> {
    system(platform)?;
    let row = row(&gpu.capability)?;
    if row.tegra || gpu.brand == Brand::Jetson {
        return None;
    }
    let product = products::first_driver(&gpu.name);
    let first = row.first_branch.max(product.map(|row| row.branch));
    let mut range = Range::full();
    if let Some(first) = first {
        range = from(branch_number(first));
    }
    if let Some(dropped) = row.dropped_branch {
        let end = Range::strictly_lower_than(branch_number(dropped));
        range = range.intersection(&end);
    }
    let who = format!("{} ({} {})", gpu.name, row.architecture, row.capability);
    let text = match (first, row.dropped_branch) {
        (None, None) => return None,
        (Some(first), None) => format!("{who} is supported by drivers from R{first} on"),
        (None, Some(dropped)) => format!("{who} is not supported by drivers from R{dropped} on"),
        (Some(first), Some(dropped)) => {
            format!(
                "{who} is supported by drivers from R{first} up to, but not including, R{dropped}"
            )
        }
    };
    let mut sources = row.source.clone();
    if let Some(product) = product.filter(|product| Some(product.branch) == first) {
        sources.splice(0..0, product.source.iter().cloned());
    }
    // What the kernel log says when the driver is too new; a driver that is too old says nothing that is as clear.
    let symptom = row.dropped_branch.map(|_| "NVRM: No NVIDIA GPU found.".to_owned());
    let fact = Fact { rule: Rule::DriverBranch, text, sources, symptom };
    Some(Limit { package: Package::Driver, range, fact: Arc::new(fact) })
}

/// The capabilities of all GPUs but those of Tegra systems.
pub(super) fn without_tegra() -> Range {
    let rows = matrix::gpus().capability.iter().filter(|row| row.tegra);
    rows.fold(Range::full(), |range, row| {
        range.intersection(&exactly(row.capability.clone()).complement())
    })
}

/// What GPU number `index` of the machine asks of the driver.
#[must_use]
pub fn gpu_constraints(index: u8, gpu: &Gpu, platform: Platform) -> Vec<Constraint> {
    let subject = (Package::Gpu(index), gpu.capability.clone().into());
    driver_branches(gpu, platform)
        .map(|limit| limit.constraint(subject, Force::Requires))
        .into_iter()
        .collect()
}

/// True when the toolkit `cuda` can write machine code for the capability of `row`.
fn targets(cuda: &SystemVersion, row: &Capability) -> bool {
    let cuda = cuda.major_minor();
    row.first_cuda.as_ref().is_none_or(|first| *first <= cuda)
        && row.last_cuda.as_ref().is_none_or(|last| cuda <= *last)
}

/// The capabilities that the toolkit `cuda` targets, by [`Package::Gpu`] of the first GPU. Newer GPUs can still be
/// reached by PTX, older ones not at all: see [`toolkit_floor`]. `None` when it targets none that is known.
#[must_use]
pub fn toolkit_window(cuda: &SystemVersion) -> Option<Limit> {
    let rows = &matrix::gpus().capability;
    let mut range = Range::empty();
    let mut run: Option<(SystemVersion, SystemVersion)> = None;
    // Neighbours become one interval, so that messages stay short.
    for row in rows {
        if targets(cuda, row) {
            let capability = row.capability.clone();
            let low = run.take().map_or_else(|| capability.clone(), |(low, _)| low);
            run = Some((low, capability));
        } else if let Some((low, high)) = run.take() {
            range = range.union(&closed(low, high));
        }
    }
    if let Some((low, high)) = run {
        range = range.union(&closed(low, high));
    }
    let listed: Vec<&Capability> = rows.iter().filter(|row| targets(cuda, row)).collect();
    let (lowest, highest) = (listed.first()?, listed.last()?);
    let text = format!(
        "CUDA {} targets compute capabilities {} to {}",
        cuda.major_minor(),
        lowest.capability,
        highest.capability
    );
    Some(Limit {
        package: Package::Gpu(0),
        range,
        fact: fact(Rule::ToolkitWindow, text, &lowest.source),
    })
}

fn closed(low: SystemVersion, high: SystemVersion) -> Range {
    if low == high {
        exactly(low)
    } else {
        Range::from_range_bounds(Version::from(low)..=Version::from(high))
    }
}

/// The lowest capability that the toolkit `cuda` targets: nothing built with it runs on older GPUs.
#[must_use]
pub fn toolkit_floor(cuda: &SystemVersion) -> Option<Limit> {
    let rows = &matrix::gpus().capability;
    let lowest = rows.iter().find(|row| targets(cuda, row))?;
    let dropped = rows
        .iter()
        .rfind(|row| !row.tegra && row.capability < lowest.capability && row.last_cuda.is_some());
    let mut text = format!(
        "CUDA {} has no code for GPUs below compute capability {}",
        cuda.major_minor(),
        lowest.capability
    );
    if let Some((row, last)) = dropped.and_then(|row| Some((row, row.last_cuda.as_ref()?))) {
        use std::fmt::Write as _;
        let _ =
            write!(text, "; the last for {} ({}) is CUDA {last}", row.capability, row.architecture);
    }
    Some(Limit {
        package: Package::Gpu(0),
        range: from(lowest.capability.clone()),
        fact: fact(Rule::ToolkitWindow, text, &lowest.source),
    })
}

#[cfg(test)]
mod tests;
