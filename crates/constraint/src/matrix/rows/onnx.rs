//! `matrices/onnx.toml`.

use serde::{Deserialize, Serialize};

use super::table::{NamedRows, Rows, Span};
use crate::name::Name;

pub use super::onnxruntime::Symptom;

/// The whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// What onnxruntime reads.
    pub runtime: Rows<Runtime>,
    /// What `torch.onnx.export` writes.
    pub exporter: Rows<Exporter>,
    /// IR version by opset.
    pub opset_ir: Rows<OpsetIr>,
    /// What the onnx package knows.
    pub library: Rows<Library>,
    /// Models that wheels carry.
    pub shipped: NamedRows<Shipped>,
    /// What people see.
    pub symptom: Rows<Symptom>,
}

/// Highest opset and IR version that a release reads.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// The releases.
    pub span: Span,
    /// Highest ai.onnx opset.
    pub max_opset: u64,
    /// Highest IR version.
    pub max_ir: u64,
    /// Public sources.
    pub source: Vec<String>,
}

/// What `torch.onnx.export` writes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exporter {
    /// The releases.
    pub span: Span,
    /// Without a wish.
    pub default_opset: u64,
    /// At most.
    pub max_opset: u64,
    /// IR version of the default exporter; absent when it follows from the opset.
    #[serde(default)]
    pub ir: Option<u64>,
    /// Public sources.
    pub source: Vec<String>,
}

/// IR version that the TorchScript exporter writes for an opset.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpsetIr {
    /// The opset.
    pub opset: u64,
    /// The IR version.
    pub ir: u64,
    /// Public sources.
    pub source: Vec<String>,
}

/// What a release of the onnx package knows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The releases.
    pub span: Span,
    /// Newest opset.
    pub opset: u64,
    /// Newest IR version.
    pub ir: u64,
    /// Public sources.
    pub source: Vec<String>,
}

/// The models that the wheels of a distribution carry.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shipped {
    /// The distribution.
    pub name: Name,
    /// The releases.
    pub span: Span,
    /// The highest IR version among them.
    pub ir: u64,
    /// Public sources.
    pub source: Vec<String>,
}

rows!(OpsetIr);
spans!(Runtime);
spans!(Exporter);
spans!(Library);
spans!(Shipped, name);
named!(Shipped);
