//! The keys of env.toml as data.
//!
//! Every table of env.toml declares its keys once (`Key`): name, kind of value, and a sentence about it. The check of
//! a file (unknown keys, wrong types, missing keys, all of them in one go) and the JSON Schema for editors both come from
//! that declaration, so they cannot disagree. Serde stops at the first error and knows no key's position when it is
//! missing, which is why the tables are not derived.

mod check;
mod json;
mod key;
mod nearest;

pub use json::json_schema;
pub use nearest::nearest;

pub(crate) use check::check;
pub(crate) use key::{Key, Kind};
