//! A report as an env.toml, and what is expected of the message.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Dist, Index, Machines, Project, Replica, Run, Server};
use serde::Deserialize;

use crate::BINARY;

/// Lines of a report above its fixes, sources included.
const LINES: usize = 15;

/// What stands for the address of the index in a message.
const ADDRESS: &str = "http://index.example";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

#[derive(Deserialize)]
struct Fixture {
    builds: Vec<String>,
    wheels: Vec<String>,
    case: Vec<Case>,
    solved: Vec<Solved>,
}

/// A report that has a fix.
#[derive(Deserialize)]
struct Case {
    #[serde(flatten)]
    asked: Asked,
    collide: Vec<String>,
    fix: Vec<String>,
    better: Option<String>,
}

/// A report that is no conflict here.
#[derive(Deserialize)]
struct Solved {
    #[serde(flatten)]
    asked: Asked,
    locks: Vec<String>,
}

/// What a report asks for.
#[derive(Deserialize)]
struct Asked {
    id: String,
    python: String,
    platform: Option<String>,
    #[serde(default)]
    machine: Vec<String>,
    dependencies: Vec<String>,
    backends: Option<Vec<String>>,
    indexes: Option<Vec<String>>,
    #[serde(default)]
    tables: Vec<String>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let text = std::fs::read_to_string(folder("fixtures").join("unsolvable.toml")).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}", error.message()))
});

/// One server for all cases, so that they share a cache.
static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let read = |name: &str| folder("recordings").join(name);
    let mut replica = Replica::read(&read("pytorch-2026-11-30.json.gz"));
    for line in &FIXTURE.builds {
        let (file, requires) = line.split_once(": ").unwrap_or((line, ""));
        let (backend, wheel) = file.split_once(' ').unwrap();
        let (name, version, _) = parts(wheel);
        let mut text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        if !requires.is_empty() {
            text += &format!("Requires-Dist: {requires}\n");
        }
        replica = replica.with(backend, name, wheel, &text);
    }
    let more = Index::from_recording(&read("unsolvable-2026-11-30.json.gz"));
    let mut index = Index::from_recording(&read("index-2026-11-30.json.gz")).with_projects_of(more);
    for wheel in &FIXTURE.wheels {
        let (name, version, tags) = parts(wheel);
        index = index.release(name, version, Dist::wheel_for(tags));
    }
    Server::start(Arc::new(index.with_replica(replica)))
});

static CACHE: LazyLock<String> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unsolvable-cache");
    let _ = std::fs::remove_dir_all(&folder);
    folder.to_string_lossy().into_owned()
});

/// Name, version and tags of a wheel.
fn parts(wheel: &str) -> (&str, &str, &str) {
    let mut parts = wheel.trim_end_matches(".whl").splitn(3, '-');
    let mut part = || parts.next().unwrap_or_else(|| panic!("{wheel} is no wheel"));
    (part(), part(), part())
}

/// The cases by their names.
pub fn ids() -> impl Iterator<Item = &'static str> {
    FIXTURE.case.iter().map(|case| case.asked.id.as_str())
}

/// What is printed for a case, after everything that the fixture expects of it was found there.
pub fn checked(id: &str) -> String {
    let case = FIXTURE.case.iter().find(|case| case.asked.id == id);
    let case = case.unwrap_or_else(|| panic!("no case {id}"));
    let printed = case.asked.print();
    let (facts, fixes) = printed.split_once("help: ").unwrap_or((&printed, ""));
    for words in &case.collide {
        assert!(facts.contains(words), "{words:?} is not said:\n{printed}");
    }
    let lines = facts.trim().lines().count();
    assert!(lines <= LINES, "{lines} lines:\n{printed}");
    let fixes = fixes.split("\n  ").collect::<Vec<_>>().join("\n");
    let fixes: Vec<String> = numbered(&fixes);
    let is_wanted = |fix: &&String| case.fix.iter().all(|words| fix.contains(words));
    let fix = fixes.iter().find(is_wanted);
    let why = case.better.as_deref().unwrap_or("it is the fix of the report");
    let fix = fix.unwrap_or_else(|| panic!("no fix has all of {:?} ({why}):\n{printed}", case.fix));
    case.asked.resolves_with(fix);
    printed
}

