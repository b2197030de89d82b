//! Odd input files and what a correct reader makes of them.
//!
//! `fixtures/inputs/expected.jsonl` says for each file how pip 26.3 reads it (entries, options, the first error) and, in
//! `all_entries`, `all_errors` and `all_extra_index_urls`, what there is to be found after the error at which pip stops.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cuda_lock_constraint::requirement::{Marker, Mode, Parts};
use cuda_lock_formats::input::{
    Entry, FileLoader, Group, Input, Kind, Level, LoadError, Location, MemoryLoader, Origin,
    ProblemCode, SourceTarget, read, read_as,
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
        // pip prints `file:.` with an empty host.
        let shown = found.strip_prefix("file:").filter(|rest| !rest.starts_with("//"));
        let shown = shown.map_or(found.clone(), |rest| format!("file:///{rest}"));
        assert_eq!(shown, plain, "{at}");
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
        let after_errors = &expected[format!("all_{key}")];
        let wanted = if after_errors.is_null() { &expected[key] } else { after_errors };
        assert_eq!(*found, strings(wanted), "{file}: {key}");
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

/// Every entry as `name specifier`, with extras and marker.
fn summary(input: &Input) -> Vec<String> {
    input.entries.iter().map(line_of).collect()
}

fn line_of(entry: &Entry) -> String {
    let mut text = entry.raw_name.clone();
    if !entry.extras.is_empty() {
        let extras: Vec<String> = entry.extras.iter().map(ToString::to_string).collect();
        text += &format!("[{}]", extras.join(","));
    }
    text += &entry.specifier;
    if let Some(locked) = &entry.locked {
        text += &format!(" ={locked}");
    }
    if let Some(marker) = &entry.marker {
        text += &format!("; {marker}");
    }
    text
}

fn lines_of(input: &Input) -> Vec<usize> {
    input.entries.iter().map(|e| input.position(e.span).line).collect()
}

fn no_errors(input: &Input) {
    let errors: Vec<_> = input.problems.iter().filter(|p| p.level == Level::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn lists_of_installed_packages() {
    for file in ["33_conda_list_export.txt", "34_conda_explicit.txt", "40_pip_list_table.txt"] {
        let (expected, input) = (expected(file), input(file));
        no_errors(&input);
        let wanted: Vec<_> = expected["entries"].as_array().expect("entries").clone();
        assert_eq!(input.entries.len(), wanted.len(), "{file}");
        for (entry, wanted) in input.entries.iter().zip(&wanted) {
            let at = format!("{file}: {wanted}");
            assert_eq!(entry.raw_name, text_of(&wanted["name"]), "{at}");
            assert_eq!(entry.locked.as_deref(), wanted["version"].as_str(), "{at}");
            assert_eq!(entry.build.as_deref(), wanted["build"].as_str(), "{at}");
            assert_eq!(entry.channel.as_deref(), wanted["channel"].as_str(), "{at}");
            assert_eq!(
                Some(input.position(entry.span).line as u64),
                wanted["line"].as_u64(),
                "{at}"
            );
            assert_eq!(entry.editable, wanted["editable"] == true, "{at}");
            assert_eq!(
                entry.location.is_some() && entry.editable,
                wanted["path"].is_string(),
                "{at}"
            );
            assert_eq!(
                entry.hashes.first().map(|h| h.text.clone()),
                wanted["md5"].as_str().map(|m| format!("md5:{m}")),
                "{at}"
            );
            assert_eq!(entry.origin == Origin::CondaPip, wanted["from_pypi"] == true, "{at}");
            assert_eq!(
                input.text(entry.version_span.expect("a version")),
                text_of(&wanted["version"]),
                "{at}"
            );
        }
    }
}

#[test]
fn environment_yml() {
    let (expected, input) = (expected("35_environment_yml.txt"), input("35_environment_yml.txt"));
    let found: Vec<Value> = input
        .entries
        .iter()
        .map(|e| {
            let mut row = serde_json::json!({"manager": if e.origin == Origin::Conda { "conda" } else { "pip" }});
            let mut set = |key: &str, value: Option<String>| {
                if let Some(value) = value.filter(|v| !v.is_empty()) {
                    row[key] = value.into();
                }
            };
            set("name", Some(e.raw_name.clone()));
            set("specifier", Some(e.specifier.clone()));
            set("channel", e.channel.clone());
            set("marker", e.marker.clone());
            set("path", e.location.as_ref().map(location_text));
            if e.editable {
                row["editable"] = true.into();
            }
            row
        })
        .collect();
    let wanted: Vec<Value> = expected["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .filter(|e| e["include"].is_null())
        .cloned()
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(input.indexes[0].channels, strings(&expected["channels"]));
    assert_eq!(input.indexes[0].extra_index_urls, strings(&expected["extra_index_urls"]));
    assert_eq!(input.includes[0].path, "requirements-extra.txt");
    let variable = &input.environments[0].variables[0];
    assert_eq!(
        (variable.key.as_str(), variable.value.as_str()),
        ("LD_LIBRARY_PATH", "/usr/local/cuda-11.8/lib64")
    );
    assert_eq!(input.python.as_ref().map(|p| p.specifiers.as_str()), Some("==3.10.*"));
    let errors: Vec<usize> = input
        .problems
        .iter()
        .filter(|p| p.level == Level::Error)
        .map(|p| input.position(p.span).line)
        .collect();
    assert_eq!(errors, [18]);
    assert_eq!(lines_of(&input), [7, 8, 9, 10, 11, 12, 13, 16, 17, 19, 20]);
    assert_eq!(input.text(input.entries[2].version_span.expect("a version")), "2.2.2");
}

#[test]
fn pyproject_of_uv() {
    let (expected, input) = (expected("36_pyproject_uv.txt"), input("36_pyproject_uv.txt"));
    no_errors(&input);
    assert_eq!(
        input.python.as_ref().map(|p| p.specifiers.as_str()),
        expected["requires_python"].as_str()
    );
    let of = |group: &Group| -> Vec<String> {
        input.entries.iter().filter(|e| e.group == *group).map(line_of).collect()
    };
    assert_eq!(of(&Group::Main), ["numpy>=1.26", "onnx<1.18"]);
    for extra in ["cpu", "gpu"] {
        let wanted: Vec<String> =
            strings(&expected["extras"][extra]).iter().map(|r| r.replace('\'', "\"")).collect();
        assert_eq!(of(&Group::Extra(extra.to_owned())), wanted);
    }
    let dev: Vec<String> =
        input.groups_of("dev").into_iter().flat_map(|g| of(&Group::Group(g))).collect();
    assert_eq!(dev, strings(&expected["groups"]["dev"]));
    assert_eq!(
        input.conflicts,
        [vec![Group::Extra("cpu".to_owned()), Group::Extra("gpu".to_owned())]]
    );
    assert_eq!(
        input.overrides.iter().map(line_of).collect::<Vec<_>>(),
        strings(&expected["overrides"])
    );
    for (index, wanted) in
        input.indexes[0].named.iter().zip(expected["indexes"].as_array().expect("indexes"))
    {
        assert_eq!(
            (index.name.as_str(), index.url.as_str()),
            (text_of(&wanted["name"]), text_of(&wanted["url"]))
        );
        assert_eq!(Some(index.explicit), wanted["explicit"].as_bool());
    }
    for (name, wanted) in expected["sources"].as_object().expect("sources") {
        let entry = input.entries.iter().find(|e| e.raw_name == *name).expect("an entry");
        let wanted = wanted.as_array().expect("a list");
        assert_eq!(entry.sources.len(), wanted.len());
        for (source, wanted) in entry.sources.iter().zip(wanted) {
            assert_eq!(source.target, SourceTarget::Index(text_of(&wanted["index"]).to_owned()));
            assert_eq!(source.extra.as_deref(), wanted["extra"].as_str());
            assert_eq!(source.marker.as_deref(), wanted["marker"].as_str());
        }
    }
    assert_eq!(lines_of(&input), [6, 7, 11, 11, 11, 12, 12, 12, 15, 16]);
}

#[test]
fn pyproject_of_poetry() {
    let (expected, input) = (expected("37_pyproject_poetry.txt"), input("37_pyproject_poetry.txt"));
    no_errors(&input);
    assert_eq!(
        input.python.as_ref().map(|p| p.specifiers.as_str()),
        expected["requires_python"].as_str()
    );
    let wanted = expected["entries"].as_array().expect("entries");
    assert_eq!(input.entries.len(), wanted.len());
    for (entry, wanted) in input.entries.iter().zip(wanted) {
        assert_eq!(entry.raw_name, text_of(&wanted["name"]));
        let specifiers = entry.specifiers().expect("specifiers");
        let specifiers: Vec<String> = specifiers.iter().map(ToString::to_string).collect();
        assert_eq!(specifiers.join(","), text_of(&wanted["specifier"]), "{wanted}");
        let marker = wanted["marker"].as_str().map(|m| m.replace('\'', "\""));
        assert_eq!(entry.marker, marker);
        assert_eq!(entry.location.as_ref().map(location_text).as_deref(), wanted["url"].as_str());
        assert_eq!(entry.optional, wanted["optional"] == true);
        let source = wanted["source"].as_str().map(|s| SourceTarget::Index(s.to_owned()));
        assert_eq!(entry.sources.first().map(|s| s.target.clone()), source);
    }
    assert_eq!(input.entries[4].group, Group::Extra("gpu".to_owned()));
    assert_eq!(input.entries[2].pinned().map(|v| v.to_string()).as_deref(), Some("2.3.1"));
    assert!(input.indexes[0].named[0].explicit);
}

#[test]
fn dockerfile() {
    let (expected, input) = (expected("38_dockerfile.txt"), input("38_dockerfile.txt"));
    let stages: Vec<(&str, &str)> = input
        .environments
        .iter()
        .map(|e| (e.name.as_str(), e.image.as_ref().map_or("", |i| i.reference.as_str())))
        .collect();
    let wanted: Vec<(&str, &str)> = expected["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .map(|s| (text_of(&s["name"]), text_of(&s["image"])))
        .collect();
    assert_eq!(stages, wanted);
    assert_eq!(
        summary(&input),
        [
            "torch==2.3.1+cu118",
            "torchvision==0.18.1+cu118",
            "onnxruntime-gpu>=1.19",
            "xformers==0.0.27",
            "numpy<2"
        ]
    );
    assert_eq!(lines_of(&input), [9, 9, 10, 13, 15]);
    let extra = strings(&serde_json::json!([expected["env"]["PIP_EXTRA_INDEX_URL"]]));
    assert_eq!(
        input.indexes_of(&input.entries[0]).map(|o| o.extra_index_urls.clone()),
        Some(extra)
    );
    let xformers = &input.entries[3];
    assert!(xformers.no_deps);
    assert_eq!(
        input.indexes_of(xformers).and_then(|o| o.index_url.as_deref()),
        Some("https://download.pytorch.org/whl/cu118")
    );
    assert_eq!(input.text(input.entries[0].version_span.expect("a version")), "${TORCH}+cu118");
    assert_eq!(input.includes[0].path, "/opt/app/requirements.txt");
    let not_read =
        input.problems.iter().find(|p| p.code == ProblemCode::Include).expect("a problem");
    assert!(not_read.message.starts_with("cannot read requirements.txt: "), "{}", not_read.message);
    let packages: Vec<&str> =
        input.environments[0].system_packages.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(packages, ["python3-pip"]);
    no_errors(&input);
}

#[test]
fn gitlab_ci() {
    let (expected, input) = (expected("39_gitlab_ci.txt"), input("39_gitlab_ci.txt"));
    let jobs: Vec<&str> = input.environments.iter().map(|e| e.name.as_str()).collect();
    let wanted: Vec<String> = expected["matrix"]
        .as_array()
        .expect("a matrix")
        .iter()
        .map(|row| format!("test (PY={}, TORCH={})", text_of(&row["PY"]), text_of(&row["TORCH"])))
        .collect();
    assert_eq!(jobs, wanted);
    for (environment, entry) in input.environments.iter().zip(&input.entries) {
        assert_eq!(
            environment.image.as_ref().map(|i| i.reference.as_str()),
            expected["image"].as_str()
        );
        let options = input.indexes_of(entry).expect("options");
        assert_eq!(options.index_url.as_deref(), expected["index_url"].as_str());
        assert_eq!(options.extra_index_urls, strings(&expected["extra_index_urls"]));
    }
    assert_eq!(summary(&input), ["torch==2.1.2", "torch==2.5.1", "torch==2.1.2", "torch==2.5.1"]);
    assert_eq!(input.includes.len(), 4);
    no_errors(&input);
}

#[test]
fn uv_lock() {
    let (expected, input) = (expected("43_uv_lock_excerpt.txt"), input("43_uv_lock_excerpt.txt"));
    no_errors(&input);
    for (entry, wanted) in
        input.entries.iter().zip(expected["entries"].as_array().expect("entries"))
    {
        assert_eq!(entry.raw_name, text_of(&wanted["name"]));
        assert_eq!(entry.locked.as_deref(), wanted["version"].as_str());
        let registry = SourceTarget::Registry(text_of(&wanted["registry"]).to_owned());
        assert_eq!(entry.sources[0].target, registry);
        assert_eq!(entry.marker, wanted["marker"].as_str().map(|m| m.replace('\'', "\"")));
        let tags = strings(&wanted["wheels"]);
        assert_eq!(entry.wheels.len(), tags.len());
        for (wheel, tag) in entry.wheels.iter().zip(tags) {
            assert!(wheel.file_name.ends_with(&format!("{tag}.whl")), "{}", wheel.file_name);
        }
    }
    assert_eq!(input.entries[0].wheels[0].hash, None);
    assert!(input.entries[1].wheels[0].file_name.starts_with("torch-2.5.1+cu124-"));
    assert!(input.entries[1].wheels[0].hash.as_deref().is_some_and(|h| h.starts_with("sha256:f")));
    assert_eq!(lines_of(&input), [6, 15]);
}

/// `fixtures/pip-verdicts.jsonl` holds small files put together at random and how pip 26.3 reads each of them: `error`,
/// or `name|extras|specifiers|marker` of every requirement.
#[test]
fn small_files_get_the_verdict_of_pip() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pip-verdicts.jsonl");
    let mut count = 0;
    for line in std::fs::read_to_string(path).expect("the verdicts").lines() {
        let case: Value = serde_json::from_str(line).expect("valid JSON");
        let input = read_as(
            Kind::Requirements,
            text_of(&case["text"]).as_bytes(),
            "requirements.txt",
            &MemoryLoader::default(),
        );
        let refused = input.problems.iter().any(|p| p.level == Level::Error);
        let found: Value = if refused {
            "error".into()
        } else {
            let row = |e: &Entry| {
                let extras: Vec<String> = e.extras.iter().map(ToString::to_string).collect();
                let specifiers: Vec<String> = clauses(&e.specifier).into_iter().collect();
                let name = e.name.map_or("", |n| n.as_str());
                let marker = e.marker.as_deref().unwrap_or_default();
                format!("{name}|{}|{}|{marker}", extras.join(","), specifiers.join(","))
            };
            input.entries.iter().map(row).collect()
        };
        assert_eq!(found, case["pip_26_3"], "{}", case["text"]);
        count += 1;
    }
    assert_eq!(count, 800);
}

/// What pip reads in a line means the same to the solver, which reads requirements with repairs.
#[test]
fn what_pip_reads_is_read_alike_in_both_modes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pip-verdicts.jsonl");
    let mut count = 0;
    for line in std::fs::read_to_string(path).expect("the verdicts").lines() {
        let case: Value = serde_json::from_str(line).expect("valid JSON");
        for row in case["pip_26_3"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let [name, extras, specifiers, marker] =
                row.splitn(4, '|').collect::<Vec<_>>()[..].try_into().expect("four parts");
            // An address or a path has no name.
            if name.is_empty() {
                continue;
            }
            let mut text = format!("{name}[{extras}]{specifiers}");
            if !marker.is_empty() {
                text.push_str(&format!(" ; {marker}"));
            }
            let strict = Parts::read(&text, Mode::Strict).unwrap_or_else(|e| panic!("{e}"));
            // `===` with a text that is no version is for pip alone.
            let arbitrary = strict.clauses.iter().any(|clause| clause.specifier.is_none());
            for mode in [Mode::Strict, Mode::Repair].into_iter().take(2 - usize::from(arbitrary)) {
                let parts = Parts::read(&text, mode).unwrap_or_else(|e| panic!("{mode:?} {e}"));
                let extras_read: Vec<_> = parts.extras.iter().map(|(e, _)| e.as_str()).collect();
                assert_eq!(extras_read.join(","), extras, "{text} {mode:?}");
                let clauses: Vec<_> = parts
                    .clauses
                    .iter()
                    .map(|c| text[c.operator.start..c.version.end].to_owned())
                    .collect();
                assert_eq!(clauses.join(","), specifiers, "{text} {mode:?}");
                let read = parts.marker.map(|at| text[at].parse::<Marker>().expect("read before"));
                let canonical = read.map(|m| m.canonical()).unwrap_or_default();
                assert_eq!(canonical, marker, "{text} {mode:?}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 95);
}
