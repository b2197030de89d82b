//! What a solution means for the machine: its minimum driver, the GPUs it covers, and what must happen at load time.

use crate::constraint::{Constraint, Force, Reason};
use crate::machine::{Brand, Gpu, Libraries, Machine};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::RequirementCache;
use crate::rules::loading::{self, Stack, Step};
use crate::rules::machine_code::{MachineCode, Verdict};
use crate::rules::{
    Build, Origin, build_code, gpu, library, onnxruntime, opens, supply, torch, unjudged,
};
use crate::solve::problem::{Problem, Source};
use crate::solve::solution::Solution;
use crate::version::{Range, SystemVersion, Version};

/// The system side of a solution.
#[derive(Clone, Debug)]
pub struct SystemStack {
    /// The CUDA runtime that something supplies: a wheel, torch, or the system that env.toml describes. `None` when nothing
    /// does, however much there is that asks for one.
    pub cuda: Option<SystemVersion>,
    /// cuDNN, likewise.
    pub cudnn: Option<SystemVersion>,
    /// The lowest driver that everything here runs on. `None` when nothing needs a driver.
    pub minimum_driver: Option<SystemVersion>,
    /// The compute capabilities that every build has code for, native or by PTX, ascending. Empty when no build has GPU
    /// code that is known.
    pub capabilities: Vec<SystemVersion>,
    /// The distributions whose GPU code is known, and that the capabilities speak of.
    pub covered: Vec<Name>,
    /// Those that use the GPU while nothing is known about their code.
    pub unjudged: Vec<Name>,
    /// What a program must do so that its libraries are found.
    pub loading: Vec<Step>,
}

impl Solution {
    /// The system side of this solution of `problem`.
    #[must_use]
    pub fn system_stack(&self, problem: &Problem) -> SystemStack {
        let cache = RequirementCache::new(problem.target.marker_environment());
        let builds: Vec<Build<'_>> = self
            .builds
            .iter()
            .map(|(name, chosen)| Build {
                name: *name,
                version: &chosen.version,
                filename: Some(&chosen.file.filename),
                origin: problem
                    .source(chosen.version.source())
                    .map_or(Origin::Other, Source::origin),
                metadata: Some(&chosen.metadata),
                requirements: &cache,
            })
            .collect();
        SystemStack {
            cuda: self.supplied(Package::Cuda, &builds, &problem.machine),
            cudnn: self.supplied(Package::Cudnn, &builds, &problem.machine),
            minimum_driver: minimum_driver(&self.constraints),
            capabilities: capabilities(&builds, &problem.machine),
            covered: names(&builds, |build| {
                build_code::machine_code(build, problem.machine.platform).is_some()
            }),
            unjudged: names(&builds, |build| {
                unjudged::is_gpu_code_unknown(build, &problem.machine)
            }),
            loading: loading_steps(&builds, &problem.machine),
        }
    }

