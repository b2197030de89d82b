//! Where the answers of a run come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::problem::{Header, Recording, Replay};
use cuda_lock_formats::regular::{self, TEXT_LIMIT};

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
            let text = String::from_utf8(regular::read(&path(plan), TEXT_LIMIT).ok()?).ok()?;
            Some((plan.spec.name.clone().unwrap_or_default(), text))
        };
        plans.iter().filter_map(lock).collect()
    }

    /// The lock of a target, which a file holds or which is at `path`; `None` when there is none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn lock(&self, target: Option<&str>, path: &Path) -> std::io::Result<Option<Vec<u8>>> {
        if let Self::Saved(_, header) = self {
            let lock = header.locks.get(target.unwrap_or_default());
            return Ok(lock.map(|text| text.clone().into()));
        }
        match regular::read(path, TEXT_LIMIT) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
