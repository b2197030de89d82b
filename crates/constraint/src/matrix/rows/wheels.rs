//! `matrices/wheels.toml`: what wheels say of themselves, derived by the maintainers' tool.

use pep440_rs::VersionSpecifiers;
use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Row, Span};
use crate::machine::Platform;
use crate::name::Name;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Rows, in the order of names, platforms and releases.
    pub wheel: NamedRows<Wheel>,
}

/// What the wheels of some releases say of themselves, all alike.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wheel {
    /// The distribution.
    pub name: Name,
    /// The releases: to the last one that was read and says the same.
    pub span: Span,
    /// As env.toml writes it.
    pub platform: Platform,
    /// The releases of torch that export every symbol it takes; absent when it takes none of torch.
    #[serde(default)]
    pub torch: Option<VersionSpecifiers>,
    /// True when it takes torch's stable ABI alone, so that later releases of torch load it too.
    #[serde(default)]
    pub stable_abi: bool,
    /// What the nearest releases of torch outside that range lack: `2.9.1 SYMBOL`.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// Libraries of CUDA that it needs and does not bring.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Targets of machine code that the wheel as a whole was compiled for: `sm_86`.
    #[serde(default)]
    pub cubins: Vec<String>,
    /// Targets of PTX: `compute_90`.
    #[serde(default)]
    pub ptx: Vec<String>,
    /// The newest version of the PTX ISA in it.
    #[serde(default)]
    pub ptx_isa: Option<SystemVersion>,
    /// Each wheel that was read, with its digest.
    pub source: Vec<String>,
}

impl Row for Wheel {
    // Of the releases between two rows nobody read a wheel.
    const COMPLETE: bool = false;

    fn span(&self) -> Option<&Span> {
        Some(&self.span)
    }

    fn subjects(&self) -> Vec<String> {
        vec![format!("{} on {}", self.name, self.platform)]
    }
}

named!(Wheel);
