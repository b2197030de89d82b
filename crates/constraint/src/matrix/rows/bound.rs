//! `matrices/bound.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Distributions that use one CUDA major version.
    pub bound: Vec<Bound>,
    /// Releases without GPU code.
    pub cpu_only: Vec<CpuOnly>,
}

/// Releases that have no GPU code on a platform.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuOnly {
    /// The distribution.
    pub name: String,
    /// PEP 440 specifiers.
    pub versions: String,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<String>,
    /// The fact in words.
    pub text: String,
    /// What to do, in words.
    pub fix: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A distribution that uses one CUDA or cuDNN major version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The distribution.
    pub name: String,
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<String>,
    /// CUDA major version.
    #[serde(default)]
    pub cuda_major: Option<u64>,
    /// Lowest cuDNN, if it uses one; any newer one of that major version does.
    #[serde(default)]
    pub cudnn: Option<String>,
    /// Whether it does without them, and only must not meet others.
    pub if_present: bool,
    /// Whether the row speaks of the libraries of the system, which only count where the system supplies them.
    #[serde(default)]
    pub system: bool,
    /// The extra of METADATA that brings the wheels of these libraries.
    #[serde(default)]
    pub extra: Option<String>,
    /// Whether later releases are known to be built in another way, so that nothing is said about them.
    #[serde(default)]
    pub ends: bool,
    /// Whether this is a nightly build under a name of its own, which is named without a version.
    #[serde(default)]
    pub nightly: bool,
    /// What people see otherwise.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}
