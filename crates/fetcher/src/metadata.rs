//! Core metadata of distributions, and where it lies in wheels and sdists.
//!
//! [`parse_metadata`] reads the text. [`WheelTail`] finds it in a wheel of which only the end was fetched;
//! [`metadata_from_wheel`] reads it from a whole file. [`read_sdist`] reads what a source distribution says.

mod headers;
mod sdist;
mod sparse;
mod wheel;
mod zip;

pub use headers::{MetadataError, parse_metadata};
pub use sdist::{SdistError, SdistKind, SdistName, read_folder, read_sdist, read_tar};
pub use wheel::{Step, WheelTail, metadata_from_wheel};
pub use zip::ArchiveError;
