//! env.toml: the machine, what should run on it, and where builds may come from.
//!
//! [`Manifest::parse`] reads the text and answers with typed values that keep their position, or with everything that is
//! wrong with the file. [`Manifest::target`] gives one machine with its `[target.NAME]` keys applied, [`Manifest::machine_of`]
//! the same as the solver sees it; [`Manifest::target_digest`] tells whether a lock still belongs to the file.

mod audit;
mod digest;
mod environment;
mod index;
mod machine;
mod metadata;
mod model;
mod options;
mod parse;
mod pytorch;
mod requirement;
mod solve_machine;
mod target;

pub use cuda_lock_constraint::solve::{Prerelease, Resolution};

pub use audit::{AuditIgnore, AuditLevel, AuditSettings};
pub use environment::{Environment, PythonRequest};
pub use index::{DirectSource, Index, IndexFormat, IndexLocation};
pub use machine::{MachineTable, SystemWish};
pub use metadata::StaticMetadata;
pub use model::Model;
pub use options::{BuildName, ExcludeNewer, Options};
pub use parse::Manifest;
pub use pytorch::{Backends, Pytorch};
pub use target::{Target, TargetError, TargetSpec};

pub(crate) use parse::{KEYS, homes_of};

#[cfg(test)]
mod tests;
