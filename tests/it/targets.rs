//! Several machines in one env.toml: one run, one lock each, and what they owe each other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Index, Machines, Project, Replica, Run, Server};
use toml::{Table, Value};

use crate::BINARY;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let folder = root().join("tests/recordings");
    let replica = Replica::read(&folder.join("pytorch-2026-11-30.json.gz"));
    let pypi = Index::from_recording(&folder.join("index-2026-11-30.json.gz"));
    Arc::new(pypi.with_replica(replica))
});

fn run(manifest: impl FnOnce(Machines) -> Machines) -> (Project, Run, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, manifest(Machines::new(&server)));
    let run = project.resolve(&[]);
    (project, run, server)
}

/// The packages of one target's lock.
fn locked(project: &Project, target: &str) -> BTreeMap<String, String> {
    let name = format!("pylock.{target}.toml");
    let text = project.read(&name).unwrap_or_else(|| panic!("no {name}"));
    let lock: Table = text.parse().unwrap();
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let packages = lock["packages"].as_array().unwrap();
    packages.iter().map(|package| (text(package, "name"), text(package, "version"))).collect()
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not said:\n{text}");
    }
}

#[test]
fn the_example_of_two_targets() {
    let text = std::fs::read_to_string(root().join("examples/train-and-deploy/env.toml")).unwrap();
    let server = Server::start(Arc::clone(&INDEX));
    let places = Machines::new(&server).places();
    let project = Project::new(BINARY, format!("{text}\n{places}"));
    let _ = project.resolve(&[]).expect(0);
    let (train, deploy) = (locked(&project, "train"), locked(&project, "deploy"));
    assert_eq!(train["torch"], "2.13.0+cu126");
    assert_eq!(train["torchvision"], "0.28.0+cu126");
    assert!(!train.contains_key("onnxruntime-gpu") && !deploy.contains_key("torch"));
    assert_eq!(deploy["onnxruntime-gpu"], "1.18.1");
    assert!(deploy.keys().any(|name| name == "nvidia-cudnn-cu11"));
    // ONNX Runtime 1.18 was built for NumPy 1, so train has it as well.
    assert!(deploy["numpy"].starts_with("1."));
    for name in ["numpy", "onnx"] {
        assert_eq!(train[name], deploy[name], "{name}");
    }
    let pages = server.count(|request| request.path == "/simple/numpy/");
    assert_eq!(pages, 1, "one run asks for a page once");
    for file in ["requirements.train.txt", "requirements.deploy.txt"] {
        assert!(project.read(file).unwrap().contains("numpy==1."), "{file}");
    }
    assert!(project.read("pylock.toml").is_none());
}

#[test]
fn one_target_at_a_time() {
    let (project, run, _server) = run(|m| {
        m.depends(&["numpy"]).table("[target.a]\npython = \"3.10\"\n[target.b]\npython = \"3.12\"")
    });
    let _ = run.expect(0);
    let both = (locked(&project, "a"), locked(&project, "b"));
    assert_ne!(both.0["numpy"], both.1["numpy"], "each has the newest for its Python");
    std::fs::remove_file(project.path().join("pylock.b.toml")).unwrap();
    let _ = project.resolve(&["--target", "a"]).expect(0);
    assert!(project.read("pylock.b.toml").is_none());
}

#[test]
fn same_takes_the_newest_version_that_all_targets_can_have() {
    let (project, run, _server) = run(|m| {
        m.depends(&["numpy"]).table(
            "[target.a]\npython = \"3.10\"\n[target.b]\npython = \"3.12\"\n[options]\nsame = [\"numpy\"]",
        )
    });
    let _ = run.expect(0);
    let (a, b) = (locked(&project, "a"), locked(&project, "b"));
    assert_eq!(a["numpy"], b["numpy"]);
    assert!(a["numpy"].starts_with("2."), "{}", a["numpy"]);
}

