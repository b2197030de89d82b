//! A replica of indexes that have a shape of their own: PyTorch's, one folder for each backend, and ONNX Runtime's feeds.
//!
//! PyTorch's pages are plain HTML without a repository version: links with an absolute path, `%2B` in them, sometimes no
//! sha256 or no upload time, METADATA beside recent wheels only, never `data-requires-python`; wheels in the root of all
//! indexes are on the page of each; and a project that an index does not have is answered with 403.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::index::{Body, File};
use crate::sha256;

/// Pages and files by their path on the server.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    pages: BTreeMap<String, String>,
    files: BTreeMap<String, File>,
    sidecars: BTreeMap<String, Arc<str>>,
}

/// What a replica has at a path.
pub(crate) enum Found<'a> {
    /// A page in HTML.
    Page(&'a str),
    /// A wheel.
    File(&'a File),
    /// The METADATA beside a wheel.
    Metadata(&'a str),
    /// Nothing, answered with this status.
    Nothing(u16),
}

type Pages = BTreeMap<String, Vec<Row>>;

/// The file that `tests/recordings/pytorch.py` writes.
#[derive(Deserialize)]
struct Recording {
    indexes: BTreeMap<String, Pages>,
    root: Pages,
    feeds: BTreeMap<String, Pages>,
    metadata: Vec<Arc<str>>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    filename: String,
    sha256: Option<String>,
    upload_time: Option<String>,
    metadata: Option<usize>,
    #[serde(default)]
    sidecar: bool,
}

impl Replica {
    /// Reads a packed recording.
    ///
    /// # Panics
    /// When the file is missing or is not a recording.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let packed =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let recording: Recording = serde_json::from_reader(GzDecoder::new(packed.as_slice()))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let Recording { indexes, root, feeds, metadata } = recording;
        let mut replica = Self::default();
        for (backend, pages) in &indexes {
            for name in pages.keys().chain(root.keys()) {
                let own = pages.get(name).into_iter().flatten();
                let leaked = root.get(name).into_iter().flatten();
                let links = own
                    .map(|row| (format!("/whl/{backend}/"), row))
                    .chain(leaked.map(|row| ("/whl/".to_owned(), row)));
                replica.page(format!("/whl/{backend}/{name}/"), name, links.collect(), &metadata);
            }
        }
        for (feed, pages) in &feeds {
            for (name, rows) in pages {
                let folder = format!("/feeds/{feed}/pypi/download/{name}/");
                let links = rows.iter().map(|row| (folder.clone(), row)).collect();
                replica.page(format!("/feeds/{feed}/pypi/simple/{name}/"), name, links, &metadata);
            }
        }
        replica
    }

    fn page(&mut self, path: String, name: &str, links: Vec<(String, &Row)>, texts: &[Arc<str>]) {
        let mut page =
            format!("<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for {name}</h1>\n");
        for (folder, row) in links {
            let href = format!("{folder}{}", row.filename.replace('+', "%2B"));
            let hash = row.sha256.as_ref().map(|hex| format!("#sha256={hex}")).unwrap_or_default();
            let _ = write!(page, "    <a href=\"{href}{hash}\"");
            let text = row.metadata.and_then(|at| texts.get(at));
            if let (true, Some(text)) = (row.sidecar, text) {
                let digest = sha256(text.as_bytes());
                for attribute in ["data-dist-info-metadata", "data-core-metadata"] {
                    let _ = write!(page, " {attribute}=\"sha256={digest}\"");
                }
                self.sidecars
                    .insert(format!("{folder}{}.metadata", row.filename), Arc::clone(text));
            }
            if let Some(time) = &row.upload_time {
                let _ = write!(page, " data-upload-time=\"{time}\"");
            }
            let _ = writeln!(page, ">{}</a><br/>", row.filename);
            let file = File {
                filename: row.filename.clone(),
                sha256: row.sha256.clone(),
                size: 0,
                requires_python: None,
                yanked: None,
                uploaded: None,
                metadata: text.cloned(),
                body: if text.is_some() { Body::Wheel } else { Body::Absent },
            };
            self.files.insert(format!("{folder}{}", row.filename), file);
        }
        page += "  </body>\n</html>\n<!--TIMESTAMP 1796000000-->\n";
        self.pages.insert(path, page);
    }

    /// Adds a wheel to the index of a backend, as a release of tomorrow would.
    #[must_use]
    pub fn with(mut self, backend: &str, name: &str, filename: &str, metadata: &str) -> Self {
        let row = Row {
            filename: filename.to_owned(),
            sha256: Some(sha256(filename.as_bytes())),
            upload_time: None,
            metadata: Some(0),
            sidecar: false,
        };
        let path = format!("/whl/{backend}/{name}/");
        let others = self.pages.remove(&path);
        let links = vec![(format!("/whl/{backend}/"), &row)];
        self.page(path.clone(), name, links, &[metadata.into()]);
        if let (Some(others), Some(page)) = (others, self.pages.get_mut(&path)) {
            let link = page.lines().find(|line| line.contains("<a href")).unwrap_or_default();
            *page = others.replacen("  </body>", &format!("{link}\n  </body>"), 1);
        }
        self
    }

    /// What is at a path; `None` for a path that is no part of the replica.
    pub(crate) fn at(&self, path: &str) -> Option<Found<'_>> {
        let nothing = match path.split('/').nth(1) {
            Some("whl") => 403,
            Some("feeds") => 404,
            _ => return None,
        };
        if let Some(page) = self.pages.get(path) {
            return Some(Found::Page(page));
        }
        if let Some(file) = self.files.get(path) {
            return Some(Found::File(file));
        }
        Some(self.sidecars.get(path).map_or(Found::Nothing(nothing), |text| Found::Metadata(text)))
    }
}
