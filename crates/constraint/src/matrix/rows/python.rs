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
    /// The first pip that refuses releases with METADATA that PEP 440 does not allow.
    pub strict_metadata: InstallerFact,
    /// The first pip that reads requirements files as UTF-8 on every platform.
    pub utf8: Utf8,
    /// The version that a file is read for when none is known.
    pub assumed: Assumed,
    /// A tool that locks one version for all platforms.
    pub one_version: OneVersion,
}

/// A Python that stands in for one that is not known.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    /// Such as `3.11`.
    pub version: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What installers do from a release on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallerFact {
    /// The first pip that does.
    pub pip: String,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// The first pip that reads requirements files as UTF-8 on every platform.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Utf8 {
    /// The first pip.
    pub pip: String,
    /// The platforms on which older ones read them in another encoding.
    pub platforms: Vec<String>,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A tool that locks one version for all platforms.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneVersion {
    /// The tool's documentation, as it is quoted.
    pub tool: String,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
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
