//! What people write and read.

pub mod input;
