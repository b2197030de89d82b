//! The machine an environment is solved for. It is written down, never probed.

mod platform;

pub use platform::Platform;
use serde::{Deserialize, Serialize};

use crate::version::{Range, SystemVersion};

/// Where `libcudart`, `libcudnn` and their like come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Libraries {
    /// From `nvidia-*` wheels in the environment.
    #[default]
    Wheels,
    /// From the system: packages of the distribution, or a container image.
    System,
}

/// The C library of a Linux machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Libc {
    /// glibc of this version.
    Glibc(SystemVersion),
    /// musl of this version.
    Musl(SystemVersion),
}

/// What an application may count on from a GPU's product line (forward-compatibility packages and image brand rules
/// depend on it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Brand {
    /// Data-center GPUs (formerly Tesla).
    DataCenter,
    /// Professional RTX, Quadro, NVS.
    Professional,
    /// GeForce and TITAN.
    GeForce,
    /// Jetson and other Tegra systems.
    Jetson,
    /// Not known: given as a bare compute capability.
    Unknown,
}

/// One GPU of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// As the person wrote it: `RTX 3090`, `8.9`.
    pub name: String,
    /// The compute capability, such as `8.6`.
    pub capability: SystemVersion,
    /// Its product line.
    pub brand: Brand,
}

/// A machine. What is `None` is not known and is never guessed.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Operating system and processor.
    pub platform: Platform,
    /// The C library (Linux only).
    pub libc: Option<Libc>,
    /// The NVIDIA driver. Unset: the minimum is solved for.
    pub driver: Option<SystemVersion>,
    /// The GPUs; an empty list says that there is none.
    pub gpus: Option<Vec<Gpu>>,
    /// A wish for the CUDA runtime, with what was written.
    pub cuda: Option<(String, Range)>,
    /// A wish for cuDNN, with what was written.
    pub cudnn: Option<(String, Range)>,
    /// Where the CUDA libraries come from.
    pub libraries: Libraries,
}

impl Machine {
    /// A machine of which only the platform is known.
    #[must_use]
    pub fn new(platform: Platform) -> Self {
        Self {
            platform,
            libc: None,
            driver: None,
            gpus: None,
            cuda: None,
            cudnn: None,
            libraries: Libraries::default(),
        }
    }
}
