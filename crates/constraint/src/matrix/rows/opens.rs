//! `matrices/opens.toml`.

use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Row, Span};
use crate::machine::Platform;
use crate::name::Name;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Distributions that open libraries which their METADATA does not bring.
    pub opens: NamedRows<Opens>,
    /// Distributions whose GPU code is in another one.
    pub alone: NamedRows<Alone>,
}

/// A distribution that runs on the CPU unless another one is beside it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alone {
    /// The distribution.
    pub name: Name,
    /// First version of which this holds.
    pub from: Version,
    /// The distributions with its GPU code: one of them is enough.
    pub unless: Vec<Name>,
    /// The fact in words, to follow the name and version.
    pub text: String,
    /// What to do, in words.
    pub fix: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A distribution that opens libraries by name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opens {
    /// The distribution.
    pub name: Name,
    /// The releases.
    pub span: Span,
    /// Platforms, as env.toml writes them.
    pub platforms: Vec<Platform>,
    /// The CUDA major version whose wheels supply the libraries.
    #[serde(default)]
    pub cuda_major: Option<u64>,
    /// File names of the libraries.
    pub opens: Vec<String>,
    /// Whether it looks into the folders of the wheels by itself.
    pub finds: bool,
    /// Whether it does nothing without a GPU.
    pub only_gpu: bool,
    /// Whether later releases are known to be built in another way, so that nothing is said about them.
    #[serde(default)]
    pub ends: bool,
    /// What people see otherwise.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Alone);
named!(Alone, Opens);

impl Row for Opens {
    fn span(&self) -> Option<&Span> {
        Some(&self.span)
    }

    fn subjects(&self) -> Vec<String> {
        self.platforms.iter().map(|platform| format!("{} on {platform}", self.name)).collect()
    }
}
