//! `matrices/cuda.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Toolkits, by ascending version.
    pub toolkit: Vec<Toolkit>,
}

/// The toolkits of one major and minor version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolkit {
    /// Major and minor version.
    pub cuda: String,
    /// The PTX ISA that its compiler writes, where known.
    #[serde(default)]
    pub ptx_isa: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}
