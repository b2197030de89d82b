//! What one distribution asks of another: PEP 508 requirements and their markers.
//!
//! Texts are read the way pip and uv read what is really published, repairs included ([`Requirement`]); markers are
//! evaluated directly on one [`MarkerEnvironment`] ([`Marker`]). A solve reads the same texts over and over, so it does
//! so through a [`RequirementCache`].

mod cache;
mod cursor;
mod error;
mod marker;
mod parse;
mod strict;

pub use cache::RequirementCache;
pub use error::{Fault, RequirementError};
pub use marker::{Marker, MarkerEnvironment};
pub use parse::{Requirement, UrlRequirement, parse_specifiers};
pub use strict::refused;
