//! Builds that are known to exist where this solve did not look.

use crate::matrix::rows::indexes::Channel;
use crate::name::Name;
use crate::package::Package;
use crate::rules::{driver, index, onnxruntime};
use crate::solve::conflict::CollidingFact;
use crate::solve::problem::Problem;
use crate::version::{Range, SystemVersion, Version};

/// Majors of CUDA and cuDNN that are looked for.
const MAJORS: std::ops::Range<u64> = 1..100;

/// The hints for a set of facts.
pub(super) fn of(facts: &[CollidingFact], problem: &Problem) -> Vec<String> {
    let mut hints = labelled(facts, problem);
    hints.extend(elsewhere(facts, problem));
    hints.extend(runtime(facts, problem));
    hints.extend(forward_compatible(facts, problem));
    hints
}

/// The system package with which an old driver of a data-center GPU runs a newer CUDA.
fn forward_compatible(facts: &[CollidingFact], problem: &Problem) -> Option<String> {
    let machine = &problem.machine;
    let (driver, gpus) = (machine.driver.as_ref()?, machine.gpus.as_deref()?);
    let wanted = facts.iter().find_map(|fact| match fact {
        CollidingFact::Needs {
            subject: Package::Cuda, package: Package::Driver, versions, ..
        } => Some(versions),
        _ => None,
    })?;
    let cuda = driver::known_cuda()
        .into_iter()
        .find(|cuda| wanted.contains(&Version::System(cuda.clone())))?;
    let package = |gpu| driver::forward_compat(&cuda, driver, gpu, machine.platform);
    let packages: Vec<_> = gpus.iter().map(package).collect::<Option<_>>()?;
    let first = packages.first()?;
    let stands_for = driver::full_support_driver(&first.cuda, machine.platform)?;
    Some(format!(
        "with the system package {} driver {driver} runs CUDA {} on {}; where it is installed, write driver = \"{stands_for}\"",
        first.package,
        first.cuda,
        gpus.iter().map(|gpu| gpu.name.as_str()).collect::<Vec<_>>().join(" and ")
    ))
}

fn is_source(problem: &Problem, name: &str) -> bool {
    problem.sources.iter().any(|source| source.name == name)
}

/// A local label names the index that has the build.
fn labelled(facts: &[CollidingFact], problem: &Problem) -> Vec<String> {
    let takes_part = |name: Name| {
        facts.iter().any(|fact| {
            matches!(fact, CollidingFact::Needs { subject: Package::Root, package, .. }
                if package.dist_name() == Some(name))
        })
    };
    let mut hints = Vec::new();
    for requirement in problem.requirements.iter().filter(|r| takes_part(r.name)) {
        let known = requirement.local_label().and_then(|label| index::pytorch(&label));
        let Some(known) = known.filter(|known| known.serves(requirement.name)) else { continue };
        if !is_source(problem, &known.name) {
            hints.push(format!(
                "{} is a build of the index {}, which env.toml leaves out",
                requirement.text(),
                known.name
            ));
        }
    }
    hints
}

/// Distributions that no index had which was asked, but that a known one has.
fn elsewhere(facts: &[CollidingFact], problem: &Problem) -> Vec<String> {
    let unknown = facts.iter().filter_map(|fact| match fact {
        CollidingFact::NoVersion { package, unknown_project: Some(_), .. } => package.dist_name(),
        _ => None,
    });
    let is_served = |name: Name| {
        problem.sources.iter().any(|source| !source.explicit && source.serves_only(name))
    };
    let hint = |name: Name| {
        let rows = index::special_for(name);
        let names: Vec<String> = rows
            .iter()
            .filter(|row| row.channel == Channel::Release && !is_source(problem, &row.name))
            .map(|row| row.name.replace("{backend}", "*"))
            .collect();
        let first = names.first()?;
        Some(format!("{name} is on the index {first}, which env.toml leaves out"))
    };
    unknown.filter(|name| !is_served(*name)).filter_map(hint).collect()
}

/// The builds of onnxruntime-gpu for the CUDA and cuDNN that everything else here needs.
fn runtime(facts: &[CollidingFact], problem: &Problem) -> Vec<String> {
    let is_runtime = |package: &Package| {
        package.dist_name().is_some_and(|name| name.as_str() == onnxruntime::GPU)
    };
    let takes_part = facts
        .iter()
        .any(|fact| matches!(fact, CollidingFact::Needs { subject, .. } if is_runtime(subject)));
    let needed = |layer: Package| {
        let others = facts.iter().filter_map(|fact| match fact {
            CollidingFact::Needs { subject, package, range, .. }
                if *package == layer && !is_runtime(subject) =>
            {
                Some(range)
            }
            _ => None,
        });
        let all = others.fold(Range::full(), |all, range| all.intersection(range));
        let mut majors = MAJORS.filter(|major| {
            let (low, high) = (SystemVersion::new(*major, 0), SystemVersion::new(*major + 1, 0));
            let family = Range::between(Version::System(low), Version::System(high));
            !all.is_disjoint(&family)
        });
        // Only when the others agree on one major is there something to look for.
        majors.next().filter(|_| majors.next().is_none())
    };
    let (true, Some(cuda), Some(cudnn)) =
        (takes_part, needed(Package::Cuda), needed(Package::Cudnn))
    else {
        return Vec::new();
    };
    onnxruntime::builds_for(cuda, cudnn)
        .into_iter()
        .filter(|build| !is_source(problem, build.index))
        .filter(|build| index::by_name(build.index).is_some_and(|known| known.name != "pypi"))
        .map(|build| {
            format!(
                "{} {} to {} for CUDA {cuda} and cuDNN {cudnn} is on the index {}, which env.toml leaves out",
                onnxruntime::GPU,
                build.from,
                build.to,
                build.index
            )
        })
        .collect()
}
