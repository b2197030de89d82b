//! `matrices/products.toml`.

use serde::{Deserialize, Serialize};

use super::table::Rows;
use crate::version::SystemVersion;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Product names, grouped by capability, product line and source.
    pub product: Rows<Product>,
    /// Names that products of several capabilities share.
    pub ambiguous: Rows<Ambiguous>,
    /// Products that came out later than the first GPU of their capability.
    pub first_driver: Rows<FirstDriver>,
    /// Cloud instances.
    pub instance: Rows<Instance>,
}

/// Products of one capability and product line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Their compute capability.
    pub capability: SystemVersion,
    /// Their product line, as `Brand` spells it.
    pub brand: String,
    /// Their names, as NVIDIA and the PCI ID list write them, without `NVIDIA` in front.
    pub names: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// A name that several products share.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ambiguous {
    /// The name.
    pub name: String,
    /// The product line of all of them, as `Brand` spells it.
    pub brand: String,
    /// What it can mean.
    pub choices: Vec<Choice>,
    /// Public sources.
    pub source: Vec<String>,
}

/// One meaning of an ambiguous name.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The full name.
    pub name: String,
    /// Its capability.
    pub capability: SystemVersion,
}

/// The first driver branch for some products.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstDriver {
    /// The first branch whose list of supported products has them.
    pub branch: u64,
    /// The products.
    pub names: Vec<String>,
    /// Public sources.
    pub source: Vec<String>,
}

/// Cloud instances that have one kind of GPU.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// Who lends them.
    pub provider: String,
    /// Instance names; `*` stands for any text.
    pub instances: Vec<String>,
    /// The GPU, as a product name.
    pub gpu: String,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(Product, Ambiguous, FirstDriver, Instance);
