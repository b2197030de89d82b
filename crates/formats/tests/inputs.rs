//! Odd input files and what a correct reader makes of them.
//!
//! `fixtures/inputs/expected.jsonl` says for each file how pip 26.3 reads it (entries, options, the first error) and, in
//! `all_entries` and `all_errors`, what there is to be found after the error at which pip stops.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cuda_lock_formats::input::{
    Entry, FileLoader, Input, Level, LoadError, Location, ProblemCode, SourceTarget, read,
};
use serde_json::Value;

struct Fixtures(PathBuf);

impl FileLoader for Fixtures {
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        std::fs::read(self.0.join(path)).map_err(|e| LoadError(e.to_string()))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inputs")
}

fn expectations() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("expected.jsonl")).expect("the expectations");
    text.lines().map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

fn input(file: &str) -> Input {
    let bytes = std::fs::read(folder().join(file)).expect("the fixture");
    read(&bytes, file, &Fixtures(folder()))
}

fn expected(file: &str) -> Value {
    expectations().into_iter().find(|e| e["file"] == file).expect("an expectation")
}

/// A specifier as the set of its clauses.
fn clauses(text: &str) -> BTreeSet<String> {
    text.split(',').filter(|c| !c.is_empty()).map(str::to_owned).collect()
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|v| text_of(v).to_owned()).collect()
}

fn location_text(location: &Location) -> String {
    match location {
        Location::Url(text) | Location::Path(text) => text.clone(),
        Location::Vcs { url, reference, .. } => {
            reference.as_ref().map_or(url.clone(), |reference| format!("{url}@{reference}"))
        }
    }
}

fn check_entry(input: &Input, entry: &Entry, expected: &Value, file: &str) {
    let at = format!("{file}: {expected}");
    assert_eq!(entry.name.map(|n| n.as_str()), expected["name"].as_str(), "{at}");
    if let Some(line) = expected["line"].as_u64() {
        assert_eq!(input.position(entry.span).line as u64, line, "{at}");
    }
    if let Some(in_file) = expected["file"].as_str() {
        assert_eq!(input.files[entry.span.file].name, in_file, "{at}");
    }
    if expected["url"].is_null() || expected["url"].as_str().is_some_and(|u| u.starts_with("git+"))
    {
        assert_eq!(clauses(&entry.specifier), clauses(text_of(&expected["specifier"])), "{at}");
    } else if let Some(specifier) = expected["specifier"].as_str() {
        assert_eq!(format!("=={}", entry.locked.as_deref().unwrap_or("?")), specifier, "{at}");
    }
    if let Some(url) = expected["url"].as_str() {
        let found = entry.location.as_ref().map(location_text).unwrap_or_default();
        let plain = url.split('#').next().unwrap_or_default();
        assert!(
            found == plain || Some(found.as_str()) == plain.strip_prefix("file:///"),
            "{at}: {found}"
        );
        if let Some(hash) = url.split_once("#sha256=") {
            assert_eq!(entry.hashes[0].text, format!("sha256:{}", hash.1), "{at}");
        }
    }
    if let Some(path) = expected["path"].as_str() {
        assert_eq!(entry.location.as_ref().map(location_text).as_deref(), Some(path), "{at}");
    }
    if let Some(folder) = expected["subdirectory"].as_str() {
        let Some(Location::Vcs { subdirectory, .. }) = &entry.location else { panic!("{at}") };
        assert_eq!(subdirectory.as_deref(), Some(folder), "{at}");
    }
    assert_eq!(entry.marker.as_deref(), expected["marker"].as_str(), "{at}");
    assert_eq!(
        entry.extras.iter().map(|e| e.to_string()).collect::<Vec<_>>(),
        strings(&expected["extras"]),
        "{at}"
    );
    if !expected["hashes"].is_null() {
        let hashes: Vec<String> = entry.hashes.iter().map(|h| h.text.clone()).collect();
        assert_eq!(hashes, strings(&expected["hashes"]), "{at}");
        for hash in &entry.hashes {
            assert!(input.text(hash.span).starts_with("sha256"), "{at}");
        }
    }
    if let Some(settings) = expected["config_settings"].as_object() {
        for (key, value) in settings {
            assert!(
                entry.settings.iter().any(|s| s.key == *key && s.value == text_of(value)),
                "{at}"
            );
        }
    }
    assert_eq!(entry.editable, expected["editable"].as_bool().unwrap_or(false), "{at}");
    // The places lead back to the text.
    if !entry.raw_name.is_empty() && entry.location.is_none() {
        assert!(input.text(entry.name_span).contains(&entry.raw_name), "{at}");
    }
    if let Some(version) = entry.version_span {
        let text = input.text(version).replace("%2B", "+");
        let known = entry
            .locked
            .clone()
            .unwrap_or_else(|| entry.specifier.trim_start_matches('=').to_owned());
        assert!(known.contains(&text), "{at}: {text}");
    }
}

