//! Projects whose page lies in the cache: their files are read from there when they are asked for.
//!
//! Only the head of a page is checked when it is opened. That a block is damaged shows later, when the page is already in
//! use; it is then fetched once more, and what it says now takes the place of what could not be read. Where no network
//! may be asked, the run fails with that error: a release without files would be a wrong answer.

use std::sync::{Arc, OnceLock, Weak};

use cuda_lock_constraint::catalog::{CatalogError, File, Project, ReleaseFiles, Versions};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;

use crate::cache::Body;
use crate::config::Mode;
use crate::fetcher::Inner;
use crate::net::shown;
use crate::page::compact::StoredPage;
use crate::project::ProjectResult;

/// A page of which only the head was read; `None` when the index does not have the project.
pub(crate) type Opened = Option<(Versions, StoredPage<Body>)>;

/// The files of a stored page.
struct Stored {
    page: StoredPage<Body>,
    inner: Weak<Inner>,
    source: SourceId,
    name: Name,
    again: OnceLock<Option<Arc<Project>>>,
}

impl Inner {
    /// A page as the solver sees it.
    pub(crate) fn project_of(
        self: &Arc<Self>,
        source: SourceId,
        name: Name,
        opened: Opened,
    ) -> Option<Arc<Project>> {
        let (versions, page) = opened?;
        let inner = Arc::downgrade(self);
        let files = Stored { page, inner, source, name, again: OnceLock::new() };
        Some(Arc::new(Project { versions, files: Box::new(files) }))
    }

    /// Reads a page once more, of which the copy in the cache is damaged.
    fn read_again(self: &Arc<Self>, source: SourceId, name: Name) -> ProjectResult {
        if self.mode == Mode::Offline {
            let url = self.sources.get(&source).map(|source| shown(&source.page_url(name)));
            let text = format!(
                "the copy of {} in the cache is damaged, and --offline allows no request: run once without --offline to \
                 replace it",
                url.unwrap_or_default()
            );
            return Err(CatalogError::Offline(text.into()));
        }
        let Some(engine) = self.engine.upgrade() else { return Ok(None) };
        engine.runtime()?.block_on(self.ask_project(source, name, None))
    }
}

impl Stored {
    /// What the page says now; `None` when it cannot be had.
    fn again(&self) -> Option<&Arc<Project>> {
        let read = || {
            let inner = self.inner.upgrade()?;
            match inner.read_again(self.source, self.name) {
                Ok(project) => project,
                Err(error) => {
                    inner.note_fault(error);
                    None
                }
            }
        };
        self.again.get_or_init(read).as_ref()
    }
}

impl ReleaseFiles for Stored {
    fn files(&self, index: usize) -> Vec<File> {
        if let Ok(files) = self.page.files(index) {
            return files;
        }
        // A thread that serves the network only looks ahead, and must not wait for itself; the solver will ask again.
        if tokio::runtime::Handle::try_current().is_ok() {
            return Vec::new();
        }
        let Some(project) = self.again() else { return Vec::new() };
        let version = self.page.version(index);
        let place = version.and_then(|version| project.versions.binary_search(&version).ok());
        place.map(|place| project.files.files(place)).unwrap_or_default()
    }

    fn skipped(&self) -> Vec<(String, String)> {
        self.page.skipped().unwrap_or_default()
    }
}
