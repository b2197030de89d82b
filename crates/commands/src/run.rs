//! What the targets of one run share: the sources, the catalog, the locks beside env.toml, and how each is solved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::{Catalog, CatalogError};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::{Problem, Solution, SolveError, solve};
use cuda_lock_fetcher::{Fetcher, Observer};
use cuda_lock_formats::manifest::Manifest;
use cuda_lock_formats::pylock::Pylock;

use crate::answers::Answers;
use crate::failure::Failure;
use crate::kept::Kept;
use crate::plan::{self, Plan, Sources};
use crate::references;
use crate::request::{Request, Targets};
use crate::targets::{Party, agree};

/// An env.toml that was read and planned, and the indexes that it names.
pub struct Run {
    /// What was asked for.
    pub request: Request,
    /// env.toml.
    pub manifest: Manifest,
    /// The targets that were asked for.
    pub plans: Vec<Plan>,
    /// The indexes.
    pub sources: Sources,
    /// Which pins may move.
    pub kept: Kept,
    /// What the indexes say.
    pub catalog: Arc<dyn Catalog>,
    /// Where that comes from.
    pub answers: Answers,
    /// Absent when a problem file has the answers.
    pub fetcher: Option<Arc<Fetcher>>,
    /// The text of the locks when the run began, to be saved with it.
    pub(crate) locks: BTreeMap<String, String>,
}

impl Run {
    /// Reads an env.toml and prepares to solve it. Nothing is asked of an index yet; `observer` is told when that begins.
    ///
    /// # Errors
    /// When env.toml, a flag or the address of an index cannot be used.
    pub fn open(request: Request, observer: Arc<dyn Observer>) -> Result<Self, Failure> {
        let answers = Answers::of_indexes(request.noted);
        let manifest = plan::read_manifest(&request.manifest)?;
        Self::over(request, manifest, answers, observer)
    }

    /// The same with answers that are there already.
    pub(crate) fn over(
        request: Request,
        manifest: Manifest,
        answers: Answers,
        observer: Arc<dyn Observer>,
    ) -> Result<Self, Failure> {
        let kept = Kept::new(&request.upgrade).map_err(Failure::argument)?;
        let sources = plan::sources(&manifest, &request.manifest)?;
        if sources.all.is_empty() {
            return Err(plan::none_left(&manifest).into());
        }
        let names: Vec<Option<&str>> = match &request.targets {
            Targets::One(name) => vec![name.as_deref()],
            Targets::All => manifest.target_names(),
        };
        let plans = names
            .into_iter()
            .map(|name| {
                let exclude_newer = request.exclude_newer.as_ref();
                let mut plan = plan::plan(&manifest, name, &sources, exclude_newer)?;
                let written = manifest.options.build.iter().map(|name| *name.get_ref());
                let allowed = written.chain(request.build.iter().copied());
                plan.problem.policy.builds = plan::builds(allowed);
                Ok(plan)
            })
            .collect::<Result<Vec<Plan>, Failure>>()?;
        let mut fetcher = None;
        let catalog = answers.catalog(&sources, || {
            let mut config = plan::fetcher(&manifest, &sources, &request.network);
            let locks = plans
                .iter()
                .map(|plan| Paths::new(&request.manifest, plan.spec.name.as_deref()).lock);
            config.commits = locks.flat_map(|path| references::commits(&path, &kept)).collect();
            let opened = Fetcher::new(config, observer).map(Arc::new);
            opened.map_err(Failure::system).inspect(|opened| fetcher = Some(Arc::clone(opened)))
        })?;
        // As they are now: the run may replace them.
        let lock = |plan: &Plan| Paths::new(&request.manifest, plan.spec.name.as_deref()).lock;
        let locks = answers.noted_locks(&plans, lock);
        Ok(Self { request, manifest, plans, sources, kept, catalog, answers, fetcher, locks })
    }

