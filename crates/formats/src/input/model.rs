//! What a reader gives, the same for all kinds of files.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use cuda_lock_constraint::name::Name;
use pep440_rs::{Version, VersionSpecifiers};

use super::decode::Encoding;
use super::sniff::Kind;

/// What one file, and the files it includes, say.
#[derive(Clone, Debug)]
pub struct Input {
    /// The kind of the file itself.
    pub kind: Kind,
    /// The file itself, then the included ones in the order of their first mention.
    pub files: Vec<SourceFile>,
    /// What is asked for or installed, in the order of the text.
    pub entries: Vec<Entry>,
    /// What only narrows the versions of packages that something else asks for.
    pub constraints: Vec<Entry>,
    /// What replaces the requirements of everything else (`tool.uv.override-dependencies`).
    pub overrides: Vec<Entry>,
    /// Where packages are looked for. The first belongs to the file as a whole; each command of a Dockerfile or a script
    /// has its own. Never empty.
    pub indexes: Vec<IndexOptions>,
    /// What the packages are installed into. The first is the only one for most kinds. Never empty.
    pub environments: Vec<Environment>,
    /// Files that are included, whether they could be read or not.
    pub includes: Vec<Include>,
    /// The Python that the file asks for.
    pub python: Option<PythonRequest>,
    /// Dependency groups and the groups they include.
    pub group_includes: BTreeMap<String, Vec<String>>,
    /// Sets of extras and groups that are declared never to be installed together.
    pub conflicts: Vec<Vec<Group>>,
    /// Shared libraries that are really there, sorted by path; only for a folder of installed distributions.
    pub libraries: Vec<Library>,
    /// Shared libraries that are not as they were installed; only for such a folder.
    pub damaged: Vec<Damaged>,
    /// Everything that is wrong with the files as text.
    pub problems: Vec<Problem>,
}

impl Input {
    /// The options that hold for `entry`.
    #[must_use]
    pub fn indexes_of(&self, entry: &Entry) -> Option<&IndexOptions> {
        self.indexes.get(entry.indexes)
    }

    /// Line and column of the start of `span`.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        self.files
            .get(span.file)
            .map_or(Position { line: 1, column: 1 }, |f| f.position(span.start))
    }

    /// The text that `span` covers; empty when it is not within a file.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.files.get(span.file).and_then(|f| f.text.get(span.start..span.end)).unwrap_or_default()
    }

    /// The dependency group `group` and every group that it includes, directly or not, in the order of discovery.
    #[must_use]
    pub fn groups_of(&self, group: &str) -> Vec<String> {
        let mut found = vec![group.to_owned()];
        let mut seen: std::collections::BTreeSet<String> = found.iter().cloned().collect();
        let mut next = 0;
        while let Some(current) = found.get(next).cloned() {
            for included in self.group_includes.get(&current).into_iter().flatten() {
                if seen.insert(included.clone()) {
                    found.push(included.clone());
                }
            }
            next += 1;
        }
        found
    }
}

/// A file as text, with what is needed to write it back.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name it was opened by.
    pub name: String,
    /// The decoded text, without a byte order mark.
    pub text: Arc<str>,
    /// How the text was stored.
    pub encoding: Encoding,
    /// Offsets at which lines start.
    pub(super) line_starts: Vec<usize>,
}

impl SourceFile {
    /// The line and column of a byte offset into the text. Offsets past the end are at the end.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let end = offset.min(self.text.len());
        let column = self.text.get(start..end).map_or(0, |before| before.chars().count());
        Position { line, column: column + 1 }
    }
}

