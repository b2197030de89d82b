//! Source archives that hold only what a resolver may read.

use flate2::{Compression, GzBuilder};

/// A `.tar.gz` called `filename` with this PKG-INFO and a build table; the same bytes for the same input.
pub(crate) fn archive(filename: &str, pkg_info: &str, files: &[(String, String)]) -> Vec<u8> {
    let root = filename.trim_end_matches(".tar.gz");
    let encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    let mut archive = tar::Builder::new(encoder);
    let build =
        "[build-system]\nrequires = [\"flit_core\"]\nbuild-backend = \"flit_core.buildapi\"\n";
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    // With files of its own it is built in the old way.
    let table = (files.len() == 0).then_some(("pyproject.toml", build));
    for (name, text) in [("PKG-INFO", pkg_info)].into_iter().chain(table).chain(files) {
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