fn check_requirements(expected: &Value) {
    let file = text_of(&expected["file"]);
    let input = input(file);
    let lines = |level: Level| -> Vec<u64> {
        let found: BTreeSet<u64> = input
            .problems
            .iter()
            .filter(|p| p.level == level)
            .map(|p| input.position(p.span).line as u64)
            .collect();
        found.into_iter().collect()
    };

    let errors: Vec<u64> =
        expected["all_errors"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    assert_eq!(lines(Level::Error), errors, "{file}: {:#?}", input.problems);
    let error = &expected["expected_error"];
    if let Some(line) = error["line"].as_u64() {
        let in_file = error["file"].as_str().unwrap_or(file);
        let found = input.problems.iter().find(|p| {
            input.position(p.span).line as u64 == line && input.files[p.span.file].name == in_file
        });
        let found = found.unwrap_or_else(|| panic!("{file}: nothing at line {line}"));
        let code = match text_of(&error["about"]) {
            about if about.contains("decode") => ProblemCode::Encoding,
            about if about.contains("includes itself") => ProblemCode::Include,
            about if about.contains("option") => ProblemCode::Option,
            about if about.contains("path ") || about.contains("not a valid editable") => {
                ProblemCode::Unknown
            }
            _ => ProblemCode::Syntax,
        };
        assert_eq!(found.code, code, "{file}");
    }
    for warning in expected["warnings"].as_array().into_iter().flatten() {
        let code = match text_of(&warning[1]) {
            "swallowed" => ProblemCode::Swallowed,
            "never-true" => ProblemCode::NeverTrue,
            _ => ProblemCode::Option,
        };
        assert!(
            input.problems.iter().any(|p| p.code == code
                && p.level == Level::Warning
                && Some(input.position(p.span).line as u64) == warning[0].as_u64()),
            "{file}: {warning}"
        );
    }
    let warned: Vec<u64> = expected["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|w| w[0].as_u64())
        .collect();
    assert_eq!(lines(Level::Warning), warned, "{file}: {:#?}", input.problems);

    let list = if expected["auditor_entries"].is_null() {
        &expected["entries"]
    } else {
        &expected["auditor_entries"]
    };
    let mut seen = BTreeSet::new();
    let (mut entries, mut constraints) = (input.entries.iter(), input.constraints.iter());
    for wanted in list.as_array().into_iter().flatten() {
        // A file that is named twice as constraints is read once.
        if !seen.insert(wanted.to_string()) {
            continue;
        }
        let is_constraint = wanted["constraint"].as_bool().unwrap_or(false);
        let entry = if is_constraint { constraints.next() } else { entries.next() };
        check_entry(&input, entry.unwrap_or_else(|| panic!("{file}: no {wanted}")), wanted, file);
    }
    let all: Vec<(u64, Option<&str>)> = input
        .entries
        .iter()
        .chain(&input.constraints)
        .map(|e| (input.position(e.span).line as u64, e.name.map(|n| n.as_str())))
        .collect();
    match expected["all_entries"].as_array() {
        Some(wanted) => {
            let wanted: Vec<(u64, Option<&str>)> =
                wanted.iter().map(|e| (e[0].as_u64().unwrap_or(0), e[1].as_str())).collect();
            assert_eq!(all, wanted, "{file}");
        }
        None => assert_eq!(all.len(), seen.len(), "{file}: {all:?}"),
    }

    let options = &input.indexes[0];
    let index = expected["index_url"].as_str().filter(|i| *i != "default");
    assert_eq!(options.index_url.as_deref(), index, "{file}");
    for (key, found) in [
        ("extra_index_urls", &options.extra_index_urls),
        ("find_links", &options.find_links),
        ("trusted_hosts", &options.trusted_hosts),
        ("no_binary", &options.no_binary),
        ("only_binary", &options.only_binary),
    ] {
        assert_eq!(*found, strings(&expected[key]), "{file}: {key}");
    }
    for (key, found) in [
        ("pre", options.pre),
        ("prefer_binary", options.prefer_binary),
        ("require_hashes", options.require_hashes),
    ] {
        assert_eq!(found, expected[key].as_bool().unwrap_or(false), "{file}: {key}");
    }
}

#[test]
fn requirements_files_are_read_like_pip_reads_them() {
    let mut count = 0;
    for expected in expectations().iter().filter(|e| e["format"] == "requirements") {
        check_requirements(expected);
        count += 1;
    }
    assert_eq!(count, 43);
}
