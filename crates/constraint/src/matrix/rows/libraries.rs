//! `matrices/libraries.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What wheel names and versions say. One name can have several rows; each adds what it says.
    pub library: Vec<Library>,
    /// The GPUs that wheels were built for.
    pub floor: Vec<Floor>,
    /// Wheels that overwrite each other.
    pub shared: Vec<Shared>,
    /// Names under which nothing but an empty package is published.
    pub placeholder: Vec<Placeholder>,
    /// cuDNN releases.
    pub cudnn_release: Vec<CudnnRelease>,
    /// Which cuDNN serves a program that was built with another one.
    pub cudnn_abi: CudnnAbi,
}

/// What the version of a wheel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Its first two numbers are the CUDA version.
    Toolkit,
    /// Its first number is the CUDA major version.
    Major,
    /// It is the cuDNN version.
    Cudnn,
}

/// A wheel.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The project, normalised.
    pub name: String,
    /// The CUDA major version that it belongs to, when its name or this row says so.
    #[serde(default)]
    pub cuda: Option<u64>,
    /// What its version says.
    #[serde(default)]
    pub layer: Option<Layer>,
    /// The first version that the row speaks of (PEP 440); unset: from the start.
    #[serde(default)]
    pub from: Option<String>,
    /// The first version that the row no longer speaks of (PEP 440); unset: to the end.
    #[serde(default)]
    pub below: Option<String>,
    /// File names of the shared libraries that it supplies, on Linux and on Windows; first the one that programs link.
    #[serde(default)]
    pub files: Vec<String>,
    /// The folder under site-packages that holds its `lib` (Linux) or `bin` (Windows).
    #[serde(default)]
    pub path: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// The GPUs that some versions of some wheels have code for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// The projects.
    pub names: Vec<String>,
    /// As in [`Library::from`].
    #[serde(default)]
    pub from: Option<String>,
    /// As in [`Library::below`].
    #[serde(default)]
    pub below: Option<String>,
    /// The lowest capability with code.
    #[serde(default)]
    pub capability: Option<String>,
    /// The first capability that no code reaches, where nothing compiles for newer GPUs at run time.
    #[serde(default)]
    pub capability_below: Option<String>,
    /// True when there is no code for the GPUs of Tegra systems.
    #[serde(default)]
    pub no_tegra: bool,
    /// Public sources.
    pub source: Vec<String>,
}

/// Wheels that install the same files with different contents.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The import package whose folder they share.
    pub module: String,
    /// The projects.
    pub names: Vec<String>,
    /// One of the files, or their folder.
    pub files: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// Names that hold an empty package.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placeholder {
    /// The projects; each real one has the same name without its suffix.
    pub names: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// cuDNN releases.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudnnRelease {
    /// Their versions, ascending.
    pub versions: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Where NVIDIA's promise about cuDNN versions is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudnnAbi {
    /// Public sources.
    pub source: Vec<String>,
}
