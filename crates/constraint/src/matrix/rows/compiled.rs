//! `matrices/compiled.toml`.

use serde::{Deserialize, Serialize};

use super::table::NamedRows;
use crate::name::Name;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// How much distributions depend on their compiled parts.
    pub distribution: NamedRows<Distribution>,
}

/// A distribution with compiled parts of which its wheels do not tell whether it does without them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// The distribution.
    pub name: Name,
    /// Whether it works with a torch that lacks symbols, without its compiled parts.
    #[serde(default)]
    pub torch: Dependence,
    /// Whether it works on a GPU that it has no code for.
    #[serde(default)]
    pub kernels: Dependence,
    /// Whether it works without the CUDA libraries that it needs.
    #[serde(default)]
    pub libraries: Dependence,
    /// What people see otherwise.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// How much depends on a compiled part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// Nobody has looked.
    #[default]
    Unknown,
    /// It does not work without it.
    Needed,
    /// It works without it, slower or with less.
    Optional,
}

rows!(Distribution);
named!(Distribution);
