//! An installed environment: METADATA of every distribution, and the shared libraries that are really there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cuda_lock_constraint::name::Name;

use super::build::Builder;
use super::dist_info::{self, Recorded};
use super::elf;
use super::loader::DiskLoader;
use super::model::{
    Damaged, Input, Level, Library, Location, Origin, ProblemCode, PythonRequest, Span,
};
use super::read::finish;
use super::sniff::Kind;
use super::text::{LineEnds, lines};
use crate::regular::{self, TEXT_LIMIT};

/// Folders are followed this deep; packages nest far less.
const MAX_DEPTH: usize = 32;

/// Reads the distributions in a site-packages folder and the shared libraries below it.
///
/// Links to folders are not followed. What cannot be read is among [`Input::problems`].
#[must_use]
pub fn read_site_packages(folder: &Path) -> Input {
    let mut builder = Builder::new(Kind::SitePackages, &DiskLoader);
    let name = folder.display().to_string();
    let root = builder.add_file(&name, b"", LineEnds::Plain);
    let at = Span { file: root, start: 0, end: 0 };
    let top = match children(folder) {
        Ok(top) => top,
        Err(error) => {
            let message = format!("cannot read the folder: {error}");
            builder.problem(at, ProblemCode::Include, Level::Error, message, None);
            return finish(builder, root);
        }
    };
    let mut owners = Owners::default();
    for path in &top {
        let file_name = file_name(path);
        let before = builder.input.entries.len();
        if file_name.starts_with('~') {
            let message = format!("{file_name} is left over from an uninstall that was broken off");
            let help = Some("delete it; pip ignores it".to_owned());
            builder.problem(at, ProblemCode::Unknown, Level::Note, message, help);
        } else if file_name.ends_with(".dist-info") {
            distribution(&mut builder, path, "METADATA");
        } else if file_name.ends_with(".egg-info") {
            distribution(&mut builder, path, "PKG-INFO");
        }
        if builder.input.entries.len() > before {
            owners.add(before, path);
        }
    }
    twice(&mut builder);
    python(&mut builder, folder, at);
    libraries(&mut builder, folder, at, &owners);
    owners.compare(&mut builder.input, folder);
    finish(builder, root)
}

/// Which distribution each shared library belongs to, by RECORD.
#[derive(Default)]
struct Owners {
    by_path: BTreeMap<String, Vec<(usize, Option<u64>)>>,
}

impl Owners {
    fn add(&mut self, entry: usize, folder: &Path) {
        for Recorded { path, size } in dist_info::recorded(folder).unwrap_or_default() {
            self.by_path.entry(path).or_default().push((entry, size));
        }
    }

    fn of(&self, path: &str) -> Option<usize> {
        self.by_path.get(path)?.last().map(|(entry, _)| *entry)
    }

    /// Finds what was removed or overwritten after it was installed.
    fn compare(&self, input: &mut Input, folder: &Path) {
        for (path, owners) in &self.by_path {
            let found = std::fs::metadata(folder.join(path)).ok().map(|found| found.len());
            for (entry, size) in owners {
                let rival = owners.iter().map(|(other, _)| *other).find(|other| other != entry);
                let gone = found.is_none();
                if gone || size.is_some_and(|size| found != Some(size)) {
                    input.damaged.push(Damaged { entry: *entry, path: path.clone(), rival, gone });
                }
            }
        }
        input.damaged.sort_by(|a, b| (a.entry, &a.path).cmp(&(b.entry, &b.path)));
    }
}

/// Two versions of one distribution: an upgrade was broken off, and which of them is imported is chance.
fn twice(builder: &mut Builder<'_>) {
    let mut seen: BTreeMap<Name, String> = BTreeMap::new();
    let mut found = Vec::new();
    for entry in &builder.input.entries {
        let (Some(name), Some(version)) = (entry.name, &entry.locked) else { continue };
        if let Some(first) = seen.insert(name, version.clone()) {
            let message = format!("{name} is installed twice: {first} and {version}");
            found.push((entry.span, message));
        }
    }
    for (span, message) in found {
        let help = Some("uninstall it until pip finds none, then install it again".to_owned());
        builder.problem(span, ProblemCode::Unknown, Level::Error, message, help);
    }
}

