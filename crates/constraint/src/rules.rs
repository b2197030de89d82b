//! The rules: producers of constraints from the facts in the matrices.
//!
//! Every rule is written once, as a function from versions to a [`Limit`] or to constraints; resolve, audit, explain and
//! the lock all call the same function. No version number stands in this code.

pub mod driver;
pub mod gpu;
pub mod image;
pub mod library;
mod limit;
pub mod machine_code;
pub mod products;

pub use limit::Limit;
