//! A recorded index in memory, as the solver asks for it.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{Catalog, CatalogError, CoreMetadata, File, Metadata, Project};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_constraint::wheel::WheelName;
use flate2::read::GzDecoder;
use serde::Deserialize;

/// Pages and METADATA as `tests/recordings/sets.py` writes them.
pub struct Recorded {
    pages: BTreeMap<String, Arc<Project>>,
    /// By file name.
    texts: BTreeMap<String, usize>,
    metadata: Vec<Arc<Metadata>>,
}

#[derive(Deserialize)]
struct Packed {
    projects: BTreeMap<String, Vec<Row>>,
    metadata: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    filename: String,
    requires_python: Option<Arc<str>>,
    #[serde(default)]
    yanked: Option<serde_json::Value>,
    metadata: usize,
}

impl Recorded {
    pub fn read(path: &Path) -> Self {
        let packed = std::fs::File::open(path).unwrap();
        let reader = BufReader::with_capacity(1 << 20, GzDecoder::new(packed));
        let Packed { projects, metadata } = serde_json::from_reader(reader).unwrap();
        let metadata = metadata.iter().map(|text| Arc::new(headers(text))).collect();
        let (mut pages, mut texts) = (BTreeMap::new(), BTreeMap::new());
        for (name, rows) in projects {
            let mut releases: BTreeMap<pep440_rs::Version, Vec<File>> = BTreeMap::new();
            for row in rows {
                let wheel = WheelName::parse(&row.filename).unwrap();
                texts.insert(row.filename.clone(), row.metadata);
                releases.entry(wheel.version).or_default().push(file(row));
            }
            let (versions, files): (Vec<_>, Vec<_>) = releases.into_iter().unzip();
            let project = Project { versions: versions.into(), files: Box::new(files) };
            pages.insert(name, Arc::new(project));
        }
        Self { pages, texts, metadata }
    }
}

fn file(row: Row) -> File {
    File {
        url: format!("https://index.example/{}", row.filename),
        filename: row.filename,
        sha256: None,
        size: None,
        requires_python: row.requires_python,
        yanked: row.yanked.map(|why| why.as_str().unwrap_or_default().into()),
        upload_time: None,
        core_metadata: CoreMetadata::Yes,
    }
}

/// The headers of a METADATA text, of which the recording keeps those that a resolver reads.
fn headers(text: &str) -> Metadata {
    let mut metadata = Metadata::default();
    let unfolded = text.replace("\n ", " ").replace("\n\t", " ");
    for line in unfolded.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.to_ascii_lowercase().as_str() {
            "name" => metadata.name = value.to_owned(),
            "version" => metadata.version = value.to_owned(),
            "requires-dist" => metadata.requires_dist.push(value.into()),
            "requires-python" => metadata.requires_python = Some(value.into()),
            "provides-extra" => metadata.provides_extra.push(value.to_owned()),
            _ => {}
        }
    }
    metadata
}

impl Catalog for Recorded {
    fn project(&self, _: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        Ok(self.pages.get(name.as_str()).cloned())
    }

    fn metadata(&self, _: SourceId, _: Name, file: &File) -> Result<Arc<Metadata>, CatalogError> {
        Ok(Arc::clone(&self.metadata[self.texts[&file.filename]]))
    }

    fn wants_hints(&self) -> bool {
        false
    }
}
