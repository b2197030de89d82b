//! No fault hides another: what an audit says of a file, it says of every file that holds the same lines beside others, as
//! long as the same builds are installed.
//!
//! The files are those of `fixtures/cases.jsonl`, `fixtures/more_cases.jsonl` and `fixtures/faults.jsonl` that name no index.
//! On each machine every file is judged alone; of each set of codes the shortest files are taken, and joined in pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Index, Manifest, Project, Server};
use serde_json::Value;

use crate::BINARY;

/// Machines on which many kinds of faults show.
const MACHINES: [&[&str]; 3] = [
    &["--platform", "linux-x86_64", "--python", "3.10", "--driver", "470.86", "--gpu", "RTX 3090"],
    &["--platform", "linux-x86_64", "--python", "3.10", "--driver", "570.124.06", "--gpu", "V100"],
    &[
        "--platform",
        "windows-x86_64",
        "--python",
        "3.10",
        "--driver",
        "560.76",
        "--gpu",
        "RTX 4090",
    ],
];

/// So many files of each set of codes are joined, the shortest ones.
const EACH: usize = 1;

/// So many of the shortest texts are judged alone: longer ones have more than one fault, mostly.
const TEXTS: usize = 70;

/// What another file may bring: that it is missing is no fault then.
const OF_ABSENCE: [&str; 2] = ["library-missing", "missing-dependency"];

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    Arc::new(Index::from_recording(&folder.join("audit-2026-11-30.json.gz")))
});

/// The texts of the fixtures that are requirements of PyPI and nothing else.
fn texts() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut texts = BTreeSet::new();
    for name in ["cases.jsonl", "more_cases.jsonl", "faults.jsonl"] {
        for line in std::fs::read_to_string(folder.join(name)).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            let text = case["input"].as_str().unwrap();
            let is_plain = |line: &str| !line.starts_with('-') && !line.contains("://");
            if case["file"] == "requirements.txt" && text.lines().all(is_plain) {
                texts.insert(format!("{}\n", text.trim()));
            }
        }
    }
    let mut texts: Vec<String> = texts.into_iter().collect();
    texts.sort_by_key(String::len);
    texts.truncate(TEXTS);
    texts
}

/// What was said of one file: code and build of each finding that is more than a note, and the builds that were judged.
#[derive(Default)]
struct Said {
    findings: BTreeSet<(String, String)>,
    builds: BTreeMap<String, String>,
}

/// Judges files in one run; by name of the file.
fn judged(
    server: &Server,
    files: &BTreeMap<String, String>,
    machine: &[&str],
) -> BTreeMap<String, Said> {
    let project = Project::new(BINARY, Manifest::new(server));
    for (name, text) in files {
        project.write(name, text);
    }
    let (url, cache) = (server.url(), project.path().join("cache"));
    let cache = cache.to_string_lossy();
    let fixed = ["--no-solve", "--format", "json", "--only-index", "PyPI"];
    let mut arguments = vec!["audit", "--default-index", &url, "--cache-dir", &cache];
    arguments.extend(fixed.iter().chain(machine));
    arguments.extend(files.keys().map(String::as_str));
    let run = project.run(&arguments);
    let report: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.stdout, run.stderr));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        let entry = &mut said.entry(text(&finding["file"])).or_default().findings;
        let sharing = finding["sharing"].as_array().into_iter().flatten();
        for package in std::iter::once(&finding["package"]).chain(sharing) {
            if finding["severity"] != "note" {
                entry.insert((text(&finding["code"]), text(package)));
            }
        }
    }
    for build in report["checked"].as_array().unwrap() {
        let entry = said.entry(text(&build["file"])).or_default();
        entry.builds.insert(text(&build["package"]), text(&build["version"]));
    }
    said
}

/// The distributions that a text names.
fn names(text: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        line[..end.unwrap_or(line.len())].to_ascii_lowercase().replace(['_', '.'], "-")
    };
    text.lines().map(name).filter(|name| !name.is_empty()).collect()
}

/// What was compared on one machine.
#[derive(Default)]
struct Compared {
    files: usize,
    codes: BTreeSet<String>,
    hidden: Vec<String>,
}

