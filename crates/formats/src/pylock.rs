//! pylock.toml (PEP 751): the lock.
//!
//! [`Pylock`] is the file as data. [`Pylock::to_toml`] writes it in one fixed form, so that equal locks are equal bytes;
//! [`Pylock::parse`] reads what any tool wrote. What this program knows beyond the standard is in `[tool.cuda-lock]`
//! ([`LockMetadata`]), which other tools ignore.

mod metadata;
mod model;
mod read;
mod read_tool;
mod write;

pub use metadata::{
    LockMetadata, LockedBuild, LockedConstraint, LockedIndex, LockedMachine, LockedPassed,
};
pub use model::{
    LockedArchive, LockedDependency, LockedDirectory, LockedFile, LockedPackage, LockedVcs, Origin,
    Pylock, strip_credentials,
};

#[cfg(test)]
pub(crate) mod tests;
