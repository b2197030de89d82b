//! `cuda-lock audit` on public trouble reports, and on cases of the same kinds that were written from the facts.
//!
//! `fixtures/cases.jsonl` holds the reports: the machine as flags, the file, what should be found, and the issue that it is
//! from. A report with `differs` is one where the audit says something else, and why. `fixtures/more_cases.jsonl` holds files
//! that people write, good and bad, with the fact that decides each. All are judged on a recording of what they ask of PyPI, and
//! without PyTorch's indexes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run, Server};
use serde_json::Value;

use crate::BINARY;

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    Arc::new(Index::from_recording(&folder("recordings").join("audit-2026-11-30.json.gz")))
});

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

fn read_fixture(name: &str) -> String {
    std::fs::read_to_string(folder("fixtures").join(name)).unwrap()
}

/// A server of the recorded index, and a folder with one file.
fn project(name: &str, text: &str) -> (Project, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, Manifest::new(&server));
    project.write(name, text);
    (project, server)
}

fn audit(project: &Project, server: &Server, arguments: &[&str]) -> Run {
    let cache = project.path().join("cache");
    let cache = cache.to_string_lossy();
    let url = server.url();
    let fixed = [
        "audit",
        "--cache-dir",
        &cache,
        "--default-index",
        &url,
        "--only-index",
        "PyPI",
        "--no-solve",
    ];
    project.run(&[&fixed, arguments].concat())
}

/// Severity and code of a finding that is more than a note.
type Found = (String, String);

fn findings(run: &Run) -> Vec<Found> {
    let report: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.stdout, run.stderr));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap();
    let judged = findings.iter().map(|finding| (text(finding, "severity"), text(finding, "code")));
    judged.filter(|(severity, _)| severity != "note").collect()
}

/// Judges `text` on a machine, and gives severities and codes.
fn judged(name: &str, text: &str, machine: &[&str]) -> Vec<Found> {
    let (project, server) = project(name, text);
    findings(&audit(&project, &server, &[&[name, "--format", "json"], machine].concat()))
}

fn has(found: &[Found], code: &str) -> bool {
    found.iter().any(|(_, other)| other == code)
}

