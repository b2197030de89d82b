//! `[[index]]` and `[sources]`: where packages may come from, as uv writes it.

use std::collections::BTreeMap;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::index::{by_name, pytorch, pytorch_backends, rows};
use serde_spanned::Spanned;
use toml::de::DeTable;
use url::Url;

use super::{Manifest, requirement};
use crate::document::{Report, owned, tables, text};
use crate::schema::{Key, Kind, nearest};

/// The keys of `[[index]]`.
pub(super) const KEYS: &[Key] = &[
    Key::new("name", Kind::Text, "\"corp\"", "What `sources` and `only-indexes` call it."),
    Key::new(
        "url",
        Kind::Text,
        "\"https://index.example/simple\"",
        "The address of a simple index or a flat page, or a folder relative to env.toml.",
    )
    .required(),
    Key::new(
        "explicit",
        Kind::Bool,
        "true",
        "Asked only for packages that `sources` takes from it.",
    ),
    Key::new("default", Kind::Bool, "true", "Takes the place of PyPI."),
    Key::new(
        "format",
        Kind::Choice(&["simple", "flat"]),
        "\"flat\"",
        "A simple index (one page per package), or one flat page or folder of files.",
    ),
];

/// The keys of `[sources]`: each value is a table of these.
pub(super) const SOURCE_KEYS: &[Key] = &[
    Key::new(
        "index",
        Kind::Text,
        "\"corp\"",
        "The name of the index that this package is taken from.",
    ),
    Key::new(
        "git",
        Kind::Text,
        "\"https://git.example/x.git\"",
        "The repository that this package is built from; your git fetches it.",
    ),
    Key::new("rev", Kind::Text, "\"4f2c1d9\"", "The commit of the repository."),
    Key::new("tag", Kind::Text, "\"v1.2\"", "The tag of the repository."),
    Key::new("branch", Kind::Text, "\"main\"", "The branch of the repository."),
    Key::new(
        "url",
        Kind::Text,
        "\"https://files.example/x-1.0-py3-none-any.whl\"",
        "The address of a wheel or a source distribution.",
    ),
    Key::new(
        "path",
        Kind::Text,
        "\"../x\"",
        "A wheel, a source distribution or a folder with sources, relative to env.toml.",
    ),
    Key::new(
        "subdirectory",
        Kind::Text,
        "\"python\"",
        "The folder in the repository or archive that holds the project.",
    ),
];

/// Where a package is taken from, when that is no index.
#[derive(Clone, PartialEq, Eq)]
pub enum DirectSource {
    /// The address of a file or of a repository (`git+…`), as PEP 508 writes it. It may hold credentials.
    Url(String),
    /// A file or a folder, relative to env.toml.
    Path(String),
}

/// Without credentials.
impl std::fmt::Display for DirectSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(url) => f.write_str(&crate::diagnostic::mask_credentials(url)),
            Self::Path(path) => f.write_str(path),
        }
    }
}

impl std::fmt::Debug for DirectSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// `[[index]]`.
#[derive(Clone, Debug)]
pub struct Index {
    /// What the file calls it.
    pub name: Option<Spanned<String>>,
    /// Where it is.
    pub location: Spanned<IndexLocation>,
    /// Asked only for packages that `[sources]` takes from it.
    pub explicit: bool,
    /// Takes the place of PyPI.
    pub default: bool,
    /// Its layout.
    pub format: IndexFormat,
}

/// Where an index is.
#[derive(Clone, PartialEq, Eq)]
pub enum IndexLocation {
    /// An address: http, https or file. It may hold credentials.
    Url(Url),
    /// A folder or file, relative to env.toml.
    Path(String),
}

impl IndexLocation {
    /// As text, with the credentials that a URL may hold: for fetching, not for showing.
    #[must_use]
    pub fn full(&self) -> &str {
        match self {
            Self::Url(url) => url.as_str(),
            Self::Path(path) => path,
        }
    }
}

/// Without credentials.
impl std::fmt::Display for IndexLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(url) => f.write_str(&crate::diagnostic::mask_credentials(url.as_str())),
            Self::Path(path) => f.write_str(path),
        }
    }
}

impl std::fmt::Debug for IndexLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// The layout of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum IndexFormat {
    /// One page per project (PEP 503, PEP 691).
    #[default]
    Simple,
    /// One page, or folder, with the files of all projects.
    Flat,
}