/// A range of bytes of the text of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The place of the file in [`Input::files`].
    pub file: usize,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// A place as people count it, from 1. Columns are characters, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, counted as the reader of that kind of file counts lines.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// One package that is asked for or installed.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The normalised name; `None` where the text does not say it (`-e .`) and for conda names that PEP 508 does not
    /// allow (`_libgcc_mutex`).
    pub name: Option<Name>,
    /// The name as written; empty where the text does not say it.
    pub raw_name: String,
    /// Extras, normalised and sorted.
    pub extras: Vec<Name>,
    /// The version specifier in the syntax of the origin, without white space: `<2,>=1.26`, for conda `=1.12` or
    /// `2.4.0`, for Poetry `^1.26`. Empty when any version will do.
    pub specifier: String,
    /// The one version that is installed or locked, where the text gives one outside a specifier: from a lock, a list,
    /// or the name of a wheel.
    pub locked: Option<String>,
    /// A URL, repository or path that is to be installed instead of a release from an index.
    pub location: Option<Location>,
    /// The environment marker in the canonical form of PEP 508: double quotes, single spaces.
    pub marker: Option<String>,
    /// Hashes that the downloaded file must have.
    pub hashes: Vec<Hash>,
    /// Whether it is installed in place.
    pub editable: bool,
    /// Whether it is declared optional: installed only with an extra that names it (Poetry).
    pub optional: bool,
    /// The kind of line it comes from.
    pub origin: Origin,
    /// The extra or group it belongs to.
    pub group: Group,
    /// The build string of conda.
    pub build: Option<String>,
    /// The conda channel.
    pub channel: Option<String>,
    /// Where it must come from: the index of a lock, `tool.uv.sources`, a Poetry source.
    pub sources: Vec<Source>,
    /// The wheels that a lock lists.
    pub wheels: Vec<Wheel>,
    /// What a lock says it needs of the other packages of the lock.
    pub requires: Vec<Requires>,
    /// The `Requires-Dist` lines of an installed distribution.
    pub requires_dist: Vec<String>,
    /// The tags of the wheel that an installed distribution came as.
    pub tags: Vec<String>,
    /// What installed it: `pip`, `uv`, `conda`.
    pub installer: Option<String>,
    /// `--config-settings` of the line.
    pub settings: Vec<Setting>,
    /// Whether it is installed without its dependencies (`--no-deps`).
    pub no_deps: bool,
    /// The place of its index options in [`Input::indexes`].
    pub indexes: usize,
    /// The place of what it is installed into in [`Input::environments`].
    pub environment: usize,
    /// All that belongs to the entry, without a trailing comment.
    pub span: Span,
    /// The name.
    pub name_span: Span,
    /// The specifier with its operators, where there is one.
    pub specifier_span: Option<Span>,
    /// The one version of the entry: that of `==`, or the locked one. What is rewritten when the pin must move.
    pub version_span: Option<Span>,
}

impl Entry {
    /// An entry of which only the name and the place are known.
    pub(super) fn new(raw_name: &str, origin: Origin, span: Span) -> Self {
        Self {
            name: Name::new(raw_name).ok(),
            raw_name: raw_name.to_owned(),
            extras: Vec::new(),
            specifier: String::new(),
            locked: None,
            location: None,
            marker: None,
            hashes: Vec::new(),
            editable: false,
            optional: false,
            origin,
            group: Group::Main,
            build: None,
            channel: None,
            sources: Vec::new(),
            wheels: Vec::new(),
            requires: Vec::new(),
            requires_dist: Vec::new(),
            tags: Vec::new(),
            installer: None,
            settings: Vec::new(),
            no_deps: false,
            indexes: 0,
            environment: 0,
            span,
            name_span: span,
            specifier_span: None,
            version_span: None,
        }
    }

    /// The one version that the entry allows: the locked one, or that of a single `==` without a wildcard.
    /// Versions that PEP 440 does not allow (conda has some) give `None`.
    #[must_use]
    pub fn pinned(&self) -> Option<Version> {
        if let Some(locked) = &self.locked {
            return Version::from_str(locked).ok();
        }
        let specifiers = self.specifiers()?;
        let mut exact = specifiers.iter().filter(|s| {
            matches!(s.operator(), pep440_rs::Operator::Equal | pep440_rs::Operator::ExactEqual)
        });
        let first = exact.next()?;
        exact.all(|s| s.version() == first.version()).then(|| first.version().clone())
    }

    /// The specifier as PEP 440 specifiers, translated from the syntax of the origin. `None` where that is not possible
    /// (`===` with any text, alternatives with `|`).
    #[must_use]
    pub fn specifiers(&self) -> Option<VersionSpecifiers> {
        super::specifier::to_pep440(&self.specifier, self.origin)
    }
}

