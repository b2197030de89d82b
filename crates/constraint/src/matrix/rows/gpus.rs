//! `matrices/gpus.toml`.

use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Compute capabilities, ascending.
    pub capability: Rows<Capability>,
    /// Family-specific targets.
    pub family: Rows<Family>,
}

/// A compute capability.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// The capability, such as `8.6`.
    pub capability: SystemVersion,
    /// The architecture's name.
    pub architecture: String,
    /// The first CUDA version that targets it; unset when that is older than this file.
    #[serde(default)]
    pub first_cuda: Option<SystemVersion>,
    /// The last CUDA version that targets it; unset while it is supported.
    #[serde(default)]
    pub last_cuda: Option<SystemVersion>,
    /// The first driver branch that runs it; unset when that is older than this file.
    #[serde(default)]
    pub first_branch: Option<u64>,
    /// The first driver branch that no longer runs it; unset while it is supported.
    #[serde(default)]
    pub dropped_branch: Option<u64>,
    /// True for the GPU of a Tegra system, whose machine code is not interchangeable with that of other GPUs.
    #[serde(default)]
    pub tegra: bool,
    /// Public sources.
    pub source: Vec<String>,
}

/// A family-specific target and the capabilities that run it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The target without its prefix, such as `100f`.
    pub target: String,
    /// The capabilities.
    pub capabilities: Vec<SystemVersion>,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Capability, Family);
