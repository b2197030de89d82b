//! What one distribution asks of another: PEP 508 requirements and their markers.
//!
//! One grammar reads them, in two [modes](Mode): as pip reads what a person wrote, and with the repairs that make sense of
//! what is really published. It gives the [`Parts`] of a text with their places, from which a [`Requirement`] is made;
//! markers are evaluated directly on one [`MarkerEnvironment`] ([`Marker`]). A solve reads the same texts over and over,
//! so it does so through a [`RequirementCache`].

mod cache;
mod clause;
mod cursor;
mod error;
mod grammar;
mod help;
mod marker;
mod parse;

pub use cache::RequirementCache;
pub use error::{Fault, RequirementError, SpecifierFault};
pub use grammar::{Clause, Parts};
pub use marker::{Marker, MarkerEnvironment};
pub use parse::{Requirement, UrlRequirement, parse_specifiers};

/// How a requirement is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As pip from 24.1 on reads requirements files and METADATA: what it refuses is an error. That is narrower than PEP 440
    /// in places people run into (`>=2.1+cu118`, `>=1.9.*`) and wider in others (a comma at the end, `===` with any text).
    Strict,
    /// As it is meant: `foo (>=1.2 <2)`, missing and spare commas, quotes around versions, `>=1.0.*`, `!=3.0*`, `!=~5.0`,
    /// `>dev` and `>=1.0a1.0`, which older pips and uv accept or repair.
    Repair,
}

#[cfg(test)]
mod tests;
