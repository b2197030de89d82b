//! `cuda-lock resolve`: env.toml becomes pylock.toml and requirements.txt.

mod others;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_lock_constraint::audit::Finding;
use cuda_lock_constraint::fix::{self, Found};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::{Conflict, Problem, Solution, SolveError};
use cuda_lock_formats::atomic::{Outcome, Output, write_all};
use cuda_lock_formats::pylock::Pylock;

use crate::digests;
use crate::failure::Failure;
use crate::fixes;
use crate::judged;
use crate::lock::{Answer, unclear_pythons};
use crate::plan::Plan;
use crate::run::Run;

/// What became of the targets of a run. Nothing has been written.
pub struct Report<'r> {
    /// What a person should know of the run as a whole.
    pub notes: Vec<String>,
    /// Each target that was asked for.
    pub targets: Vec<Target<'r>>,
    /// Versions that the solver chose, those that it took back included.
    pub decisions: u64,
}

/// What became of one target.
pub struct Target<'r> {
    /// What was asked for.
    pub plan: &'r Plan,
    /// The answer, or why there is none.
    pub outcome: Result<Box<Solved<'r>>, Unsolved<'r>>,
}

/// Why a target has no answer.
pub enum Unsolved<'r> {
    /// No set of builds meets every requirement.
    Refused(Box<Refusal<'r>>),
    /// One does, and would not run: what an audit calls an error.
    Rejected(Box<Rejection>),
}

/// A solution that an audit would reject.
pub struct Rejection {
    /// The name of the target.
    pub target: Option<String>,
    /// What does not hold.
    pub errors: Vec<Finding>,
}

/// A target that has an answer.
pub struct Solved<'r> {
    /// The answer.
    pub answer: Answer<'r>,
    /// Distributions that were to move and that are nowhere in it: most likely misspelt.
    pub unknown: Vec<Name>,
    /// pylock.toml and requirements.txt, as they are to be written.
    pub files: [File; 2],
}

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// Its text.
    pub content: String,
}

impl Run {
    /// Solves every target that was asked for.
    ///
    /// # Errors
    /// When an index could not be read, or an answer has no place in requirements.txt.
    pub fn resolve(&self) -> Result<Report<'_>, Failure> {
        let mut report = Report { notes: Vec::new(), targets: Vec::new(), decisions: 0 };
        let notes = &mut report.notes;
        let locks: Vec<Option<Pylock>> =
            self.plans.iter().map(|plan| self.existing(plan, notes)).collect::<Result<_, _>>()?;
        let work: Vec<(&Plan, Option<&Pylock>)> =
            self.plans.iter().zip(locks.iter().map(Option::as_ref)).collect();
        let started = Instant::now();
        let parties = self.agreed(&work, &mut report.notes);
        let taken = started.elapsed();
        for ((plan, lock), party) in work.into_iter().zip(parties) {
            let outcome = match party.outcome {
                Ok((problem, solution)) => {
                    report.decisions += solution.decisions;
                    let solved = self.solved(plan, lock, problem, solution)?;
                    solved.map(Box::new).map_err(|why| Unsolved::Rejected(Box::new(why)))
                }
                Err(SolveError::Conflict(conflict)) => {
                    report.decisions += conflict.decisions;
                    let problem = party.refused.unwrap_or_else(|| Arc::new(plan.problem.clone()));
                    let refusal = Refusal { run: self, plan, problem, conflict, taken };
                    Err(Unsolved::Refused(Box::new(refusal)))
                }
                Err(SolveError::Catalog(error)) => return Err(error.into()),
            };
            report.targets.push(Target { plan, outcome });
        }
        Ok(report)
    }

    fn solved<'r>(
        &'r self,
        plan: &'r Plan,
        lock: Option<&Pylock>,
        problem: Arc<Problem>,
        mut solution: Solution,
    ) -> Result<Result<Solved<'r>, Rejection>, Failure> {
        let paths = self.paths(plan);
        let download = self.fetcher.as_deref().filter(|_| self.request.hash_missing);
        let without = digests::complete(&mut solution, lock, download, self.fetcher.as_deref())?;
        solution.warnings.extend(without);
        solution.warnings.extend(unclear_pythons(&solution));
        self.stays(plan, lock, &solution)?;
        let errors = judged::judge(&self.manifest.audit, plan, &problem, &mut solution);
        if !errors.is_empty() {
            return Ok(Err(Rejection { target: plan.spec.name.clone(), errors }));
        }
        let locked = lock.map(|lock| lock.packages.as_slice()).unwrap_or_default();
        let known = |name| {
            solution.builds.contains_key(&name) || locked.iter().any(|package| package.name == name)
        };
        let unknown = self.kept.unknown(known).collect();
        let answer = Answer::new(self, plan, (problem, solution), lock);
        let lock = answer.pylock();
        let requirements =
            answer.requirements(&lock).map_err(|error| Failure::Unwritable(error.to_string()))?;
        let files = [
            File { path: paths.lock, content: lock.to_toml() },
            File { path: paths.requirements, content: requirements },
        ];
        Ok(Ok(Solved { answer, unknown, files }))
    }

    /// Refuses to take a project from elsewhere because the index that the lock has it from does not have it any more: a
    /// private index that loses a page must not open the way for whoever registers that name in public.
    ///
    /// # Errors
    /// When that is so, and nobody asked for this pin to move.
    fn stays(
        &self,
        plan: &Plan,
        lock: Option<&Pylock>,
        solution: &Solution,
    ) -> Result<(), Failure> {
        for was in lock.iter().flat_map(|lock| &lock.packages) {
            let (Some(index), Some(chosen)) = (&was.index, solution.builds.get(&was.name)) else {
                continue;
            };
            let bare = |text: &str| text.trim_end_matches('/').to_owned();
            let source = chosen.version.source();
            let known = self.sources.all.iter().find(|known| {
                known.source.id != source && bare(known.config.url.public().as_str()) == bare(index)
            });
            let Some(known) = known else { continue };
            let asked = plan.problem.asked_for(was.name).contains(&known.source.id);
            if self.kept.moves(was.name) || !asked {
                continue;
            }
            let page = self.catalog.project(known.source.id, was.name)?;
            if page.is_some_and(|project| !project.versions.is_empty()) {
                continue;
            }
            let (name, place) = (was.name, &known.source.name);
            let other = plan.problem.source(source).map_or("elsewhere", |source| &source.name);
            let text = format!(
                "the lock has {name} from {place}, which does not have it any more; it would be {} from {other} instead",
                chosen.version
            );
            let help = format!(
                "nothing was written; mend {place} if it is to have {name}, or take it from {other}: cuda-lock resolve \
                 --upgrade-package {name}"
            );
            return Err(Failure::Strayed { text, help });
        }
        Ok(())
    }
}

