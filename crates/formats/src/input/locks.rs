//! Lock files in TOML: uv.lock, poetry.lock, pdm.lock and pylock.toml (PEP 751).

use std::collections::BTreeMap;

use cuda_lock_constraint::requirement::Marker;

use super::build::{Builder, extras};
use super::link;
use super::model::{Entry, Location, Origin, PythonRequest, Requires, Source, SourceTarget, Wheel};
use super::pyproject::location;
use super::sniff::Kind;
use super::toml_doc::{Doc, Value, get, get_str, is_true, items};

/// Reads the lock at `file`, which is of `kind`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize, kind: Kind) {
    let text = builder.text(file);
    let doc = Doc::parse(builder, &text, file);
    let root = doc.root();
    let python = [
        &["requires-python"][..],
        &["metadata", "python-versions"],
        &["metadata", "requires_python"],
    ];
    if let Some(found) = python.iter().find_map(|path| get(root, path)).and_then(|v| doc.string(v))
    {
        builder.input.python =
            Some(PythonRequest { specifiers: found.as_str().to_owned(), span: found.whole() });
    }
    let origin = match kind {
        Kind::PoetryLock => Origin::PoetryLock,
        Kind::PdmLock => Origin::PdmLock,
        Kind::Pylock => Origin::Pylock,
        _ => Origin::UvLock,
    };
    let files = files_by_name(&doc, root);
    let key = if kind == Kind::Pylock { "packages" } else { "package" };
    for package in items(root, &[key]) {
        let Some(mut entry) = package_entry(builder, &doc, package, origin) else { continue };
        match origin {
            Origin::UvLock => uv(&mut entry, &doc, package),
            Origin::Pylock => pylock(&mut entry, package),
            _ => poetry_or_pdm(&mut entry, package),
        }
        wheels(&mut entry, &doc, package);
        if let Some(files) = files.get(&entry.raw_name).filter(|_| entry.wheels.is_empty()) {
            entry.wheels.extend(files.iter().filter_map(|f| wheel(&doc, f)));
        }
        builder.input.entries.push(entry);
    }
}

/// Name, version, marker: the same in all of them.
fn package_entry(
    builder: &mut Builder<'_>,
    doc: &Doc<'_>,
    package: &Value<'_>,
    origin: Origin,
) -> Option<Entry> {
    let name = doc.string(get(package, &["name"])?)?;
    let mut span = name.whole();
    let version = get(package, &["version"]).and_then(|v| doc.string(v));
    if let Some(version) = &version {
        span.start = span.start.min(version.whole().start);
        span.end = span.end.max(version.whole().end);
    }
    let mut entry = builder.entry(name.as_str(), origin, span);
    entry.name_span = name.whole();
    entry.version_span = version.as_ref().map(|v| v.whole());
    entry.locked = version.map(|v| v.as_str().to_owned());
    entry.optional = is_true(package, &["optional"]);
    entry.extras = extras(items(package, &["extras"]).iter().filter_map(|e| e.get_ref().as_str()));
    for key in ["marker", "markers"] {
        if let Some(marker) = get(package, &[key]).and_then(|m| doc.string(m)) {
            builder.apply_marker(&mut entry, &marker);
        }
    }
    Some(entry)
}

fn source(url: &str) -> Source {
    Source {
        target: SourceTarget::Registry(url.to_owned()),
        marker: None,
        extra: None,
        group: None,
    }
}

fn uv(entry: &mut Entry, doc: &Doc<'_>, package: &Value<'_>) {
    let Some(from) = get(package, &["source"]) else { return };
    if let Some(url) = get_str(from, &["registry"]) {
        entry.sources.push(source(url));
    } else if let Some(git) = get_str(from, &["git"]) {
        let commit = git.split_once('#').map(|(_, commit)| commit.to_owned());
        let url = git.split(['?', '#']).next().unwrap_or_default();
        entry.location = Some(Location::Vcs {
            url: format!("git+{url}"),
            reference: commit,
            subdirectory: None,
        });
    } else if let Some(url) = get_str(from, &["url"]) {
        entry.location = Some(Location::Url(url.to_owned()));
    } else if let Some(path) =
        ["editable", "virtual", "directory", "path"].into_iter().find_map(|k| get_str(from, &[k]))
    {
        entry.location = Some(Location::Path(path.to_owned()));
        entry.editable = get(from, &["editable"]).is_some();
    }
    let markers: Vec<&str> = items(package, &["resolution-markers"])
        .iter()
        .filter_map(|m| m.get_ref().as_str())
        .collect();
    let markers: Vec<String> =
        markers.iter().filter_map(|m| m.parse().ok()).map(|m: Marker| m.canonical()).collect();
    entry.marker = match markers.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        several => Some(several.iter().map(|m| format!("({m})")).collect::<Vec<_>>().join(" or ")),
    };
    entry.requires = requires(package, &["dependencies"], None);
    for key in ["optional-dependencies", "dev-dependencies"] {
        for (extra, _) in get(package, &[key]).map(|table| doc.entries(table)).unwrap_or_default() {
            let group = Some(extra.as_str().to_owned());
            entry.requires.extend(requires(package, &[key, extra.as_str()], group));
        }
    }
}

