//! Where the answers of a run come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::problem::{Header, Recording, Replay};

use crate::plan::{Plan, Sources};

/// Where the answers of a run come from, and whether they are written down.
pub enum Answers {
    /// The indexes.
    Indexes,
    /// The indexes, and everything they say is noted.
    Noted(Arc<Recording>),
    /// A problem file.
    Saved(Arc<Replay>, Box<Header>),
}

impl Answers {
    /// The answers of a command line that names no problem file.
    #[must_use]
    pub fn of_indexes(noted: bool) -> Self {
        if noted { Self::Noted(Arc::default()) } else { Self::Indexes }
    }

    /// The catalog over `sources`. `open` is called unless a file has all the answers.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn catalog<E>(
        &self,
        sources: &Sources,
        open: impl FnOnce() -> Result<Arc<Fetcher>, E>,
    ) -> Result<Arc<dyn Catalog>, E> {
        let names = || sources.all.iter().map(|known| known.source.name.clone()).collect();
        match self {
            Self::Indexes => Ok(open()?),
            Self::Noted(recording) => Ok(recording.of(open()?, names())),
            Self::Saved(replay, _) => Ok(replay.of(names())),
        }
    }

    /// The text of every lock that is there, by the name of its target, when it is to be written down.
    #[must_use]
    pub fn noted_locks(
        &self,
        plans: &[Plan],
        path: impl Fn(&Plan) -> PathBuf,
    ) -> BTreeMap<String, String> {
        if !matches!(self, Self::Noted(_)) {
            return BTreeMap::new();
        }
        let lock = |plan: &Plan| {
            let text = fs_err::read_to_string(path(plan)).ok()?;
            Some((plan.spec.name.clone().unwrap_or_default(), text))
        };
        plans.iter().filter_map(lock).collect()
    }

    /// The text of the lock of a target, which a file holds or which is at `path`.
    #[must_use]
    pub fn lock(&self, target: Option<&str>, path: &Path) -> Option<String> {
        match self {
            Self::Saved(_, header) => header.locks.get(target.unwrap_or_default()).cloned(),
            Self::Indexes | Self::Noted(_) => fs_err::read_to_string(path).ok(),
        }
    }
}
