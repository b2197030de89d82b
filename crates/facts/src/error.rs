//! What can go wrong between a name and its rows.

use cuda_lock_constraint::catalog::CatalogError;
use cuda_lock_constraint::name::Name;
use cuda_lock_fetcher::SourceError;

/// Why there is no row.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The matrix of indexes has no public one, and none was given.
    #[error("no index is known; give one with --index")]
    NoIndex,
    /// The index does not list the project.
    #[error("{0} is not on the index")]
    Absent(Name),
    /// No release matches what was asked for.
    #[error("{0} has no release with a wheel for this platform that matches")]
    NoRelease(String),
    /// Without a size a file cannot be read through ranges.
    #[error("the index states no size for {0}")]
    NoSize(String),
    /// The index, or a METADATA file.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The configuration of the index.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A wheel that is no zip archive, or a damaged one.
    #[error("{0}")]
    Zip(#[from] zip::result::ZipError),
    /// An address.
    #[error(transparent)]
    Url(#[from] url::ParseError),
    /// The network.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// A file on the disk, or the body of an answer.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A file of this tool that says something else than it should.
    #[error("{0}")]
    Malformed(String),
}
