//! `matrices/driver.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Lowest driver for a CUDA major version by minor-version compatibility.
    pub floor: Vec<Floor>,
}

/// The lowest driver with which any toolkit of one CUDA major version starts.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// CUDA major version.
    pub cuda_major: u64,
    /// Lowest Linux driver.
    pub linux: String,
    /// Lowest Windows driver.
    pub windows: String,
    /// Public sources.
    pub source: Vec<String>,
}
