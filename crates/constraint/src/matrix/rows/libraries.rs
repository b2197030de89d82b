//! `matrices/libraries.toml`.

use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::name::Name;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What wheel names and versions say. One name can have several rows; each adds what it says.
    pub library: Rows<Library>,
    /// The GPUs that wheels were built for.
    pub floor: Rows<Floor>,
    /// Wheels that overwrite each other.
    pub shared: Rows<Shared>,
    /// Names under which nothing but an empty package is published.
    pub placeholder: Rows<Placeholder>,
    /// cuDNN releases.
    pub cudnn_release: Rows<CudnnRelease>,
    /// Which cuDNN serves a program that was built with another one.
    pub cudnn_abi: CudnnAbi,
    /// The files that are the library of a layer.
    pub supply: Vec<Supply>,
    /// What nobody asks for by name.
    pub brought_along: BroughtAlong,
    /// Which libraries a process finds first.
    pub search_order: SearchOrder,
    /// A second cuDNN beside the one inside torch.
    pub second_cudnn: SecondCudnn,
}

/// A layer that wheels supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuppliedLayer {
    /// The CUDA runtime and what lies above it.
    Cuda,
    /// cuDNN.
    Cudnn,
}

/// The files that are the library of a layer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supply {
    /// The layer.
    pub layer: SuppliedLayer,
    /// How the names of its files begin.
    pub stems: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Distributions that nobody asks for by name, beside the wheels of libraries.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BroughtAlong {
    /// The projects.
    pub names: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Which libraries a process finds first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchOrder {
    /// The fact in words.
    pub text: String,
    /// What people meet with an older CUDA in front.
    pub cuda_symptom: String,
    /// What people meet with another cuDNN in front.
    pub cudnn_symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A second cuDNN beside the one inside torch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondCudnn {
    /// The platforms on which torch carries its cuDNN.
    pub platforms: Vec<String>,
    /// The fact in words.
    pub text: String,
    /// What people meet.
    pub symptom: String,
    /// What to do.
    pub fix: String,
    /// Public sources.
    pub source: Vec<String>,
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
    pub name: Name,
    /// The CUDA major version that it belongs to, when its name or this row says so.
    #[serde(default)]
    pub cuda: Option<u64>,
    /// What its version says.
    #[serde(default)]
    pub layer: Option<Layer>,
    /// The first version that the row speaks of (PEP 440); unset: from the start.
    #[serde(default)]
    pub from: Option<Version>,
    /// The first version that the row no longer speaks of (PEP 440); unset: to the end.
    #[serde(default)]
    pub below: Option<Version>,
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
    pub names: Vec<Name>,
    /// As in [`Library::from`].
    #[serde(default)]
    pub from: Option<Version>,
    /// As in [`Library::below`].
    #[serde(default)]
    pub below: Option<Version>,
    /// The lowest capability with code.
    #[serde(default)]
    pub capability: Option<SystemVersion>,
    /// The first capability that no code reaches, where nothing compiles for newer GPUs at run time.
    #[serde(default)]
    pub capability_below: Option<SystemVersion>,
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
    pub module: Name,
    /// The projects.
    pub names: Vec<Name>,
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
    pub names: Vec<Name>,
    /// Public sources.
    pub source: Vec<String>,
}

/// cuDNN releases.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudnnRelease {
    /// Their versions, ascending.
    pub versions: Vec<SystemVersion>,
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

rows!(Library, Floor, Shared, Placeholder, CudnnRelease);
