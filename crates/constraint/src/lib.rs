//! What must hold on a CUDA machine.

pub mod catalog;
pub mod constraint;
pub mod machine;
pub mod matrix;
pub mod name;
pub mod package;
pub mod rules;
pub mod version;