/// The kind of line an entry comes from; it decides the syntax of the specifier and which packages the name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A requirement by PEP 508 or a command line of pip or uv.
    Pip,
    /// A row of `pip list`.
    PipList,
    /// A match specification of conda: its name is the name of a conda package.
    Conda,
    /// A row of `conda list` or of an explicit specification.
    CondaList,
    /// A row of `conda list` that pip installed: its name is that of a Python distribution.
    CondaPip,
    /// A requirement of pyproject.toml by PEP 621 or PEP 735.
    Project,
    /// A Poetry dependency.
    Poetry,
    /// uv.lock.
    UvLock,
    /// poetry.lock.
    PoetryLock,
    /// pdm.lock.
    PdmLock,
    /// pylock.toml (PEP 751).
    Pylock,
    /// A folder of installed distributions.
    Installed,
}

impl Origin {
    /// Whether names are those of conda packages and not of Python distributions.
    #[must_use]
    pub fn is_conda(self) -> bool {
        matches!(self, Self::Conda | Self::CondaList)
    }
}

/// Which part of a project an entry belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Always installed.
    Main,
    /// An extra (`project.optional-dependencies`).
    Extra(String),
    /// A dependency group (PEP 735, Poetry groups) or a pixi feature.
    Group(String),
    /// What the build needs.
    Build,
}

/// A hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hash {
    /// `sha256:…`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// What is installed instead of a release from an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// An archive at a URL, `file:` included.
    Url(String),
    /// A repository.
    Vcs {
        /// The URL with its scheme, such as `git+https://…`, without fragment.
        url: String,
        /// Branch, tag or commit.
        reference: Option<String>,
        /// The folder within it.
        subdirectory: Option<String>,
    },
    /// A file or folder, as written.
    Path(String),
}

/// Where an entry must come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The place.
    pub target: SourceTarget,
    /// When this source holds, as a marker.
    pub marker: Option<String>,
    /// The extra with which this source holds.
    pub extra: Option<String>,
    /// The dependency group with which this source holds.
    pub group: Option<String>,
}

/// The place of a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceTarget {
    /// A named index of the same file.
    Index(String),
    /// The address of an index.
    Registry(String),
    /// A URL, repository or path.
    Location(Location),
    /// The project or workspace itself.
    Workspace,
}

/// A wheel or sdist that a lock lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The file name, percent-decoded.
    pub file_name: String,
    /// The address, where the lock has it.
    pub url: Option<String>,
    /// The hash, where the lock has it.
    pub hash: Option<String>,
    /// Whether it is a wheel and not a source archive.
    pub is_wheel: bool,
    /// Where it stands.
    pub span: Span,
}

/// An edge between two packages of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requires {
    /// The package that is needed.
    pub name: Name,
    /// Its version, where the lock holds several.
    pub version: Option<String>,
    /// Its extras that are needed.
    pub extras: Vec<Name>,
    /// When it is needed.
    pub marker: Option<String>,
    /// The extra or group of the needing package with which it is needed.
    pub with: Option<String>,
}

/// `KEY=VALUE` of `--config-settings`, or of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// Where it stands.
    pub span: Span,
}

/// Where pip looks for packages, and which of them it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexOptions {
    /// What replaces PyPI.
    pub index_url: Option<String>,
    /// What is asked beside it.
    pub extra_index_urls: Vec<String>,
    /// Pages and folders of links.
    pub find_links: Vec<String>,
    /// Indexes with a name (uv, Poetry), in the order of the file.
    pub named: Vec<NamedIndex>,
    /// Conda channels, most important first.
    pub channels: Vec<String>,
    /// Whether no index is asked at all.
    pub no_index: bool,
    /// Whether pre-releases of everything may be taken.
    pub pre: bool,
    /// Projects (or `:all:`) whose pre-releases may be taken.
    pub all_releases: Vec<String>,
    /// Projects (or `:all:`) of which only final releases may be taken.
    pub only_final: Vec<String>,
    /// Projects (or `:all:`) that are built from source.
    pub no_binary: Vec<String>,
    /// Projects (or `:all:`) that are only taken as wheels.
    pub only_binary: Vec<String>,
    /// Whether an older wheel is preferred to a newer source archive.
    pub prefer_binary: bool,
    /// Whether every file must have a hash, by option or because one of them has.
    pub require_hashes: bool,
    /// Hosts that need no valid certificate.
    pub trusted_hosts: Vec<String>,
    /// uv's `--torch-backend`.
    pub torch_backend: Option<String>,
    /// The address of the first mention of each URL above.
    pub spans: BTreeMap<String, Span>,
}

