//! What is asked of an audit.

use std::collections::BTreeSet;
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use super::finding::{Place, Severity};
use crate::machine::Machine;
use crate::name::Name;
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
    /// Whether it has no hash although the file asks for one.
    pub lacks_hash: bool,
    /// The index that it is to come from and that the file does not define.
    pub undefined_index: Option<String>,
}

impl Line {
    /// A line that asks for `requirement`, from wherever the file looks.
    #[must_use]
    pub fn new(requirement: Arc<Requirement>) -> Self {
        Self {
            requirement,
            bound: false,
            source: None,
            wheel: None,
            channels: None,
            lacks_hash: false,
            undefined_index: None,
        }
    }
}

/// An image as a file names it.
#[derive(Clone, Debug)]
pub struct BaseImage {
    /// The reference as written.
    pub reference: String,
    /// Why there is no such image, when it is one of `nvidia/cuda` that does not exist.
    pub unreadable: Option<String>,
    /// Whether something is installed into an image of `nvidia/cuda` that has no Python, and nothing brings one.
    pub lacks_python: bool,
    /// A Python beside that of the system, for which the system's pip does not install.
    pub other_python: Option<OtherPython>,
}

/// The system's pip, and another Python that is installed beside the system's.
#[derive(Clone, Debug)]
pub struct OtherPython {
    /// The Python that the pip of the system installs for.
    pub system: String,
    /// The other one.
    pub other: String,
    /// Where the pip is installed.
    pub place: Place,
}

/// A requirement that names a file or folder which cannot be used.
#[derive(Clone, Debug)]
pub struct BadLocation {
    /// The requirement, or the file name.
    pub shown: String,
    /// What it points at.
    pub target: String,
    /// What is wrong with it.
    pub fault: LocationFault,
    /// Where.
    pub place: Place,
}

/// What is wrong with a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationFault {
    /// It ends in `.whl` and is not the name of a wheel.
    NoWheelName,
    /// It is a folder of the machine that wrote the file.
    OfAnotherMachine,
}

/// Something that a reader did not understand, in its words.
#[derive(Clone, Debug)]
pub struct TextFault {
    /// What.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// How much it counts.
    pub severity: Severity,
    /// Where.
    pub place: Place,
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
    /// The image, as the file names it.
    pub base_image: Option<BaseImage>,
    /// The image that everything is installed into, when it is not one of `nvidia/cuda`.
    pub vendor_image: Option<VendorImage>,
    /// The pip that installs, where the file tells which it is, and what brings it.
    pub pip: Option<(Pep440, String)>,
    /// Addresses of pages of links, as written.
    pub find_links: Vec<String>,
    /// The first character beyond ASCII in a UTF-8 requirements file that does not say that it is UTF-8.
    pub undeclared_utf8: Option<Place>,
    /// Requirements that name what cannot be used.
    pub bad_locations: Vec<BadLocation>,
}

/// A folder of installed packages: what its shared libraries ask for, and what of its files is not as it was installed.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// The shared libraries.
    pub objects: Vec<Object>,
    /// Files that are gone or were written over.
    pub damaged: Vec<Damage>,
}

/// A shared library.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its path below the folder.
    pub path: String,
    /// The distribution that it belongs to.
    pub owner: Option<Name>,
    /// The names that it asks for.
    pub needed: Vec<String>,
    /// Those of them that no library of the folder has.
    pub unresolved: Vec<Unresolved>,
}

/// A name that is asked for and that nothing in the folder has.
#[derive(Clone, Debug)]
pub struct Unresolved {
    /// The name: `libcublasLt.so.12`.
    pub soname: String,
    /// Other versions of it that are there: `libcublasLt.so.11`.
    pub others: Vec<String>,
}

/// A file that is not as it was installed.
#[derive(Clone, Debug)]
pub struct Damage {
    /// The distribution that it belongs to.
    pub name: Option<Name>,
    /// Its name and version.
    pub title: String,
    /// What installs it again: `NAME==VERSION`.
    pub pin: String,
    /// The file.
    pub path: String,
    /// Whether it is gone.
    pub gone: bool,
    /// The distribution that lists the file as well: its name, and that with its version.
    pub rival: Option<(Option<Name>, String)>,
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
    /// The folder that the lines were read from, when it is one of installed packages.
    pub folder: Option<Folder>,
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

    /// Whether GPUs are to be used, known or not.
    pub(super) fn wants_gpu(&self) -> bool {
        self.machine.gpus.is_some() || !self.unknown_gpus.is_empty()
    }

    /// The line that names a distribution.
    pub(super) fn line_naming(&self, name: Name) -> Option<usize> {
        self.lines.iter().position(|line| line.requirement.name == name)
    }
}
