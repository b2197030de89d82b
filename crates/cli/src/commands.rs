//! One module for each command: its arguments become a request, its report becomes words and an exit code.

pub mod audit;
pub mod cache;
pub mod diff;
pub mod explain;
pub mod probe;
pub mod resolve;
pub mod verify;