    /// Every target solved with the pins of its lock, and what they owe each other settled. What a person should know of
    /// that goes to `notes`.
    pub(crate) fn agreed(
        &self,
        work: &[(&Plan, Option<&Pylock>)],
        notes: &mut Vec<String>,
    ) -> Vec<Party> {
        let party = |(plan, lock): &(&Plan, Option<&Pylock>)| Party {
            name: plan.spec.name.clone().unwrap_or_default(),
            outcome: self.solve(plan, *lock),
            refused: None,
        };
        let mut parties: Vec<Party> = work.iter().map(party).collect();
        let same: Vec<Name> =
            self.manifest.options.same.iter().map(|name| *name.get_ref()).collect();
        let solver = |problem: &Arc<Problem>| solve(Arc::clone(problem), Arc::clone(&self.catalog));
        notes.extend(agree(&mut parties, &same, &solver));
        parties
    }

    /// The solution for the first Python that has one: that of the lock that is there, then the newest.
    ///
    /// # Errors
    /// The conflict of the first Python, when none has a solution.
    pub(crate) fn solve(
        &self,
        plan: &Plan,
        lock: Option<&Pylock>,
    ) -> Result<(Arc<Problem>, Solution), SolveError> {
        let mut first = None;
        for python in self.kept.pythons(lock, plan) {
            let mut problem = plan.problem_for(python);
            self.kept.apply(lock, &mut problem);
            let problem = Arc::new(problem);
            match solve(Arc::clone(&problem), Arc::clone(&self.catalog)) {
                Ok(solution) => return Ok((problem, solution)),
                Err(SolveError::Conflict(conflict)) => {
                    first.get_or_insert(conflict);
                }
                Err(error) => return Err(error),
            }
        }
        match first {
            Some(conflict) => Err(SolveError::Conflict(conflict)),
            None => {
                Err(SolveError::Catalog(CatalogError::Invalid("no Python to solve for".into())))
            }
        }
    }

    /// What the run took so far.
    #[must_use]
    pub fn stats(&self) -> cuda_lock_fetcher::Stats {
        self.fetcher.as_ref().map(|fetcher| fetcher.stats()).unwrap_or_default()
    }

    /// The lock that is there, or that the problem file holds. When every pin may move anyway, the reason why it cannot be
    /// read goes to `notes`.
    ///
    /// # Errors
    /// When it is there and cannot be read: without it every pin would move, and nobody asked for that.
    pub(crate) fn existing(
        &self,
        plan: &Plan,
        notes: &mut Vec<String>,
    ) -> Result<Option<Pylock>, Failure> {
        let path = self.paths(plan).lock;
        let bytes = self.answers.lock(plan.spec.name.as_deref(), &path);
        let parse = |bytes: Vec<u8>| {
            Pylock::parse_bytes(&bytes, &path.display().to_string()).map_err(|why| {
                why.iter().next().map(|first| first.one_line().to_string()).unwrap_or_default()
            })
        };
        let read = bytes.map_err(|error| error.to_string()).and_then(|b| b.map(parse).transpose());
        match read {
            Ok(lock) => Ok(lock),
            Err(why) if self.request.upgrade.all => {
                notes.push(format!("every version is chosen anew: {why}"));
                Ok(None)
            }
            Err(why) => Err(Failure::system(format!(
                "the lock cannot be read, so its pins cannot be kept: {why}"
            ))
            .with_help(
                "restore the file, for example from version control; or choose every version anew: cuda-lock resolve \
                 --upgrade",
            )),
        }
    }

    /// The files of a target.
    #[must_use]
    pub fn paths(&self, plan: &Plan) -> Paths {
        Paths::new(&self.request.manifest, plan.spec.name.as_deref())
    }

    /// Waits until all that was fetched is in the cache. Dropping the run does so too.
    pub fn finish(&self) {
        if let Some(fetcher) = &self.fetcher {
            fetcher.finish();
        }
    }
}

/// The files of one target, beside env.toml.
pub struct Paths {
    /// pylock.toml, or pylock.NAME.toml.
    pub lock: PathBuf,
    /// requirements.txt, or requirements.NAME.txt.
    pub requirements: PathBuf,
}

impl Paths {
    /// The files of a target of env.toml.
    #[must_use]
    pub fn new(manifest: &Path, target: Option<&str>) -> Self {
        let (lock, requirements) = match target {
            None => ("pylock.toml".to_owned(), "requirements.txt".to_owned()),
            Some(name) => (format!("pylock.{name}.toml"), format!("requirements.{name}.txt")),
        };
        Self {
            lock: manifest.with_file_name(lock),
            requirements: manifest.with_file_name(requirements),
        }
    }
}
