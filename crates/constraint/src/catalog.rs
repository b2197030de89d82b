//! Where builds come from, as the solver sees it. The fetcher implements [`Catalog`]; tests implement it over memory.

mod reference;
mod sdist;
mod versions;

use std::sync::Arc;

use jiff::Timestamp;
use pep440_rs::Version;

use crate::name::Name;
use crate::requirement::UrlRequirement;
use crate::version::SourceId;

pub use reference::{Place, Reference};
pub use sdist::{BuildNeed, FromSdist, Grade, Silence, Undeclared};
pub use versions::Versions;

/// What to do when an expected page has arrived.
pub type OnProject = Box<dyn FnOnce(Arc<Project>) + Send>;

/// What to do when expected METADATA has arrived.
pub type OnMetadata = Box<dyn FnOnce(Arc<Metadata>) + Send>;

/// Indexes, seen from the solver. All calls may block on I/O; the solver has a thread of its own.
///
/// No method has a default: a catalog that stands before another one must pass each of them on, and one that was forgotten
/// would be answered by the default instead of by the catalog behind.
pub trait Catalog: Send + Sync {
    /// The releases of `name` on one source, `None` when that source does not have the project (404, or 403 on an index
    /// that answers so). Called often: an implementation keeps what it has read.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError>;

    /// The METADATA of one file of a project.
    ///
    /// # Errors
    /// When it cannot be read, or is not valid.
    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError>;

    /// The METADATA of a source distribution as a build for this Python finds it. Runs code of the file: only for what the person allowed.
    ///
    /// # Errors
    /// [`CatalogError::Undeclared`] with what the build printed when it fails, or nothing here can build.
    fn build(
        &self,
        _source: SourceId,
        _name: Name,
        file: &File,
        _python: &Version,
    ) -> Result<Arc<Metadata>, CatalogError> {
        Err(CatalogError::Undeclared(Arc::new(Undeclared {
            filename: file.filename.clone(),
            why: Silence::Unreadable,
            detail: Some("nothing is built here".to_owned()),
            recorded: None,
        })))
    }

    /// What a direct reference leads to. With a Python its metadata may be built for that, which runs its code.
    ///
    /// # Errors
    /// When it cannot be had, is not of `name`, or does not say its version.
    fn reference(
        &self,
        name: Name,
        url: &UrlRequirement,
        _build: Option<&Version>,
    ) -> Result<Arc<Reference>, CatalogError> {
        let text = format!("{name} @ {}: direct references are not followed here", url.url);
        Err(CatalogError::Reference(text.into()))
    }

    /// A hint that `name` will be asked for soon: start fetching, do not wait, and call `then` (once, on any thread)
    /// when it is there. A catalog that has the answer at hand may drop the hint: the solver will ask.
    fn expect_project(&self, source: SourceId, name: Name, then: OnProject);

    /// The same for METADATA.
    fn expect_metadata(&self, source: SourceId, name: Name, file: &File, then: OnMetadata);

    /// False as long as hints would be dropped, so that nobody need work them out.
    fn wants_hints(&self) -> bool;

    /// What went wrong since the start where no answer could say so, such as a release whose files turned out to be
    /// damaged after its page had been handed out. With it an answer made of what the catalog said does not count.
    fn fault(&self) -> Option<CatalogError>;
}

/// A project page: every release of one project on one source.
pub struct Project {
    /// The release versions.
    pub versions: Versions,
    /// The files of those versions, decoded when asked for.
    pub files: Box<dyn ReleaseFiles>,
}

/// Decodes the files of a release on demand: a page can list tens of thousands, of which a solve looks at a few.
pub trait ReleaseFiles: Send + Sync {
    /// The files of `versions[index]`, in the order of the page.
    fn files(&self, index: usize) -> Vec<File>;

    /// Files on the page that belong to no version that can be read, with the reason (a name that is no wheel, a variant
    /// wheel ...).
    fn skipped(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl ReleaseFiles for Vec<Vec<File>> {
    fn files(&self, index: usize) -> Vec<File> {
        self.get(index).cloned().unwrap_or_default()
    }
}

/// A file of a release, as the index describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The file name, percent-decoded.
    pub filename: String,
    /// The absolute URL, without fragment and without credentials.
    pub url: String,
    /// The digest that the index publishes.
    pub sha256: Option<[u8; 32]>,
    /// Bytes.
    pub size: Option<u64>,
    /// `Requires-Python` as published on the page, HTML entities decoded.
    pub requires_python: Option<Arc<str>>,
    /// The reason (perhaps empty) when the file is yanked (PEP 592).
    pub yanked: Option<Arc<str>>,
    /// When it was uploaded (PEP 700).
    pub upload_time: Option<Timestamp>,
    /// What the index says of a METADATA file beside this one (PEP 658/714).
    pub core_metadata: CoreMetadata,
}

/// Whether METADATA lies beside a wheel (PEP 658/714).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CoreMetadata {
    /// The index does not say so.
    #[default]
    No,
    /// It does, without a digest.
    Yes,
    /// It does, with the digest of the METADATA.
    Sha256([u8; 32]),
}

/// What a solve needs from METADATA. The strings are as published; parsing is the reader's, so that nothing is parsed
/// that no decision needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Metadata {
    /// `Name` as written.
    pub name: String,
    /// `Version` as written.
    pub version: String,
    /// Every `Requires-Dist`.
    pub requires_dist: Vec<Arc<str>>,
    /// `Requires-Python`.
    pub requires_python: Option<Arc<str>>,
    /// Every `Provides-Extra`.
    pub provides_extra: Vec<String>,
    /// How it is known, when it does not come from the wheel it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<FromSdist>>,
}

/// Why a source gave no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CatalogError {
    /// The network, or a server: the message names the URL without credentials, what happened, and what to do.
    #[error("{0}")]
    Network(Arc<str>),
    /// Without a network the answer is not known: it is not in the cache.
    #[error("{0}")]
    Offline(Arc<str>),
    /// The server answered with something that cannot be used: a wrong hash, broken METADATA, a page that is no page.
    #[error("{0}")]
    Invalid(Arc<str>),
    /// This one file has no METADATA that can be read; another may do.
    #[error("{0}")]
    Unavailable(Arc<str>),
    /// A direct reference leads to nothing that can be used.
    #[error("{0}")]
    Reference(Arc<str>),
    /// This source distribution does not say what it needs; another may, and what it records may be trusted.
    #[error("{0}")]
    Undeclared(Arc<Undeclared>),
}
