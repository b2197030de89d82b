//! Writes a lock: keys in the order of PEP 751, packages and files by name, LF, one final newline.
//!
//! The layout is fixed here rather than left to a serialiser: a wheel is one line, so that a diff of two locks shows
//! what moved and nothing else, and a new version of a library cannot change every lock in every repository.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cuda_lock_constraint::machine::Libraries;

use super::{
    LockMetadata, LockedFile, LockedMachine, LockedPackage, Origin, Pylock, strip_credentials,
};

/// Lists up to this many columns stay on one line.
const WIDTH: usize = 100;

impl Pylock {
    /// The text of the file. Equal locks give equal text, in whatever order their lists are.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut out = Writer::default();
        out.pair("lock-version", &string(&self.lock_version));
        out.strings("environments", &self.environments);
        out.text("requires-python", self.requires_python.as_deref());
        out.strings("extras", &self.extras);
        out.strings("dependency-groups", &self.dependency_groups);
        out.strings("default-groups", &self.default_groups);
        out.pair("created-by", &string(&self.created_by));
        if self.packages.is_empty() {
            out.pair("packages", "[]");
        }
        let mut packages: Vec<&LockedPackage> = self.packages.iter().collect();
        packages
            .sort_by(|a, b| (a.name, &a.version, &a.marker).cmp(&(b.name, &b.version, &b.marker)));
        for package in packages {
            write_package(&mut out, package);
        }
        if let Some(tool) = &self.tool {
            write_tool(&mut out, tool);
        }
        out.0
    }
}

fn write_package(out: &mut Writer, package: &LockedPackage) {
    out.header("[[packages]]");
    out.pair("name", &string(package.name.as_str()));
    out.text("version", package.version.as_ref().map(ToString::to_string).as_deref());
    out.text("marker", package.marker.as_deref());
    out.text("requires-python", package.requires_python.as_deref());
    let mut dependencies: Vec<_> = package.dependencies.iter().collect();
    dependencies.sort_unstable();
    dependencies.dedup();
    let dependencies: Vec<String> = dependencies
        .into_iter()
        .map(|dependency| {
            let mut table = Inline::default();
            table.text("name", Some(dependency.name.as_str()));
            table.text("version", dependency.version.as_ref().map(ToString::to_string).as_deref());
            table.finish()
        })
        .collect();
    if !dependencies.is_empty() {
        out.list("dependencies", &dependencies, false);
    }
    // The standard's order: `vcs`, `directory` and `archive` come before `index`.
    match &package.origin {
        Origin::Vcs(vcs) => {
            let mut table = Inline::default();
            table.text("type", Some(&vcs.kind));
            table.url(vcs.url.as_deref());
            table.text("path", vcs.path.as_deref());
            table.text("requested-revision", vcs.requested_revision.as_deref());
            table.text("commit-id", Some(&vcs.commit_id));
            table.text("subdirectory", vcs.subdirectory.as_deref());
            out.pair("vcs", &table.finish());
        }
        Origin::Directory(directory) => {
            let mut table = Inline::default();
            table.text("path", Some(&directory.path));
            if directory.editable {
                table.raw("editable", "true");
            }
            table.text("subdirectory", directory.subdirectory.as_deref());
            out.pair("directory", &table.finish());
        }
        Origin::Archive(archive) => {
            let mut table = Inline::default();
            let file = &archive.file;
            table.url(file.url.as_deref());
            table.text("path", file.path.as_deref());
            table.size(file.size);
            table.time(file.upload_time);
            table.hashes(&file.hashes);
            table.text("subdirectory", archive.subdirectory.as_deref());
            out.pair("archive", &table.finish());
        }
        Origin::Index { .. } => {}
    }
    out.text("index", package.index.as_deref().map(strip_credentials).as_deref());
    if let Origin::Index { sdist, wheels } = &package.origin {
        if let Some(sdist) = sdist {
            out.pair("sdist", &write_file(sdist));
        }
        let mut lines: Vec<(Option<_>, String)> =
            wheels.iter().map(|wheel| (wheel.filename(), write_file(wheel))).collect();
        lines.sort_unstable();
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        if !lines.is_empty() {
            out.list("wheels", &lines, true);
        }
    }
}

fn write_file(file: &LockedFile) -> String {
    let mut table = Inline::default();
    table.text("name", file.filename().as_deref());
    table.time(file.upload_time);
    table.url(file.url.as_deref());
    table.text("path", file.path.as_deref());
    table.size(file.size);
    table.hashes(&file.hashes);
    table.finish()
}

