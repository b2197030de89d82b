//! `matrices/driver.toml`.

use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Driver branches, ascending.
    pub branch: Rows<Branch>,
    /// Lowest driver for a CUDA version, or for every toolkit of a CUDA major version.
    pub floor: Rows<Floor>,
    /// Who may use forward-compatibility packages.
    pub forward: Forward,
    /// Forward-compatibility packages, by ascending CUDA version.
    pub forward_package: Rows<ForwardPackage>,
    /// Packages of the operating system that bring a driver.
    pub package: Rows<SystemPackage>,
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
    pub cuda: SystemVersion,
    /// Its first Linux driver.
    pub linux: SystemVersion,
    /// Its first Windows driver, where one is published.
    #[serde(default)]
    pub windows: Option<SystemVersion>,
    /// Public sources.
    pub source: Vec<String>,
}

/// The lowest driver with which a toolkit starts.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// A CUDA major version (`12`), or one version that has a number of its own (`10.2`).
    pub cuda: SystemVersion,
    /// Lowest Linux driver.
    pub linux: SystemVersion,
    /// Lowest Windows driver.
    pub windows: SystemVersion,
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
    pub cuda: SystemVersion,
    /// The driver branches that it works on.
    pub branches: Vec<u64>,
    /// Those of them on which only data-center GPUs are listed.
    #[serde(default)]
    pub data_center_only: Vec<u64>,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Branch, Floor, ForwardPackage, SystemPackage);
