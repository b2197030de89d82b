//! Which pins must move, and how little.
//!
//! The proof of each solve without an answer names the pins that take part; these are freed and the solve is repeated. What
//! the audit found installed is preferred throughout, so that a freed pin moves only when it has to. Then every freed pin is
//! put back that can stay: torch first, so that what depends on it moves rather than torch itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use pep440_rs::Version as Pep440;

use super::{Wanted, asked, wording};
use crate::audit::{Code, Finding, Question, Verdict};
use crate::catalog::{Catalog, CatalogError};
use crate::fix::{Bounded, Time, Waited};
use crate::name::Name;
use crate::requirement::Requirement;
use crate::rules::torch::TORCH;
use crate::rules::{companion, library, owner};
use crate::solve::{Conflict, Problem, Resolution, Solution, SolveError, Source, solve};
use crate::target::Target;

/// The distributions whose findings a search is to mend; all of them, when none are named.
#[derive(Clone, Default)]
pub(super) struct Scope(Option<BTreeSet<Name>>);

impl Scope {
    /// Whether a finding is one that the search is for.
    pub(super) fn aims(&self, finding: &Finding, wanted: Wanted<'_>) -> bool {
        let concerns =
            |scope: &BTreeSet<Name>| finding.involved().any(|name| scope.contains(&name));
        wanted.mends(finding) && self.0.as_ref().is_none_or(concerns)
    }
}

/// Questions to the indexes that one solve may ask.
const QUESTIONS: u64 = 20_000;

/// How far the lines of a name are freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freedom {
    /// The same release, with any local label.
    Label,
    /// The pinned release or a newer one.
    Up,
    /// The pinned release or an older one.
    Down,
    /// Any.
    Any,
}

/// An answer with as many pins as can be kept.
pub(super) struct Relaxed {
    pub(super) solution: Solution,
}