    /// The version of a layer that something here needs and something supplies.
    fn supplied(
        &self,
        layer: Package,
        builds: &[Build<'_>],
        machine: &Machine,
    ) -> Option<SystemVersion> {
        let wish = if layer == Package::Cuda { &machine.cuda } else { &machine.cudnn };
        let described = machine.libraries == Libraries::System && wish.is_some();
        let brought = || builds.iter().any(|build| supply::brings(build, layer, machine.platform));
        let needed = || self.system_constraints().any(|constraint| constraint.package == layer);
        let version = self.layer(layer).and_then(Version::as_system).cloned();
        version.filter(|_| (described || brought()) && needed())
    }

    /// The constraints that decide about each system layer: those of [`Solution::system_constraints`] that no other one
    /// on the same layer implies. Of several that say the same, one with a public source stands for all.
    #[must_use]
    pub fn deciding_constraints(&self) -> Vec<&Constraint> {
        let mut all: Vec<&Constraint> = self.system_constraints().collect();
        all.sort_by_key(|constraint| !matches!(constraint.reason, Reason::Matrix(_)));
        let mut kept: Vec<&Constraint> = Vec::new();
        for constraint in all {
            let same = |other: &&Constraint| other.package == constraint.package;
            if kept.iter().filter(|o| same(o)).any(|other| other.range.subset_of(&constraint.range))
            {
                continue;
            }
            kept.retain(|other| !same(other) || !constraint.range.subset_of(&other.range));
            kept.push(constraint);
        }
        kept
    }

    /// The constraints on system layers that come from builds and layers, without those that env.toml states itself.
    pub fn system_constraints(&self) -> impl Iterator<Item = &Constraint> {
        self.constraints.iter().filter(|constraint| {
            !is_stated(constraint)
                && constraint.package.dist_name().is_none()
                && !matches!(constraint.package, Package::Provider(_))
                && constraint.force == Force::Requires
        })
    }
}

fn names(builds: &[Build<'_>], wanted: impl Fn(&Build<'_>) -> bool) -> Vec<Name> {
    builds.iter().filter(|build| wanted(build)).map(|build| build.name).collect()
}

/// True for what env.toml states itself. What a fact says of its image is no such thing.
fn is_stated(constraint: &Constraint) -> bool {
    constraint.subject.0 == Package::Root && !matches!(constraint.reason, Reason::Matrix(_))
}

/// The lowest driver in every range that a build or a layer asks for.
fn minimum_driver(constraints: &[Constraint]) -> Option<SystemVersion> {
    let needed = constraints
        .iter()
        .filter(|c| c.package == Package::Driver && !is_stated(c))
        .map(|c| &c.range)
        .fold(Range::full(), |all, range| all.intersection(range));
    let (low, _) = needed.iter().next()?;
    match low {
        std::ops::Bound::Included(version) => version.as_system().cloned(),
        std::ops::Bound::Excluded(_) | std::ops::Bound::Unbounded => None,
    }
}

/// The known capabilities that no build and no library rules out.
fn capabilities(builds: &[Build<'_>], machine: &Machine) -> Vec<SystemVersion> {
    let codes: Vec<(MachineCode, SystemVersion)> = builds
        .iter()
        .filter_map(|build| {
            let row = build_code::machine_code(build, machine.platform)?;
            let code = row.targets()?;
            Some((code, row.toolkit))
        })
        .collect();
    if codes.is_empty() {
        return Vec::new();
    }
    let floors: Vec<Range> = builds
        .iter()
        .flat_map(|build| library::library_constraints(build.name, build.version, 1))
        .filter(|constraint| matches!(constraint.package, Package::Gpu(_)))
        .map(|constraint| constraint.range)
        .collect();
    gpu::known_capabilities()
        .into_iter()
        .filter(|capability| {
            let version = Version::System(capability.clone());
            floors.iter().all(|range| range.contains(&version))
                && codes.iter().all(|(code, toolkit)| {
                    let driver = machine.driver.as_ref();
                    let verdict = code.runs_on(capability, toolkit, driver, machine.platform);
                    matches!(verdict, Verdict::Native | Verdict::Jit { .. })
                })
                && driven(capability, machine)
        })
        .collect()
}

/// Whether the driver of the machine still, or already, drives GPUs of a capability.
fn driven(capability: &SystemVersion, machine: &Machine) -> bool {
    let Some(driver) = &machine.driver else { return true };
    let gpu =
        Gpu { name: capability.to_string(), capability: capability.clone(), brand: Brand::Unknown };
    gpu::driver_branches(&gpu, machine.platform).is_none_or(|limit| limit.allows(driver))
}

fn loading_steps(builds: &[Build<'_>], machine: &Machine) -> Vec<Step> {
    let find = |name: &str| builds.iter().find(|build| build.name.as_str() == name).copied();
    let of_runtime = find(onnxruntime::GPU).map(|runtime| {
        loading::steps(&Stack {
            runtime,
            torch: find(torch::TORCH),
            platform: machine.platform,
            libraries: machine.libraries,
        })
    });
    let others = builds.iter().filter_map(|build| opens::step(build, builds, machine));
    of_runtime.into_iter().flatten().chain(others).collect()
}
