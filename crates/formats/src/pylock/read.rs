//! Reads a lock that any tool wrote, strictly where a mistake would install something else.
//!
//! Keys that the standard does not have are passed over: it grows, and tools add their own. Of what this reader does use,
//! a wrong type, a name or version that cannot be read, or a file without an address is an error with its position.

use std::collections::BTreeMap;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Marker;
use jiff::Timestamp;
use pep440_rs::{Version, VersionSpecifiers};
use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::{
    LockedArchive, LockedDependency, LockedDirectory, LockedFile, LockedPackage, LockedVcs, Origin,
    Pylock, read_tool,
};
use crate::diagnostic::{Diagnostics, Source};
use crate::document::{self, Report};

impl Pylock {
    /// Reads the text of a file that messages call `file_name`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, Diagnostics> {
        Self::read(&Source::new(file_name, text))
    }

    /// [`Pylock::parse`] for the bytes of a file.
    ///
    /// # Errors
    /// Also when the bytes are not UTF-8.
    pub fn parse_bytes(bytes: &[u8], file_name: &str) -> Result<Self, Diagnostics> {
        Self::read(&Source::decode(file_name, bytes)?)
    }

    /// Reads a text that is decoded already; positions in the lock refer to it.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(source: &Arc<Source>) -> Result<Self, Diagnostics> {
        let mut report = Report::new(source);
        let root = document::parse(source, &mut report);
        if report.len() > 0 {
            return report.finish(None);
        }
        let lock = read_root(&root, &mut report);
        report.finish(lock)
    }
}

fn read_root(root: &DeTable<'_>, report: &mut Report) -> Option<Pylock> {
    let mut at = Fields { table: root, place: "the file", home: 0..0, report };
    let lock_version = at.required("lock-version");
    if let Some(version) = &lock_version
        && version.get_ref().split('.').next() != Some("1")
    {
        let text = format!("lock-version \"{}\" is not known, expected \"1.0\"", version.get_ref());
        at.report.error(version.span(), text).help("use a newer cuda-lock, or write the lock anew");
    }
    let created_by = at.required("created-by");
    let environments = at.texts("environments");
    let requires_python = at.specifiers("requires-python");
    let (extras, groups) = (at.texts("extras"), at.texts("dependency-groups"));
    let default_groups = at.texts("default-groups");
    let packages = match at.tables("packages") {
        Some(tables) => tables
            .into_iter()
            .filter_map(|(home, table)| read_package(home, table, at.report))
            .collect(),
        None => {
            if !root.contains_key("packages") {
                at.missing("packages");
            }
            Vec::new()
        }
    };
    let tool = document::table(root, "tool").and_then(|tool| tool.get("cuda-lock"));
    let tool = tool.and_then(|tool| read_tool::read(tool, at.report));
    Some(Pylock {
        lock_version: lock_version?.into_inner().to_owned(),
        environments,
        requires_python,
        extras,
        dependency_groups: groups,
        default_groups,
        created_by: created_by?.into_inner().to_owned(),
        packages,
        tool,
    })
}

fn read_package(
    home: Range<usize>,
    table: &DeTable<'_>,
    report: &mut Report,
) -> Option<LockedPackage> {
    let mut at = Fields { table, place: "a package", home: home.clone(), report };
    let name_text = at.required("name");
    let name = name_text.as_ref().and_then(|text| at.name(text));
    let version = at.version("version");
    let marker = at.text("marker").map(|text| {
        if let Err(error) = Marker::from_str(text.get_ref()) {
            // Markers of newer standards (`extras`, `dependency_groups`) are not for this machine to judge.
            let known = ["extras", "dependency_groups", "variant_"].iter();
            if !known.into_iter().any(|word| text.get_ref().contains(word)) {
                let message = format!("invalid marker \"{}\": {}", text.get_ref(), error.fault());
                let place = at.report.inside(&text, error.range());
                at.report.error(place, message);
            }
        }
        text.into_inner().to_owned()
    });
    let requires_python = at.specifiers("requires-python");
    let dependencies = at.tables("dependencies").unwrap_or_default();
    let dependencies = dependencies
        .into_iter()
        .filter_map(|(home, table)| {
            let mut at = Fields { table, place: "a dependency", home, report: at.report };
            let name = at.required("name")?;
            Some(LockedDependency { name: at.name(&name)?, version: at.version("version") })
        })
        .collect();
    let index = at.owned("index");
    let origin = read_origin(&mut at);
    Some(LockedPackage {
        name: name?,
        version,
        marker,
        requires_python,
        dependencies,
        index,
        origin: origin?,
        at: name_text.map_or(home, |text| text.span()),
    })
}

