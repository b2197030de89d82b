//! Where builds come from.
//!
//! The solver sees a [`Catalog`](cuda_lock_constraint::catalog::Catalog); a [`Fetcher`] is one over real indexes:
//!
//! - [`FetcherConfig`] says which indexes, which cache, and how patient to be;
//! - pages of indexes are read by [`page`], METADATA of files by [`metadata`], without any I/O;
//! - what was read is kept by [`cache`] in a form that a later run reads in microseconds;
//! - an [`Observer`] is told what goes on, and [`Stats`] count it.

mod body;
mod build;
pub mod cache;
mod config;
mod engine;
mod fetcher;
mod file_digest;
mod flat;
mod git;
mod hosts;
mod local;
pub mod metadata;
mod net;
mod observer;
mod once;
pub mod page;
mod project;
mod reference;
mod regular;
mod sdist;
mod source;
mod stored;
mod tail;
mod wheel;

pub use config::{
    Credentials, FetcherConfig, KnownCommit, Mode, Patience, SourceConfig, SourceFormat,
    StaticMetadata,
};
pub use fetcher::Fetcher;
pub use observer::{Event, Kind, Observer, Silent, Stats};
pub use source::SourceError;
