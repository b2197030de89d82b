//! Changes to env.toml that make an unsolvable problem solvable, each of them tried.
//!
//! [`find`] makes candidates from the facts that collide ([`Change`]), cheapest first, and solves the problem with each
//! change made. Nothing is offered that was not solved. The search is bounded by time and by the number of solves; whether
//! it came to its end is part of the result.

mod bounded;
mod candidates;
mod change;
mod moved;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalog::Catalog;
use crate::name::Name;
use crate::solve::{Conflict, Problem, Solution, SolveError, solve};
use crate::version::DistVersion;

pub(crate) use bounded::Bounded;
pub use change::Change;
pub(crate) use moved::{rewritten_versions, with_versions};

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Wall-clock time.
    pub time: Duration,
    /// Solves.
    pub solves: usize,
    /// Fixes: enough is enough.
    pub fixes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), solves: 24, fixes: 5 }
    }
}

/// A set of changes after which there is an answer.
#[derive(Clone, Debug)]
pub struct Fix {
    /// What to change, all of it together.
    pub changes: Vec<Change>,
    /// What is then chosen for the distributions that took part in the conflict and are asked for by name.
    pub gives: Vec<(Name, DistVersion)>,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The fixes, cheapest first.
    pub fixes: Vec<Fix>,
    /// How many solves it took.
    pub solves: usize,
    /// True when candidates were left that were not tried.
    pub stopped: bool,
    /// What still collides when a distribution of the conflict is left out: mending one conflict is not enough then.
    pub also: Option<Box<Conflict>>,
}

/// Another set of indexes to try, prepared by the caller: the catalog of the first problem cannot read them.
pub struct Alternative {
    /// What to change in env.toml.
    pub change: Change,
    /// The problem with that change.
    pub problem: Problem,
    /// Where its sources are read.
    pub catalog: Arc<dyn Catalog>,
}

/// Looks for the cheapest changes after which there is an answer.
///
/// Single changes come first; pairs of them are tried only when no single one that keeps every distribution will do.
#[must_use]
pub fn find(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    conflict: &Conflict,
    alternatives: Vec<Alternative>,
    budget: Budget,
) -> Found {
    let mut base = problem.clone();
    if conflict.unasked.is_some() {
        // An index that could not be asked will not answer now; each try would wait for it again.
        base.sources
            .iter_mut()
            .filter(|source| source.only.is_some())
            .for_each(|s| s.explicit = true);
    }
    let mut search = Search {
        deadline: Instant::now() + budget.time,
        budget,
        conflict,
        catalog: Arc::clone(catalog),
        found: Found::default(),
        refused: None,
    };
    let candidates = candidates::of(&base, conflict);
    for change in &candidates.keeping {
        if !search.has_one_like(change) {
            search.try_change(&base, std::slice::from_ref(change));
        }
    }
    for alternative in alternatives {
        search.try_alternative(alternative);
    }
    if search.found.fixes.is_empty() {
        for pair in &candidates.pairs {
            search.try_change(&base, pair);
        }
    }
    for change in &candidates.dropping {
        if !search.moves(change) {
            search.refused = None;
            search.try_change(&base, std::slice::from_ref(change));
            let other = search.refused.take();
            if search.found.also.is_none() {
                search.found.also = other.filter(|other| other.asks_else(conflict));
            }
        }
    }
    if !search.found.fixes.is_empty() {
        search.found.also = None;
    }
    search.found
}

struct Search<'a> {
    deadline: Instant,
    budget: Budget,
    conflict: &'a Conflict,
    catalog: Arc<dyn Catalog>,
    found: Found,
    /// Why the last solve had no answer.
    refused: Option<Box<Conflict>>,
}

