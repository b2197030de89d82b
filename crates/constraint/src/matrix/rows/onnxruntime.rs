//! `matrices/onnxruntime.toml`.

use pep440_rs::VersionSpecifiers;
use serde::{Deserialize, Serialize};

use super::table::{Rows, Span};
use crate::name::Name;

pub use super::torch::MachineCode;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// CUDA and cuDNN by origin.
    pub build: Rows<Build>,
    /// Libraries of the CUDA provider.
    pub libraries: Rows<Libraries>,
    /// The wheels that bring them.
    pub wheel: Rows<Wheel>,
    /// Code for GPUs, by origin.
    pub machine_code: Rows<MachineCode>,
    /// The TensorRT of the TensorRT provider.
    pub tensorrt: Rows<TensorRt>,
    /// What people see.
    pub symptom: Rows<Symptom>,
    /// What a provider that cannot load does.
    pub silent_fallback: SilentFallback,
}

/// CUDA and cuDNN of the builds from one origin.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Name of the index.
    pub origin: String,
    /// The releases.
    pub span: Span,
    /// CUDA major version.
    pub cuda_major: u64,
    /// cuDNN major version.
    pub cudnn_major: u64,
    /// What is assumed.
    #[serde(default)]
    pub note: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Libraries of the CUDA provider.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Libraries {
    /// The releases.
    pub span: Span,
    /// Components that must be in the process first.
    pub linked: Vec<String>,
    /// Components that are opened when needed.
    pub on_demand: Vec<String>,
    /// Where `preload_dlls()` looks.
    pub preload: Preload,
    /// The library of the driver, where the provider links it and so does not even load without a driver.
    #[serde(default)]
    pub driver_library: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Where `onnxruntime.preload_dlls()` looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preload {
    /// There is no such function.
    None,
    /// In `nvidia/COMPONENT/lib`, where CUDA 11 and 12 wheels install.
    Component,
    /// There, and in `nvidia/cu13/lib` for a CUDA 13 build.
    All,
}

/// The wheel that brings a component.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wheel {
    /// The component.
    pub component: String,
    /// For this CUDA major version.
    pub cuda_major: u64,
    /// For this cuDNN major version.
    #[serde(default)]
    pub cudnn_major: Option<u64>,
    /// The distribution.
    pub wheel: Name,
    /// PEP 440 specifiers.
    pub specifier: VersionSpecifiers,
    /// Its (first) library on Linux.
    pub soname: String,
    /// Where it installs, in site-packages.
    pub folder: String,
    /// Whether that folder is shared by the components of a CUDA version, instead of one per component.
    pub shared_folder: bool,
    /// Public sources.
    pub source: Vec<String>,
}

/// The TensorRT that the TensorRT provider links.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorRt {
    /// The releases.
    pub span: Span,
    /// TensorRT major version.
    pub major: u64,
    /// Distributions that bring TensorRT.
    pub wheels: Vec<Name>,
    /// What people see otherwise.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What people see.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Symptom {
    /// Rule identifier.
    pub rule: String,
    /// The message, with `{...}` for what varies.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What a CUDA provider that cannot load does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SilentFallback {
    /// The fact in words.
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Wheel, Symptom);
spans!(Build, origin);
spans!(Libraries);
spans!(TensorRt);
