//! Pages of package indexes.
//!
//! Whatever an index sends becomes one [`ParsedPage`]: [`parse_page`] looks at what came and calls [`parse_json`] (PEP
//! 691, 700) or [`parse_html`] (PEP 503, 592, 629, 658, 714); [`parse_flat`] reads a page that lists many projects.
//! [`compact`] is the form in which a page is kept on disk, so that a later run decodes only the releases it looks at.
//! Nothing here does I/O.

mod builder;
pub mod compact;
mod document;
mod filename;
mod flat;
mod html;
mod json;
mod link;
mod parsed;
mod sniff;

pub use flat::parse_flat;
pub use html::parse_html;
pub use json::parse_json;
pub use parsed::{PageError, ParsedPage, Release};
pub use sniff::parse_page;