fn level(found: &[Found]) -> &'static str {
    match found {
        found if found.iter().any(|(severity, _)| severity == "error") => "error",
        found if !found.is_empty() => "warn",
        _ => "ok",
    }
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map(|all| all.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// Judges all cases of a file on one server, and gives those for which `right` says no.
fn wrong(cases: &[Value], right: impl Fn(&Value, &[Found]) -> bool + Sync) -> Vec<String> {
    let server = Server::start(Arc::clone(&INDEX));
    let cache = Project::new(BINARY, Manifest::new(&server));
    let shared = cache.path().join("cache");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from).min(4) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = case["file"].as_str().unwrap();
                    let project = Project::new(BINARY, Manifest::new(&server));
                    project.write(name, case["input"].as_str().unwrap());
                    let (cache, url) = (shared.to_string_lossy(), server.url());
                    let fixed = [
                        "audit",
                        name,
                        "--format",
                        "json",
                        "--cache-dir",
                        &cache,
                        "--default-index",
                        &url,
                        "--only-index",
                        "PyPI",
                        "--no-solve",
                    ];
                    let run = project.run(&[&fixed[..], &strings(&case["flags"])].concat());
                    let found = findings(&run);
                    if !right(case, &found) {
                        let line = format!("{} ({}): {found:?}", case["id"], case["kind"]);
                        wrong.lock().unwrap().push(line);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

#[test]
fn public_reports_come_out() {
    let kinds: Value = serde_json::from_str(&read_fixture("kinds.json")).unwrap();
    let cases = read_fixture("cases.jsonl");
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (differing, cases): (Vec<Value>, Vec<Value>) =
        cases.into_iter().partition(|case| case["differs"].is_string());
    assert!(cases.len() >= 122 && differing.len() <= 5, "{} reports differ", differing.len());
    let wrong = wrong(&cases, |case, found| {
        let codes = strings(&kinds[case["kind"].as_str().unwrap()]);
        let right_code =
            codes.is_empty() || found.is_empty() || codes.iter().any(|code| has(found, code));
        case["level"] == level(found) && right_code
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn files_that_people_write_come_out() {
    let cases = read_fixture("more_cases.jsonl");
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= 120, "{} cases", cases.len());
    let wrong = wrong(&cases, |case, found| {
        let all = strings(&case["codes"]).iter().all(|code| has(found, code));
        case["level"] == level(found) && all
    });
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

const LINUX: [&str; 4] = ["--platform", "linux-x86_64", "--python", "3.10"];
const FOCAL: &str = "FROM nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04\n";

#[test]
fn pins_of_the_guides_that_belong_to_another_torch_are_found() {
    for text in [
        "--extra-index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1\ntorchvision==0.14.1\ntorchaudio==0.13.1\n",
        "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch==2.4.0\ntorchvision==0.15.1\ntorchaudio==2.4.0\n",
        "torch==2.3.1\ntorchvision==0.14.1\nonnxruntime-gpu==1.18.0\n",
    ] {
        let found = judged("requirements.txt", text, &LINUX);
        assert!(has(&found, "companion-mismatch"), "{text}: {found:?}");
    }
}

#[test]
fn builds_of_the_guides_that_do_not_fit_their_image_are_found() {
    let install =
        "RUN apt-get update && apt-get install -y python3 python3-pip && pip3 install -U pip\n";
    let text = format!("{FOCAL}{install}RUN pip3 install torch==2.3.1 torchvision==0.18.1\n");
    let found = judged("Dockerfile", &text, &["--platform", "linux-x86_64"]);
    assert!(has(&found, "image-mismatch"), "{found:?}");
    let text = "torch==2.3.1\ntorchvision==0.18.1\nonnxruntime-gpu==1.18.0\n";
    let found = judged("requirements.txt", text, &LINUX);
    assert!(has(&found, "cuda-major-mismatch") && has(&found, "numpy-abi"), "{found:?}");
}

#[test]
fn an_old_pip_and_the_pip_of_another_python_are_found() {
    let text = format!(
        "{FOCAL}RUN apt-get update && apt-get install -y python3.9 python3-pip\nRUN pip install onnxruntime-gpu==1.18.0\n"
    );
    let found = judged("Dockerfile", &text, &["--platform", "linux-x86_64", "--python", "3.9"]);
    assert!(has(&found, "glibc-too-old") && has(&found, "image-mismatch"), "{found:?}");
    let text = text.replace(
        "RUN pip install",
        "RUN python3.9 -m pip install -U pip && python3.9 -m pip install",
    );
    let found = judged("Dockerfile", &text, &["--platform", "linux-x86_64", "--python", "3.9"]);
    assert!(!has(&found, "glibc-too-old") && !has(&found, "image-mismatch"), "{found:?}");
}

#[test]
fn a_feed_of_another_cuda_and_an_old_python_are_found() {
    let text = "--extra-index-url https://pkgs.dev.azure.com/onnxruntime/onnxruntime/_packaging/onnxruntime-cuda-12/pypi/simple/\nonnxruntime-gpu\n";
    let machine = ["--platform", "linux-x86_64", "--python", "3.11"];
    assert!(has(&judged("requirements.txt", text, &machine), "index-confusion"));
    let machine = ["--platform", "linux-x86_64", "--python", "3.9"];
    let found = judged("requirements.txt", "onnxruntime-gpu==1.20.0\n", &machine);
    assert!(has(&found, "python-unsupported"), "{found:?}");
}

#[test]
fn images_of_the_guides_without_a_system_or_a_python_are_found() {
    for tag in ["11.3.1-cudnn8-runtime", "11.3.1-cudnn8-runtime-ubuntu20.04"] {
        let text = format!(
            "test:\n  image: nvidia/cuda:{tag}\n  script:\n    - pip install torch==1.12.1+cu113 --extra-index-url https://download.pytorch.org/whl/cu113\n"
        );
        let found = judged(".gitlab-ci.yml", &text, &LINUX);
        assert!(has(&found, "image-mismatch"), "{tag}: {found:?}");
    }
}

#[test]
fn what_is_right_in_the_guides_stays_silent() {
    let t4 = ["--platform", "linux-x86_64", "--python", "3.8", "--gpu", "T4"];
    let old = [&t4[..], &["--driver", "450.80.02"]].concat();
    let text = "-f https://download.pytorch.org/whl/torch_stable.html\ntorch==1.9.0+cu111\ntorchvision==0.10.0+cu111\n";
    assert_eq!(judged("requirements.txt", text, &old), []);
    let newer = [&t4[..], &["--driver", "470.103.01"]].concat();
    for line in [
        "conda install pytorch==1.12.1 torchvision==0.13.1 torchaudio==0.12.1 cudatoolkit=11.3 -c pytorch\n",
        "conda install pytorch==1.10.0 cudatoolkit=11.3 -c pytorch\n",
        "pip install \"numpy<2\" torch==1.12.1+cu113 torchvision==0.13.1+cu113 --extra-index-url https://download.pytorch.org/whl/cu113\n",
    ] {
        assert_eq!(judged("install.sh", line, &newer), [], "{line}");
    }
    let text = "--index-url https://download.pytorch.org/whl/cu118\ntorch==2.3.1+cu118\nonnxruntime-gpu==1.18.0\nnumpy<2\n";
    assert!(!has(&judged("requirements.txt", text, &LINUX), "cuda-major-mismatch"));
    let text = "torch==2.4.0\nonnxruntime-gpu==1.20.0\n";
    assert!(!has(&judged("requirements.txt", text, &LINUX), "cuda-major-mismatch"));
}

#[test]
fn sarif_has_what_its_schema_requires() {
    let name = "r \u{e9}#1.txt";
    let (project, server) = project(name, "torch==2.2.2\nnumpy==2.0.0\n");
    let run = audit(&project, &server, &[&[name, "--format", "sarif"][..], &LINUX].concat());
    let log: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "cuda-lock");
    let rules = driver["rules"].as_array().unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[rule]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "r%20%C3%A9%231.txt");
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
    }
}

#[test]
fn an_ignore_needs_a_reason_and_is_reported_when_it_matches_nothing() {
    let (project, server) = project("requirements.txt", "torch==2.2.2\nnumpy==2.0.0\n");
    let machine = |ignore: &str| {
        format!(
            "[environment]\npython = \"3.10\"\ndependencies = [\"torch\"]\n\n[machine]\nplatform = \"linux-x86_64\"\n\n[audit]\nignore = [{ignore}]\n"
        )
    };
    let flags = ["requirements.txt", "--machine", "m.toml"];
    project.write("m.toml", &machine("{ code = \"numpy-abi\", reason = \"no arrays here\" }, { code = \"yanked\", reason = \"old\" }"));
    let run = audit(&project, &server, &flags).expect(0);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(said.contains("ignores yanked, which is not found any more"), "{said}");
    for ignore in ["{ code = \"numpy-abi\" }", "{ code = \"numpy-abi\", reason = \" \" }"] {
        project.write("m.toml", &machine(ignore));
        let run = audit(&project, &server, &flags).expect(2);
        assert!(run.stderr.contains("reason"), "{}", run.stderr);
    }
}

#[test]
fn encodings_are_read_as_pip_reads_them() {
    let text = "torch==2.2.2\nnumpy==2.0.0\n";
    let utf16: Vec<u8> =
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let gbk = [&b"# -*- coding: gbk -*-\n# \xd6\xd0\xce\xc4\n"[..], text.as_bytes()].concat();
    let with_mark = [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat();
    for bytes in [utf16, gbk, with_mark] {
        let (project, server) = project("other.txt", "");
        std::fs::write(project.path().join("requirements.txt"), &bytes).unwrap();
        let run = audit(
            &project,
            &server,
            &[&["requirements.txt", "--format", "json"][..], &LINUX].concat(),
        );
        assert_eq!(findings(&run), [("error".to_owned(), "numpy-abi".to_owned())], "{bytes:?}");
    }
}

#[test]
fn what_only_some_pythons_need_is_missing_only_for_one_that_is_known() {
    let marked = Dist::wheel().requires("b>=1; python_version < \"3.11\"");
    let server =
        Index::new().release("a", "1.0", marked).release("b", "1.0", Dist::wheel()).serve();
    let project = Project::new(BINARY, Manifest::new(&server));
    let digest = "0".repeat(64);
    project.write("requirements.txt", &format!("a==1.0 --hash=sha256:{digest}\n"));
    let flags = ["requirements.txt", "--format", "json", "--platform", "linux-x86_64"];
    let found = |python: &[&str]| {
        has(
            &findings(&audit(&project, &server, &[&flags[..], python].concat())),
            "missing-dependency",
        )
    };
    assert!(found(&["--python", "3.10"]));
    assert!(!found(&["--python", "3.12"]));
    assert!(!found(&[]), "the Python is not known");
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
