//! `matrices/bound.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Distributions that use one CUDA major version.
    pub bound: Vec<Bound>,
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
    /// What people see otherwise.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}
