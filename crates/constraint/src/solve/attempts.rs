//! In which order the indexes are drawn in: PyPI alone first, then the indexes of other builds as they are needed.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use super::candidates::{Candidates, Judge};
use super::{Reach, SolveError, attempt};
use crate::catalog::{Catalog, CatalogError};
use crate::name::Name;
use crate::rules::torch::TORCH;
use crate::solve::problem::{Problem, SourceKind};
use crate::solve::solution::Solution;
use crate::version::{Version, local_label};
use crate::wheel::Tags;

/// Solves one problem.
///
/// The same problem over the same catalog has the same answer, whatever order fetches finish in.
///
/// # Errors
/// [`SolveError::Conflict`] with the proof when there is no answer; [`SolveError::Catalog`] when an index cannot be read.
pub fn solve(problem: Arc<Problem>, catalog: Arc<dyn Catalog>) -> Result<Solution, SolveError> {
    let outcome = solve_as(&problem, &catalog);
    let Err(SolveError::Conflict(conflict)) = &outcome else { return outcome };
    if problem.policy.ignore_advice || !conflict.rests_on_advice() {
        return outcome;
    }
    let mut lenient = Problem::clone(&problem);
    lenient.policy.ignore_advice = true;
    solve_as(&Arc::new(lenient), &catalog)
}

/// Solves one problem as its policy has it.
fn solve_as(problem: &Arc<Problem>, catalog: &Arc<dyn Catalog>) -> Result<Solution, SolveError> {
    let decided = Cell::new(0);
    let ranks = RefCell::default();
    let at = |reach: Reach| {
        let outcome = attempt(problem, catalog, &reach, &ranks);
        decided.set(decided.get() + decisions(&outcome));
        outcome
    };
    let mut outcome = draw_in(problem, catalog, &at);
    match &mut outcome {
        Ok(solution) => solution.decisions = decided.get(),
        Err(SolveError::Conflict(conflict)) => conflict.decisions = decided.get(),
        Err(SolveError::Catalog(_)) => {}
    }
    outcome
}

/// How many versions one attempt chose.
fn decisions(outcome: &Result<Solution, SolveError>) -> u64 {
    match outcome {
        Ok(solution) => solution.decisions,
        Err(SolveError::Conflict(conflict)) => conflict.decisions,
        Err(SolveError::Catalog(_)) => 0,
    }
}

/// Solves with as few indexes as will do; `at` is one attempt.
fn draw_in(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    at: &dyn Fn(Reach) -> Result<Solution, SolveError>,
) -> Result<Solution, SolveError> {
    if problem.wants_cpu_builds() {
        match at(Reach::Cpu) {
            // Without a build for the CPU another one may still do: it runs on the CPU as well.
            Err(SolveError::Conflict(conflict))
                if problem.asks_for_family() || problem.concerns_accelerators(&conflict) => {}
            outcome => return outcome,
        }
    }
    if problem.needs_accelerators() {
        return at(Reach::ALL);
    }
    if let Some(backend) = kept_backend(problem)
        && let Some(outcome) = keep(problem, &backend, at)
    {
        return outcome;
    }
    let reach = problem.first_reach();
    let mut first = at(reach.clone());
    if !problem.has_accelerators() {
        return first;
    }
    if reach == Reach::Backends {
        return match first {
            Err(SolveError::Conflict(conflict)) if problem.concerns_feeds(&conflict) => {
                keep_proof(Err(SolveError::Conflict(conflict)), at(Reach::ALL))
            }
            outcome => outcome,
        };
    }
    if let Err(SolveError::Conflict(conflict)) = &first
        && problem.concerns_feeds(conflict)
    {
        first = keep_proof(first, at(Reach::Feeds));
    }
    let reach = match &first {
        // That a newer torch exists is known, and no reason to move a pin, or to move it further than it has to.
        Ok(solution) if is_kept(problem, solution) || !problem.policy.nearest.is_empty() => {
            return first;
        }
        Ok(solution) => match held_back(problem, catalog, solution)? {
            Some(above) => Reach::Accelerators { above: Some(above) },
            None => return first,
        },
        Err(SolveError::Conflict(conflict)) if problem.concerns_accelerators(conflict) => {
            Reach::ALL
        }
        Err(_) => return first,
    };
    match (at(reach), first) {
        (Ok(more), Ok(first)) => Ok(if public(&more) > public(&first) { more } else { first }),
        // What was found without the other indexes still holds.
        (Err(SolveError::Conflict(_)), Ok(first)) => Ok(first),
        // An index that could not be read might have had what is better, and so is no reason to do without.
        (Err(unreadable), Ok(_)) => Err(unreadable),
        (more, first) => keep_proof(first, more),
    }
}

