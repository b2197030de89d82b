//! `matrices/torch.toml`.

use serde::{Deserialize, Serialize};

use super::table::{Rows, Span};
use crate::machine::Platform;
use crate::name::Name;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Which CUDA the build on PyPI is for.
    pub pypi: Rows<Pypi>,
    /// What the CUDA builds contain.
    pub variant: Rows<Variant>,
    /// Code for GPUs.
    pub machine_code: Rows<MachineCode>,
    /// What `import torch` loads.
    pub links: Rows<Links>,
    /// Labels of builds for other accelerators.
    pub foreign_label: Rows<ForeignLabel>,
    /// METADATA pins that name the toolkit.
    pub toolkit_pin: Rows<ToolkitPin>,
    /// What a GPU machine with a build for the CPU sees.
    pub cpu_build: CpuBuild,
    /// Builds for CUDA on Linux on 64-bit Arm.
    pub arm: Rows<Arm>,
}

/// Releases that a backend has for Linux on 64-bit Arm.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The backend.
    pub backend: String,
    /// The releases.
    pub span: Span,
    /// Public sources.
    pub source: Vec<String>,
}

/// The CUDA of the build on PyPI.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pypi {
    /// Platform, as env.toml writes it.
    pub platform: Platform,
    /// The releases.
    pub span: Span,
    /// `major.minor`, `0.0` without CUDA.
    pub cuda: SystemVersion,
    /// Public sources.
    pub source: Vec<String>,
}

/// What a CUDA build contains or was built with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Such as `cu118`.
    pub backend: String,
    /// The releases.
    pub span: Span,
    /// `major.minor` of the toolkit.
    pub cuda: SystemVersion,
    /// cuDNN it was built with.
    #[serde(default)]
    pub cudnn: Option<SystemVersion>,
    /// Platforms whose wheels carry the CUDA libraries inside.
    pub bundled: Vec<Platform>,
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
    pub platform: Platform,
    /// The releases.
    pub span: Span,
    /// Native code: `sm_86`, `sm_90a`.
    pub cubins: Vec<String>,
    /// Code that the driver compiles: `compute_90`.
    pub ptx: Vec<String>,
    /// CUDA toolkit that made it; a driver must know its PTX.
    pub toolkit: SystemVersion,
    /// Capabilities for which some kernels have no code: `7.5: 48 of 278`.
    pub gaps: Vec<Gap>,
    /// Public sources.
    pub source: Vec<String>,
}

/// CUDA libraries that `import torch` brings into the process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The releases.
    pub span: Span,
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
    pub name: Name,
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

/// A compute capability for which some kernels of a build have no code: `7.5: 48 of 278`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Gap {
    /// The compute capability.
    pub capability: SystemVersion,
    /// Kernels without code.
    pub missing: u64,
    /// Kernels in all.
    pub of: u64,
}

impl TryFrom<String> for Gap {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let read = || {
            let (capability, counts) = text.split_once(": ")?;
            let (missing, of) = counts.split_once(" of ")?;
            let capability = capability.parse().ok()?;
            Some(Self { capability, missing: missing.parse().ok()?, of: of.parse().ok()? })
        };
        read().ok_or_else(|| format!("expected a gap such as '7.5: 48 of 278', not '{text}'"))
    }
}

impl From<Gap> for String {
    fn from(gap: Gap) -> Self {
        gap.to_string()
    }
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} of {}", self.capability, self.missing, self.of)
    }
}

rows!(ForeignLabel, ToolkitPin);
spans!(Arm, backend);
spans!(Pypi, platform);
spans!(Variant, backend);
spans!(MachineCode, build, platform);
spans!(Links);
