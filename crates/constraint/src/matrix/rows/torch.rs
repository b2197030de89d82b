//! `matrices/torch.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Which CUDA the build on PyPI is for.
    pub pypi: Vec<Pypi>,
    /// What the CUDA builds contain.
    pub variant: Vec<Variant>,
    /// Code for GPUs.
    pub machine_code: Vec<MachineCode>,
    /// What `import torch` loads.
    pub links: Vec<Links>,
    /// Labels of builds for other accelerators.
    pub foreign_label: Vec<ForeignLabel>,
    /// METADATA pins that name the toolkit.
    pub toolkit_pin: Vec<ToolkitPin>,
    /// What a GPU machine with a build for the CPU sees.
    pub cpu_build: CpuBuild,
    /// Builds for CUDA on Linux on 64-bit Arm.
    pub arm: Vec<Arm>,
}

/// Releases that a backend has for Linux on 64-bit Arm.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The backend.
    pub backend: String,
    /// First release.
    pub from: String,
    /// Last release known; inclusive.
    pub to: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// The CUDA of the build on PyPI.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pypi {
    /// Platform, as env.toml writes it.
    pub platform: String,
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// `major.minor`, `0.0` without CUDA.
    pub cuda: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What a CUDA build contains or was built with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Such as `cu118`.
    pub backend: String,
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// `major.minor` of the toolkit.
    pub cuda: String,
    /// cuDNN it was built with.
    #[serde(default)]
    pub cudnn: Option<String>,
    /// Platforms whose wheels carry the CUDA libraries inside.
    pub bundled: Vec<String>,
    /// Whether the build on PyPI carries them as well.
    pub pypi: bool,
    /// Public sources.
    pub source: Vec<String>,
}

/// Machine code in the kernels of a build.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineCode {
    /// Backend (torch) or origin (onnxruntime).
    pub build: String,
    /// Platform, as env.toml writes it.
    pub platform: String,
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// Native code: `sm_86`, `sm_90a`.
    pub cubins: Vec<String>,
    /// Code that the driver compiles: `compute_90`.
    pub ptx: Vec<String>,
    /// CUDA toolkit that made it; a driver must know its PTX.
    pub toolkit: String,
    /// Capabilities for which some kernels have no code: `7.5: 48 of 278`.
    pub gaps: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// CUDA libraries that `import torch` brings into the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// First version.
    pub from: String,
    /// Last version known; inclusive.
    pub to: String,
    /// Components, as in `onnxruntime.toml`.
    pub components: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// A local label of builds for another accelerator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForeignLabel {
    /// How the label begins.
    pub prefix: String,
    /// What it means, after "because".
    pub text: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A distribution whose version is that of the CUDA toolkit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolkitPin {
    /// The distribution.
    pub name: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What a GPU machine with a build for the CPU sees.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuBuild {
    /// The message.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}
