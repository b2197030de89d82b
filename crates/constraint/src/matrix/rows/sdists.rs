//! `matrices/sdists.toml`.

use serde::{Deserialize, Serialize};

use super::table::Rows;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Build backends.
    pub backend: Rows<Backend>,
    /// Names in setup.py that say what a build needs.
    pub mark: Rows<Mark>,
    /// Distributions that a build must find installed.
    pub required: Rows<Mark>,
}

/// A build backend (PEP 517).
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backend {
    /// Its top-level module.
    pub module: String,
    /// It builds nothing: it fetches a wheel from its vendor's index.
    pub stub: bool,
    /// What building with it needs.
    pub needs: Vec<Need>,
    /// Public sources.
    pub source: Vec<String>,
}

/// A name that says what a build needs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// The name.
    pub name: String,
    /// What building needs where it stands.
    pub needs: Vec<Need>,
    /// Public sources.
    pub source: Vec<String>,
}

/// What a build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// A compiler for C and C++.
    #[serde(rename = "compiler")]
    Compiler,
    /// NVIDIA's compiler.
    #[serde(rename = "nvcc")]
    Nvcc,
    /// torch, installed before.
    #[serde(rename = "torch")]
    Torch,
    /// A compiler for Rust.
    #[serde(rename = "rust")]
    Rust,
}

rows!(Backend, Mark);