impl Report<'_> {
    /// Whether every target has an answer.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.targets.iter().all(|target| target.outcome.is_ok())
    }

    /// Whether an index that could not be read may be why a target has no answer: that is no refusal, for nobody knows what
    /// it has to say.
    #[must_use]
    pub fn is_unread(&self) -> bool {
        self.targets.iter().any(|target| {
            matches!(&target.outcome, Err(Unsolved::Refused(refusal)) if refusal.conflict.unasked.is_some())
        })
    }

    /// The files of all targets, in their order.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.targets.iter().filter_map(|target| target.outcome.as_ref().ok()).flat_map(|s| &s.files)
    }

    /// Writes the files of all targets, or none. Says of each what became of it.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn write(&self) -> Result<Vec<(&File, Outcome)>, Failure> {
        let files: Vec<&File> = self.files().collect();
        let outputs: Vec<Output<'_>> = files
            .iter()
            .map(|file| Output { path: &file.path, content: file.content.as_bytes() })
            .collect();
        let outcomes = write_all(&outputs).map_err(Failure::system)?;
        Ok(files.into_iter().zip(outcomes).collect())
    }
}

/// A target without an answer. Looking for more than the first conflict costs further solves, so each search is a call of
/// its own.
pub struct Refusal<'r> {
    run: &'r Run,
    plan: &'r Plan,
    problem: Arc<Problem>,
    /// How long it took to know that there is no answer.
    taken: Duration,
    /// What collides.
    pub conflict: Box<Conflict>,
}

/// Where a project was looked for that no index has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The project.
    pub name: Name,
    /// Name and address of each index, without credentials.
    pub indexes: Vec<(String, String)>,
}

/// Changes to env.toml after which there is an answer.
pub struct Remedies {
    /// What was found, as the solver sees it.
    pub found: Found,
    /// The same as edits of env.toml, cheapest first.
    pub fixes: Vec<fixes::Fix>,
}

impl Refusal<'_> {
    /// The name of the target.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.plan.spec.name.as_deref()
    }

    /// The conflict among what is pinned, when there is one even without those requirements that name no version: it says
    /// more than that nothing is left for the rest. Solves once more, which may ask for as much as the first time.
    #[must_use]
    pub fn among_pins(&self) -> Option<Box<Conflict>> {
        fix::among_pins(&self.problem, &self.run.catalog, &self.conflict)
    }

    /// The projects of `conflict` that no index has, with the indexes that were asked for them.
    #[must_use]
    pub fn asked(&self, conflict: &Conflict) -> Vec<Asked> {
        let index = |id: cuda_lock_constraint::version::SourceId, name: Name| {
            let known = self.run.sources.all.get(usize::from(id.0))?;
            // The answer is at hand: the solver asked before.
            let page = self.run.catalog.project(id, name);
            let empty = matches!(&page, Ok(Some(page)) if page.versions.is_empty());
            let empty = if empty { "; its page lists no release" } else { "" };
            Some((known.source.name.clone(), format!("{}{empty}", known.config.url)))
        };
        let asked = |name: Name| Asked {
            name,
            indexes: self
                .plan
                .problem
                .asked_for(name)
                .into_iter()
                .filter_map(|id| index(id, name))
                .collect(),
        };
        conflict.unknown_projects().map(asked).collect()
    }

    /// Looks for changes after which `conflict` is gone and there is an answer; each one is tried.
    #[must_use]
    pub fn remedies(&self, conflict: &Conflict) -> Remedies {
        let others = others::other_backends(self.run, self.plan);
        let budget = fix::Budget::after(self.taken);
        let found = fix::find(&self.problem, &self.run.catalog, conflict, others, budget);
        let fixes = fixes::located(&found, &self.run.manifest, self.plan);
        Remedies { found, fixes }
    }

    /// What to try when the flags may have caused the conflict.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        self.run.kept.hint()
    }
}
