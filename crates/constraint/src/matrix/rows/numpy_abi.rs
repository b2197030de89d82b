//! `matrices/numpy_abi.toml`.

use pep440_rs::VersionSpecifiers;
use serde::{Deserialize, Serialize};

use super::table::NamedRows;
use crate::machine::Platform;
use crate::name::Name;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Builds against NumPy 1.
    pub rule: NamedRows<Rule>,
}

/// Builds of one distribution against the C API of NumPy 1.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The distribution.
    pub name: Name,
    /// PEP 440 specifiers.
    pub versions: VersionSpecifiers,
    /// Platforms, as env.toml writes them; empty for all.
    pub platforms: Vec<Platform>,
    /// PEP 440 specifiers on numpy.
    pub numpy: VersionSpecifiers,
    /// The fact in words.
    pub text: String,
    /// What people see otherwise.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Rule);
named!(Rule);
