//! `matrices/opens.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Distributions that open libraries which their METADATA does not bring.
    pub opens: Vec<Opens>,
    /// Distributions whose GPU code is in another one.
    pub alone: Vec<Alone>,
}

/// A distribution that runs on the CPU unless another one is beside it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alone {
    /// The distribution.
    pub name: String,
    /// First version of which this holds.
    pub from: String,
    /// The distributions with its GPU code: one of them is enough.
    pub unless: Vec<String>,
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
    pub name: String,
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// Platforms, as env.toml writes them.
    pub platforms: Vec<String>,
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
