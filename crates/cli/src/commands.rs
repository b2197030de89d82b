//! One module for each command.

pub mod audit;
pub mod resolve;
