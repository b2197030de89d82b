//! A recorded index: pages and METADATA as a public index gave them on one day.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::index::{Body, File, Index};
use crate::{sdist, sha256};

/// The file that `tests/recordings/record.py` writes.
#[derive(Debug, Deserialize)]
pub struct Recording {
    projects: BTreeMap<String, Vec<Row>>,
    metadata: Vec<Arc<str>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    filename: String,
    sha256: Option<String>,
    #[serde(default)]
    size: u64,
    requires_python: Option<String>,
    yanked: Option<Yanked>,
    upload_time: Option<String>,
    metadata: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Yanked {
    Reason(String),
    Flag(bool),
}

impl Recording {
    /// Reads a packed recording.
    ///
    /// # Panics
    /// When the file is missing or is not a recording.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let packed =
            std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_reader(std::io::BufReader::new(GzDecoder::new(packed.as_slice())))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The index as it was recorded. Wheels keep their size and sha256 (their bytes are not here, only their METADATA);
    /// an sdist with a PKG-INFO is replaced by a small archive around it, with that archive's size and sha256.
    #[must_use]
    pub fn index(self) -> Index {
        let Self { projects, metadata } = self;
        let file = |row: Row| file(row, &metadata);
        let projects = projects
            .into_iter()
            .map(|(name, rows)| (name, rows.into_iter().map(file).collect()))
            .collect();
        Index { projects, ..Index::default() }
    }
}

fn file(row: Row, texts: &[Arc<str>]) -> File {
    let metadata = row.metadata.and_then(|at| texts.get(at)).cloned();
    let mut file = File {
        filename: row.filename,
        sha256: row.sha256,
        size: row.size,
        requires_python: row.requires_python,
        yanked: match row.yanked {
            Some(Yanked::Reason(reason)) => Some(reason),
            Some(Yanked::Flag(true)) => Some(String::new()),
            Some(Yanked::Flag(false)) | None => None,
        },
        uploaded: row.upload_time,
        metadata: None,
        body: Body::Absent,
    };
    match metadata {
        Some(text) if file.filename.ends_with(".whl") => {
            file.metadata = Some(text);
            file.body = Body::Wheel;
        }
        Some(text) => {
            let bytes = sdist::archive(&file.filename, &text, &[]);
            file.size = bytes.len() as u64;
            file.sha256 = Some(sha256(&bytes));
            file.body = Body::Bytes(bytes);
        }
        None => {}
    }
    file
}

impl Index {
    /// The index of a recording file.
    ///
    /// # Panics
    /// When the file is missing or is not a recording.
    #[must_use]
    pub fn from_recording(path: &Path) -> Self {
        Recording::read(path).index()
    }
}
