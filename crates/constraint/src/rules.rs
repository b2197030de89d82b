//! The rules: what no index says, as producers of constraints.
//!
//! Each rule is written once, over rows of a matrix, and serves resolve, audit, explain and the lock. [`constraints`] asks
//! all of them about one build, [`layer_constraints`] about one version of a system layer.

pub mod advice;
mod all;
pub mod broken;
pub mod build;
pub mod build_code;
pub mod companion;
pub mod compiled;
pub mod cuda_bound;
pub mod driver;
pub mod gpu;
pub mod gpu_code;
pub mod image;
pub mod index;
pub mod installer;
pub mod label;
pub mod library;
mod limit;
pub mod loading;
pub mod machine_code;
pub mod numpy_abi;
pub mod onnx_model;
pub mod onnxruntime;
pub mod opens;
pub mod owner;
pub mod prebuilt;
pub mod products;
mod rule;
pub mod shipped_model;
mod span;
pub mod stack;
pub mod supply;
pub mod torch;
pub mod unjudged;
pub mod vendor_image;

pub use all::{constraints, known_versions, layer_constraints};
pub use build::{Build, Origin};
pub use limit::Limit;
pub use rule::Rule;
pub use span::ASSUMED;