/// The Python: from the name of the folder above, else from wheels that are for one Python only.
fn python(builder: &mut Builder<'_>, folder: &Path, at: Span) {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let of_folder = absolute.components().rev().find_map(|part| {
        let part =
            part.as_os_str().to_str()?.strip_prefix("python")?.trim_end_matches('t').to_owned();
        let (major, minor) = part.split_once('.')?;
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        (number(major) && number(minor)).then_some(part)
    });
    let of_wheels = || {
        let tags = builder.input.entries.iter().flat_map(|entry| &entry.tags);
        let mut pythons: Vec<String> = tags.filter_map(|t| dist_info::python_of_tag(t)).collect();
        pythons.sort();
        pythons.dedup();
        match pythons.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        }
    };
    builder.input.python = of_folder
        .or_else(of_wheels)
        .map(|version| PythonRequest { specifiers: format!("=={version}.*"), span: at });
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What is in a folder, sorted.
fn children(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> =
        fs_err::read_dir(folder)?.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    all.sort();
    Ok(all)
}

/// Adds the distribution whose metadata is in `folder`; an egg-info may be the file itself.
fn distribution(builder: &mut Builder<'_>, folder: &Path, metadata: &str) {
    let path = if folder.is_file() { folder.to_owned() } else { folder.join(metadata) };
    let shown = path.display().to_string();
    let bytes = match regular::read(&path, TEXT_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) => {
            let file = builder.add_file(&shown, b"", LineEnds::Plain);
            let at = Span { file, start: 0, end: 0 };
            let message = format!("a distribution without {metadata}: {error}");
            let help = Some("an installation was broken off; install the package again".to_owned());
            builder.problem(at, ProblemCode::Include, Level::Warning, message, help);
            return;
        }
    };
    // The description after the headers may be long and is of no use here.
    let end = bytes.windows(2).position(|w| w == b"\n\n").unwrap_or(bytes.len());
    let file = builder.add_file(&shown, bytes.get(..end).unwrap_or(&bytes), LineEnds::Plain);
    let text = builder.text(file);
    let header = |wanted: &str| {
        lines(&text, LineEnds::Plain).into_iter().find_map(|(start, line)| {
            let value = line.strip_prefix(wanted)?.strip_prefix(':')?;
            let lead = value.len() - value.trim_start().len();
            let from = start + wanted.len() + 1 + lead;
            Some((value.trim(), Span { file, start: from, end: from + value.trim().len() }))
        })
    };
    let Some((name, name_span)) = header("Name") else {
        let at = Span { file, start: 0, end: 0 };
        builder.problem(at, ProblemCode::Syntax, Level::Error, "the metadata has no Name", None);
        return;
    };
    let mut entry = builder.entry(name, Origin::Installed, name_span);
    if let Some((version, span)) = header("Version") {
        entry.locked = Some(version.to_owned());
        entry.version_span = Some(span);
        entry.span.start = name_span.start.min(span.start);
        entry.span.end = name_span.end.max(span.end);
    }
    entry.requires_dist = lines(&text, LineEnds::Plain)
        .into_iter()
        .filter_map(|(_, line)| Some(line.strip_prefix("Requires-Dist:")?.trim().to_owned()))
        .collect();
    entry.tags = dist_info::tags(folder);
    entry.installer = dist_info::installer(folder);
    direct_url(&mut entry, folder);
    builder.input.entries.push(entry);
}

/// Where a distribution came from, if not from an index (PEP 610).
fn direct_url(entry: &mut super::model::Entry, folder: &Path) {
    let Ok(bytes) = regular::read(&folder.join("direct_url.json"), TEXT_LIMIT) else { return };
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return };
    let url = value.get("url").and_then(|u| u.as_str()).unwrap_or_default().to_owned();
    let text = |table: &str, key: &str| {
        value.get(table).and_then(|t| t.get(key)).and_then(|v| v.as_str()).map(str::to_owned)
    };
    entry.editable = value
        .get("dir_info")
        .and_then(|d| d.get("editable"))
        .and_then(|e| e.as_bool())
        .unwrap_or(false);
    entry.location = Some(match text("vcs_info", "vcs") {
        Some(vcs) => Location::Vcs {
            url: format!("{vcs}+{url}"),
            reference: text("vcs_info", "commit_id"),
            subdirectory: value.get("subdirectory").and_then(|s| s.as_str()).map(str::to_owned),
        },
        None => Location::Url(url),
    });
}

