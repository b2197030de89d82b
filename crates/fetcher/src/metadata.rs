//! Core metadata of distributions, and where it lies in wheels and sdists.
//!
//! [`parse_metadata`] reads the text. [`WheelTail`] finds it in a wheel of which only the end was fetched;
//! [`metadata_from_wheel`] and [`metadata_from_sdist`] read it from whole files.

mod headers;
mod sdist;
mod sparse;
mod wheel;
mod zip;

pub use headers::{MetadataError, parse_metadata};
pub use sdist::{SdistError, SdistKind, metadata_from_sdist};
pub use wheel::{Step, WheelTail, metadata_from_wheel};
pub use zip::ArchiveError;
