//! `[tool.cuda-lock]`: what the lock knows of the machine.

use cuda_lock_constraint::machine::{Libraries, Platform};
use cuda_lock_constraint::version::SystemVersion;

/// `[tool.cuda-lock]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LockMetadata {
    /// The digest of env.toml, see [`Manifest::target_digest`](crate::manifest::Manifest::target_digest).
    pub manifest: String,
    /// The revision of the compatibility matrices.
    pub matrices: String,
    /// The target of env.toml.
    pub target: Option<String>,
    /// The Python version that was solved for.
    pub python: String,
    /// The requirements of env.toml, as written.
    pub requirements: Vec<String>,
    /// Files uploaded at this instant or later were ignored.
    pub exclude_newer: Option<jiff::Timestamp>,
    /// The indexes that packages were taken from, in the order they were asked.
    pub indexes: Vec<LockedIndex>,
    /// The machine that was solved for.
    pub machine: LockedMachine,
    /// The CUDA runtime of the process.
    pub cuda: Option<SystemVersion>,
    /// The cuDNN of the process.
    pub cudnn: Option<SystemVersion>,
    /// The oldest driver that everything here runs on.
    pub minimum_driver: Option<SystemVersion>,
    /// The compute capabilities that every package here has machine code for.
    pub capabilities: Vec<SystemVersion>,
    /// What a program must do so that the libraries are found, in this order.
    pub loading: Vec<String>,
    /// The packages that are built when they are installed.
    pub built: Vec<LockedBuild>,
    /// Newer releases that were not taken because what they need could not be known.
    pub passed_over: Vec<LockedPassed>,
    /// What the packages need from the system.
    pub constraints: Vec<LockedConstraint>,
}

/// A package that is built when it is installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockedBuild {
    /// Its name.
    pub name: String,
    /// How its requirements are known, in words.
    pub requirements: String,
    /// What the build needs, in words.
    pub needs: Vec<String>,
    /// The build must find the packages of this lock: it is no isolated one.
    pub in_environment: bool,
}

/// A newer release that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockedPassed {
    /// The project.
    pub name: String,
    /// The release that was taken.
    pub version: String,
    /// Why no newer one, in words.
    pub text: String,
}

/// An index that packages were taken from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedIndex {
    /// What env.toml or the program calls it.
    pub name: String,
    /// Its address. Credentials are not written.
    pub url: String,
    /// Whether it is a flat page rather than a simple index.
    pub flat: bool,
}

/// The machine that was solved for. What is `None` was not given.
#[derive(Clone, Debug, PartialEq)]
pub struct LockedMachine {
    /// Operating system and processor.
    pub platform: Platform,
    /// The glibc version.
    pub glibc: Option<SystemVersion>,
    /// The musl version.
    pub musl: Option<SystemVersion>,
    /// The driver.
    pub driver: Option<SystemVersion>,
    /// The GPUs as env.toml has them; an empty list: none.
    pub gpus: Option<Vec<String>>,
    /// Where the CUDA libraries come from.
    pub libraries: Libraries,
    /// The container image.
    pub image: Option<String>,
}

/// What a package needs from the system, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockedConstraint {
    /// Who needs it: `torch 2.4.1+cu124`.
    pub subject: String,
    /// The layer: `driver`, `CUDA`, `cuDNN`, `glibc` ...
    pub package: String,
    /// Which versions will do: `>= 525.60.13`.
    pub range: String,
    /// Why, in words.
    pub reason: String,
    /// Public sources, most authoritative first.
    pub sources: Vec<String>,
}