fn write_tool(out: &mut Writer, tool: &LockMetadata) {
    out.header("[tool.cuda-lock]");
    out.pair("manifest", &string(&tool.manifest));
    out.pair("matrices", &string(&tool.matrices));
    out.text("target", tool.target.as_deref());
    out.pair("python", &string(&tool.python));
    let mut requirements = tool.requirements.clone();
    requirements.sort_unstable();
    requirements.dedup();
    out.strings("requirements", &requirements);
    if let Some(moment) = tool.exclude_newer {
        out.pair("exclude-newer", &moment.to_string());
    }
    let display = |version: &_| ToString::to_string(version);
    out.text("cuda", tool.cuda.as_ref().map(display).as_deref());
    out.text("cudnn", tool.cudnn.as_ref().map(display).as_deref());
    out.text("minimum-driver", tool.minimum_driver.as_ref().map(display).as_deref());
    let mut capabilities = tool.capabilities.clone();
    capabilities.sort();
    capabilities.dedup();
    out.strings("capabilities", &capabilities.iter().map(display).collect::<Vec<_>>());
    out.strings("loading", &tool.loading);
    let indexes: Vec<String> = tool
        .indexes
        .iter()
        .map(|index| {
            let mut table = Inline::default();
            table.text("name", Some(&index.name));
            table.url(Some(&index.url));
            if index.flat {
                table.text("format", Some("flat"));
            }
            table.finish()
        })
        .collect();
    if !indexes.is_empty() {
        out.list("indexes", &indexes, true);
    }
    write_machine(out, &tool.machine);
    write_sdists(out, tool);
    let mut constraints: Vec<_> = tool.constraints.iter().collect();
    constraints.sort_unstable();
    constraints.dedup();
    for constraint in constraints {
        out.header("[[tool.cuda-lock.constraints]]");
        out.pair("subject", &string(&constraint.subject));
        out.pair("package", &string(&constraint.package));
        out.pair("range", &string(&constraint.range));
        out.pair("reason", &string(&constraint.reason));
        out.strings("sources", &constraint.sources);
    }
}

/// What is built, and what was passed over.
fn write_sdists(out: &mut Writer, tool: &LockMetadata) {
    let mut built: Vec<_> = tool.built.iter().collect();
    built.sort_unstable();
    for package in built {
        out.header("[[tool.cuda-lock.built]]");
        out.pair("name", &string(&package.name));
        out.pair("requirements", &string(&package.requirements));
        out.strings("needs", &package.needs);
        if package.in_environment {
            out.pair("in-environment", "true");
        }
    }
    let mut passed: Vec<_> = tool.passed_over.iter().collect();
    passed.sort_unstable();
    for release in passed {
        out.header("[[tool.cuda-lock.passed-over]]");
        out.pair("name", &string(&release.name));
        out.pair("version", &string(&release.version));
        out.pair("text", &string(&release.text));
    }
}

fn write_machine(out: &mut Writer, machine: &LockedMachine) {
    out.header("[tool.cuda-lock.machine]");
    out.pair("platform", &string(machine.platform.as_str()));
    let display = |version: &_| ToString::to_string(version);
    out.text("glibc", machine.glibc.as_ref().map(display).as_deref());
    out.text("musl", machine.musl.as_ref().map(display).as_deref());
    out.text("driver", machine.driver.as_ref().map(display).as_deref());
    if let Some(gpus) = &machine.gpus {
        let gpus: Vec<String> = gpus.iter().map(|gpu| string(gpu)).collect();
        out.list("gpus", &gpus, false);
    }
    out.text(
        "libraries",
        Some(match machine.libraries {
            Libraries::Wheels => "wheels",
            Libraries::System => "system",
        }),
    );
    out.text("image", machine.image.as_deref());
}

/// The text so far.
#[derive(Default)]
struct Writer(String);

impl Writer {
    fn header(&mut self, header: &str) {
        self.0.push('\n');
        self.0.push_str(header);
        self.0.push('\n');
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.0.push_str(key);
        self.0.push_str(" = ");
        self.0.push_str(value);
        self.0.push('\n');
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.pair(key, &string(value));
        }
    }

    /// A list of strings; nothing when it is empty.
    fn strings(&mut self, key: &str, values: &[String]) {
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| string(value)).collect();
            self.list(key, &values, false);
        }
    }

    fn list(&mut self, key: &str, items: &[String], tall: bool) {
        let width: usize = items.iter().map(|item| item.len() + 2).sum();
        if !tall && key.len() + 5 + width <= WIDTH {
            self.pair(key, &format!("[{}]", items.join(", ")));
            return;
        }
        let mut text = String::from("[\n");
        for item in items {
            text.push_str("    ");
            text.push_str(item);
            text.push_str(",\n");
        }
        text.push(']');
        self.pair(key, &text);
    }
}

/// An inline table so far.
#[derive(Default)]
struct Inline(String);

impl Inline {
    fn raw(&mut self, key: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push_str(", ");
        }
        self.0.push_str(key);
        self.0.push_str(" = ");
        self.0.push_str(value);
    }

    fn text(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.raw(key, &string(value));
        }
    }

    fn url(&mut self, value: Option<&str>) {
        self.text("url", value.map(strip_credentials).as_deref());
    }

    /// PEP 751 wants upload times in UTC; TOML readers know microseconds at best, and indexes publish no more.
    fn time(&mut self, value: Option<jiff::Timestamp>) {
        if let Some(time) = value {
            self.raw("upload-time", &time.to_string());
        }
    }

    fn size(&mut self, value: Option<u64>) {
        if let Some(size) = value {
            self.raw("size", &size.to_string());
        }
    }

    fn hashes(&mut self, hashes: &BTreeMap<String, String>) {
        let mut table = Self::default();
        for (algorithm, digest) in hashes {
            table.text(&key(algorithm), Some(digest));
        }
        self.raw("hashes", &table.finish());
    }

    fn finish(self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", self.0) }
    }
}

/// A key, in quotes where TOML needs them.
fn key(text: &str) -> std::borrow::Cow<'_, str> {
    let bare = !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if bare { text.into() } else { string(text).into() }
}

/// A TOML string on one line. Markers are full of double quotes, so they are written in single ones.
fn string(text: &str) -> String {
    if text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\') {
        return ["\"", text, "\""].concat();
    }
    let plain = !text.chars().any(|c| c.is_control() || c == '\'');
    if plain && text.contains(['"', '\\']) {
        return format!("'{text}'");
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
