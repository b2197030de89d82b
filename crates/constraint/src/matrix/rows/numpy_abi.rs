//! `matrices/numpy_abi.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Builds against NumPy 1.
    pub rule: Vec<Rule>,
}

/// Builds of one distribution against the C API of NumPy 1.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The distribution.
    pub name: String,
    /// PEP 440 specifiers.
    pub versions: String,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<String>,
    /// PEP 440 specifiers on numpy.
    pub numpy: String,
    /// The fact in words.
    pub text: String,
    /// What people see otherwise.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}
