//! `matrices/python.toml`.

use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::machine::Platform;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The version that a file is read for when none is known.
    pub assumed: Minor,
    /// Minor versions, newest first.
    pub minor: Rows<Minor>,
    /// The pip that something brings.
    pub pip: Rows<Pip>,
    /// The first pip that knows a platform tag.
    pub platform_tag: Rows<PlatformTag>,
    /// The first pip that refuses releases with METADATA that PEP 440 does not allow.
    pub strict_metadata: InstallerFact,
    /// The first pip that reads requirements files as UTF-8 on every platform.
    pub utf8: Utf8,
    /// A tool that locks one version for all platforms.
    pub one_version: OneVersion,
}

/// What installers do from a release on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallerFact {
    /// The first pip that does.
    pub pip: Version,
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
    pub pip: Version,
    /// The platforms on which older ones read them in another encoding.
    pub platforms: Vec<Platform>,
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
