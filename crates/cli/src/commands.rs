//! One module for each command.

pub mod audit;
pub mod cache;
mod check;
pub mod diff;
pub mod explain;
pub mod probe;
pub mod resolve;
pub mod verify;
