//! What people write and read: env.toml, pylock.toml, requirements.txt.
//!
//! - [`manifest`]: env.toml, typed, with positions; [`schema`]: its JSON Schema.
//! - [`input`]: everything that people already have.
//! - [`rewrite`]: changes to their text.
//! - [`pylock`]: the lock (PEP 751), written in one fixed form and read from any tool.
//! - [`lock_diff`]: what moved between two locks.
//! - [`requirements_out`]: the same lock as requirements.txt with hashes.
//! - [`problem`]: all that a solve depends on, in one file that can be solved again without a network.
//! - [`diagnostic`]: messages that point into a file.
//! - [`atomic`]: files that are either old or new, never half.

pub mod atomic;
pub mod diagnostic;
mod document;
pub mod input;
pub mod lock_diff;
pub mod manifest;
#[cfg(test)]
mod mutants;
pub mod onnx_model;
pub mod problem;
pub mod pylock;
pub mod regular;
pub mod requirements_out;
pub mod rewrite;
pub mod schema;
