//! A catalog that stops answering when the time is up, so that a search ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::catalog::{Catalog, CatalogError, File, Metadata, OnMetadata, OnProject, Project};
use crate::name::Name;
use crate::version::SourceId;

/// Passes everything on until the deadline.
pub(crate) struct Bounded {
    inner: Arc<dyn Catalog>,
    deadline: Instant,
    ran_out: AtomicBool,
}

impl Bounded {
    pub(crate) fn new(inner: Arc<dyn Catalog>, deadline: Instant) -> Self {
        Self { inner, deadline, ran_out: AtomicBool::new(false) }
    }

    /// Whether a question came after the deadline.
    pub(crate) fn ran_out(&self) -> bool {
        self.ran_out.load(Ordering::Relaxed)
    }

    fn check(&self) -> Result<(), CatalogError> {
        if Instant::now() < self.deadline {
            return Ok(());
        }
        self.ran_out.store(true, Ordering::Relaxed);
        Err(CatalogError::Offline("the time for looking is over".into()))
    }
}

impl Catalog for Bounded {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        self.check()?;
        self.inner.project(source, name)
    }

    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        self.check()?;
        self.inner.metadata(source, name, file)
    }

    fn expect_project(&self, source: SourceId, name: Name, then: OnProject) {
        self.inner.expect_project(source, name, then);
    }

    fn expect_metadata(&self, source: SourceId, name: Name, file: &File, then: OnMetadata) {
        self.inner.expect_metadata(source, name, file, then);
    }

    fn wants_hints(&self) -> bool {
        self.inner.wants_hints()
    }

    fn fault(&self) -> Option<CatalogError> {
        self.inner.fault()
    }
}
