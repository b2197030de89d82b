//! `matrices/wheels.toml`: what wheels say of themselves, derived by the maintainers' tool.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Rows, in the order of names, platforms and releases.
    #[serde(default)]
    pub wheel: Vec<Wheel>,
}

/// What the wheels of some releases say of themselves, all alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wheel {
    /// The distribution.
    pub name: String,
    /// The first release.
    pub from: String,
    /// The last release that was read and says the same; inclusive.
    pub to: String,
    /// As env.toml writes it.
    pub platform: String,
    /// The releases of torch that export every symbol it takes, as PEP 440 specifiers; absent when it takes none of torch.
    #[serde(default)]
    pub torch: Option<String>,
    /// True when it takes torch's stable ABI alone, so that later releases of torch load it too.
    #[serde(default)]
    pub stable_abi: bool,
    /// What the nearest releases of torch outside that range lack: `2.9.1 SYMBOL`.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Libraries of CUDA that it needs and does not bring.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Targets of machine code in any of its libraries: `sm_86`.
    #[serde(default)]
    pub cubins: Vec<String>,
    /// Targets of PTX: `compute_90`.
    #[serde(default)]
    pub ptx: Vec<String>,
    /// The newest version of the PTX ISA in it.
    #[serde(default)]
    pub ptx_isa: Option<String>,
    /// Each wheel that was read, with its digest.
    pub source: Vec<String>,
}
