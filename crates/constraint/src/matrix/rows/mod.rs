//! The rows of the matrices, exactly as the TOML files have them: texts and numbers, no logic.
//!
//! The build script reads the files through these same types, so nothing here may depend on the rest of the crate.

pub mod bound;
pub mod broken;
pub mod companions;
pub mod conda;
pub mod cuda;
pub mod driver;
pub mod gpus;
pub mod images;
pub mod indexes;
pub mod libraries;
pub mod numpy_abi;
pub mod onnx;
pub mod onnxruntime;
pub mod opens;
pub mod owners;
pub mod products;
pub mod python;
pub mod torch;
