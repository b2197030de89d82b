//! Source archives that hold only what a resolver may read.

use flate2::{Compression, GzBuilder};

/// A `.tar.gz` called `filename` with this PKG-INFO and a build table; the same bytes for the same input.
pub(crate) fn archive(filename: &str, pkg_info: &str) -> Vec<u8> {
    let root = filename.trim_end_matches(".tar.gz");
    let encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    let mut archive = tar::Builder::new(encoder);
    let build =
        "[build-system]\nrequires = [\"flit_core\"]\nbuild-backend = \"flit_core.buildapi\"\n";
    for (name, text) in [("PKG-INFO", pkg_info), ("pyproject.toml", build)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive
            .append_data(&mut header, format!("{root}/{name}"), text.as_bytes())
            .expect("memory takes every entry");
    }
    archive
        .into_inner()
        .and_then(flate2::write::GzEncoder::finish)
        .expect("memory takes the archive")
}
