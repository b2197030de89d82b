//! Changes to env.toml that make an unsolvable problem solvable, each of them tried.
//!
//! [`find`] makes candidates from the facts that collide ([`Change`]), cheapest first, and solves the problem with each
//! change made. Where one change is not enough, the facts that then collide name the next one. Nothing is offered that was
//! not solved. The search is bounded by the number of solves and of questions to the indexes, so that the same input has
//! the same result; whether it came to its end is part of the result.

mod bounded;
mod candidates;
mod change;
mod moved;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::catalog::Catalog;
use crate::name::Name;
use crate::requirement::Requirement;
use crate::solve::{Conflict, Problem, Solution, SolveError, solve};
use crate::version::DistVersion;

pub use bounded::Ended;
pub(crate) use bounded::{Bounded, Time, Waited};
pub use change::Change;
pub(crate) use moved::{rewritten_versions, with_versions};

/// Changes that are made together at most.
const TOGETHER: usize = 4;

/// With so many single changes to choose from nobody has to do without a distribution.
const CHOICE: usize = 2;

/// Further conflicts that are named at most.
const ALSO: usize = 2;

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Solves.
    pub solves: usize,
    /// Questions to indexes of one solve.
    pub questions: u64,
    /// Fixes: enough is enough.
    pub fixes: usize,
    /// Time spent waiting for indexes: the last bound, which one that answers slowly may reach before the others.
    pub waiting: Duration,
}

impl Budget {
    /// A search for what a solve found unsolvable in `solved`: it may wait for three seconds, or twice as long as the solve
    /// took where that is more.
    #[must_use]
    pub fn after(solved: Duration) -> Self {
        let waiting = (solved * 2).clamp(Duration::from_secs(3), Duration::from_secs(30));
        Self { waiting, ..Self::default() }
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { solves: 40, questions: 10_000, fixes: 5, waiting: Duration::from_secs(30) }
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
    /// Set when candidates were left that were not tried, or one was not tried to its end.
    pub stopped: Option<Ended>,
    /// What collides besides, when mending the first conflict alone is not enough.
    pub also: Vec<Besides>,
}

/// A second conflict of the same problem.
#[derive(Clone, Debug)]
pub struct Besides {
    /// It is there even without this requirement, which takes part in the first one.
    pub without: Arc<Requirement>,
    /// What collides.
    pub conflict: Box<Conflict>,
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
/// Single changes come first; several together are tried only when no single one that keeps every distribution will do.
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
        waited: Waited::default(),
        budget,
        base,
        conflict,
        catalog: Arc::clone(catalog),
        found: Found::default(),
        failed: Vec::new(),
        tried: BTreeSet::new(),
    };
    let candidates = candidates::of(&search.base, conflict);
    // Who pins a build of an accelerator wants it, and not another build of the same release.
    let labelled = candidates.dropping.iter().any(|asked| asked.local_label().is_some());
    let (first, last) =
        if labelled { (alternatives, Vec::new()) } else { (Vec::new(), alternatives) };
    first.into_iter().for_each(|alternative| search.try_alternative(alternative));
    for change in candidates.keeping {
        search.try_changes(vec![change]);
    }
    last.into_iter().for_each(|alternative| search.try_alternative(alternative));
    for _ in 1..TOGETHER {
        if !search.has_fix_here() {
            search.widen();
        }
    }
    search.failed.clear();
    if search.found.fixes.iter().filter(|fix| fix.changes.len() == 1).count() < CHOICE {
        // Nobody is helped by doing without what one line of env.toml would allow.
        let said = |requirement: &Arc<Requirement>| {
            conflict.undeclared.iter().any(|(name, ..)| *name == requirement.name)
        };
        for requirement in candidates.dropping.into_iter().filter(|asked| !said(asked)) {
            search.drop(requirement);
        }
    }
    // Leaving one out and moving another.
    if search.found.fixes.is_empty() {
        search.widen();
    }
    if search.has_single() {
        search.found.also.clear();
    }
    search.found
}

/// The conflict that is there even without a requirement that names no version, when such a one takes part: what was
/// pinned collides then, and says more than that nothing is left for the rest.
///
/// `None` when the conflict needs it.
#[must_use]
pub fn among_pins(
    problem: &Problem,
    catalog: &Arc<dyn Catalog>,
    conflict: &Conflict,
) -> Option<Box<Conflict>> {
    let open = |asked: &&Arc<Requirement>| asked.specifiers.is_empty() && asked.url.is_none();
    let involved = candidates::of(problem, conflict).dropping;
    if involved.iter().filter(open).count() == involved.len() {
        return None;
    }
    involved.iter().filter(open).find_map(|requirement| {
        let mut without = problem.clone();
        Change::Drop { requirement: Arc::clone(requirement) }.make(&mut without);
        match solve(Arc::new(without), Arc::clone(catalog)) {
            Err(SolveError::Conflict(other)) if other.asks_else(conflict) => Some(other),
            _ => None,
        }
    })
}

struct Search<'a> {
    waited: Waited,
    budget: Budget,
    base: Problem,
    conflict: &'a Conflict,
    catalog: Arc<dyn Catalog>,
    found: Found,
    /// Changes after which something still collides: what.
    failed: Vec<(Vec<Change>, Box<Conflict>)>,
    /// Sets of changes that were tried, each as the sorted names of its changes.
    tried: BTreeSet<Vec<String>>,
}