/// Reads every `[[index]]` and checks them against each other.
pub(super) fn read_all(root: &DeTable<'_>, report: &mut Report) -> Vec<Index> {
    let mut indexes: Vec<Index> = Vec::new();
    let mut default_seen = false;
    for (span, table) in tables(root, "index") {
        let flag = |key| table.get(key).and_then(|v| v.get_ref().as_bool()).unwrap_or(false);
        let name = text(table, "name");
        if let Some(name) = &name {
            check_name(name, &indexes, report);
        }
        let (explicit, default) = (flag("explicit"), flag("default"));
        let at = |key: &str| table.get(key).map_or(span.clone(), Spanned::span);
        if default && default_seen {
            report
                .error(at("default"), "another index is the default already")
                .help("keep `default = true` at one [[index]]");
        }
        default_seen |= default;
        if explicit && default {
            report
                .error(at("explicit"), "an index cannot be both `explicit` and `default`")
                .help("an explicit index is asked only for packages that [sources] takes from it");
        }
        if explicit && name.is_none() {
            report
                .error(
                    at("explicit"),
                    "an explicit index needs a `name`, or nothing can be taken from it",
                )
                .help("add name = \"corp\" and, in [sources], torch = { index = \"corp\" }");
        }
        let format = match text(table, "format") {
            Some(format) if *format.get_ref() == "flat" => IndexFormat::Flat,
            _ => IndexFormat::Simple,
        };
        let Some(location) = text(table, "url").and_then(|url| location(&url, report)) else {
            continue;
        };
        indexes.push(Index { name: name.as_ref().map(owned), location, explicit, default, format });
    }
    indexes
}

fn check_name(name: &Spanned<&str>, earlier: &[Index], report: &mut Report) {
    let text = *name.get_ref();
    let fits = !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    if !fits {
        report
            .error(name.span(), format!("'{text}' is not an index name"))
            .help("use letters, digits, '-', '_' and '.'");
    }
    let names = earlier.iter().filter_map(|index| index.name.as_ref());
    if names.into_iter().any(|other| other.get_ref() == text) {
        report
            .error(name.span(), format!("two indexes are called '{text}'"))
            .help("give one of them another name");
    }
}

/// Reads an address, or a path when it does not look like one.
pub(super) fn location(
    text: &Spanned<&str>,
    report: &mut Report,
) -> Option<Spanned<IndexLocation>> {
    let raw = text.get_ref().trim();
    if raw.is_empty() {
        report.error(text.span(), "`url` is empty");
        return None;
    }
    // `C:\wheels` parses as a URL of scheme `c`; an address always has `://`.
    if !raw.contains("://") {
        return Some(Spanned::new(text.span(), IndexLocation::Path(raw.to_owned())));
    }
    url(text, &["http", "https", "file"], report)
        .map(|url| Spanned::new(text.span(), IndexLocation::Url(url)))
}

/// Reads a URL of one of `schemes`.
pub(super) fn url(text: &Spanned<&str>, schemes: &[&str], report: &mut Report) -> Option<Url> {
    let raw = text.get_ref().trim();
    match Url::parse(raw) {
        Ok(url) if schemes.contains(&url.scheme()) => Some(url),
        Ok(url) => {
            report
                .error(text.span(), format!("a URL of scheme '{}' cannot be fetched", url.scheme()))
                .help(format!("use {}", schemes.join(", ")));
            None
        }
        Err(error) => {
            report
                .error(text.span(), format!("invalid URL \"{raw}\": {error}"))
                .help("write the whole address, such as \"https://index.example/simple\"");
            None
        }
    }
}

/// Reads `[sources]`.
pub(super) fn read_sources(
    table: &DeTable<'_>,
    report: &mut Report,
) -> BTreeMap<Name, Spanned<String>> {
    let mut sources = BTreeMap::new();
    for (key, value) in table {
        let Some(keys) = value.get_ref().as_table() else { continue };
        let key = Spanned::new(key.span(), key.get_ref().as_ref());
        check_source(&key, keys, report);
        let Some(index) = text(keys, "index") else { continue };
        let Some(name) = requirement::name(&key, report) else { continue };
        if sources.insert(name, owned(&index)).is_some() {
            report.error(key.span(), format!("{name} has two sources")).help("keep one of them");
        }
    }
    sources
}

