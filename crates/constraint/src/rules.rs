//! Rules: producers of constraints. Each rule turns facts about one build into [`Constraint`](crate::constraint::Constraint)s
//! that `resolve`, `audit`, `explain` and the lock share.
//!
//! [`build`] describes what a rule looks at, [`stack`] runs every rule of the Python side of a CUDA stack. The facts lie in
//! `matrices/*.toml`; no rule holds a version number of its own.

pub mod advice;
pub mod broken;
pub mod build;
pub mod companion;
pub mod cuda_bound;
pub mod index;
pub mod loading;
pub mod machine_code;
pub mod numpy_abi;
pub mod onnx_model;
pub mod onnxruntime;
pub mod owner;
mod span;
pub mod stack;
pub mod torch;
