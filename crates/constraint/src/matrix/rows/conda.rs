//! `matrices/conda.toml`.

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::table::{Rows, Span};
use crate::name::Name;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Conda packages and the distributions that they are.
    pub package: Rows<Package>,
    /// The last releases of channels that ended.
    pub ended: Rows<Ended>,
    /// What selects the CUDA build.
    pub selector: Rows<Selector>,
    /// Packages for the CPU only.
    pub cpu_only: Rows<CpuOnly>,
    /// Channels that do not look at the driver.
    pub unaware: Rows<Unaware>,
    /// Channels that a package needs beside its own.
    pub needs: Rows<Needs>,
}

/// A conda package and the distribution that it is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The conda package.
    pub name: String,
    /// The distribution.
    pub distribution: Name,
    /// Public sources.
    pub source: Vec<String>,
}

/// The last release of a package on a channel that ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// The channel.
    pub channel: String,
    /// The package.
    pub package: String,
    /// Its last version.
    pub last: Version,
    /// Public sources.
    pub source: Vec<String>,
}

/// What selects the CUDA build of pytorch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// The channel.
    pub channel: String,
    /// The releases.
    pub span: Span,
    /// The package whose version selects.
    pub package: String,
    /// The CUDA versions for which there are builds.
    pub cuda: Vec<SystemVersion>,
    /// Public sources.
    pub source: Vec<String>,
}

/// A package that a channel has for the CPU only.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuOnly {
    /// The channel.
    pub channel: String,
    /// The package.
    pub package: String,
    /// PEP 440 specifiers of those releases.
    pub versions: VersionSpecifiers,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A channel whose builds do not look at the driver.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unaware {
    /// The channel.
    pub channel: String,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// Channels that a package needs beside its own.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// The package.
    pub package: String,
    /// The channels, any of which will do.
    pub channels: Vec<String>,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Package, Ended, CpuOnly, Unaware, Needs);
spans!(Selector, channel);
