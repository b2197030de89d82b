//! `cuda-lock audit` on public trouble reports: the level of the report and a code of its kind come out.
//!
//! `fixtures/cases.jsonl` holds the reports as facts: the machine as flags, the file, what should be found, and the issue that
//! it is from. Those marked `recorded` can be judged on the recorded index and without PyTorch's; the others need projects
//! that the recording does not hold, or facts that the program does not have.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers included")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Index, Manifest, Project, Run, Server};
use serde_json::Value;

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    Arc::new(Index::from_recording(&folder("recordings").join("index-2026-11-30.json.gz")))
});

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

fn read_json(name: &str) -> Value {
    let text = std::fs::read_to_string(folder("fixtures").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A server of the recorded index, and a folder with one file.
fn project(name: &str, text: &str) -> (Project, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(env!("CARGO_BIN_EXE_cuda-lock"), Manifest::new(&server));
    project.write(name, text);
    (project, server)
}

fn audit(project: &Project, server: &Server, arguments: &[&str]) -> Run {
    let cache = project.path().join("cache");
    let cache = cache.to_string_lossy();
    let url = server.url();
    let fixed = ["audit", "--cache-dir", &cache, "--default-index", &url, "--only-index", "PyPI"];
    project.run(&[&fixed, arguments].concat())
}

fn findings(run: &Run) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.stdout, run.stderr));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap();
    let judged = findings.iter().map(|finding| (text(finding, "severity"), text(finding, "code")));
    judged.filter(|(severity, _)| severity != "note").collect()
}

/// Judges `text` on a machine, and gives severities and codes.
fn judged(name: &str, text: &str, machine: &[&str]) -> Vec<(String, String)> {
    let (project, server) = project(name, text);
    findings(&audit(&project, &server, &[&[name, "--format", "json"], machine].concat()))
}

fn has(found: &[(String, String)], code: &str) -> bool {
    found.iter().any(|(_, other)| other == code)
}

#[test]
fn public_reports_come_out() {
    let kinds = read_json("kinds.json");
    let cases = std::fs::read_to_string(folder("fixtures").join("cases.jsonl")).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["recorded"] != true {
            continue;
        }
        count += 1;
        let flags: Vec<&str> =
            case["flags"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let found = judged(case["file"].as_str().unwrap(), case["input"].as_str().unwrap(), &flags);
        let level = match &found {
            found if found.iter().any(|(severity, _)| severity == "error") => "error",
            found if !found.is_empty() => "warn",
            _ => "ok",
        };
        let kind = case["kind"].as_str().unwrap();
        let codes = kinds[kind].as_array().unwrap();
        let right_code = codes.is_empty()
            || level == "ok"
            || found.iter().any(|(_, code)| codes.iter().any(|c| c == code));
        if case["level"] != level || !right_code {
            wrong.push(format!("{} ({kind}): {found:?}", case["id"]));
        }
    }
    assert!(count > 40, "only {count} cases are marked as recorded");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_an_auditor_must_catch_in_the_guides() {
    let linux = ["--platform", "linux-x86_64", "--python", "3.10"];
    let text = "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1\ntorchvision==0.14.1\ntorchaudio==0.13.1\n";
    assert!(has(&judged("requirements.txt", text, &linux), "companion-mismatch"));
    let text = "torch==2.3.1\ntorchvision==0.18.1\nonnxruntime-gpu==1.18.0\n";
    let found = judged("requirements.txt", text, &linux);
    assert!(has(&found, "cuda-major-mismatch"), "{found:?}");
    assert!(has(&found, "numpy-abi"), "{found:?}");
    let ci = "test:\n  image: nvidia/cuda:11.3.1-cudnn8-runtime\n  script:\n    - pip install torch==1.12.1+cu113\n";
    assert!(has(&judged(".gitlab-ci.yml", ci, &linux), "image-mismatch"));
}

#[test]
fn what_is_right_in_the_guides_stays_silent() {
    let machine =
        ["--platform", "linux-x86_64", "--python", "3.8", "--driver", "450.80.02", "--gpu", "T4"];
    let text = "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==1.9.0+cu111\ntorchvision==0.10.0+cu111\n";
    assert_eq!(judged("requirements.txt", text, &machine), []);
}

#[test]
fn levels_of_codes_decide_the_exit() {
    let (project, server) = project("requirements.txt", "torch==2.2.2\nnumpy==2.0.0\n");
    let flags = ["requirements.txt", "--platform", "linux-x86_64", "--python", "3.10"];
    let _ = audit(&project, &server, &flags).expect(1);
    let _ = audit(&project, &server, &[&flags[..], &["--warn", "numpy-abi"]].concat()).expect(0);
    let _ = audit(&project, &server, &[&flags[..], &["--deny", "no-such-code"]].concat()).expect(2);
    let _ = audit(&project, &server, &["missing.txt"]).expect(2);
}

#[test]
fn every_form_names_code_and_line() {
    let (project, server) = project("requirements.txt", "# pins\ntorch==2.2.2\nnumpy==2.0.0\n");
    let flags = ["requirements.txt", "--platform", "linux-x86_64", "--python", "3.10", "--format"];
    for (form, words) in [
        ("text", &["numpy-abi", "requirements.txt:2:1", "torch==2.2.2"][..]),
        ("github", &["::error file=requirements.txt,line=2,col=1,title=numpy-abi::"]),
        ("markdown", &["`numpy-abi`", "requirements.txt:2"]),
        ("sarif", &["\"ruleId\": \"numpy-abi\"", "\"startLine\": 2", "\"version\": \"2.1.0\""]),
    ] {
        let run = audit(&project, &server, &[&flags[..], &[form]].concat()).expect(1);
        for word in words {
            assert!(run.stdout.contains(word), "{form} lacks {word}:\n{}", run.stdout);
        }
    }
}