/// One of `vcs`, `directory`, `archive`, or `sdist` and `wheels`.
fn read_origin(at: &mut Fields<'_, '_>) -> Option<Origin> {
    let mut origins = Vec::new();
    if let Some(mut vcs) = at.child("vcs", "`vcs`") {
        let (kind, commit_id) = (vcs.required("type"), vcs.required("commit-id"));
        let (url, path) = vcs.place();
        let vcs = LockedVcs {
            kind: kind?.into_inner().to_owned(),
            url,
            path,
            requested_revision: vcs.owned("requested-revision"),
            commit_id: commit_id?.into_inner().to_owned(),
            subdirectory: vcs.owned("subdirectory"),
        };
        origins.push(("vcs", Origin::Vcs(vcs)));
    }
    if let Some(mut directory) = at.child("directory", "`directory`") {
        let path = directory.required("path");
        let directory = LockedDirectory {
            path: path?.into_inner().to_owned(),
            editable: directory
                .table
                .get("editable")
                .and_then(|v| v.get_ref().as_bool())
                .unwrap_or(false),
            subdirectory: directory.owned("subdirectory"),
        };
        origins.push(("directory", Origin::Directory(directory)));
    }
    if let Some(mut archive) = at.child("archive", "`archive`") {
        let file = archive.file();
        let archive = LockedArchive { file, subdirectory: archive.owned("subdirectory") };
        origins.push(("archive", Origin::Archive(archive)));
    }
    let sdist = at.child("sdist", "`sdist`").map(|mut sdist| sdist.file());
    let wheels: Vec<LockedFile> = at
        .tables("wheels")
        .unwrap_or_default()
        .into_iter()
        .map(|(home, table)| Fields { table, place: "a wheel", home, report: at.report }.file())
        .collect();
    if sdist.is_some() || !wheels.is_empty() || origins.is_empty() {
        origins.push(("wheels or sdist", Origin::Index { sdist, wheels }));
    }
    if let [(first, _), (second, _), ..] = origins.as_slice() {
        let text = format!("a package has both {first} and {second}");
        at.report.error(at.home.clone(), text).help("keep one of them");
    }
    origins.into_iter().next().map(|(_, origin)| origin)
}

/// The keys of one table, and what to call it in messages.
pub(super) struct Fields<'t, 'r> {
    pub(super) table: &'t DeTable<'t>,
    pub(super) place: &'static str,
    /// Where to point when a key is missing.
    pub(super) home: Range<usize>,
    pub(super) report: &'r mut Report,
}

