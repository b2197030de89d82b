//! What several targets of one env.toml owe each other: the same versions of some packages, and a model that one exports
//! and another reads.

use std::sync::Arc;

use cuda_lock_constraint::constraint::{Fact, Force, Reason};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::solve::{
    CollidingFact, Conflict, LayerBound, Problem, Resolution, Solution, SolveError,
};
use cuda_lock_constraint::version::{Range, dist_range, if_present};
use pep440_rs::{Version as Pep440, VersionSpecifiers};

/// What one target got.
pub type Solved = Result<(Arc<Problem>, Solution), SolveError>;

/// One target on its way to agree with the others.
pub struct Party {
    /// Its name; empty when env.toml has no targets.
    pub name: String,
    /// What it got.
    pub outcome: Solved,
    /// The problem without a solution, when it is another one than that of the target alone.
    pub refused: Option<Arc<Problem>>,
}

/// How one problem is solved anew.
pub type Solver<'a> = dyn Fn(&Arc<Problem>) -> Result<Solution, SolveError> + 'a;

/// Makes the targets agree where they can. Targets without a solution are left alone.
///
/// First on the model: what one target exports another must be able to load; when no runtime there can, the exporter is
/// bound instead, and when that is impossible as well its target has no solution. Then on the packages that `same` names:
/// each gets the highest version that all targets can have, and where there is none the targets keep theirs. Returns what
/// a person should know of it.
pub fn agree(parties: &mut [Party], same: &[Name], solver: &Solver<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if parties.len() < 2 {
        return notes;
    }
    for writer in 0..parties.len() {
        for reader in (0..parties.len()).filter(|reader| *reader != writer) {
            notes.extend(agree_on_model(parties, writer, reader, solver));
        }
    }
    for name in same {
        notes.extend(agree_on_version(parties, *name, solver));
    }
    notes
}

fn solution(party: &Party) -> Option<&Solution> {
    party.outcome.as_ref().ok().map(|(_, solution)| solution)
}

/// A bound of one target on the IR version: a single version for what it writes, several for what it reads.
fn ir_bound(party: &Party, writes: bool) -> Option<(Range, Arc<Fact>)> {
    solution(party)?.constraints.iter().find_map(|constraint| match &constraint.reason {
        Reason::Matrix(fact)
            if constraint.package == Package::OnnxIr
                && constraint.range.as_singleton().is_some() == writes =>
        {
            Some((constraint.range.clone(), Arc::clone(fact)))
        }
        _ => None,
    })
}

fn agree_on_model(
    parties: &mut [Party],
    writer: usize,
    reader: usize,
    solver: &Solver<'_>,
) -> Option<String> {
    let (written, exported) = ir_bound(parties.get(writer)?, true)?;
    let (read, loaded) = ir_bound(parties.get(reader)?, false)?;
    if !written.intersection(&read).is_empty() {
        return None;
    }
    let at = |target: &str, fact: &Fact| {
        Reason::Matrix(Arc::new(Fact {
            text: format!("target {target}: {}", fact.text),
            ..fact.clone()
        }))
    };
    let (from, to) = (&parties.get(writer)?.name.clone(), &parties.get(reader)?.name.clone());
    let bound = |range, reason| LayerBound {
        package: Package::OnnxIr,
        range,
        force: Force::IfPresent,
        reason,
    };
    let problem = bounded(parties.get(reader)?, bound(written, at(from, &exported)))?;
    if let Ok(newer) = solver(&problem) {
        parties.get_mut(reader)?.outcome = Ok((problem, newer));
        return Some(format!("target {to} loads what target {from} exports: {}", exported.text));
    }
    let literal = literal(&loaded, &exported);
    let reason = match at(to, &loaded) {
        Reason::Matrix(fact) => {
            Reason::Matrix(Arc::new(Fact { symptom: Some(literal.clone()), ..(*fact).clone() }))
        }
        other => other,
    };
    let problem = bounded(parties.get(writer)?, bound(read, reason))?;
    let outcome = solver(&problem).map(|solution| (Arc::clone(&problem), solution));
    let note = match &outcome {
        Ok(_) => format!("target {from} exports for target {to}, where {}", loaded.text),
        Err(SolveError::Conflict(_)) => format!(
            "what target {from} exports does not load in target {to}: {}, but {}. Loading it fails with: {literal}",
            exported.text, loaded.text
        ),
        Err(SolveError::Catalog(_)) => return None,
    };
    let party = parties.get_mut(writer)?;
    party.refused = outcome.is_err().then_some(problem);
    party.outcome = outcome;
    Some(note)
}

