//! `cuda-lock explain`: why something is in the lock at its version, and why it is not newer.

use cuda_lock_constraint::explain::{self, Drivers, Explanation};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::solve::{Conflict, SolveError, nearest_of};
use cuda_lock_formats::pylock::Pylock;

use crate::failure::Failure;
use crate::run::Run;

/// What can be asked about beside distributions.
const WORDS: [&str; 5] = ["driver", "gpu", "cuda", "cudnn", "python"];

/// What is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The drivers that will do.
    Driver,
    /// The compute capability of the GPU.
    Gpu,
    /// Another layer of the machine.
    Layer(Package),
    /// A distribution.
    Distribution(Name),
}

impl std::str::FromStr for Subject {
    type Err = Failure;

    /// A word of the command line: a layer, or else the name of a distribution.
    fn from_str(text: &str) -> Result<Self, Failure> {
        Ok(match text {
            "driver" => Self::Driver,
            "gpu" => Self::Gpu,
            "cuda" => Self::Layer(Package::Cuda),
            "cudnn" => Self::Layer(Package::Cudnn),
            "python" => Self::Layer(Package::Python),
            name => Self::Distribution(
                Name::new(name).map_err(|error| Failure::argument(error.to_string()))?,
            ),
        })
    }
}

/// An explanation, and what is to be said before it.
pub struct Explained {
    /// What a person should know of the lock that is there.
    pub notes: Vec<String>,
    /// The explanation.
    pub answer: Answer,
}

/// What is explained.
pub enum Answer {
    /// The drivers that will do, and what holds them.
    Drivers(Drivers),
    /// Why a version, and why not a newer one.
    Version(Explanation),
    /// Nothing can be explained: there is no environment.
    Unsolvable(Box<Conflict>),
}

impl Run {
    /// Explains something of the first target.
    ///
    /// # Errors
    /// When nothing in the environment needs it, or an index could not be read.
    pub fn explain(&self, asked: &str, subject: Subject) -> Result<Explained, Failure> {
        let plan = self.plans.first().ok_or_else(|| Failure::argument("there is no target"))?;
        let mut notes = Vec::new();
        let lock = self.existing(plan, &mut notes)?;
        let (problem, solution) = match self.solve(plan, lock.as_ref()) {
            Ok(solved) => solved,
            Err(SolveError::Conflict(conflict)) => {
                return Ok(Explained { notes, answer: Answer::Unsolvable(conflict) });
            }
            Err(SolveError::Catalog(error)) => return Err(error.into()),
        };
        let catalog = &self.catalog;
        let found = match subject {
            Subject::Driver => {
                let drivers = explain::drivers(&solution, &problem);
                return Ok(Explained { notes, answer: Answer::Drivers(drivers) });
            }
            Subject::Gpu => explain::layer(&problem, catalog, &solution, Package::Gpu(0)),
            Subject::Layer(package) => explain::layer(&problem, catalog, &solution, package),
            Subject::Distribution(name) => {
                explain::distribution(&problem, catalog, &solution, name)?
            }
        };
        let Some(explanation) = found else {
            let failure = Failure::argument(format!("nothing in this environment needs {asked}"));
            let known = solution.builds.keys().map(|name| name.as_str()).chain(WORDS);
            let meant = nearest_of(&asked.to_ascii_lowercase(), known);
            return Err(match meant {
                Some(meant) => failure.with_help(format!("did you mean {meant}?")),
                None => failure,
            });
        };
        if let (Subject::Distribution(name), Some(lock)) = (subject, &lock) {
            notes.extend(stale(lock, name, &explanation));
        }
        Ok(Explained { notes, answer: Answer::Version(explanation) })
    }
}

/// The lock has another version than what is explained.
fn stale(lock: &Pylock, name: Name, explanation: &Explanation) -> Option<String> {
    let locked = lock.packages.iter().find(|package| package.name == name);
    let locked = locked.and_then(|package| package.version.as_ref()).map(ToString::to_string);
    (locked.as_ref() != Some(&explanation.version)).then(|| {
        let has = locked.unwrap_or_else(|| "none".to_owned());
        format!("the lock is not what env.toml gives now: it has {has}")
    })
}
