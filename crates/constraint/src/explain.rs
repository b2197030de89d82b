//! Why an answer is what it is: who requires a package, what holds it, and what stands against each newer release.
//!
//! What holds something comes from the constraints of the solution. Why a newer release is not taken is found by solving
//! with that release asked for: the proof that there is no answer, in one line, is the reason.

mod driver;
mod layers;

use std::cmp::Reverse;
use std::sync::Arc;

use pep440_rs::Version as Pep440;
use serde::Serialize;

use crate::catalog::{Catalog, CatalogError};
use crate::constraint::{Constraint, Force, Reason};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::Requirement;
use crate::solve::{Problem, Solution, SolveError, range_text, solve};
use crate::version::{DistVersion, Version};

pub use driver::{Drivers, drivers};
pub use layers::layer;

/// Newer releases that are tried: the next ones, and the newest.
const TRIED: usize = 8;

/// Why a distribution is in an environment, at its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What is explained: `torch`, `CUDA`.
    pub name: String,
    /// Its version in the answer.
    pub version: String,
    /// Who needs it, and which versions.
    pub held_by: Vec<Holder>,
    /// Newer releases, ascending, and what stands against each. Empty for what the machine fixes, such as its GPU.
    pub newer: Vec<Newer>,
    /// Newer releases between these that were not tried.
    pub not_tried: usize,
}

/// Something that needs what is explained.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Holder {
    /// `env.toml`, or a package with its version.
    pub subject: String,
    /// The versions that it allows.
    pub range: String,
    /// Who says so.
    pub source: String,
}

/// A newer release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Newer {
    /// The release.
    pub version: String,
    /// What stands against it; `None` when it could be taken.
    pub why_not: Option<String>,
    /// What would move with it, when it could be taken: `torchvision 0.26.0`.
    pub moves: Vec<String>,
}

/// Explains a distribution of the solution; `None` when it is not in it.
///
/// # Errors
/// When the project's page cannot be read. A newer release whose own solve cannot read something says that instead.
pub fn distribution(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
    name: Name,
) -> Result<Option<Explanation>, CatalogError> {
    let Some(chosen) = solution.builds.get(&name) else { return Ok(None) };
    let package = Package::dist(name);
    let newer = newer_releases(catalog, &chosen.version, name)?;
    let (tried, not_tried) = next_and_newest(&newer);
    let newer = tried.into_iter().map(|v| judge(problem, catalog, solution, name, v)).collect();
    Ok(Some(Explanation {
        name: name.to_string(),
        version: chosen.version.to_string(),
        held_by: holders(solution, package),
        newer,
        not_tried,
    }))
}

/// The next versions and the newest one, of an ascending list; and how many were left out.
fn next_and_newest<T>(versions: &[T]) -> (Vec<&T>, usize) {
    let near = versions.iter().take(TRIED - 1);
    let tried = near.chain(versions.iter().skip(TRIED - 1).last()).collect();
    (tried, versions.len().saturating_sub(TRIED))
}

/// Who needs a package, the tightest bounds first; of several bounds of one subject only the tightest.
fn holders(solution: &Solution, package: Package) -> Vec<Holder> {
    let installed = |constraint: &&Constraint| {
        constraint.package == package
            && (constraint.force == Force::Requires || constraint.subject.0 != Package::Root)
    };
    let all: Vec<&Constraint> = solution.constraints.iter().filter(installed).collect();
    let looser =
        |c: &Constraint| all.iter().filter(|other| c.range.subset_of(&other.range)).count();
    let mut ranked: Vec<(bool, Reverse<usize>, &Constraint)> =
        all.iter().map(|c| (c.subject.0 != Package::Root, Reverse(looser(c)), *c)).collect();
    // Stable: what is equally tight stays in the order of the solution.
    ranked.sort_by_key(|(others, tightness, c)| (*others, *tightness, c.subject.0));
    let mut holders: Vec<Holder> = Vec::new();
    for (_, _, constraint) in ranked {
        let subject = match constraint.subject.0 {
            Package::Root => "env.toml".to_owned(),
            subject => format!("{subject} {}", constraint.subject.1),
        };
        if !holders.iter().any(|known| known.subject == subject) {
            let range = range_text(&constraint.range, &[]);
            holders.push(Holder { subject, range, source: source(&constraint.reason) });
        }
    }
    holders
}