/// A source is one place, and what is said of it fits that.
fn check_source(key: &Spanned<&str>, keys: &DeTable<'_>, report: &mut Report) {
    let kinds = ["index", "git", "url", "path"];
    let given: Vec<&str> = kinds.into_iter().filter(|kind| keys.contains_key(*kind)).collect();
    let name = key.get_ref();
    let at = |key_of: &str| keys.get(key_of).map_or(key.span(), Spanned::span);
    match given.as_slice() {
        [] => {
            report
                .error(
                    key.span(),
                    format!("`sources.{name}` does not say where {name} is taken from"),
                )
                .help("write one of index, git, url and path");
        }
        [_] => {}
        [_, second, ..] => {
            report
                .error(at(second), format!("{name} has two sources"))
                .help("keep one of index, git, url and path");
        }
    }
    let revisions = ["rev", "tag", "branch"];
    let said: Vec<&str> = revisions.into_iter().filter(|kind| keys.contains_key(*kind)).collect();
    if let [first, ..] = said.as_slice()
        && !keys.contains_key("git")
    {
        report.error(at(first), format!("`{first}` is of a repository, and there is no `git`"));
    }
    if let [_, second, ..] = said.as_slice() {
        report
            .error(at(second), "a repository has one of rev, tag and branch")
            .help("keep one of them");
    }
    if keys.contains_key("subdirectory") && !keys.contains_key("git") && !keys.contains_key("url") {
        report.error(at("subdirectory"), "`subdirectory` is of a repository or an archive");
    }
}

/// Reads the sources that are no index.
pub(super) fn read_direct(
    table: &DeTable<'_>,
    report: &mut Report,
) -> BTreeMap<Name, Spanned<DirectSource>> {
    let mut sources = BTreeMap::new();
    for (key, value) in table {
        let Some(keys) = value.get_ref().as_table() else { continue };
        let Ok(name) = Name::new(key.get_ref()) else { continue };
        let folder =
            text(keys, "subdirectory").map(|text| format!("#subdirectory={}", text.get_ref()));
        let folder = folder.unwrap_or_default();
        let schemes = ["https", "http", "ssh", "git", "file"];
        let found = if let Some(address) = text(keys, "git") {
            let revision = ["rev", "tag", "branch"].into_iter().find_map(|kind| text(keys, kind));
            let revision = revision.map(|text| format!("@{}", text.get_ref())).unwrap_or_default();
            url(&address, &schemes, report).map(|url| {
                let url = DirectSource::Url(format!("git+{url}{revision}{folder}"));
                Spanned::new(address.span(), url)
            })
        } else if let Some(address) = text(keys, "url") {
            url(&address, &["https", "http", "file"], report).map(|url| {
                Spanned::new(address.span(), DirectSource::Url(format!("{url}{folder}")))
            })
        } else {
            text(keys, "path").map(|path| {
                let written = DirectSource::Path((*path.get_ref()).to_owned());
                Spanned::new(path.span(), written)
            })
        };
        if let Some(found) = found {
            sources.insert(name, found);
        }
    }
    sources
}

/// `[sources]` and `only-indexes` name indexes of this file, or public ones that the program knows.
pub(super) fn check_references(manifest: &Manifest, report: &mut Report) {
    let own: Vec<&str> = manifest
        .indexes
        .iter()
        .filter_map(|index| index.name.as_ref())
        .map(|name| name.get_ref().as_str())
        .collect();
    let only = manifest.options.only_indexes.iter().flatten();
    for index in manifest.sources.values().chain(only) {
        let text = index.get_ref().as_str();
        if own.contains(&text) || by_name(text).is_some() {
            continue;
        }
        let reported = report.error(index.span(), format!("there is no index called '{text}'"));
        let known: Vec<String> = known_names().collect();
        let names = own.iter().copied().chain(known.iter().map(String::as_str));
        if let Some(near) = nearest(text, names) {
            reported.help(format!("did you mean '{near}'?"));
        } else {
            reported.help(format!("add [[index]] with name = \"{text}\" and its url"));
        }
    }
}

/// The names of the public indexes, one for each backend.
fn known_names() -> impl Iterator<Item = String> {
    let backends = pytorch_backends().iter().filter_map(|backend| pytorch(backend));
    let others = rows().iter().filter_map(|row| by_name(&row.name));
    others.chain(backends).map(|known| known.name)
}
