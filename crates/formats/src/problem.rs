//! A problem in one file: env.toml, the locks beside it, and every answer that the indexes gave.
//!
//! `resolve --save-problem FILE` writes it, `resolve --problem FILE` solves it again without a network, so that a bug
//! report becomes a test. The file is text, one JSON value a line: the [`Header`], then one [`Record`] for each question
//! that was asked, in a fixed order. A name that ends in `.gz` is compressed.
//!
//! No credentials get into it: the user part of every URL is masked, as in messages, and queries and fragments, which
//! can hold signatures, are left out.

mod file;
mod record;
mod replay;
mod saved;

pub use file::{Header, Model, ProblemFile, Upgrade};
pub use record::Recording;
pub use replay::Replay;
pub use saved::Record;

/// The version of the format; a file of another one is refused.
pub const FORMAT: u32 = 1;

/// What a file is known by: its address without what can be secret.
fn address(url: &str) -> String {
    let plain = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = plain.split_once("://") else { return plain.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests;
