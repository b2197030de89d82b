//! `matrices/python.toml`.

use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use super::table::Rows;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What a file is judged with that names no Python.
    pub assumed: Minor,
    /// Minor versions, newest first.
    pub minor: Rows<Minor>,
    /// The pip that something brings.
    pub pip: Rows<Pip>,
    /// The first pip that knows a platform tag.
    pub platform_tag: Rows<PlatformTag>,
}

/// The pip that a system or a Python brings.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pip {
    /// What brings it, in words.
    pub brought_by: String,
    /// The system, as tags of images write it.
    #[serde(default)]
    pub os: Option<String>,
    /// The minor version of Python.
    #[serde(default)]
    pub python: Option<String>,
    /// Its version.
    pub pip: Version,
    /// Public sources.
    pub source: Vec<String>,
}

/// The first pip that knows the platform tags with a prefix.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlatformTag {
    /// How the tags begin.
    pub prefix: String,
    /// The first pip.
    pub pip: Version,
    /// Public sources.
    pub source: Vec<String>,
}

/// A minor version of CPython.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minor {
    /// Such as `3.11`.
    pub version: Version,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Minor, Pip, PlatformTag);