/// The answer with the torch of an earlier lock, from the index that has it. `None` when it does not hold any more.
///
/// When an index cannot be read, the pins stay as they are, if they can be had without it; else nobody knows whether they
/// hold, and none of them is moved.
fn keep(
    problem: &Problem,
    backend: &str,
    at: &dyn Fn(Reach) -> Result<Solution, SolveError>,
) -> Option<Result<Solution, SolveError>> {
    let reach = |feeds| Reach::Kept { backend: backend.to_owned(), feeds };
    match at(reach(true)) {
        Ok(solution) => is_kept(problem, &solution).then_some(Ok(solution)),
        Err(SolveError::Conflict(_)) => None,
        Err(unreadable) => match at(reach(false)) {
            Ok(solution) if all_kept(problem, &solution) => Some(Ok(solution)),
            _ => Some(Err(unreadable)),
        },
    }
}

/// Whether every distribution that an earlier lock pins is at that version.
fn all_kept(problem: &Problem, solution: &Solution) -> bool {
    solution.builds.iter().all(|(name, chosen)| {
        let kept = problem.policy.preferences.get(name);
        kept.is_none() || kept == chosen.version.version()
    })
}

/// The accelerator of the torch that an earlier lock pins, when that build is not on PyPI: it stays while it holds, also
/// when PyPI's own build would do by now.
fn kept_backend(problem: &Problem) -> Option<String> {
    let kept = problem.policy.preferences.get(&Name::new(TORCH).ok()?)?;
    let known = |label: &String| {
        let is_of =
            |kind: &SourceKind| matches!(kind, SourceKind::PyTorch { backend } if backend == label);
        problem.sources.iter().any(|source| is_of(&source.kind))
    };
    local_label(kept).filter(known)
}

/// Whether torch is at the version that an earlier lock pins.
fn is_kept(problem: &Problem, solution: &Solution) -> bool {
    let Ok(name) = Name::new(TORCH) else { return false };
    let kept = problem.policy.preferences.get(&name);
    kept.is_some() && kept == solution.build(TORCH).and_then(|chosen| chosen.version.version())
}

/// The second outcome; but when its indexes could not be asked, what the first could prove is the more useful report.
fn keep_proof(
    first: Result<Solution, SolveError>,
    second: Result<Solution, SolveError>,
) -> Result<Solution, SolveError> {
    match (first, second) {
        (Err(SolveError::Conflict(mut conflict)), Err(SolveError::Catalog(why))) => {
            conflict.unasked = Some(why.to_string());
            Err(SolveError::Conflict(conflict))
        }
        (_, second) => second,
    }
}

/// The version of torch that was chosen, when a newer one exists for this Python and platform: one of its other builds may
/// run here.
fn held_back(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    solution: &Solution,
) -> Result<Option<Pep440>, CatalogError> {
    let Some(chosen) = solution.build(TORCH) else { return Ok(None) };
    let (Ok(name), Some(version)) = (Name::new(TORCH), public(solution)) else { return Ok(None) };
    let source = chosen.version.source();
    let Some(project) = catalog.project(source, name)? else { return Ok(None) };
    let candidates = Candidates::join(vec![(source, project)], |source, version| {
        problem.takes_some(source, version)
    });
    let tags = Tags::for_target(&problem.target);
    let judge = Judge { tags: &tags, policy: &problem.policy, sources: &problem.sources };
    let in_range = |build: &Version| {
        let stated = problem.requirements.iter().chain(&problem.constraints);
        stated.filter(|r| r.name == name && r.url.is_none()).all(|r| r.range().contains(build))
    };
    let python = &problem.target.python;
    let newer = candidates.in_order(false).find(|candidate| {
        let release = candidate.release(&judge);
        candidate.version().version().is_some_and(Pep440::is_stable)
            && in_range(candidate.tagged())
            && release.yanked.is_none()
            && release.has_wheel()
            && release.file().is_some_and(|file| {
                let stated = file.requires_python.as_deref().and_then(|s| s.parse().ok());
                stated.is_none_or(|stated: pep440_rs::VersionSpecifiers| stated.contains(python))
            })
    });
    let is_newer =
        newer.and_then(|n| n.version().version()).is_some_and(|newest| *newest > version);
    Ok(is_newer.then_some(version))
}

/// The version of torch in a solution, without its label.
fn public(solution: &Solution) -> Option<Pep440> {
    Some(solution.build(TORCH)?.version.version()?.clone().without_local())
}
