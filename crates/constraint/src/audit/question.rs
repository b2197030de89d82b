//! What is asked of an audit.

use std::collections::BTreeSet;
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use crate::machine::Machine;
use crate::requirement::Requirement;
use crate::rules::image::Image;
use crate::rules::onnx_model::Model;
use crate::rules::vendor_image::VendorImage;
use crate::solve::{Source, SourceKind};
use crate::target::Target;
use crate::version::SourceId;

/// A line of a file that asks for a distribution, or bounds it.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it asks for.
    pub requirement: Arc<Requirement>,
    /// Whether it only bounds what something else asks for.
    pub bound: bool,
    /// The one index that it must come from, when the file says so.
    pub source: Option<SourceId>,
    /// The file name of the wheel that it names by URL or path.
    pub wheel: Option<String>,
    /// The conda channels that it is taken from, most important first, when it names a conda package.
    pub channels: Option<Vec<String>>,
}

/// What surrounds the lines: what the file says beside what it asks for.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Whether the file names an index, a page of links or a backend by itself. One that does not may be meant for an
    /// installer that is configured elsewhere.
    pub names_index: bool,
    /// Whether the lines are commands for a shell of which nothing else is known.
    pub shell: bool,
    /// Whether the tool that reads the file locks one version for all platforms, as Poetry does.
    pub one_version: bool,
    /// The folders of `LD_LIBRARY_PATH`.
    pub library_path: Vec<String>,
    /// The packages of the operating system that are installed.
    pub system_packages: Vec<String>,
    /// The image that everything is installed into, when it is not one of `nvidia/cuda`.
    pub vendor_image: Option<VendorImage>,
    /// The pip that installs, where the file tells which it is, and what brings it.
    pub pip: Option<(Pep440, String)>,
    /// Addresses of pages of links, as written.
    pub find_links: Vec<String>,
}

/// One environment of a file, and the machine that it is for.
#[derive(Clone, Debug)]
pub struct Question {
    /// Platform, C library and Python as tags and markers see them.
    pub target: Target,
    /// Whether the Python is known; otherwise nothing is said about it.
    pub python_known: bool,
    /// The machine. What is not given is not judged.
    pub machine: Machine,
    /// GPUs of which only the name is known: what they can run is not judged, that they are to be used is.
    pub unknown_gpus: Vec<String>,
    /// The model that goes from exporter to runtime.
    pub model: Option<Model>,
    /// The container image that everything is installed into.
    pub image: Option<Image>,
    /// The indexes that the catalog knows; `sources[i].id == SourceId(i)`.
    pub sources: Vec<Source>,
    /// Those of them that the file names, in its order; pip takes the highest version of all of them.
    pub indexes: Vec<SourceId>,
    /// Those among `indexes` that the file adds with `--extra-index-url` or the like.
    pub extra: BTreeSet<SourceId>,
    /// Those that are not to be asked; only the facts about them count.
    pub unasked: BTreeSet<SourceId>,
    /// Those that stand for what is installed already: a line that changes does not come from there.
    pub local: BTreeSet<SourceId>,
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether the file lists everything that is installed, so that a dependency that it lacks is missing.
    pub closed: bool,
    /// Whether pre-releases of everything may be taken.
    pub prereleases: bool,
    /// What the file says beside the lines.
    pub surroundings: Surroundings,
}

impl Question {
    /// A source by its number.
    pub(super) fn source(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(usize::from(id.0))
    }

    /// PyPI among all sources, whether or not the file asks it: what its pages say of a release's Pythons holds for the
    /// builds on PyTorch's indexes as well.
    pub(super) fn pypi(&self) -> Option<SourceId> {
        let found = self.sources.iter().find(|source| source.kind == SourceKind::PyPi)?;
        (!self.unasked.contains(&found.id)).then_some(found.id)
    }

    /// The backend of a source, when it is one of PyTorch's.
    pub(super) fn backend(&self, id: SourceId) -> Option<&str> {
        match &self.source(id)?.kind {
            SourceKind::PyTorch { backend } if !backend.is_empty() => Some(backend),
            _ => None,
        }
    }
}
