//! What an index holds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::dist::Dist;
use crate::replica::Replica;
use crate::server::Server;
use crate::virtual_wheel::VirtualWheel;
use crate::{sdist, sha256};

/// The files of an index, by project.
#[derive(Clone, Debug, Default)]
pub struct Index {
    pub(crate) projects: BTreeMap<String, Vec<File>>,
    pub(crate) features: Features,
    pub(crate) replica: Option<Arc<Replica>>,
}

/// What the index can do beyond plain pages.
#[derive(Clone, Debug)]
pub struct Features {
    /// Pages in JSON (PEP 691) for those who ask; otherwise HTML only.
    pub json: bool,
    /// METADATA beside the wheels (PEP 658), announced on the page.
    pub sidecars: bool,
    /// Answers ranges of a file. Without it a range is answered with the whole file.
    pub ranges: bool,
    /// Compresses pages for those who accept it.
    pub gzip: bool,
    /// How long a page stays fresh, in seconds (`Cache-Control: max-age`).
    pub max_age: u32,
    /// States `size` and `upload-time` (PEP 700).
    pub sizes: bool,
    /// How long every answer is held back, as a distant server's would be.
    pub latency: Duration,
}

impl Default for Features {
    fn default() -> Self {
        Self {
            json: true,
            sidecars: true,
            ranges: true,
            gzip: false,
            max_age: 600,
            sizes: true,
            latency: Duration::ZERO,
        }
    }
}

/// One file of a project's page.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) filename: String,
    pub(crate) sha256: Option<String>,
    pub(crate) size: u64,
    pub(crate) requires_python: Option<String>,
    pub(crate) yanked: Option<String>,
    pub(crate) uploaded: Option<String>,
    pub(crate) metadata: Option<Arc<str>>,
    pub(crate) body: Body,
}

/// The bytes behind a file.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Wheel,
    Bytes(Vec<u8>),
    /// Listed on the page; nobody has it.
    Absent,
}

impl File {
    /// The wheel's bytes, made when they are asked for.
    pub(crate) fn wheel(&self) -> VirtualWheel {
        VirtualWheel::new(
            &self.filename,
            self.metadata.as_deref().unwrap_or_default(),
            Some(self.size),
        )
    }
}

impl Index {
    /// An index without projects.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one file of a release. The project's name may be written in any way that PEP 503 allows.
    #[must_use]
    pub fn release(mut self, name: &str, version: &str, dist: Dist) -> Self {
        let filename = dist.filename(name, version);
        let text = dist.metadata_text(name, version);
        let is_wheel = dist.tags.is_some();
        let (body, size, digest) = if is_wheel {
            let wheel = VirtualWheel::new(&filename, &text, dist.size);
            // A declared size may be gigabytes of zeros: such a wheel gets a stand-in, since nobody reads it whole.
            let digest = match dist.size {
                None => sha256(&wheel.slice(0, wheel.len())),
                Some(_) => sha256(filename.as_bytes()),
            };
            (Body::Wheel, wheel.len(), digest)
        } else {
            let bytes = dist.bytes.clone();
            let bytes = bytes.unwrap_or_else(|| sdist::archive(&filename, &text, &dist.files));
            let (size, digest) = (bytes.len() as u64, sha256(&bytes));
            (Body::Bytes(bytes), size, digest)
        };
        let file = File {
            filename,
            sha256: Some(dist.sha256.unwrap_or(digest)).filter(|digest| !digest.is_empty()),
            size,
            requires_python: dist.requires_python,
            yanked: dist.yanked,
            uploaded: dist.uploaded,
            metadata: is_wheel.then(|| text.into()),
            body,
        };
        self.projects.entry(normalized(name)).or_default().push(file);
        self
    }

    /// Takes the projects of another index in, in place of its own of the same name.
    #[must_use]
    pub fn with_projects_of(mut self, other: Self) -> Self {
        self.projects.extend(other.projects);
        self
    }

    /// Adds a project whose page lists nothing.
    #[must_use]
    pub fn empty_project(mut self, name: &str) -> Self {
        self.projects.entry(normalized(name)).or_default();
        self
    }

    /// Changes what the index can do.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Features)) -> Self {
        change(&mut self.features);
        self
    }

    /// Serves a replica of PyTorch's indexes under `/whl/` and of ONNX Runtime's feeds under `/feeds/` as well.
    #[must_use]
    pub fn with_replica(mut self, replica: Replica) -> Self {
        self.replica = Some(Arc::new(replica));
        self
    }

    /// Serves it on a free port of loopback, until the server is dropped.
    #[must_use]
    pub fn serve(self) -> Server {
        Server::start(Arc::new(self))
    }

    pub(crate) fn file(&self, project: &str, filename: &str) -> Option<&File> {
        self.projects.get(project)?.iter().find(|file| file.filename == filename)
    }
}

/// A project's name as PEP 503 normalizes it.
pub(crate) fn normalized(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(&part.to_ascii_lowercase());
    }
    out
}