impl Search<'_> {
    /// Whether something does on this machine: not everybody can have another driver.
    fn has_fix_here(&self) -> bool {
        self.found.fixes.iter().any(|fix| !fix.changes.iter().any(Change::is_of_machine))
    }

    /// One solve: the answer, what collides, or nothing when there was no time left to find out.
    fn solve(&mut self, problem: Problem, catalog: &Arc<dyn Catalog>) -> Option<Outcome> {
        let ended = if self.found.solves >= self.budget.solves {
            Some(Ended::Count)
        } else {
            (self.waited.total() >= self.budget.waiting).then_some(Ended::Clock)
        };
        if ended.is_some() {
            self.found.stopped = self.found.stopped.or(ended);
            return None;
        }
        self.found.solves += 1;
        // One hard try must not take the time of all others.
        let share = self.waited.total() + self.budget.waiting * 2 / 3;
        let bounded = Arc::new(Bounded::new(
            Arc::clone(catalog),
            self.budget.questions,
            Time::Waiting(self.waited.clone(), share.min(self.budget.waiting)),
        ));
        let solved = solve(Arc::new(problem), bounded.clone());
        self.found.stopped = self.found.stopped.or(bounded.ended());
        match solved {
            Ok(solution) => Some(Ok(solution)),
            Err(SolveError::Conflict(conflict)) => Some(Err(conflict)),
            Err(SolveError::Catalog(_)) => None,
        }
    }

    /// True once there are as many fixes as anybody reads; what is left untried then is no loss.
    fn is_full(&self) -> bool {
        self.found.fixes.len() >= self.budget.fixes
    }

    fn with(&self, changes: &[Change]) -> Problem {
        let mut problem = self.base.clone();
        changes.iter().for_each(|change| change.make(&mut problem));
        problem
    }

    fn try_changes(&mut self, changes: Vec<Change>) {
        let mut names: Vec<String> = changes.iter().map(Change::name).collect();
        names.sort();
        if self.is_full() || self.has_part_of(&changes) || !self.tried.insert(names) {
            return;
        }
        let problem = self.with(&changes);
        let catalog = Arc::clone(&self.catalog);
        match self.solve(problem.clone(), &catalog) {
            Some(Ok(solution)) => {
                let settled = changes.iter().map(|change| change.settle(&problem, &solution));
                // Where nothing had to change a smaller set of changes does it, and was tried.
                if let Some(settled) = settled.collect::<Option<Vec<Change>>>() {
                    self.keep(settled, &solution);
                }
            }
            Some(Err(conflict)) => self.failed.push((changes, conflict)),
            None => {}
        }
    }

    /// Whether some of the changes, or others to the same places, do without the rest.
    fn has_part_of(&self, changes: &[Change]) -> bool {
        let is_among = |known: &Change| changes.iter().any(|change| change.is_like(known));
        self.found.fixes.iter().any(|fix| fix.changes.iter().all(is_among))
    }

    /// Adds to each set of changes that did not do what its own conflict calls for.
    fn widen(&mut self) {
        for (changes, conflict) in std::mem::take(&mut self.failed) {
            let problem = self.with(&changes);
            for next in candidates::of(&problem, &conflict).keeping {
                if !changes.iter().any(|change| change.is_like(&next)) {
                    let together = changes.iter().cloned().chain([next]).collect();
                    self.try_changes(together);
                }
            }
        }
    }

    /// Whether one change is enough.
    fn has_single(&self) -> bool {
        self.found.fixes.iter().any(|fix| fix.changes.len() == 1)
    }

    /// Leaves a requirement out. What still collides then is worth knowing, when nothing else is enough by itself.
    fn drop(&mut self, requirement: Arc<Requirement>) {
        if self.is_full() || self.moves(&requirement) {
            return;
        }
        let change = Change::Drop { requirement: Arc::clone(&requirement) };
        let problem = self.with(std::slice::from_ref(&change));
        let catalog = Arc::clone(&self.catalog);
        match self.solve(problem, &catalog) {
            Some(Ok(solution)) => self.keep(vec![change], &solution),
            Some(Err(conflict)) => {
                let mut known = self.found.also.iter().map(|also| &*also.conflict);
                let is_other = conflict.asks_else(self.conflict)
                    && !conflict.shares_machine(self.conflict)
                    && known.all(|known| conflict.asks_else(known));
                self.failed.push((vec![change], conflict.clone()));
                if is_other && self.found.also.len() < ALSO {
                    self.found.also.push(Besides { without: requirement, conflict });
                }
            }
            _ => {}
        }
    }

    /// Whether a fix of one change that was found moves this requirement: leaving it out is no better.
    fn moves(&self, requirement: &Requirement) -> bool {
        let single = self.found.fixes.iter().filter_map(|fix| match fix.changes.as_slice() {
            [one] => Some(one),
            _ => None,
        });
        single.into_iter().any(|change| match change {
            Change::Move { requirement: moved, .. } | Change::Rename { requirement: moved, .. } => {
                moved.text() == requirement.text()
            }
            Change::Substitute { from, to } => requirement.name == *from || requirement.name == *to,
            _ => false,
        })
    }

    fn try_alternative(&mut self, alternative: Alternative) {
        if self.is_full() {
            return;
        }
        let Alternative { change, problem, catalog } = alternative;
        if let Some(Ok(solution)) = self.solve(problem.clone(), &catalog)
            && let Some(change) = change.settle(&problem, &solution)
        {
            self.keep(vec![change], &solution);
        }
    }

    fn keep(&mut self, changes: Vec<Change>, solution: &Solution) {
        let moved = changes.iter().filter_map(Change::distribution);
        let mut names = self.conflict.distributions();
        for name in moved {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let gives = names
            .into_iter()
            .filter_map(|name| Some((name, solution.builds.get(&name)?)))
            .filter(|(_, chosen)| chosen.required_by.contains(&None))
            .map(|(name, chosen)| (name, chosen.version.clone()))
            .collect();
        self.found.fixes.push(Fix { changes, gives });
    }
}

/// What a solve came to.
type Outcome = Result<Solution, Box<Conflict>>;
