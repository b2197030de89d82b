//! Answers of a catalog as they are written down.

use std::sync::Arc;

use cuda_lock_constraint::catalog::{CatalogError, CoreMetadata, File, Metadata, Undeclared};
use cuda_lock_constraint::digest::{parse_sha256, sha256_hex};
use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use super::address;
use crate::diagnostic::mask_credentials;

/// One question and its answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// A project on an index.
    Project(SavedProject),
    /// The METADATA of a file.
    Metadata(SavedMetadata),
}

/// The page of a project.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SavedProject {
    /// The name of the index, as env.toml or the matrices have it.
    pub(super) index: String,
    /// The normalized name of the project.
    pub(super) name: String,
    pub(super) answer: Answer<Option<SavedPage>>,
}

/// The METADATA of one file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SavedMetadata {
    /// The file's address, without what can be secret.
    pub(super) url: String,
    pub(super) answer: Answer<Metadata>,
}

/// An answer, or why there was none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer<T> {
    Ok(T),
    Network(Arc<str>),
    Offline(Arc<str>),
    Invalid(Arc<str>),
    Unavailable(Arc<str>),
    Reference(Arc<str>),
    Undeclared(Undeclared),
}

impl<T> Answer<T> {
    pub(super) fn of(result: Result<T, CatalogError>) -> Self {
        let text = |text: Arc<str>| Arc::from(mask_credentials(&text).as_ref());
        match result {
            Ok(value) => Self::Ok(value),
            Err(CatalogError::Network(why)) => Self::Network(text(why)),
            Err(CatalogError::Offline(why)) => Self::Offline(text(why)),
            Err(CatalogError::Invalid(why)) => Self::Invalid(text(why)),
            Err(CatalogError::Unavailable(why)) => Self::Unavailable(text(why)),
            Err(CatalogError::Reference(why)) => Self::Reference(text(why)),
            Err(CatalogError::Undeclared(found)) => Self::Undeclared(Undeclared {
                detail: found.detail.as_ref().map(|text| mask_credentials(text).into_owned()),
                ..Undeclared::clone(&found)
            }),
        }
    }

    pub(super) fn result(&self) -> Result<&T, CatalogError> {
        match self {
            Self::Ok(value) => Ok(value),
            Self::Network(why) => Err(CatalogError::Network(Arc::clone(why))),
            Self::Offline(why) => Err(CatalogError::Offline(Arc::clone(why))),
            Self::Invalid(why) => Err(CatalogError::Invalid(Arc::clone(why))),
            Self::Unavailable(why) => Err(CatalogError::Unavailable(Arc::clone(why))),
            Self::Reference(why) => Err(CatalogError::Reference(Arc::clone(why))),
            Self::Undeclared(found) => Err(CatalogError::Undeclared(Arc::new(found.clone()))),
        }
    }
}

/// What a page lists.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SavedPage {
    /// Ascending, as the solver is given them.
    pub(super) releases: Vec<SavedRelease>,
    /// Files that belong to no version, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<(String, String)>,
}

/// A release and its files.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SavedRelease {
    pub(super) version: Version,
    pub(super) files: Vec<SavedFile>,
}

/// A file as the index describes it. Of releases that nobody looked at, addresses, digests and sizes are left out: they
/// are most of a page and decide nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub(super) struct SavedFile {
    filename: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_python: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    yanked: Option<Arc<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upload_time: Option<String>,
    /// Empty when the index states no digest of the METADATA.
    #[serde(skip_serializing_if = "Option::is_none")]
    core_metadata: Option<String>,
}

impl SavedFile {
    pub(super) fn new(file: &File, looked_at: bool) -> Self {
        Self {
            filename: file.filename.clone(),
            url: looked_at.then(|| address(&file.url)),
            sha256: file.sha256.as_ref().filter(|_| looked_at).map(sha256_hex),
            size: file.size.filter(|_| looked_at),
            requires_python: file.requires_python.clone(),
            yanked: file.yanked.clone(),
            upload_time: file.upload_time.map(|time| time.to_string()),
            core_metadata: match &file.core_metadata {
                CoreMetadata::No => None,
                CoreMetadata::Sha256(sha256) if looked_at => Some(sha256_hex(sha256)),
                CoreMetadata::Yes | CoreMetadata::Sha256(_) => Some(String::new()),
            },
        }
    }

    pub(super) fn file(&self) -> File {
        File {
            filename: self.filename.clone(),
            url: self.url.clone().unwrap_or_default(),
            sha256: self.sha256.as_deref().and_then(parse_sha256),
            size: self.size,
            requires_python: self.requires_python.clone(),
            yanked: self.yanked.clone(),
            upload_time: self.upload_time.as_deref().and_then(|time| time.parse().ok()),
            core_metadata: match self.core_metadata.as_deref() {
                None => CoreMetadata::No,
                Some(text) => parse_sha256(text).map_or(CoreMetadata::Yes, CoreMetadata::Sha256),
            },
        }
    }
}