fn source(reason: &Reason) -> String {
    match reason {
        Reason::Metadata { requirement } => format!("METADATA: {requirement}"),
        Reason::RequiresPython { specifiers } => format!("Requires-Python: {specifiers}"),
        Reason::WheelTag { text } | Reason::Manifest { text } => text.to_string(),
        Reason::Matrix(fact) => match fact.sources.first() {
            Some(source) => format!("{}; {source}", fact.text),
            None => fact.text.clone(),
        },
        Reason::Extra => "an extra belongs to its distribution".to_owned(),
    }
}

/// The stable releases above the chosen one, on the index it came from, ascending.
fn newer_releases(
    catalog: &Arc<dyn Catalog>,
    chosen: &DistVersion,
    name: Name,
) -> Result<Vec<Pep440>, CatalogError> {
    let Some(current) = chosen.version().map(|version| version.clone().without_local()) else {
        return Ok(Vec::new());
    };
    let Some(project) = catalog.project(chosen.source(), name)? else { return Ok(Vec::new()) };
    let public = project.versions.iter().map(|version| version.clone().without_local());
    let mut newer: Vec<Pep440> = public.filter(|v| v.is_stable() && *v > current).collect();
    newer.dedup();
    Ok(newer)
}

/// What stands against one release.
fn judge(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
    name: Name,
    release: &Pep440,
) -> Newer {
    let newer = |why_not, moves| Newer { version: release.to_string(), why_not, moves };
    let build = Version::Dist(DistVersion::new(release.clone(), crate::version::SourceId(0)));
    let asked = problem.requirements.iter().chain(&problem.constraints);
    let excluding =
        asked.filter(|r| r.name == name && r.url.is_none()).find(|r| !r.range().contains(&build));
    if let Some(requirement) = excluding {
        return newer(Some(format!("env.toml asks for {}", requirement.text())), Vec::new());
    }
    let mut forced = problem.clone();
    let question = format!("{name}=={release}");
    let Ok(pin) = question.parse::<Requirement>() else {
        return newer(Some("its version cannot be asked for".to_owned()), Vec::new());
    };
    forced.requirements.push(Arc::new(pin));
    let asked = (Package::dist(name), question.as_str());
    verdict((release.to_string(), asked), forced, catalog, solution)
}

/// What comes of a problem that asks for one version more: `version` names it, `asked` is the package and the words.
fn verdict(
    (version, (package, question)): (String, (Package, &str)),
    forced: Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
) -> Newer {
    let (why_not, moves) = match solve(Arc::new(forced), Arc::clone(catalog)) {
        Ok(other) => (None, moved(solution, &other, package.dist_name())),
        Err(SolveError::Conflict(conflict)) => {
            (Some(conflict.one_line(package, question)), Vec::new())
        }
        Err(SolveError::Catalog(error)) => (Some(format!("not known: {error}")), Vec::new()),
    };
    Newer { version, why_not, moves }
}

/// What else is at another version in another solution.
fn moved(solution: &Solution, other: &Solution, name: Option<Name>) -> Vec<String> {
    let known = |(moved, chosen): &(&Name, &crate::solve::Chosen)| {
        Some(**moved) != name
            && solution.builds.get(moved).is_some_and(|old| old.version != chosen.version)
    };
    let text =
        |(moved, chosen): (&Name, &crate::solve::Chosen)| format!("{moved} {}", chosen.version);
    other.builds.iter().filter(known).map(text).collect()
}