impl<'t> Fields<'t, '_> {
    pub(super) fn missing(&mut self, key: &str) {
        self.report.error(self.home.clone(), format!("{} has no `{key}`", self.place));
    }

    fn wrong(&mut self, key: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let kind = value.get_ref().type_str();
        self.report.error(value.span(), format!("`{key}` is of type {kind}, expected {expected}"));
    }

    pub(super) fn text(&mut self, key: &str) -> Option<Spanned<&'t str>> {
        let value = self.table.get(key)?;
        let text = document::as_text(value);
        if text.is_none() {
            self.wrong(key, value, "a string");
        }
        text
    }

    pub(super) fn required(&mut self, key: &str) -> Option<Spanned<&'t str>> {
        if !self.table.contains_key(key) {
            self.missing(key);
        }
        self.text(key)
    }

    pub(super) fn owned(&mut self, key: &str) -> Option<String> {
        self.text(key).map(|text| text.into_inner().to_owned())
    }

    /// A list of strings; empty when it is not there.
    pub(super) fn texts(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.table.get(key) else { return Vec::new() };
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(key, value, "a list of strings");
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item.get_ref().as_str() {
                Some(text) => texts.push(text.to_owned()),
                None => self.wrong(key, item, "a list of strings"),
            }
        }
        texts
    }

    pub(super) fn tables(&mut self, key: &str) -> Option<Vec<(Range<usize>, &'t DeTable<'t>)>> {
        let value = self.table.get(key)?;
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(key, value, "a list of tables");
            return None;
        };
        let mut tables = Vec::with_capacity(items.len());
        for item in items.iter() {
            match item.get_ref().as_table() {
                Some(table) => tables.push((item.span(), table)),
                None => self.wrong(key, item, "a list of tables"),
            }
        }
        Some(tables)
    }

    pub(super) fn child(&mut self, key: &str, place: &'static str) -> Option<Fields<'t, '_>> {
        let value = self.table.get(key)?;
        match value.get_ref().as_table() {
            Some(table) => Some(Fields { table, place, home: value.span(), report: self.report }),
            None => {
                self.wrong(key, value, "a table");
                None
            }
        }
    }

    fn name(&mut self, text: &Spanned<&str>) -> Option<Name> {
        let name = Name::new(text.get_ref());
        name.map_err(|error| self.report.error(text.span(), error.to_string()).done()).ok()
    }

    fn version(&mut self, key: &str) -> Option<Version> {
        let text = self.text(key)?;
        let version = Version::from_str(text.get_ref());
        if version.is_err() {
            let message = format!("invalid version \"{}\"", text.get_ref());
            self.report.error(text.span(), message);
        }
        version.ok()
    }

    fn specifiers(&mut self, key: &str) -> Option<String> {
        let text = self.text(key)?;
        if let Err(error) = VersionSpecifiers::from_str(text.get_ref()) {
            let first = error.to_string();
            let first = first.lines().next().unwrap_or_default().trim_end_matches(':');
            let message = format!("invalid `{key}` \"{}\": {first}", text.get_ref());
            self.report.error(text.span(), message);
        }
        Some(text.into_inner().to_owned())
    }

    /// `url` or `path`, one of which is needed.
    fn place(&mut self) -> (Option<String>, Option<String>) {
        let place = (self.owned("url"), self.owned("path"));
        if !self.table.contains_key("url") && !self.table.contains_key("path") {
            self.missing("url");
        }
        place
    }

    fn file(&mut self) -> LockedFile {
        let (url, path) = self.place();
        let upload_time = self.time("upload-time");
        let size = self.table.get("size").and_then(|value| {
            let size = document::integer(value).and_then(|size| u64::try_from(size).ok());
            if size.is_none() {
                self.report.error(value.span(), "`size` is not a number of bytes");
            }
            size
        });
        let mut hashes = BTreeMap::new();
        if !self.table.contains_key("hashes") {
            self.missing("hashes");
        }
        if let Some(fields) = self.child("hashes", "`hashes`") {
            for (algorithm, digest) in fields.table {
                let algorithm = algorithm.get_ref().to_string();
                match digest.get_ref().as_str() {
                    Some(text) if is_digest(&algorithm, text) => {
                        hashes.insert(algorithm, text.to_owned());
                    }
                    _ => {
                        let message = format!("this is not a {algorithm} digest in hexadecimal");
                        fields.report.error(digest.span(), message);
                    }
                }
            }
        }
        LockedFile { name: self.owned("name"), upload_time, url, path, size, hashes }
    }

    pub(super) fn time(&mut self, key: &str) -> Option<Timestamp> {
        let value = self.table.get(key)?;
        // A time without an offset is UTC by the standard; some tools leave the offset out.
        let time = value.get_ref().as_datetime().and_then(|time| {
            let text = time.to_string();
            text.parse().or_else(|_| format!("{text}Z").parse()).ok()
        });
        if time.is_none() {
            self.wrong(key, value, "a timestamp");
        }
        time
    }
}

/// Hexadecimal, and of the right length where the algorithm is known.
fn is_digest(algorithm: &str, text: &str) -> bool {
    let length = match algorithm {
        "md5" => 32,
        "sha1" => 40,
        "sha224" => 56,
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => text.len().max(1),
    };
    text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit())
}
