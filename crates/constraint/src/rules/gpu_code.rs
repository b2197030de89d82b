//! Does a build have code for the GPUs of the machine?

use std::sync::Arc;

use crate::constraint::{Constraint, Fact, Force, Reason};
use crate::machine::Machine;
use crate::package::Package;
use crate::rules::Build;
use crate::rules::build_code;
use crate::rules::driver::ptx_driver;
use crate::rules::machine_code::Verdict;
use crate::version::Version;

/// For each GPU: the capabilities that the build has code for; and where only its PTX serves, a driver that can compile it.
#[must_use]
pub fn constraints(build: &Build<'_>, machine: &Machine) -> Vec<Constraint> {
    let gpus = machine.gpus.as_deref().unwrap_or_default();
    if gpus.is_empty() {
        return Vec::new();
    }
    let Some(row) = build_code::machine_code(build, machine.platform) else { return Vec::new() };
    let Some(code) = row.targets() else { return Vec::new() };
    let subject = (Package::dist(build.name), Version::Dist(build.version.clone()));
    let who = match &row.assumed_from {
        Some(other) => format!("{} (assumed to be like {other})", build.title()),
        None => build.title(),
    };
    let mut constraints = Vec::new();
    for (n, gpu) in (0_u8..).zip(gpus) {
        let mut limit = code.gpu_limit(&who, row.sources, true);
        limit.package = Package::Gpu(n);
        constraints.push(limit.constraint(subject.clone(), Force::Requires));
        let verdict = code.runs_on(&gpu.capability, &row.toolkit, None, machine.platform);
        if !matches!(verdict, Verdict::Jit { .. }) {
            continue;
        }
        let Some(needed) = ptx_driver(&row.toolkit, machine.platform) else { continue };
        let text = format!(
            "{who} reaches compute capability {} only through PTX of CUDA {}; {}",
            gpu.capability, row.toolkit, needed.fact.text
        );
        let mut sources = row.sources.to_vec();
        sources.extend(needed.fact.sources.iter().cloned());
        let (rule, symptom) = (needed.fact.rule, needed.fact.symptom.clone());
        constraints.push(Constraint {
            subject: subject.clone(),
            package: Package::Driver,
            range: needed.range,
            force: Force::Requires,
            reason: Reason::Matrix(Arc::new(Fact { rule, text, sources, symptom })),
        });
    }
    constraints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Brand, Gpu};
    use crate::rules::stack::testing::{Pin, machine};
    use crate::version::SystemVersion;

    /// vllm's wheels have files that the compiler made for its default target; its kernels begin at 7.0.
    #[test]
    fn code_below_what_a_project_supports_means_nothing() {
        for version in ["0.5.5", "0.10.2", "0.17.1"] {
            for (capability, runs) in [((6, 1), false), ((7, 0), true), ((8, 6), true)] {
                let capability = SystemVersion::new(capability.0, capability.1);
                let name = capability.to_string();
                let gpu = Gpu { name, capability: capability.clone(), brand: Brand::Unknown };
                let here = Machine { gpus: Some(vec![gpu]), ..machine() };
                let found = constraints(&Pin::pypi("vllm", version).build(), &here);
                let at = Version::System(capability);
                let range = found.iter().find(|c| c.package == Package::Gpu(0)).map(|c| &c.range);
                assert_eq!(range.is_some_and(|range| range.contains(&at)), runs, "{version} {at}");
            }
        }
    }
}
