//! `cuda-lock resolve`: env.toml becomes pylock.toml and requirements.txt.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_lock_constraint::fix::{self, Found};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::{Conflict, Problem, Solution, SolveError};
use cuda_lock_formats::atomic::{Outcome, Output, write_all};
use cuda_lock_formats::diagnostic::mask_credentials;
use cuda_lock_formats::pylock::Pylock;

use crate::digests;
use crate::failure::Failure;
use crate::fixes;
use crate::lock::Answer;
use crate::plan::{self, Plan};
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
    pub outcome: Result<Box<Solved<'r>>, Box<Refusal<'r>>>,
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
        let locks: Vec<Option<Pylock>> =
            self.plans.iter().map(|plan| self.existing(plan, &mut report.notes)).collect();
        let work: Vec<(&Plan, Option<&Pylock>)> =
            self.plans.iter().zip(locks.iter().map(Option::as_ref)).collect();
        let started = Instant::now();
        let parties = self.agreed(&work, &mut report.notes);
        let taken = started.elapsed();
        for ((plan, lock), party) in work.into_iter().zip(parties) {
            let outcome = match party.outcome {
                Ok((problem, solution)) => {
                    report.decisions += solution.decisions;
                    Ok(Box::new(self.solved(plan, lock, problem, solution)?))
                }
                Err(SolveError::Conflict(conflict)) => {
                    report.decisions += conflict.decisions;
                    let problem = party.refused.unwrap_or_else(|| Arc::new(plan.problem.clone()));
                    Err(Box::new(Refusal { run: self, plan, problem, conflict, taken }))
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
    ) -> Result<Solved<'r>, Failure> {
        let paths = self.paths(plan);
        let download = self.fetcher.as_deref().filter(|_| self.request.hash_missing);
        let without = digests::complete(&mut solution, lock, download, self.fetcher.as_deref())?;
        solution.warnings.extend(without);
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
        Ok(Solved { answer, unknown, files })
    }
}

impl Report<'_> {
    /// Whether every target has an answer.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.targets.iter().all(|target| target.outcome.is_ok())
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
        let index = |id: cuda_lock_constraint::version::SourceId| {
            let known = self.run.sources.all.get(usize::from(id.0))?;
            let address = mask_credentials(known.config.url.as_str()).into_owned();
            Some((known.source.name.clone(), address))
        };
        let asked = |name: Name| Asked {
            name,
            indexes: self.plan.problem.asked_for(name).into_iter().filter_map(index).collect(),
        };
        conflict.unknown_projects().map(asked).collect()
    }

    /// Looks for changes after which `conflict` is gone and there is an answer; each one is tried.
    #[must_use]
    pub fn remedies(&self, conflict: &Conflict) -> Remedies {
        let others = plan::other_backends(self.run, self.plan);
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