fn on_machine(texts: &[String], machine: &[&str]) -> Compared {
    let server = Server::start(Arc::clone(&INDEX));
    let singles: BTreeMap<String, String> =
        texts.iter().enumerate().map(|(n, text)| (format!("s{n}.txt"), text.clone())).collect();
    let alone = judged(&server, &singles, machine);
    let mut of_codes: BTreeMap<BTreeSet<&String>, Vec<&String>> = BTreeMap::new();
    for (name, said) in &alone {
        let codes: BTreeSet<&String> = said.findings.iter().map(|(code, _)| code).collect();
        if !codes.is_empty() && codes.len() <= 2 {
            of_codes.entry(codes).or_default().push(name);
        }
    }
    let mut chosen: Vec<&String> = Vec::new();
    for files in of_codes.values_mut() {
        files.sort_by_key(|name| (singles[*name].len(), *name));
        chosen.extend(files.iter().take(EACH));
    }
    let mut pairs: BTreeMap<String, (&String, &String)> = BTreeMap::new();
    let mut joined: BTreeMap<String, String> = BTreeMap::new();
    for (at, one) in chosen.iter().enumerate() {
        for two in &chosen[at + 1..] {
            if names(&singles[*one]).is_disjoint(&names(&singles[*two])) {
                let name = format!("{}-{two}", one.trim_end_matches(".txt"));
                joined.insert(name.clone(), format!("{}{}", singles[*one], singles[*two]));
                pairs.insert(name, (one, two));
            }
        }
    }
    let together = judged(&server, &joined, machine);
    let mut compared = Compared::default();
    for (name, (one, two)) in &pairs {
        let Some(both) = together.get(name) else { continue };
        for file in [one, two] {
            let said = &alone[*file];
            if said.builds.iter().any(|(build, version)| both.builds.get(build) != Some(version)) {
                continue;
            }
            compared.files += 1;
            compared.codes.extend(said.findings.iter().map(|(code, _)| code.clone()));
            let lost = said.findings.difference(&both.findings);
            let lost: Vec<_> =
                lost.filter(|(code, _)| !OF_ABSENCE.contains(&code.as_str())).collect();
            if !lost.is_empty() {
                compared.hidden.push(format!("{machine:?}\n{}lost {lost:?}", joined[name]));
            }
        }
    }
    compared
}

#[test]
fn no_fault_hides_another() {
    let texts = texts();
    let all: Vec<Compared> = std::thread::scope(|scope| {
        let texts = &texts;
        let runs = MACHINES.map(|machine| scope.spawn(move || on_machine(texts, machine)));
        runs.map(|run| run.join().unwrap()).into_iter().collect()
    });
    let files: usize = all.iter().map(|compared| compared.files).sum();
    let codes: BTreeSet<&String> = all.iter().flat_map(|compared| &compared.codes).collect();
    let hidden: Vec<&str> =
        all.iter().flat_map(|compared| &compared.hidden).map(String::as_str).collect();
    assert!(files > 200 && codes.len() >= 10, "{files} compared, {codes:?}");
    assert!(hidden.is_empty(), "{} of {files}:\n{}", hidden.len(), hidden.join("\n\n"));
}

/// The findings of one file that are errors.
fn errors(name: &str, text: &str, machine: &[&str]) -> Vec<Value> {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, Manifest::new(&server));
    project.write(name, text);
    let (url, cache) = (server.url(), project.path().join("cache"));
    let cache = cache.to_string_lossy();
    let fixed = ["--no-solve", "--format", "json", "--only-index", "PyPI"];
    let mut arguments = vec!["audit", name, "--default-index", &url, "--cache-dir", &cache];
    arguments.extend(fixed.iter().chain(machine));
    let run = project.run(&arguments);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["severity"] == "error").cloned().collect()
}

#[test]
fn one_cause_is_one_finding_that_names_everything_it_concerns() {
    let wheels = "nvidia-cublas==13.0.2.14\nnvidia-cufft==12.0.0.61\nnvidia-curand==10.4.0.35\n";
    for text in ["torch==2.11.0\n", wheels] {
        let found = errors("requirements.txt", text, MACHINES[1]);
        let gpu: Vec<&Value> =
            found.iter().filter(|finding| finding["code"] == "no-kernel-image").collect();
        assert_eq!(gpu.len(), 1, "{text}{found:#?}");
        let sharing = gpu[0]["sharing"].as_array().map_or(0, Vec::len);
        // Those of the file, and what their METADATA brings along.
        assert!(sharing >= text.lines().count() - 1, "{found:#?}");
    }
}

#[test]
fn the_driver_is_said_of_every_build_that_asks_for_a_newer_one() {
    let found = errors("requirements.txt", "onnxruntime-gpu==1.20.0\ntorch==2.3.1\n", MACHINES[0]);
    let about: BTreeSet<&str> = found
        .iter()
        .filter(|finding| finding["code"] == "driver-too-old")
        .map(|finding| finding["package"].as_str().unwrap())
        .collect();
    assert_eq!(about, BTreeSet::from(["onnxruntime-gpu", "torch"]));
}

#[test]
fn a_wheel_of_cudnn_serves_in_an_image_without_one() {
    for (cuda, version, wheel) in [
        ("13.0.0", "1.31.1", "nvidia-cudnn-cu13==9.14.0.64"),
        ("12.4.1", "1.20.0", "nvidia-cudnn-cu12==9.1.0.70"),
    ] {
        let text = format!(
            "FROM nvidia/cuda:{cuda}-runtime-ubuntu22.04\nRUN apt-get update && apt-get install -y python3 python3-pip && pip install -U pip\nRUN pip install onnxruntime-gpu=={version} {wheel}\n"
        );
        let machine = ["--platform", "linux-x86_64", "--driver", "580.95.05", "--gpu", "H100"];
        let found = errors("Dockerfile", &text, &machine);
        assert!(found.iter().all(|finding| finding["code"] != "library-missing"), "{found:#?}");
    }
}
