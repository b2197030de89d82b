//! The data of a pylock.toml.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use cuda_lock_constraint::name::Name;
use jiff::Timestamp;
use pep440_rs::Version;

use super::LockMetadata;
use url::Url;

/// A lock. Lists are in the order of the file when read, and are put in order when written.
#[derive(Clone, Debug)]
pub struct Pylock {
    /// `lock-version`: `1.0`.
    pub lock_version: String,
    /// Markers of the environments it is for; empty: any.
    pub environments: Vec<String>,
    /// The Python versions it is for.
    pub requires_python: Option<String>,
    /// Extras it can be installed with.
    pub extras: Vec<String>,
    /// Dependency groups it can be installed with.
    pub dependency_groups: Vec<String>,
    /// The groups that are installed when nothing is said.
    pub default_groups: Vec<String>,
    /// The tool that wrote it.
    pub created_by: String,
    /// What is installed.
    pub packages: Vec<LockedPackage>,
    /// `[tool.cuda-lock]`.
    pub tool: Option<LockMetadata>,
}

impl Pylock {
    /// An empty lock as this program writes it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            lock_version: "1.0".to_owned(),
            environments: Vec::new(),
            requires_python: None,
            extras: Vec::new(),
            dependency_groups: Vec::new(),
            default_groups: Vec::new(),
            created_by: "cuda-lock".to_owned(),
            packages: Vec::new(),
            tool: None,
        }
    }
}

impl Default for Pylock {
    fn default() -> Self {
        Self::new()
    }
}

/// One package of a lock.
#[derive(Clone, Debug)]
pub struct LockedPackage {
    /// The project.
    pub name: Name,
    /// Its version; absent for some sources that are not yet built.
    pub version: Option<Version>,
    /// When it is installed.
    pub marker: Option<String>,
    /// The Python versions it runs on.
    pub requires_python: Option<String>,
    /// The packages of this lock that it needs.
    pub dependencies: Vec<LockedDependency>,
    /// The index it was found on.
    pub index: Option<String>,
    /// What is installed.
    pub origin: Origin,
    /// Where its name stands in the file that was read; empty otherwise.
    pub at: Range<usize>,
}

impl LockedPackage {
    /// A package from an index, without files yet.
    #[must_use]
    pub fn new(name: Name, version: Version) -> Self {
        Self {
            name,
            version: Some(version),
            marker: None,
            requires_python: None,
            dependencies: Vec::new(),
            index: None,
            origin: Origin::Index { sdist: None, wheels: Vec::new() },
            at: 0..0,
        }
    }

    /// Its wheels, when it comes from an index.
    #[must_use]
    pub fn wheels(&self) -> &[LockedFile] {
        match &self.origin {
            Origin::Index { wheels, .. } => wheels,
            Origin::Archive(_) | Origin::Vcs(_) | Origin::Directory(_) => &[],
        }
    }
}

/// What a package is installed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Files of an index.
    Index {
        /// The source release.
        sdist: Option<LockedFile>,
        /// The wheels.
        wheels: Vec<LockedFile>,
    },
    /// One file at an address.
    Archive(LockedArchive),
    /// A repository at a commit.
    Vcs(LockedVcs),
    /// A folder.
    Directory(LockedDirectory),
}

/// A reference to another package of the lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockedDependency {
    /// The project.
    pub name: Name,
    /// Its version, where the name alone does not say which is meant.
    pub version: Option<Version>,
}

/// A wheel or a source release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockedFile {
    /// The file name, where it is written apart from the address.
    pub name: Option<String>,
    /// When it was uploaded.
    pub upload_time: Option<Timestamp>,
    /// Its address, without credentials.
    pub url: Option<String>,
    /// Its path, relative to the lock.
    pub path: Option<String>,
    /// Bytes.
    pub size: Option<u64>,
    /// Digests by algorithm, in hexadecimal.
    pub hashes: BTreeMap<String, String>,
}

impl LockedFile {
    /// The file name: as written, or the last part of the address or path.
    #[must_use]
    pub fn filename(&self) -> Option<Cow<'_, str>> {
        if let Some(name) = &self.name {
            return Some(Cow::Borrowed(name));
        }
        let place = self.url.as_deref().or(self.path.as_deref())?;
        let place = place.split(['?', '#']).next().unwrap_or(place);
        let last = place.rsplit(['/', '\\']).next().filter(|last| !last.is_empty())?;
        if self.url.is_some() {
            Some(percent_encoding::percent_decode_str(last).decode_utf8_lossy())
        } else {
            Some(Cow::Borrowed(last))
        }
    }
}

/// A file that is not on an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedArchive {
    /// The file. Its `name` is not written.
    pub file: LockedFile,
    /// The folder in it that holds the project.
    pub subdirectory: Option<String>,
}

/// A repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedVcs {
    /// `git`, `hg` ...
    pub kind: String,
    /// Its address, without credentials.
    pub url: Option<String>,
    /// Its path.
    pub path: Option<String>,
    /// The branch or tag that was asked for.
    pub requested_revision: Option<String>,
    /// The commit.
    pub commit_id: String,
    /// The folder in it that holds the project.
    pub subdirectory: Option<String>,
}

/// A folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedDirectory {
    /// Its path, relative to the lock.
    pub path: String,
    /// Whether it is installed in place.
    pub editable: bool,
    /// The folder in it that holds the project.
    pub subdirectory: Option<String>,
}

/// A URL without user name and password. What is no URL, or has none, is left as it is; so is the user of a key (ssh):
/// it is no secret, and without it the key does not fit.
#[must_use]
pub fn strip_credentials(text: &str) -> Cow<'_, str> {
    match Url::parse(text) {
        Ok(url) if url.scheme() == "ssh" && url.password().is_none() => Cow::Borrowed(text),
        _ => cuda_lock_constraint::secret::public_text(text),
    }
}