#[test]
fn same_says_what_stops_it_and_keeps_what_there_is() {
    let (project, run, _server) = run(|m| {
        m.table(
            "[target.a]\ndependencies = [\"numpy<2\"]\n[target.b]\ndependencies = [\"numpy>=2.1\"]\n[options]\nsame = [\"numpy\"]",
        )
    });
    let run = run.expect(0);
    says(&run.stderr, &["numpy cannot be the same", "a has 1.26.4", "b has 2.", "numpy>=2.1"]);
    assert_eq!(locked(&project, "a")["numpy"], "1.26.4");
    assert!(locked(&project, "b")["numpy"].starts_with("2."));
}

const OLD_RUNTIME: &str =
    "[target.deploy]\ncuda = \"11\"\ndependencies = [\"onnxruntime-gpu==1.14.1\"]\n";

#[test]
fn what_train_exports_deploy_must_load() {
    // Alone, train would take a torch that writes ONNX IR 10; ONNX Runtime 1.14 loads IR 8.
    let (project, run, _server) = run(|m| {
        m.python("3.10").table(&format!(
            "[model]\nopset = 17\n[target.train]\ndependencies = [\"torch\"]\n{OLD_RUNTIME}"
        ))
    });
    let run = run.expect(0);
    says(&run.stderr, &["train", "deploy", "ONNX IR 8"]);
    let torch = &locked(&project, "train")["torch"];
    assert!(
        ["2.4.", "2.5.", "2.6.", "2.7.", "2.8."].iter().any(|line| torch.starts_with(line)),
        "{torch}"
    );
}

#[test]
fn a_model_that_is_too_new_is_refused_with_the_message_that_people_see() {
    let (project, run, _server) = run(|m| {
        m.python("3.10").table(&format!(
            "[model]\nopset = 17\n[target.train]\ndependencies = [\"torch==2.9.1\"]\n{OLD_RUNTIME}"
        ))
    });
    let run = run.expect(1);
    says(
        &run.stderr,
        &["Unsupported model IR version: 10, max supported IR version: 8", "torch 2.9.1"],
    );
    assert!(
        project.read("pylock.train.toml").is_none() && project.read("pylock.deploy.toml").is_none()
    );
}

#[test]
fn an_opset_is_bound_by_the_runtime_of_one_target_too() {
    let (project, run, _server) =
        run(|m| m.table("[model]\nopset = 19").depends(&["onnxruntime-gpu<1.17"]));
    let _ = run.expect(0);
    assert!(project.read("pylock.toml").unwrap().contains("1.16.3"));
    let (_, run, _server) =
        self::run(|m| m.table("[model]\nopset = 21").depends(&["onnxruntime-gpu<1.17"]));
    let run = run.expect(1);
    says(&run.stderr, &["opset"]);
}

#[test]
fn opset_and_ir_version_are_read_out_of_a_model_file() {
    let server = Server::start(Arc::clone(&INDEX));
    let manifest = Machines::new(&server)
        .python("3.10")
        .depends(&["onnxruntime-gpu<1.17"])
        .table("[model]\nonnx = \"detector.onnx\"");
    let project = Project::new(BINARY, manifest);
    let missing = project.resolve(&[]).expect(2);
    says(&missing.stderr, &["detector.onnx", "env.toml:"]);
    // IR 8 and opset 17; then IR 10, which no runtime before 1.18 loads.
    project.write("detector.onnx", "\u{8}\u{8}\u{42}\u{2}\u{10}\u{11}");
    let _ = project.resolve(&[]).expect(0);
    assert!(project.read("pylock.toml").unwrap().contains("1.16.3"));
    project.write("detector.onnx", "\u{8}\u{a}\u{42}\u{2}\u{10}\u{11}");
    let refused = project.resolve(&[]).expect(1);
    says(&refused.stderr, &["ONNX IR", "onnxruntime-gpu"]);
    project.write("detector.onnx", "version https://git-lfs.github.com/spec/v1");
    let pointer = project.resolve(&[]).expect(2);
    says(&pointer.stderr, &["detector.onnx"]);
}
