//! `matrices/indexes.toml`.

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Rows};
use crate::name::Name;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Public indexes.
    pub index: Rows<Index>,
    /// Wheels that an index lost.
    pub lost: Rows<Lost>,
    /// Releases that are on another index than PyPI.
    pub only_there: NamedRows<OnlyThere>,
    /// Everything that some indexes may list.
    pub listing: Rows<Listing>,
    /// How long nightly builds are kept.
    pub nightly: Rows<Nightly>,
}

/// Everything that an index may list.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// The name of the index, as its row writes it.
    pub index: String,
    /// The fact in words.
    pub text: String,
    /// The distributions.
    pub names: Vec<Name>,
    /// Public sources.
    pub source: Vec<String>,
}

/// How long nightly builds are kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nightly {
    /// A part of the address of such indexes.
    pub path: String,
    /// So many builds of a package are kept.
    pub keeps: u64,
    /// The day of the oldest one that was kept when this was written, as `20260930`.
    pub oldest: u64,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// Releases that are on another index than PyPI.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnlyThere {
    /// The distribution.
    pub name: Name,
    /// PEP 440 specifiers.
    pub versions: VersionSpecifiers,
    /// Where they are, in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A wheel that an index lost.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    /// The name of the index, as its row writes it.
    pub index: String,
    /// The backends whose index it is; empty where it has none.
    pub backends: Vec<String>,
    /// PEP 440 specifiers of the torch releases that pin it.
    pub torch: VersionSpecifiers,
    /// The distribution.
    pub wheel: Name,
    /// The version.
    pub version: Version,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A public index, or a family of them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Index {
    /// Name, `{backend}` standing for a backend.
    pub name: String,
    /// Address, `{backend}` standing for a backend.
    pub url: String,
    /// Other addresses of the same files.
    pub mirrors: Vec<String>,
    /// Whose index it is.
    pub kind: Kind,
    /// What is published there.
    pub channel: Channel,
    /// How its pages look.
    pub format: Format,
    /// What is taken from it; empty for everything.
    pub distributions: Vec<Name>,
    /// Backends that are known to exist.
    pub backends: Vec<String>,
    /// Backends whose builds it once listed, and lists no more.
    #[serde(default)]
    pub gone: Vec<String>,
    /// Whether 403 means that the index lacks the project.
    pub forbidden_means_absent: bool,
    /// Public sources.
    pub source: Vec<String>,
}

/// Whose index it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// PyPI.
    Pypi,
    /// PyTorch's.
    Pytorch,
    /// ONNX Runtime's.
    Onnxruntime,
    /// NVIDIA's.
    Nvidia,
}

/// What is published on an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Releases.
    Release,
    /// Development builds; asked only when named.
    Nightly,
}

/// How the pages of an index look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// PEP 691.
    Json,
    /// PEP 503.
    Html,
    /// One page with links to files.
    Flat,
}

rows!(Index, Lost, OnlyThere, Listing, Nightly);
named!(OnlyThere);
