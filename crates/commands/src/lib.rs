//! What each command of `cuda-lock` does: a function from typed input to a report, or to a [`Failure`].
//!
//! Nothing is printed here and nothing ends the process. The program `cuda-lock` reads a command line, calls one of these
//! functions, puts the report into words and chooses an exit code; a test or a service calls the same functions.
//!
//! A [`run::Run`] is one env.toml read and planned, with the indexes that it names. Solving it gives a
//! [`resolve::Report`], comparing it with the files beside it a [`check::Report`], asking it about one package an
//! [`explain::Explained`].
//!
//! | module | what it is |
//! | --- | --- |
//! | [`request`] | what a command line can ask for, typed |
//! | [`plan`] | from env.toml to problems and indexes |
//! | [`run`] | what all targets of one env.toml share, and how each is solved |
//! | [`resolve`], [`check`], [`explain`] | what can be asked of a run |
//! | [`lock`], [`digests`], [`kept`], [`targets`] | from a solution to a lock; which pins stay; what targets owe each other |
//! | [`judged`] | what an audit would say of a solution, before it is written |
//! | [`passed`], [`references`] | what is built and what was passed over; where direct references lead |
//! | [`fixes`] | changes that make a problem solvable, as edits of env.toml |
//! | [`answers`], [`problem`] | where the answers of a run come from; a run saved to one file, and solved again from there |
//! | [`diff`], [`verify`], [`cache`], [`probe`] | the smaller commands |
//! | [`detect`] | what machine this is |

pub mod answers;
pub mod cache;
pub mod check;
pub mod detect;
pub mod diff;
pub mod digests;
pub mod explain;
mod failure;
pub mod fixes;
pub mod judged;
pub mod kept;
pub mod lock;
pub mod passed;
pub mod plan;
pub mod probe;
pub mod problem;
pub mod references;
pub mod request;
pub mod resolve;
pub mod run;
pub mod targets;
pub mod verify;

pub use failure::Failure;