/// Finds the shared libraries below `folder` and what each asks for.
fn libraries(builder: &mut Builder<'_>, folder: &Path, at: Span, owners: &Owners) {
    let mut waiting = vec![(folder.to_owned(), 0)];
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    while let Some((path, depth)) = waiting.pop() {
        let Ok(entries) = fs_err::read_dir(&path) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                waiting.push((path, depth + 1));
            } else if !kind.is_dir() && is_library(&file_name(&path)) {
                found.insert(path);
            }
        }
    }
    for path in found {
        let shown = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        match elf::read(&path) {
            Ok(Some(dynamic)) => builder.input.libraries.push(Library {
                owner: owners.of(&shown),
                path: shown,
                soname: dynamic.soname,
                needed: dynamic.needed,
                search: dynamic.search,
            }),
            // A Windows or macOS library, or a linker script.
            Ok(None) => {}
            Err(message) => {
                let message = format!("{shown} cannot be read as a shared library: {message}");
                let help = Some("the file is damaged: install its package again".to_owned());
                builder.problem(at, ProblemCode::Syntax, Level::Warning, message, help);
            }
        }
    }
}

/// `libx.so`, `libx.so.9`, `_C.cpython-311-x86_64-linux-gnu.so`.
pub(super) fn is_library(name: &str) -> bool {
    name.ends_with(".so")
        || name.split_once(".so.").is_some_and(|(stem, version)| {
            !stem.is_empty() && version.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_and_libraries_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, bytes: &[u8]| {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs_err::write(path, bytes).expect("written");
        };
        write(
            "torch-2.4.0.dist-info/METADATA",
            b"Metadata-Version: 2.1\nName: torch\nVersion: 2.4.0+cu121\nRequires-Dist: filelock\n\nName: no\n",
        );
        write("demo-1.dist-info/METADATA", b"Name: demo\nVersion: 1\n");
        write(
            "demo-1.dist-info/direct_url.json",
            br#"{"url": "file:///srv/demo", "dir_info": {"editable": true}}"#,
        );
        write("broken-1.dist-info/RECORD", b"");
        write(
            "torch/lib/libtorch.so",
            &elf::tests::library("libtorch.so", &["libcudart.so.12", "libc.so.6"]),
        );
        write("torch/lib/libbad.so.1", b"\x7fELF\x02\x01\x01");
        write("torch/lib/text.so", b"INPUT(libtorch.so)");
        let input = read_site_packages(folder.path());
        let found: Vec<(&str, Option<&str>)> =
            input.entries.iter().map(|e| (e.raw_name.as_str(), e.locked.as_deref())).collect();
        assert_eq!(found, [("demo", Some("1")), ("torch", Some("2.4.0+cu121"))]);
        assert!(input.entries[0].editable);
        assert_eq!(input.entries[1].requires_dist, ["filelock"]);
        assert_eq!(input.text(input.entries[1].version_span.expect("a version")), "2.4.0+cu121");
        let library = &input.libraries[0];
        assert_eq!(
            (library.path.as_str(), library.soname.as_deref()),
            ("torch/lib/libtorch.so", Some("libtorch.so"))
        );
        assert_eq!(library.needed, ["libcudart.so.12", "libc.so.6"]);
        assert_eq!(input.libraries.len(), 1);
        let problems: Vec<bool> = input
            .problems
            .iter()
            .map(|p| p.message.contains("libbad.so.1") || p.message.contains("without METADATA"))
            .collect();
        assert_eq!(problems, [true, true]);
        assert_eq!(read_site_packages(&folder.path().join("none")).problems.len(), 1);
    }
}