/// What is printed for a case.
pub fn printed(id: &str) -> String {
    let case = FIXTURE.case.iter().find(|case| case.asked.id == id);
    case.unwrap_or_else(|| panic!("no case {id}")).asked.print()
}

/// Resolves every report that is no conflict, and looks for what its fix asks for.
pub fn solve_the_solved() {
    for Solved { asked, locks } in &FIXTURE.solved {
        let run = asked.resolve(&asked.manifest()).expect(0);
        for pin in locks {
            let is_there = run.stdout.lines().any(|line| line == pin);
            assert!(is_there, "{}: no {pin} in\n{}", asked.id, run.stdout);
        }
    }
}

/// The fixes, each with all its lines.
fn numbered(text: &str) -> Vec<String> {
    let mut fixes: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let is_first = line.split_once(". ").is_some_and(|(n, _)| n.parse::<usize>().is_ok());
        if is_first {
            fixes.push(line.split_once(". ").unwrap().1.to_owned());
        } else if let Some(fix) = fixes.last_mut().filter(|_| line.starts_with("env.toml")) {
            *fix = format!("{fix}\n{line}");
        }
    }
    fixes
}

impl Asked {
    fn manifest(&self) -> String {
        let dependencies: Vec<&str> = self.dependencies.iter().map(String::as_str).collect();
        let mut machine = Machines::new(&SERVER).python(&self.python).depends(&dependencies);
        if let Some(platform) = &self.platform {
            machine = machine.platform(platform);
        }
        for line in &self.machine {
            machine = machine.machine(line);
        }
        if let Some(backends) = &self.backends {
            machine = machine.pytorch(&match backends.as_slice() {
                [] => "backends = false".to_owned(),
                some => format!("backends = {some:?}"),
            });
        }
        if let Some(indexes) = &self.indexes {
            machine = machine.table(&format!("[options]\nonly-indexes = {indexes:?}"));
        }
        machine.table(&self.tables.join("\n")).to_string()
    }

    fn resolve(&self, manifest: &str) -> Run {
        let project = Project::new(BINARY, manifest);
        project.run(&["resolve", "--dry-run", "--cache-dir", &CACHE])
    }

    fn print(&self) -> String {
        let run = self.resolve(&self.manifest()).expect(1);
        run.stderr.replace(&SERVER.at(""), ADDRESS).trim().to_owned()
    }

    /// Makes the changes of a printed fix, and resolves.
    fn resolves_with(&self, fix: &str) {
        let mut lines: Vec<String> = self.manifest().lines().map(str::to_owned).collect();
        let mut more: Vec<(String, String)> = Vec::new();
        for edit in fix.lines() {
            let edit = edit.split("  gives ").next().unwrap();
            let (place, words) = edit.split_once(": ").unwrap();
            let (table, words) = match words.split_once("] ") {
                Some((table, words)) if table.starts_with('[') => (format!("{table}]"), words),
                _ => (String::new(), words),
            };
            let (key, words) = words.split_once(' ').unwrap();
            match place.strip_prefix("env.toml:") {
                Some(number) => {
                    let line = &mut lines[number.parse::<usize>().unwrap() - 1];
                    *line = changed(line, words);
                }
                None => {
                    more.push((table, format!("{key} = {}", words.strip_prefix("add ").unwrap())))
                }
            }
        }
        for (table, line) in more {
            match lines.iter().position(|line| *line == table) {
                Some(place) => lines.insert(place + 1, line),
                None => lines.extend([table, line]),
            }
        }
        let text = lines.join("\n");
        let run = self.resolve(&text);
        assert_eq!(run.code, 0, "{}: {fix}\n{text}\n{}", self.id, run.stderr);
    }
}

/// A line with `NEW instead of OLD` or `remove OLD` done.
fn changed(line: &str, words: &str) -> String {
    let (old, new) = match words.split_once(" instead of ") {
        Some((new, old)) => (old, new.trim_end_matches(" or newer")),
        None => (words.strip_prefix("remove ").unwrap(), ""),
    };
    assert!(line.contains(old), "{old} is not in {line}");
    if new.is_empty() { String::new() } else { line.replacen(old, new, 1) }
}
