//! What the whole-program tests stand on.
//!
//! - [`Index`] is declared file by file ([`Dist`]) or read from a recording, and [`served`](Index::serve) on loopback as a
//!   [`Server`]: pages in JSON and HTML, `.metadata` sidecars, wheels of any size that answer ranges, sdists, validators
//!   and cache lifetimes, and [`Fault`]s on single paths. The server keeps a log of what was asked.
//! - [`Project`] is a folder with an `env.toml` in which the binary is run with nothing inherited from the person who
//!   runs the tests; [`Run`] is what came back.
//!
//! Whatever goes wrong in here is a broken test, so the helpers panic instead of returning errors.

mod dist;
mod fault;
mod http;
mod index;
mod machines;
mod page;
mod project;
mod recording;
mod replica;
mod sdist;
mod server;
mod virtual_wheel;

pub use dist::Dist;
pub use fault::Fault;
pub use http::Request;
pub use index::{Features, Index};
pub use machines::Machines;
pub use project::{Manifest, Project, Run};
pub use recording::Recording;
pub use replica::Replica;
pub use server::Server;

/// The hexadecimal sha256 of `bytes`.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    use std::fmt::Write as _;
    sha2::Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
