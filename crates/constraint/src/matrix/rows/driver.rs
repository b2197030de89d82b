//! `matrices/driver.toml`.

use serde::{Deserialize, Serialize};

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Driver branches, ascending.
    pub branch: Vec<Branch>,
    /// Lowest driver for a CUDA version, or for every toolkit of a CUDA major version.
    pub floor: Vec<Floor>,
    /// Who may use forward-compatibility packages.
    pub forward: Forward,
    /// Forward-compatibility packages, by ascending CUDA version.
    pub forward_package: Vec<ForwardPackage>,
    /// Packages of the operating system that bring a driver.
    pub package: Vec<SystemPackage>,
}

/// Packages of the operating system that bring a Linux driver.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemPackage {
    /// Names; one that ends in `*` is a prefix.
    pub names: Vec<String>,
    /// Why it matters.
    pub text: String,
    /// What people see.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// A driver branch.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// The number of the branch, 535 for R535.
    pub branch: u64,
    /// The CUDA version that its drivers report.
    pub cuda: String,
    /// Its first Linux driver.
    pub linux: String,
    /// Its first Windows driver, where one is published.
    #[serde(default)]
    pub windows: Option<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// The lowest driver with which a toolkit starts.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// A CUDA major version (`12`), or one version that has a number of its own (`10.2`).
    pub cuda: String,
    /// Lowest Linux driver.
    pub linux: String,
    /// Lowest Windows driver.
    pub windows: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// What holds for all forward-compatibility packages.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forward {
    /// Product lines that they work on.
    pub brands: Vec<String>,
    /// What else a person has to know.
    pub note: String,
    /// The error on other product lines.
    pub ineligible: String,
    /// The error of a driver that is too old, without such a package.
    pub insufficient: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// The forward-compatibility package of one CUDA version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForwardPackage {
    /// The CUDA version that it brings.
    pub cuda: String,
    /// The driver branches that it works on.
    pub branches: Vec<u64>,
    /// Those of them on which only data-center GPUs are listed.
    #[serde(default)]
    pub data_center_only: Vec<u64>,
    /// Public sources.
    pub source: Vec<String>,
}