/// A bounded search.
pub(super) struct Search<'a> {
    pub(super) question: &'a Question,
    pub(super) verdict: &'a Verdict,
    sources: &'a [Source],
    pub(super) catalog: &'a Arc<dyn Catalog>,
    pub(super) wanted: Wanted<'a>,
    /// The distributions whose findings are to be mended; all, when it is not set.
    pub(super) scope: Scope,
    /// Set once one of the known indexes did not answer: they are not asked again.
    without_known: bool,
    deadline: Instant,
    waited: Waited,
    pub(super) target: Target,
    /// Lines that are left out: another line installs the same files.
    pub(super) removed: BTreeSet<usize>,
    /// Distributions that cannot be solved for: their METADATA is not known, or no index has them.
    pub(super) skip: BTreeSet<Name>,
    pub(super) solves: usize,
    pub(super) stopped: bool,
    pub(super) obstacles: Vec<String>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        question: &'a Question,
        verdict: &'a Verdict,
        sources: &'a [Source],
        catalog: &'a Arc<dyn Catalog>,
        wanted: Wanted<'a>,
    ) -> Self {
        let named: BTreeSet<Name> =
            verdict.findings.iter().filter(|f| wanted.mends(f)).flat_map(Finding::faulty).collect();
        let skip = verdict.opaque.iter().filter(|name| !named.contains(name)).copied().collect();
        Self {
            question,
            verdict,
            sources,
            catalog,
            wanted,
            scope: Scope::default(),
            without_known: false,
            waited: Waited::default(),
            deadline: Instant::now() + wanted.limit.time,
            target: question.target.clone(),
            removed: BTreeSet::new(),
            skip,
            solves: 0,
            stopped: false,
            obstacles: Vec::new(),
        }
    }

    /// Mends the findings of `names` alone, and leaves out what takes part in those of `others`.
    pub(super) fn narrow_to(&mut self, names: BTreeSet<Name>, others: &BTreeSet<Name>) {
        self.skip.extend(others.difference(&names));
        self.scope = Scope(Some(names));
    }

    /// Whether a finding is one that this search is for.
    fn aims(&self, finding: &Finding) -> bool {
        self.scope.aims(finding, self.wanted)
    }

    /// Lets distributions of the torch family move whose index could not be read. A pin that is right on such an index is
    /// better left alone, so this is the second choice. False when there are none.
    pub(super) fn follow_family(&mut self) -> bool {
        let before = self.skip.len();
        self.skip.retain(|name| companion::family(*name).is_none());
        self.skip.len() < before
    }

    /// The sets of lines that may be left out, one after the other: where two lines install the same files, all but one,
    /// the more special one kept first.
    pub(super) fn removals(&self) -> Vec<BTreeSet<usize>> {
        let clash = self
            .verdict
            .findings
            .iter()
            .filter(|finding| finding.code == Code::ModuleClash)
            .find_map(|finding| finding.package);
        let Some(name) = clash else { return vec![BTreeSet::new()] };
        let rivals = owner::rivals(name);
        let lines = self.question.lines.iter().enumerate();
        let mut owners: Vec<(usize, Name)> = lines
            .filter(|(_, line)| !line.bound && rivals.contains(&line.requirement.name))
            .map(|(place, line)| (place, line.requirement.name))
            .collect();
        if owners.len() < 2 {
            return vec![BTreeSet::new()];
        }
        owners.sort_by_key(|(place, name)| (std::cmp::Reverse(name.as_str().len()), *place));
        let kept = owners.iter();
        kept.map(|(_, kept)| {
            let others = owners.iter().filter(|(_, name)| name != kept);
            others.map(|(place, _)| *place).collect()
        })
        .collect()
    }

    /// The answer that moves as few pins as possible, and each as little as possible.
    pub(super) fn relax(&mut self) -> Option<Relaxed> {
        let mut freed: BTreeMap<Name, Freedom> = BTreeMap::new();
        let mut solution = self.first_answer(&mut freed)?;
        let mut settled = BTreeSet::new();
        loop {
            let open = freed.keys().filter(|name| !settled.contains(*name)).copied();
            let next = open.min_by_key(|name| (rank(*name), self.first_line(*name)));
            let Some(name) = next else { break };
            settled.insert(name);
            solution = self.put_back(name, &mut freed, &settled, solution);
        }
        if let Some(nearer) = self.nearest(&freed, &solution) {
            solution = nearer;
        }
        Some(Relaxed { solution })
    }

    /// Frees what the proofs name until there is an answer.
    fn first_answer(&mut self, freed: &mut BTreeMap<Name, Freedom>) -> Option<Solution> {
        loop {
            let conflict = match self.solve(freed, None) {
                Ok(solution) => return Some(solution),
                Err(Some(conflict)) => conflict,
                Err(None) => return None,
            };
            let before = freed.len();
            let mut involved = conflict.distributions();
            if before == 0 {
                let findings = self.verdict.findings.iter().filter(|f| self.aims(f));
                involved.extend(findings.flat_map(Finding::faulty));
            }
            for name in involved.iter().filter(|name| self.is_bounded(**name)) {
                freed.entry(*name).or_insert(Freedom::Any);
            }
            if freed.len() > before {
                continue;
            }
            // Nothing that could move is left: what cannot be had at all is left out, and the rest mended without it.
            let dead: Vec<Name> = match involved.as_slice() {
                [only] => vec![*only],
                _ => conflict.unknown_projects().collect(),
            };
            let asked = |name: &&Name| {
                self.question.lines.iter().any(|line| line.requirement.name == **name)
            };
            let dead: Vec<Name> =
                dead.iter().filter(asked).filter(|n| !self.skip.contains(n)).copied().collect();
            let because = conflict.statements().into_iter().map(|said| said.text);
            self.obstacles.push(because.collect::<Vec<_>>().join("; "));
            if dead.is_empty() {
                return None;
            }
            for name in dead {
                freed.remove(&name);
                self.skip.insert(name);
            }
        }
    }

    /// Puts the pin of a name back when there is an answer with it; else the same release with another label. Pins that then
    /// stand against it and are not settled yet are freed for that.
    fn put_back(
        &mut self,
        name: Name,
        freed: &mut BTreeMap<Name, Freedom>,
        settled: &BTreeSet<Name>,
        solution: Solution,
    ) -> Solution {
        if self.is_kept(name, &solution) {
            freed.remove(&name);
            return solution;
        }
        let mut without = freed.clone();
        without.remove(&name);
        if let Some(kept) = self.solve_freeing(&mut without, settled) {
            *freed = without;
            return kept;
        }
        let labelled = companion::family(name).is_some_and(|family| family.labelled);
        if labelled && self.pin(name).is_some() {
            let mut label = freed.clone();
            label.insert(name, Freedom::Label);
            if let Some(kept) = self.solve_freeing(&mut label, settled) {
                *freed = label;
                return kept;
            }
        }
        solution
    }

    /// An answer, with every pin freed that a proof names and that is not settled.
    fn solve_freeing(
        &mut self,
        freed: &mut BTreeMap<Name, Freedom>,
        settled: &BTreeSet<Name>,
    ) -> Option<Solution> {
        loop {
            let conflict = match self.solve(freed, None) {
                Ok(solution) => return Some(solution),
                Err(conflict) => conflict?,
            };
            let before = freed.len();
            for name in conflict.distributions() {
                if !settled.contains(&name) && self.is_bounded(name) {
                    freed.entry(name).or_insert(Freedom::Any);
                }
            }
            if freed.len() == before {
                return None;
            }
        }
    }

    /// The same pins moved less far: those that went up to the lowest release that will do.
    fn nearest(
        &mut self,
        freed: &BTreeMap<Name, Freedom>,
        solution: &Solution,
    ) -> Option<Solution> {
        let mut near = BTreeMap::new();
        let mut prefer = BTreeMap::new();
        for (name, freedom) in freed {
            let chosen = solution.builds.get(name).and_then(|c| c.version.version());
            let (Some(pin), Some(chosen)) = (self.pin(*name), chosen) else {
                near.insert(*name, *freedom);
                continue;
            };
            let chosen_release = chosen.clone().without_local();
            let freedom = match chosen_release.cmp(&pin.without_local()) {
                _ if *freedom == Freedom::Label => Freedom::Label,
                std::cmp::Ordering::Greater => Freedom::Up,
                std::cmp::Ordering::Less => {
                    prefer.insert(*name, chosen.clone());
                    Freedom::Down
                }
                std::cmp::Ordering::Equal => Freedom::Label,
            };
            near.insert(*name, freedom);
        }
        if !near.values().any(|freedom| *freedom == Freedom::Up) {
            return None;
        }
        self.solve(&near, Some(&prefer)).ok()
    }

    /// One solve; `Err(None)` when there is no time left or an index does not answer.
    fn solve(
        &mut self,
        freed: &BTreeMap<Name, Freedom>,
        lowest: Option<&BTreeMap<Name, Pep440>>,
    ) -> Result<Solution, Option<Box<Conflict>>> {
        if self.solves >= self.wanted.limit.solves || self.is_late() {
            self.stopped = true;
            return Err(None);
        }
        self.solves += 1;
        let mut problem = self.problem(freed);
        if let Some(prefer) = lowest {
            problem.policy.resolution = Resolution::LowestDirect;
            for name in freed.keys() {
                problem.policy.preferences.remove(name);
            }
            problem.policy.preferences.extend(prefer.iter().map(|(n, v)| (*n, v.clone())));
        }
        if self.without_known {
            problem.sources.iter_mut().filter(|s| s.only.is_some()).for_each(|s| s.explicit = true);
        }
        let time = Time::Working(self.waited.clone(), self.deadline);
        let bounded = Arc::new(Bounded::new(Arc::clone(self.catalog), QUESTIONS, time));
        let solved = solve(Arc::new(problem), bounded.clone());
        if matches!(&solved, Err(SolveError::Catalog(CatalogError::Network(_))))
            && !self.without_known
        {
            // The rest of the indexes may have an answer.
            self.without_known = true;
            return self.solve(freed, lowest);
        }
        match solved {
            Ok(solution) => Ok(solution),
            Err(SolveError::Conflict(conflict)) => Err(Some(conflict)),
            Err(SolveError::Catalog(why)) => {
                if bounded.ended().is_some() {
                    self.stopped = true;
                } else {
                    self.obstacles.push(why.to_string());
                }
                Err(None)
            }
        }
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline + self.waited.total()
    }

    fn problem(&self, freed: &BTreeMap<Name, Freedom>) -> Problem {
        let base = asked::base(self.question, self.verdict, self.sources, self.target.clone());
        asked::with_lines(&base, self.question, &self.skip, |place, requirement| {
            if self.removed.contains(&place) {
                return None;
            }
            match freed.get(&requirement.name) {
                None => Some(Arc::clone(requirement)),
                Some(freedom) => loosened(requirement, *freedom),
            }
        })
    }

    fn first_line(&self, name: Name) -> usize {
        let mut lines = self.question.lines.iter();
        lines.position(|line| line.requirement.name == name).unwrap_or(usize::MAX)
    }

    /// Whether a line of the name says anything about versions.
    fn is_bounded(&self, name: Name) -> bool {
        self.question.lines.iter().any(|line| {
            line.requirement.name == name
                && line.wheel.is_none()
                && !line.requirement.specifiers.is_empty()
        })
    }

    /// The version that a line pins.
    fn pin(&self, name: Name) -> Option<Pep440> {
        let mut lines = self.question.lines.iter().filter(|line| line.requirement.name == name);
        lines.find_map(|line| line.requirement.pinned().cloned())
    }

    /// Whether every line of the name allows what was chosen.
    fn is_kept(&self, name: Name, solution: &Solution) -> bool {
        let Some(chosen) = solution.builds.get(&name).and_then(|c| c.version.version()) else {
            return true;
        };
        let mut lines = self.question.lines.iter().filter(|line| line.requirement.name == name);
        lines.all(|line| wording::allowing(&line.requirement, chosen).is_none())
    }
}

/// What is put back first: torch, its family, the rest, libraries, and NumPy, which most others can follow.
fn rank(name: Name) -> u8 {
    if name.as_str() == TORCH {
        0
    } else if companion::family(name).is_some() {
        1
    } else if library::is_library(name) {
        3
    } else if name.as_str() == "numpy" {
        4
    } else {
        2
    }
}

fn loosened(requirement: &Arc<Requirement>, freedom: Freedom) -> Option<Arc<Requirement>> {
    let public = requirement.pinned().cloned().map(Pep440::without_local);
    let versions = match (freedom, public) {
        (Freedom::Any, _) | (_, None) => String::new(),
        (Freedom::Label, Some(public)) => format!("=={public}"),
        (Freedom::Up, Some(public)) => format!(">={public}"),
        (Freedom::Down, Some(public)) => format!("<={public}"),
    };
    wording::with(requirement, &versions).parse().ok().map(Arc::new)
}