impl Search<'_> {
    /// A second driver, glibc or Python is no second fix: the first was the nearest.
    fn has_one_like(&self, change: &Change) -> bool {
        let of_machine =
            matches!(change, Change::Driver { .. } | Change::Glibc { .. } | Change::Python { .. });
        let kind = std::mem::discriminant(change);
        let mut changes = self.found.fixes.iter().flat_map(|fix| &fix.changes);
        of_machine && changes.any(|known| std::mem::discriminant(known) == kind)
    }

    /// One solve; `None` when there is no answer, or no time left to find one.
    fn solve(&mut self, problem: Problem, catalog: &Arc<dyn Catalog>) -> Option<Solution> {
        let spent = self.found.solves >= self.budget.solves || Instant::now() >= self.deadline;
        if spent {
            self.found.stopped = true;
            return None;
        }
        self.found.solves += 1;
        // One hard try must not take the time of all others.
        let share = Instant::now() + self.budget.time / 3;
        let bounded = Arc::new(Bounded::new(Arc::clone(catalog), share.min(self.deadline)));
        let solved = solve(Arc::new(problem), bounded.clone());
        if bounded.ran_out() {
            self.found.stopped = true;
        }
        match solved {
            Ok(solution) => Some(solution),
            Err(SolveError::Conflict(conflict)) => {
                self.refused = Some(conflict);
                None
            }
            Err(SolveError::Catalog(_)) => None,
        }
    }

    /// True once there are as many fixes as anybody reads; what is left untried then is no loss.
    fn is_full(&self) -> bool {
        self.found.fixes.len() >= self.budget.fixes
    }

    /// Whether a fix that was found moves the requirement that this change drops: dropping it is no better.
    fn moves(&self, drop: &Change) -> bool {
        let Change::Drop { requirement } = drop else { return false };
        let single = self.found.fixes.iter().filter_map(|fix| match fix.changes.as_slice() {
            [one] => Some(one),
            _ => None,
        });
        single.into_iter().any(|change| match change {
            Change::Move { requirement: moved, .. } => moved.text() == requirement.text(),
            Change::Substitute { from, to } => requirement.name == *from || requirement.name == *to,
            _ => false,
        })
    }

    fn try_change(&mut self, base: &Problem, changes: &[Change]) {
        if self.is_full() {
            return;
        }
        let mut problem = base.clone();
        for change in changes {
            change.make(&mut problem);
        }
        let catalog = Arc::clone(&self.catalog);
        let Some(solution) = self.solve(problem.clone(), &catalog) else { return };
        let mut settled = Vec::with_capacity(changes.len());
        for change in changes {
            match change.settle(&problem, &solution) {
                Some(change) => settled.push(change),
                // Nothing had to change here: a smaller set of changes does it, and is tried on its own.
                None => return,
            }
        }
        if let [Change::Move { requirement, now, .. }] = settled.as_slice()
            && let Some(nearer) = self.nearer(base, requirement, now)
        {
            self.keep(vec![nearer.0], &nearer.1);
            return;
        }
        self.keep(settled, &solution);
    }

    /// The release nearest to a pin that will do, when a solve with the pin left out ended far above it.
    fn nearer(
        &mut self,
        base: &Problem,
        requirement: &Arc<crate::requirement::Requirement>,
        now: &str,
    ) -> Option<(Change, Solution)> {
        let catalog = Arc::clone(&self.catalog);
        let releases = moved::releases_between(base, &catalog, requirement, now);
        for release in releases {
            let change = Change::pin(requirement, &release)?;
            let mut problem = base.clone();
            change.make_exactly(&mut problem);
            if let Some(solution) = self.solve(problem, &catalog) {
                return Some((change, solution));
            }
        }
        None
    }

    fn try_alternative(&mut self, alternative: Alternative) {
        if self.is_full() {
            return;
        }
        let Alternative { change, problem, catalog } = alternative;
        if let Some(solution) = self.solve(problem.clone(), &catalog)
            && let Some(change) = change.settle(&problem, &solution)
        {
            self.keep(vec![change], &solution);
        }
    }

    fn keep(&mut self, changes: Vec<Change>, solution: &Solution) {
        let gives = self
            .conflict
            .distributions()
            .into_iter()
            .filter_map(|name| Some((name, solution.builds.get(&name)?)))
            .filter(|(_, chosen)| chosen.required_by.contains(&None))
            .map(|(name, chosen)| (name, chosen.version.clone()))
            .collect();
        self.found.fixes.push(Fix { changes, gives });
    }
}