/// The message that people meet, with the IR version that is exported.
fn literal(loaded: &Fact, exported: &Fact) -> String {
    let symptom = loaded.symptom.clone().unwrap_or_default();
    let written = exported.text.rsplit("ONNX IR ").next().and_then(|rest| rest.split(' ').next());
    symptom.replacen("...", written.unwrap_or("..."), 1)
}

/// The problem of a target with one more bound; `None` when it has no solution as it is.
fn bounded(party: &Party, bound: LayerBound) -> Option<Arc<Problem>> {
    let (problem, _) = party.outcome.as_ref().ok()?;
    let mut problem = Problem::clone(problem);
    problem.bounds.push(bound);
    Some(Arc::new(problem))
}

/// The public version of a package in a target.
fn version(party: &Party, name: Name) -> Option<Pep440> {
    let chosen = solution(party)?.builds.get(&name)?;
    Some(chosen.version.version()?.clone().without_local())
}

/// Lowers the bound to the lowest version that any target has, until all have the same (raises it, for a resolution that
/// takes the lowest): every version that all can have lies within it.
fn agree_on_version(parties: &mut [Party], name: Name, solver: &Solver<'_>) -> Option<String> {
    let lowest_first = |party: &Party| {
        party
            .outcome
            .as_ref()
            .is_ok_and(|(problem, _)| problem.policy.resolution == Resolution::Lowest)
    };
    let upwards = parties.iter().any(lowest_first);
    let mut agreed: Vec<(usize, Solved)> = Vec::new();
    // Each round moves the bound to another release; no project has more that matter.
    for _ in 0..64 {
        let now = |at: usize, party: &Party| {
            let newer = agreed.iter().rev().find(|(place, _)| *place == at);
            match newer {
                Some((_, Ok((_, solution)))) => {
                    let chosen = solution.builds.get(&name)?;
                    Some(chosen.version.version()?.clone().without_local())
                }
                _ => version(party, name),
            }
        };
        let found: Vec<(usize, Pep440)> = parties
            .iter()
            .enumerate()
            .filter_map(|(at, party)| Some((at, now(at, party)?)))
            .collect();
        let limit =
            if upwards { found.iter().max_by(by_version) } else { found.iter().min_by(by_version) };
        let (holder, limit) = limit?.clone();
        let differing: Vec<usize> =
            found.iter().filter(|(_, version)| *version != limit).map(|(at, _)| *at).collect();
        if differing.is_empty() {
            for (at, outcome) in agreed {
                parties.get_mut(at)?.outcome = outcome;
            }
            return None;
        }
        let operator = if upwards { ">=" } else { "<=" };
        let text = format!("{name}{operator}{limit}");
        let specifiers: VersionSpecifiers = format!("{operator}{limit}").parse().ok()?;
        let other = parties.get(holder)?.name.clone();
        for at in differing {
            let party = parties.get(at)?;
            let bound = LayerBound {
                package: Package::dist(name),
                range: if_present(&dist_range(&specifiers)),
                force: Force::IfPresent,
                reason: Reason::Manifest { text: format!("{text}, as in target {other}").into() },
            };
            let problem = bounded(party, bound)?;
            match solver(&problem).map(|solution| (problem, solution)) {
                Err(SolveError::Conflict(conflict)) => {
                    return Some(not_the_same(parties, name, at, (&text, &conflict)));
                }
                Err(_) => return None,
                outcome => agreed.push((at, outcome)),
            }
        }
    }
    None
}

fn by_version(a: &&(usize, Pep440), b: &&(usize, Pep440)) -> std::cmp::Ordering {
    a.1.cmp(&b.1)
}

/// What stops the targets from having one version.
fn not_the_same(
    parties: &[Party],
    name: Name,
    at: usize,
    (bound, conflict): (&str, &Conflict),
) -> String {
    let versions: Vec<String> = parties
        .iter()
        .filter_map(|party| Some(format!("{} has {}", party.name, version(party, name)?)))
        .collect();
    let target = parties.get(at).map_or("", |party| party.name.as_str());
    let facts = sentences(conflict);
    format!(
        "{name} cannot be the same in all targets: {}. In target {target}, {bound} has no solution: {}",
        versions.join(", "),
        facts.join("; ")
    )
}

/// A proof in words. Where env.toml and the other targets both ask for a package, each of them is told.
fn sentences(conflict: &Conflict) -> Vec<String> {
    let mut texts: Vec<String> =
        conflict.statements().into_iter().map(|statement| statement.text).collect();
    for fact in &conflict.facts {
        let CollidingFact::Needs { subject: Package::Root, reasons, .. } = fact else { continue };
        for (_, reason) in reasons {
            if let Reason::Manifest { text } = reason
                && !texts.iter().any(|known| known.contains(&**text))
            {
                texts.push(format!("env.toml asks for {text}"));
            }
        }
    }
    texts.truncate(6);
    texts
}