fn requires(package: &Value<'_>, path: &[&str], extra: Option<String>) -> Vec<Requires> {
    let text = |item: &Value<'_>, key: &str| get_str(item, &[key]).map(str::to_owned);
    items(package, path)
        .into_iter()
        .filter_map(|item| {
            let name = cuda_lock_constraint::name::Name::new(get_str(item, &["name"])?).ok()?;
            Some(Requires {
                name,
                version: text(item, "version"),
                extras: extras(items(item, &["extra"]).iter().filter_map(|e| e.get_ref().as_str())),
                marker: text(item, "marker"),
                with: extra.clone(),
            })
        })
        .collect()
}

fn poetry_or_pdm(entry: &mut Entry, package: &Value<'_>) {
    match get_str(package, &["source", "type"]) {
        Some("git") => {
            let url = get_str(package, &["source", "url"]).unwrap_or_default();
            let reference = get_str(package, &["source", "resolved_reference"])
                .or_else(|| get_str(package, &["source", "reference"]));
            entry.location = Some(Location::Vcs {
                url: format!("git+{url}"),
                reference: reference.map(str::to_owned),
                subdirectory: get_str(package, &["source", "subdirectory"]).map(str::to_owned),
            });
        }
        Some(kind @ ("url" | "file" | "directory")) => {
            let url = get_str(package, &["source", "url"]).unwrap_or_default().to_owned();
            entry.location =
                Some(if kind == "url" { Location::Url(url) } else { Location::Path(url) });
        }
        _ => entry.sources.extend(get_str(package, &["source", "url"]).map(source)),
    }
    if entry.location.is_none() {
        entry.location = location(package);
    }
    entry.editable = is_true(package, &["develop"]) || is_true(package, &["editable"]);
}

fn pylock(entry: &mut Entry, package: &Value<'_>) {
    entry.sources.extend(get_str(package, &["index"]).map(source));
    let text = |path: &[&str]| get_str(package, path).map(str::to_owned);
    if get(package, &["vcs"]).is_some() {
        let kind = text(&["vcs", "type"]).unwrap_or_else(|| "git".to_owned());
        let url = text(&["vcs", "url"]).or_else(|| text(&["vcs", "path"])).unwrap_or_default();
        entry.location = Some(Location::Vcs {
            url: format!("{kind}+{url}"),
            reference: text(&["vcs", "commit-id"]),
            subdirectory: text(&["vcs", "subdirectory"]),
        });
    } else if let Some(path) = text(&["directory", "path"]) {
        entry.location = Some(Location::Path(path));
        entry.editable = is_true(package, &["directory", "editable"]);
    } else if let Some(url) = text(&["archive", "url"]) {
        entry.location = Some(Location::Url(url));
    } else if let Some(path) = text(&["archive", "path"]) {
        entry.location = Some(Location::Path(path));
    }
}

/// What a package lists of files: wheels, the source archive, or both in one list.
fn wheels(entry: &mut Entry, doc: &Doc<'_>, package: &Value<'_>) {
    for key in ["wheels", "files", "sdist", "archive"] {
        entry.wheels.extend(items(package, &[key]).into_iter().filter_map(|file| wheel(doc, file)));
    }
}

fn wheel(doc: &Doc<'_>, file: &Value<'_>) -> Option<Wheel> {
    let url = get_str(file, &["url"]);
    let name = ["name", "file", "filename"].into_iter().find_map(|key| get_str(file, &[key]));
    let path = get_str(file, &["path"]);
    let file_name =
        name.map_or_else(|| url.or(path).map(link::file_name), |name| Some(name.to_owned()))?;
    let hash = get_str(file, &["hash"]).map(str::to_owned).or_else(|| {
        let hashes = get(file, &["hashes"])?;
        let all = doc.entries(hashes);
        let strongest = all.iter().max_by_key(|(algorithm, _)| algorithm.as_str() == "sha256")?;
        Some(format!("{}:{}", strongest.0.as_str(), strongest.1.get_ref().as_str()?))
    });
    Some(Wheel {
        is_wheel: file_name.ends_with(".whl"),
        file_name,
        url: url.map(str::to_owned),
        hash,
        span: doc.span(file),
    })
}

/// `[metadata.files]`, where older locks of Poetry and PDM keep the files.
fn files_by_name<'v, 'i>(
    doc: &Doc<'i>,
    root: &'v Value<'i>,
) -> BTreeMap<String, Vec<&'v Value<'i>>> {
    let Some(table) = get(root, &["metadata", "files"]) else { return BTreeMap::new() };
    doc.entries(table)
        .into_iter()
        .map(|(key, _)| {
            // PDM's keys are "name version".
            let name = key.as_str().split(' ').next().unwrap_or_default().to_owned();
            (name, items(table, &[key.as_str()]))
        })
        .collect()
}
