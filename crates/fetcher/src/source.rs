//! The indexes of a run, ready to be asked.

use std::path::PathBuf;

use cuda_lock_constraint::name::Name;
use url::Url;

use crate::config::{SourceConfig, SourceFormat};
use crate::net::{shown, without_secrets};

/// An index.
pub(crate) struct Source {
    /// What people call it.
    pub(crate) name: String,
    /// Its root without credentials; for a simple index with a slash at the end.
    pub(crate) url: Url,
    /// The folder, when it is one of this machine.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) format: SourceFormat,
    pub(crate) forbidden_means_absent: bool,
}

/// A source that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The scheme is not one that can be fetched.
    #[error("the index '{name}' has the URL {url}: use https://, http:// or file://")]
    Scheme {
        /// The source.
        name: String,
        /// Its URL without credentials.
        url: String,
    },
    /// A `file://` URL that names no folder of this machine.
    #[error(
        "the index '{name}' has the URL {url}, which is no path on this machine: use file:///ABSOLUTE/PATH"
    )]
    Path {
        /// The source.
        name: String,
        /// Its URL.
        url: String,
    },
}

impl Source {
    /// Checks the URL.
    pub(crate) fn new(config: &SourceConfig) -> Result<Self, SourceError> {
        let mut url = without_secrets(&config.url.public());
        let folder = match url.scheme() {
            "http" | "https" => None,
            "file" => {
                Some(url.to_file_path().map_err(|()| SourceError::Path {
                    name: config.name.clone(),
                    url: shown(&url),
                })?)
            }
            _ => return Err(SourceError::Scheme { name: config.name.clone(), url: shown(&url) }),
        };
        if config.format == SourceFormat::Simple && !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(Self {
            name: config.name.clone(),
            url,
            folder,
            format: config.format,
            forbidden_means_absent: config.forbidden_means_absent,
        })
    }

    /// The page of a project. Normalised names need no escaping.
    pub(crate) fn page_url(&self, name: Name) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{name}/", self.url.path()));
        url
    }
}
