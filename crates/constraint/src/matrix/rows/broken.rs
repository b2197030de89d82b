//! `matrices/broken.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Releases that cannot work.
    pub release: Vec<Release>,
    /// Releases that were deleted from PyPI.
    pub deleted: Vec<Deleted>,
}

/// Releases that cannot work.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The distribution.
    pub name: String,
    /// PEP 440 specifiers.
    pub versions: String,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<String>,
    /// Only from this index.
    #[serde(default)]
    pub origin: Option<String>,
    /// The fact in words.
    pub text: String,
    /// What people see.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// A release that was deleted from PyPI.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// The distribution.
    pub name: String,
    /// The release.
    pub version: String,
    /// Public sources.
    pub source: Vec<String>,
}
