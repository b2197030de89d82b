//! `matrices/python.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Minor versions, newest first.
    pub minor: Vec<Minor>,
}

/// A minor version of CPython.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minor {
    /// Such as `3.11`.
    pub version: String,
    /// Public sources.
    pub source: Vec<String>,
}
