//! `matrices/bound.toml`.

use pep440_rs::VersionSpecifiers;
use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Row, Span};
use crate::machine::Platform;
use crate::name::Name;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Distributions that use one CUDA major version.
    pub bound: NamedRows<Bound>,
    /// Releases without GPU code.
    pub cpu_only: NamedRows<CpuOnly>,
}

/// Releases that have no GPU code on a platform.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuOnly {
    /// The distribution.
    pub name: Name,
    /// PEP 440 specifiers.
    pub versions: VersionSpecifiers,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<Platform>,
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
    pub name: Name,
    /// The releases.
    pub span: Span,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<Platform>,
    /// CUDA major version.
    #[serde(default)]
    pub cuda_major: Option<u64>,
    /// Lowest cuDNN, if it uses one; any newer one of that major version does.
    #[serde(default)]
    pub cudnn: Option<SystemVersion>,
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

rows!(CpuOnly);
named!(CpuOnly, Bound);

impl Row for Bound {
    fn span(&self) -> Option<&Span> {
        Some(&self.span)
    }

    fn subjects(&self) -> Vec<String> {
        let all = Platform::ALL;
        let platforms = if self.platforms.is_empty() { &all[..] } else { &self.platforms };
        let of = if self.system { " with the libraries of the system" } else { "" };
        platforms.iter().map(|platform| format!("{} on {platform}{of}", self.name)).collect()
    }
}
