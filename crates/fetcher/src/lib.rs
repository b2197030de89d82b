//! Where builds come from: simple indexes, wheel METADATA, cache and network.

pub mod digest;
pub mod metadata;
pub mod page;
