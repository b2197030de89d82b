//! `matrices/broken.toml`.

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::table::NamedRows;
use crate::machine::Platform;
use crate::name::Name;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Releases that cannot work.
    pub release: NamedRows<Release>,
    /// Releases that were deleted from PyPI.
    pub deleted: NamedRows<Deleted>,
}

/// Releases that cannot work.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The distribution.
    pub name: Name,
    /// PEP 440 specifiers.
    pub versions: VersionSpecifiers,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<Platform>,
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
    pub name: Name,
    /// The release.
    pub version: Version,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Release, Deleted);
named!(Release, Deleted);
