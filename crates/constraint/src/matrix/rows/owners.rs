//! `matrices/owners.toml`.

use pep440_rs::VersionSpecifiers;
use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Rows};
use crate::name::Name;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Import packages with one owner.
    pub owner: Rows<Owner>,
    /// Releases that own another import package instead.
    pub moved: NamedRows<Moved>,
    /// Distributions that require a certain owner.
    pub dependent: NamedRows<Dependent>,
    /// Distributions that install an owner when they run.
    pub installs: NamedRows<Installs>,
}

/// A distribution that installs an owner when it runs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Installs {
    /// The distribution.
    pub name: Name,
    /// The owner it installs.
    pub installs: Name,
    /// The fact in words.
    pub text: String,
    /// What to do, in words.
    pub fix: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// An import package that one distribution may own.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The import package.
    pub module: Name,
    /// All that install it.
    pub distributions: Vec<Name>,
    /// Why only one.
    pub text: String,
    /// What people see otherwise.
    pub symptom: String,
    /// Public sources.
    pub source: Vec<String>,
}

/// Releases of a distribution that moved to another import package.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The distribution.
    pub name: Name,
    /// PEP 440 specifiers.
    pub versions: VersionSpecifiers,
    /// Public sources.
    pub source: Vec<String>,
}

/// A distribution that requires a certain owner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dependent {
    /// The distribution.
    pub name: Name,
    /// The owner it requires.
    pub requires: Name,
    /// In this version.
    pub seen: String,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Owner, Moved, Dependent, Installs);
named!(Moved, Dependent, Installs);
