//! The program as people meet it: every test here runs the binary, on an index that is served on loopback.
//!
//! One test program, so that the whole program is linked once; a file for each subject.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers included")]

/// The program under test.
const BINARY: &str = env!("CARGO_BIN_EXE_cuda-lock");

mod audit;
mod audit_fix;
mod builds;
mod check;
mod conformance;
mod diff;
mod documents;
mod examples;
mod explain;
mod failures;
mod hardened;
mod laws;
#[cfg(unix)]
mod pipeline;
mod problem;
mod project_life;
mod promise;
mod python_series;
mod references;
mod resolve;
mod sdists;
mod site_packages;
mod targets;
mod ten_pins;
mod unsolvable;
mod variants;
#[cfg(target_os = "linux")]
mod verify;
mod work;
