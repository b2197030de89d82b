//! `matrices/images.toml`.

use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Tags that exist, by ascending CUDA version.
    pub image: Rows<Image>,
    /// The cuDNN in the `cudnn` flavours.
    pub cudnn: Rows<Cudnn>,
    /// Drivers older than the image's CUDA on which it starts all the same.
    pub requirement: Rows<Requirement>,
    /// Operating systems of the images.
    pub os: Rows<Os>,
    /// Images of others.
    pub vendor: Rows<Vendor>,
}

/// An image repository whose tags tell what is inside.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// The repository, without a registry.
    pub repository: String,
    /// Whether tags begin with the release of torch inside.
    #[serde(default)]
    pub torch_tag: bool,
    /// Whether the torch inside is no release.
    #[serde(default)]
    pub own_torch: bool,
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// Tags of one CUDA version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// The CUDA version as the tags write it.
    pub cuda: SystemVersion,
    /// The operating systems as the tags write them.
    pub os: Vec<String>,
    /// The flavours as the tags write them; empty when they are not known.
    #[serde(default)]
    pub flavours: Vec<String>,
    /// The day of the last list that had them, when a later list has not.
    #[serde(default)]
    pub listed_until: Option<String>,
    /// True when NVIDIA's list of supported tags of 2026 has them.
    #[serde(default)]
    pub supported: bool,
    /// Public sources.
    pub source: Vec<String>,
}

/// The cuDNN of some tags.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cudnn {
    /// The CUDA version as the tags write it.
    pub cuda: SystemVersion,
    /// The cuDNN version.
    pub cudnn: SystemVersion,
    /// The operating systems.
    pub os: Vec<String>,
    /// Processors, as container registries name them.
    pub arch: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// The driver branches that `NVIDIA_REQUIRE_CUDA` of some tags lists besides `cuda>=X`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The CUDA versions as the tags write them.
    pub cuda: Vec<SystemVersion>,
    /// The operating systems; empty: all.
    #[serde(default)]
    pub os: Vec<String>,
    /// Processors, as container registries name them.
    pub arch: Vec<String>,
    /// Branches listed for data-center GPUs alone.
    #[serde(default)]
    pub data_center: Vec<u64>,
    /// Branches listed for every product line but GeForce and TITAN.
    #[serde(default)]
    pub no_geforce: Vec<u64>,
    /// Branches listed for every product line.
    #[serde(default)]
    pub any_brand: Vec<u64>,
    /// Public sources.
    pub source: Vec<String>,
}

/// An operating system.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Os {
    /// As the tags write it.
    pub name: String,
    /// Its C library.
    pub glibc: SystemVersion,
    /// The Python that its package manager installs as `python3`.
    #[serde(default)]
    pub python: Option<SystemVersion>,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Image, Cudnn, Requirement, Os, Vendor);
