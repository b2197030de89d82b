//! `matrices/bound.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Distributions that use one CUDA major version.
    pub bound: Vec<Bound>,
}

/// A distribution that uses one CUDA major version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The distribution.
    pub name: String,
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// CUDA major version.
    pub cuda_major: u64,
    /// cuDNN major version, if it uses cuDNN.
    #[serde(default)]
    pub cudnn_major: Option<u64>,
    /// Public sources.
    pub source: Vec<String>,
}
