//! `matrices/cuda.toml`.

use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Toolkits, by ascending version.
    pub toolkit: Rows<Toolkit>,
}

/// The toolkits of one major and minor version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolkit {
    /// Major and minor version.
    pub cuda: SystemVersion,
    /// The PTX ISA that its compiler writes, where known.
    #[serde(default)]
    pub ptx_isa: Option<SystemVersion>,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Toolkit);
