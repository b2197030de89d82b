//! Writing down what a catalog answers, while it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, File, Metadata, OnMetadata, OnProject, Project, ReleaseFiles,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use pep440_rs::Version;

use super::saved::{
    Answer, Record, SavedFile, SavedMetadata, SavedPage, SavedProject, SavedRelease,
};
use super::{ProblemFile, address};

/// A page by the name of its index and of the project.
type Page = (String, String);

/// Everything that was asked so far, through any number of catalogs.
#[derive(Default)]
pub struct Recording {
    pages: Mutex<BTreeMap<Page, Result<Option<Watched>, CatalogError>>>,
    metadata: Mutex<BTreeMap<String, Result<Arc<Metadata>, CatalogError>>>,
}

impl Recording {
    /// A catalog that answers as `inner` does, and notes it. `indexes` are the names of its sources, by number.
    #[must_use]
    pub fn of(self: &Arc<Self>, inner: Arc<dyn Catalog>, indexes: Vec<String>) -> Arc<dyn Catalog> {
        Arc::new(Recorder { recording: Arc::clone(self), inner, indexes })
    }

    /// Every question that was asked, in the order of names.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        let projects = pages.iter().map(|((index, name), answer)| {
            let page = answer.clone().map(|watched| watched.map(|watched| watched.page()));
            Record::Project(SavedProject {
                index: index.clone(),
                name: name.clone(),
                answer: Answer::of(page),
            })
        });
        let metadata = metadata.iter().map(|(url, answer)| {
            let answer = answer.clone().map(|metadata| Metadata::clone(&metadata));
            Record::Metadata(SavedMetadata { url: url.clone(), answer: Answer::of(answer) })
        });
        projects.chain(metadata).collect()
    }
}

/// Where the metadata that a build found is noted.
pub(super) fn built(url: &str) -> String {
    format!("{}#built", address(url))
}

/// See [`Recording::of`].
struct Recorder {
    recording: Arc<Recording>,
    inner: Arc<dyn Catalog>,
    indexes: Vec<String>,
}

impl Catalog for Recorder {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        let index = self.indexes.get(usize::from(source.0)).cloned().unwrap_or_default();
        let key = (index, name.to_string());
        let pages = || self.recording.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = pages().get(&key) {
            return known.clone().map(|page| page.map(|watched| watched.project()));
        }
        let answer = self.inner.project(source, name).map(|page| page.map(Watched::new));
        pages().insert(key, answer.clone());
        answer.map(|page| page.map(|watched| watched.project()))
    }

    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let answer = self.inner.metadata(source, name, file);
        let mut noted = self.recording.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        noted.insert(address(&file.url), answer.clone());
        answer
    }

    fn build(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
        python: &Version,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let answer = self.inner.build(source, name, file, python);
        let mut noted = self.recording.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        noted.insert(built(&file.url), answer.clone());
        answer
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

/// A page that remembers which of its releases were looked at.
#[derive(Clone)]
struct Watched {
    inner: Arc<Project>,
    looked_at: Arc<Mutex<BTreeSet<usize>>>,
}

impl Watched {
    fn new(inner: Arc<Project>) -> Self {
        Self { inner, looked_at: Arc::default() }
    }

    fn project(&self) -> Arc<Project> {
        let versions: Vec<_> = self.inner.versions.iter().cloned().collect();
        Arc::new(Project { versions: versions.into(), files: Box::new(self.clone()) })
    }

    fn page(&self) -> SavedPage {
        let looked_at = self.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let releases = self.inner.versions.iter().enumerate().map(|(index, version)| {
            let files = self.inner.files.files(index);
            let looked_at = looked_at.contains(&index);
            SavedRelease {
                version: version.clone(),
                files: files.iter().map(|file| SavedFile::new(file, looked_at)).collect(),
            }
        });
        SavedPage { releases: releases.collect(), skipped: self.inner.files.skipped() }
    }
}

impl ReleaseFiles for Watched {
    fn files(&self, index: usize) -> Vec<File> {
        self.looked_at.lock().unwrap_or_else(PoisonError::into_inner).insert(index);
        self.inner.files.files(index)
    }

    fn skipped(&self) -> Vec<(String, String)> {
        self.inner.files.skipped()
    }
}

impl ProblemFile {
    /// The file for what `recording` holds.
    #[must_use]
    pub fn new(header: super::Header, recording: &Recording) -> Self {
        Self { header, records: recording.records() }
    }
}
