//! Which drivers an environment runs on, in each of NVIDIA's ways to run it, and which GPU it will lose first.

use serde::Serialize;

use super::{Holder, holders};
use crate::machine::{Brand, Gpu};
use crate::package::Package;
use crate::rules::{driver, gpu};
use crate::solve::{Problem, Solution};
use crate::version::{Range, SystemVersion, Version};

/// The drivers of an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drivers {
    /// The machine's own driver, when it is given.
    pub machine: Option<String>,
    /// The CUDA runtime of the environment.
    pub cuda: Option<String>,
    /// The lowest driver that starts it: NVIDIA's minor-version compatibility.
    pub minimum: Option<String>,
    /// The lowest driver that was released with this CUDA or a newer one: nothing is missing from there on.
    pub full: Option<String>,
    /// The lowest driver that compiles PTX of this CUDA: needed where a GPU has no machine code in a wheel.
    pub ptx: Option<String>,
    /// Who asks for a driver.
    pub held_by: Vec<Holder>,
    /// The GPU that goes first: the oldest compute capability that is still covered, in words.
    pub first_to_go: Option<String>,
}

/// The drivers of a solution.
#[must_use]
pub fn drivers(solution: &Solution, problem: &Problem) -> Drivers {
    let stack = solution.system_stack(problem);
    let platform = problem.machine.platform;
    let cuda = solution.layers.get(&Package::Cuda).and_then(Version::as_system).cloned();
    let text = |version: SystemVersion| version.to_string();
    let ptx = cuda.as_ref().and_then(|cuda| driver::ptx_driver(cuda, platform));
    Drivers {
        machine: problem.machine.driver.clone().map(text),
        minimum: stack.minimum_driver.clone().map(text),
        full: cuda.as_ref().and_then(|c| driver::full_support_driver(c, platform)).map(text),
        ptx: ptx.and_then(|limit| lowest(&limit.range)).map(text),
        cuda: cuda.map(text),
        held_by: holders(solution, Package::Driver)
            .into_iter()
            .filter(|holder| holder.subject != "env.toml")
            .collect(),
        first_to_go: stack.capabilities.first().map(|oldest| first_to_go(oldest, problem)),
    }
}

fn lowest(range: &Range) -> Option<SystemVersion> {
    match range.iter().next()?.0 {
        std::ops::Bound::Included(version) => version.as_system().cloned(),
        std::ops::Bound::Excluded(_) | std::ops::Bound::Unbounded => None,
    }
}

/// The oldest capability that is covered, with the GPU of the machine that has it and what drivers say of it.
fn first_to_go(oldest: &SystemVersion, problem: &Problem) -> String {
    let gpus = problem.machine.gpus.iter().flatten();
    let mine: Vec<&Gpu> = gpus.filter(|gpu| gpu.capability == *oldest).collect();
    let stand_in = Gpu {
        name: format!("compute capability {oldest}"),
        capability: oldest.clone(),
        brand: Brand::Unknown,
    };
    let gpu = mine.first().copied().unwrap_or(&stand_in);
    let whose = if mine.is_empty() { "" } else { " (in this machine)" };
    match gpu::driver_branches(gpu, problem.machine.platform) {
        // The fact begins with the name of the GPU.
        Some(limit) => format!("{}{whose}", limit.fact.text),
        None => format!("{}{whose}", gpu.name),
    }
}
