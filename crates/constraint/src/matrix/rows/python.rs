//! `matrices/python.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Minor versions, newest first.
    pub minor: Vec<Minor>,
    /// The pip that something brings.
    pub pip: Vec<Pip>,
    /// The first pip that knows a platform tag.
    pub platform_tag: Vec<PlatformTag>,
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
    pub pip: String,
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
    pub pip: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A minor version of CPython.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minor {
    /// Such as `3.11`.
    pub version: String,
    /// Its newest patch release, such as `3.11.9`.
    pub newest: String,
    /// Public sources.
    pub source: Vec<String>,
}
