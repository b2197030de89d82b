//! The catalog of a problem file: it knows what was asked then, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, File, Metadata, OnMetadata, OnProject, Project, ReleaseFiles,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use pep440_rs::Version;

use super::saved::{Record, SavedPage};
use super::{ProblemFile, address};

type PageAnswer = Result<Option<Arc<Project>>, CatalogError>;
type MetadataAnswer = Result<Arc<Metadata>, CatalogError>;

/// Every answer of a problem file.
pub struct Replay {
    pages: BTreeMap<(String, Name), PageAnswer>,
    metadata: BTreeMap<String, MetadataAnswer>,
}

impl Replay {
    /// Takes the answers of `file`.
    #[must_use]
    pub fn new(file: &ProblemFile) -> Arc<Self> {
        let mut this = Self { pages: BTreeMap::new(), metadata: BTreeMap::new() };
        for record in &file.records {
            match record {
                Record::Project(saved) => {
                    let Ok(name) = Name::new(&saved.name) else { continue };
                    let page = saved.answer.result().map(|page| page.as_ref().map(project));
                    this.pages.insert((saved.index.clone(), name), page);
                }
                Record::Metadata(saved) => {
                    let metadata = saved.answer.result().map(|metadata| Arc::new(metadata.clone()));
                    this.metadata.insert(saved.url.clone(), metadata);
                }
            }
        }
        Arc::new(this)
    }

    /// A catalog of sources that are called `indexes`, by number.
    #[must_use]
    pub fn of(self: &Arc<Self>, indexes: Vec<String>) -> Arc<dyn Catalog> {
        Arc::new(Replayed { replay: Arc::clone(self), indexes })
    }
}

fn project(page: &SavedPage) -> Arc<Project> {
    let files = |release: &super::saved::SavedRelease| {
        release.files.iter().map(super::saved::SavedFile::file).collect::<Vec<File>>()
    };
    let versions: Vec<_> = page.releases.iter().map(|release| release.version.clone()).collect();
    let files = page.releases.iter().map(files).collect();
    let files = Box::new(Files { files, skipped: page.skipped.clone() });
    Arc::new(Project { versions: versions.into(), files })
}

struct Files {
    files: Vec<Vec<File>>,
    skipped: Vec<(String, String)>,
}

impl ReleaseFiles for Files {
    fn files(&self, index: usize) -> Vec<File> {
        self.files.files(index)
    }

    fn skipped(&self) -> Vec<(String, String)> {
        self.skipped.clone()
    }
}

/// See [`Replay::of`].
struct Replayed {
    replay: Arc<Replay>,
    indexes: Vec<String>,
}

impl Catalog for Replayed {
    fn project(&self, source: SourceId, name: Name) -> PageAnswer {
        let index = self.indexes.get(usize::from(source.0)).cloned().unwrap_or_default();
        match self.replay.pages.get(&(index.clone(), name)) {
            Some(answer) => answer.clone(),
            None => Err(unknown(&format!("the page of {name} on {index}"))),
        }
    }

    fn metadata(&self, _source: SourceId, name: Name, file: &File) -> MetadataAnswer {
        match self.replay.metadata.get(&address(&file.url)) {
            Some(answer) => answer.clone(),
            None => Err(unknown(&format!("the METADATA of {name} in {}", file.filename))),
        }
    }

    fn expect_project(&self, _: SourceId, _: Name, _: OnProject) {}

    fn expect_metadata(&self, _: SourceId, _: Name, _: &File, _: OnMetadata) {}

    fn wants_hints(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<CatalogError> {
        None
    }

    fn build(
        &self,
        _source: SourceId,
        name: Name,
        file: &File,
        _python: &Version,
    ) -> MetadataAnswer {
        match self.replay.metadata.get(&super::record::built(&file.url)) {
            Some(answer) => answer.clone(),
            None => Err(unknown(&format!("the built metadata of {name} in {}", file.filename))),
        }
    }
}

/// The solver of today asks what the one that wrote the file did not.
fn unknown(what: &str) -> CatalogError {
    let text = format!(
        "{what} is not in the problem file: it was not asked for when the file was written. Save the problem again with this version"
    );
    CatalogError::Offline(text.into())
}
