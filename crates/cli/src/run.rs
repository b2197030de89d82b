//! What the targets of one run share: the sources, the catalog, the locks beside env.toml, and how each is solved.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::{Catalog, CatalogError};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::{Problem, Solution, SolveError, solve};
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::manifest::Manifest;
use cuda_lock_formats::pylock::Pylock;
use cuda_lock_formats::regular::{self, TEXT_LIMIT};

use crate::args::Resolve;
use crate::exit::Exit;
use crate::kept::Kept;
use crate::output::{json, message};
use crate::plan::{Plan, Sources};
use crate::problem::Answers;
use crate::targets::{Party, agree};

/// What all targets share.
pub struct Run<'a> {
    /// The command line.
    pub args: &'a Resolve,
    /// env.toml.
    pub manifest: &'a Manifest,
    /// The indexes.
    pub sources: &'a Sources,
    /// Which pins may move.
    pub kept: &'a Kept,
    /// What the indexes say.
    pub catalog: Arc<dyn Catalog>,
    /// Where that comes from.
    pub answers: &'a Answers,
    /// Absent when a problem file has the answers.
    pub fetcher: Option<Arc<Fetcher>>,
}

impl Run<'_> {
    /// Every target solved with the pins of its lock, and what they owe each other settled.
    #[must_use]
    pub fn agreed(&self, work: &[(&Plan, Option<&Pylock>)]) -> Vec<Party> {
        let party = |(plan, lock): &(&Plan, Option<&Pylock>)| Party {
            name: plan.spec.name.clone().unwrap_or_default(),
            outcome: self.solve(plan, *lock),
            refused: None,
        };
        let mut parties: Vec<Party> = work.iter().map(party).collect();
        let same: Vec<Name> =
            self.manifest.options.same.iter().map(|name| *name.get_ref()).collect();
        let solver = |problem: &Arc<Problem>| solve(Arc::clone(problem), Arc::clone(&self.catalog));
        for note in agree(&mut parties, &same, &solver) {
            message::warning(note);
        }
        parties
    }

    /// The solution for the first Python that has one: that of the lock that is there, then the newest.
    fn solve(
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

    /// What the run took.
    #[must_use]
    pub fn work(&self, decisions: u64) -> json::Work {
        let work = json::Work { decisions, ..json::Work::default() };
        let Some(stats) = self.fetcher.as_ref().map(|fetcher| fetcher.stats()) else { return work };
        json::Work {
            requests: stats.requests,
            not_modified: stats.not_modified,
            bytes: stats.bytes,
            cached_pages: stats.cached_pages,
            cached_metadata: stats.cached_metadata,
            ..work
        }
    }

    /// The lock that is there, or that the problem file holds.
    ///
    /// # Errors
    /// When it is there and cannot be read, unless every pin may move anyway; the reason has been printed.
    pub fn existing(&self, plan: &Plan) -> Result<Option<Pylock>, Exit> {
        let path = self.paths(plan).lock;
        let bytes = self.answers.lock(plan.spec.name.as_deref(), &path);
        let read = bytes.map_err(|error| error.to_string()).and_then(|b| parse(b, &path));
        match read {
            Ok(lock) => Ok(lock),
            Err(why) if self.args.upgrade.upgrade => {
                message::warning(format_args!("every version is chosen anew: {why}"));
                Ok(None)
            }
            Err(why) => Err(unreadable(&why)),
        }
    }

    /// The files of a target.
    #[must_use]
    pub fn paths(&self, plan: &Plan) -> Paths {
        Paths::new(&self.args.manifest, plan.spec.name.as_deref())
    }
}

/// The lock that is there.
///
/// # Errors
/// When it is there and cannot be read; the reason has been printed.
pub fn existing(paths: &Paths) -> Result<Option<Pylock>, Exit> {
    let bytes = bytes_of(&paths.lock).map_err(|error| error.to_string());
    bytes.and_then(|bytes| parse(bytes, &paths.lock)).map_err(|why| unreadable(&why))
}

/// The bytes of a lock, `None` when there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub fn bytes_of(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match regular::read(path, TEXT_LIMIT) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(bytes: Option<Vec<u8>>, path: &Path) -> Result<Option<Pylock>, String> {
    let Some(bytes) = bytes else { return Ok(None) };
    Pylock::parse_bytes(&bytes, &path.display().to_string()).map(Some).map_err(|why| {
        why.iter().next().map(|first| first.one_line().to_string()).unwrap_or_default()
    })
}

/// A lock that cannot be read is not an absent one: without it every pin would move, and nobody asked for that.
fn unreadable(why: &str) -> Exit {
    message::error(format_args!("the lock cannot be read, so its pins cannot be kept: {why}"));
    message::help(
        "restore the file, for example from version control; or choose every version anew: cuda-lock resolve --upgrade",
    );
    Exit::BadInput
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
