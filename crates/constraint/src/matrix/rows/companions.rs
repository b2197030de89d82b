//! `matrices/companions.toml`.

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Span};
use crate::name::Name;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// How distributions are tied to the accelerator of torch.
    pub family: NamedRows<Family>,
    /// The torch of releases that do not name it.
    pub torch: NamedRows<Torch>,
    /// Distributions with kernels for a list of CUDA versions.
    pub cuda_choice: NamedRows<CudaChoice>,
    /// Extensions whose source archive fetches a wheel for the torch that is there.
    pub prebuilt: NamedRows<Prebuilt>,
    /// Extensions of which the index has only the source archive, or a build without its kernels.
    pub elsewhere: NamedRows<Elsewhere>,
}

/// The torch releases that the wheels of an extension were compiled against.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prebuilt {
    /// The distribution.
    pub name: Name,
    /// The releases.
    pub span: Span,
    /// Torch releases, pre-releases among them.
    pub torch: Vec<Version>,
    /// What people see with another torch.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// An extension whose wheels are on a page of its own.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// The distribution.
    pub name: Name,
    /// What is missing on the index, in words.
    pub text: String,
    /// Where the wheels are, in words.
    pub place: String,
    /// What people see without them.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// How a distribution is tied to the accelerator of its torch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The distribution.
    pub name: Name,
    /// How.
    pub tied: Tied,
    /// Whether every file on a PyTorch index carries `+BACKEND`.
    pub labelled: bool,
    /// What people see with another build of torch.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// How strong the tie is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tied {
    /// The very same build variant.
    Backend,
    /// The same CUDA major version.
    CudaMajor,
    /// No CUDA code inside.
    None,
}

/// The torch of one release.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Torch {
    /// The distribution.
    pub name: Name,
    /// The release.
    pub version: Version,
    /// PEP 440 specifiers on torch.
    pub torch: VersionSpecifiers,
    /// CUDA version of its build on PyPI for Linux, where it compares `major.minor` with that of torch.
    #[serde(default)]
    pub cuda: Option<SystemVersion>,
    /// CUDA major version of its build on PyPI for Linux, where the torch range does not tell.
    #[serde(default)]
    pub cuda_major: Option<u64>,
    /// The fact in words.
    pub text: String,
    /// What people see otherwise.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Kernels for a list of CUDA versions.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CudaChoice {
    /// The distribution.
    pub name: Name,
    /// The releases.
    pub span: Span,
    /// The CUDA versions.
    pub cuda: Vec<SystemVersion>,
    /// Whether a version that is not in the list is refused.
    pub exact: bool,
    /// What people see otherwise.
    #[serde(default)]
    pub symptom: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Family, Torch, Elsewhere);
spans!(Prebuilt, name);
spans!(CudaChoice, name);
named!(Prebuilt, Elsewhere, Family, Torch, CudaChoice);
