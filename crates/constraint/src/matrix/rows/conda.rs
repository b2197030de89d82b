//! `matrices/conda.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Conda packages and the distributions that they are.
    pub package: Vec<Package>,
    /// The last releases of channels that ended.
    pub ended: Vec<Ended>,
    /// What selects the CUDA build.
    pub selector: Vec<Selector>,
    /// Packages for the CPU only.
    pub cpu_only: Vec<CpuOnly>,
    /// Channels that do not look at the driver.
    pub unaware: Vec<Unaware>,
    /// Channels that a package needs beside its own.
    pub needs: Vec<Needs>,
}

/// A conda package and the distribution that it is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// The conda package.
    pub name: String,
    /// The distribution.
    pub distribution: String,
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
    pub last: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What selects the CUDA build of pytorch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// The channel.
    pub channel: String,
    /// First release of pytorch.
    pub from: String,
    /// Last release; inclusive.
    pub to: String,
    /// The package whose version selects.
    pub package: String,
    /// The CUDA versions for which there are builds.
    pub cuda: Vec<String>,
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
    pub versions: String,
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