/// An index with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedIndex {
    /// The name; empty where none is given.
    pub name: String,
    /// The address; empty for Poetry's built-in source `PyPI`.
    pub url: String,
    /// Whether only packages that name it come from it.
    pub explicit: bool,
    /// Whether it replaces PyPI.
    pub default: bool,
    /// Whether it is a flat page of links.
    pub flat: bool,
    /// Where it stands.
    pub span: Span,
}

/// What packages are installed into: a stage of a Dockerfile, a job, a conda environment, or just "here".
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// What the file calls it; empty when it has no name.
    pub name: String,
    /// The container image it starts from.
    pub image: Option<Image>,
    /// The earlier stage it starts from, as a place in [`Input::environments`].
    pub parent: Option<usize>,
    /// Variables with a bearing on libraries and indexes, with their last value.
    pub variables: Vec<Setting>,
    /// Packages of the operating system.
    pub system_packages: Vec<SystemPackage>,
    /// The Python that is set up.
    pub python: Option<PythonRequest>,
}

/// A container image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The reference with variables replaced: `nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04`.
    pub reference: String,
    /// Where it stands.
    pub span: Span,
}

/// A package of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPackage {
    /// Its name.
    pub name: String,
    /// The version it is pinned to.
    pub version: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// A version of Python that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonRequest {
    /// Specifiers by PEP 440: `>=3.10,<3.14`, `==3.10.*`.
    pub specifiers: String,
    /// Where it stands.
    pub span: Span,
}

/// A file that is included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// The path as written.
    pub path: String,
    /// The place in [`Input::files`], when it could be read.
    pub file: Option<usize>,
    /// Whether it holds constraints.
    pub constraint: bool,
    /// Where it is mentioned.
    pub span: Span,
}

/// A shared library that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The path below the folder, with `/`.
    pub path: String,
    /// The name by which others ask for it; `None` when it has none.
    pub soname: Option<String>,
    /// The names of the libraries that it asks for (`DT_NEEDED`), in order.
    pub needed: Vec<String>,
    /// Where they are looked for first (`DT_RUNPATH`, or else `DT_RPATH`), as written.
    pub search: Vec<String>,
    /// The distribution whose RECORD lists it, as a place in [`Input::entries`]; the last one where several do.
    pub owner: Option<usize>,
}

/// A shared library that is not what its distribution installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The distribution, as a place in [`Input::entries`].
    pub entry: usize,
    /// The path below the folder.
    pub path: String,
    /// Another distribution whose RECORD lists the same file.
    pub rival: Option<usize>,
    /// Whether it is gone; otherwise it has another size.
    pub gone: bool,
}

/// Something that is wrong with a file as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What kind.
    pub code: ProblemCode,
    /// How bad.
    pub level: Level,
    /// What, in words.
    pub message: String,
    /// What to do, in words.
    pub help: Option<String>,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The tool that the file is for refuses it.
    Error,
    /// The tool accepts it and does something other than what the text looks like.
    Warning,
    /// Something that the reader could not look into.
    Note,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemCode {
    /// The text does not follow the format.
    Syntax,
    /// The bytes are not the text they claim to be.
    Encoding,
    /// A file that is included cannot be read, or includes itself.
    Include,
    /// An option that has no effect or is not known.
    Option,
    /// A variable without a value.
    Variable,
    /// A line that looks like a requirement and is not read as one.
    Swallowed,
    /// A marker that can never be true.
    NeverTrue,
    /// A package of which neither name nor version can be told from the text.
    Unknown,
    /// Nothing in the file can be judged.
    Empty,
}
