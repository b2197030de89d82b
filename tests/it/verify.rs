//! `cuda-lock verify` on environments that were made up: folders with the dist-info of wheels and modules of a few lines.

use std::process::Command;

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run};

use crate::BINARY;

/// A project whose lock has `a` and, where it is asked for, a wheel of NVIDIA's.
fn locked(dependencies: &[&str]) -> Project {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel())
        .release("onnxruntime", "1.20.0", Dist::wheel())
        .release("nvidia-cuda-runtime-cu12", "12.4.127", Dist::wheel())
        .serve();
    let python = version_of_python();
    let project =
        Project::new(BINARY, Manifest::new(&server).python(&python).depends(dependencies));
    let _ = project.resolve(&[]).expect(0);
    std::fs::create_dir(project.path().join("site")).unwrap();
    project
}

/// `3.11` of the Python that the tests find.
fn version_of_python() -> String {
    let print = "import sys; print('%d.%d' % sys.version_info[:2])";
    let output = Command::new("python3").args(["-c", print]).output().expect("python3 starts");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Puts what an installer leaves of a wheel into the environment.
fn install(project: &Project, name: &str, version: &str) {
    let folder =
        project.path().join("site").join(format!("{}-{version}.dist-info", name.replace('-', "_")));
    std::fs::create_dir_all(&folder).unwrap();
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
    std::fs::write(folder.join("METADATA"), metadata).unwrap();
}

fn module(project: &Project, name: &str, text: &str) {
    project.write(&format!("site/{name}.py"), text);
}

fn verify(project: &Project, arguments: &[&str]) -> Run {
    let site = project.path().join("site").to_string_lossy().into_owned();
    project.run_with(&[&["verify"], arguments].concat(), &[("PYTHONPATH", &site)])
}

#[test]
fn an_environment_as_locked_passes_and_another_fails() {
    let project = locked(&["a"]);
    install(&project, "a", "1.0");
    let good = verify(&project, &[]).expect(0);
    assert!(good.stdout.contains("1 as locked"), "{}", good.stdout);
    let missing = locked(&["a"]);
    let run = verify(&missing, &[]).expect(1);
    assert!(run.stdout.contains("not installed, 1.0 is locked"), "{}", run.stdout);
    install(&missing, "a", "2.0");
    let run = verify(&missing, &["--format", "json"]).expect(1);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert!(run.stdout.contains("2.0 is installed, 1.0 is locked"), "{}", run.stdout);
}

#[test]
fn another_python_is_told() {
    let project = locked(&["a"]);
    install(&project, "a", "1.0");
    let lock = project.read("pylock.toml").unwrap();
    let python = version_of_python();
    let other = lock.replace(&format!("python = \"{python}\""), "python = \"3.7\"");
    assert!(other != lock, "{lock}");
    project.write("pylock.toml", &other);
    let run = verify(&project, &[]).expect(1);
    assert!(run.stdout.contains("the lock is for 3.7"), "{}", run.stdout);
}

#[test]
fn libraries_are_loaded() {
    let project = locked(&["nvidia-cuda-runtime-cu12"]);
    install(&project, "nvidia-cuda-runtime-cu12", "12.4.127");
    let run = verify(&project, &[]).expect(1);
    assert!(
        run.stdout.contains("libcudart.so.12") && run.stdout.contains("has no"),
        "{}",
        run.stdout
    );
    let folder = project.path().join("site/nvidia/cuda_runtime/lib");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("libcudart.so.12"), "no library").unwrap();
    let run = verify(&project, &[]).expect(1);
    assert!(
        run.stdout.contains("libcudart.so.12  ") && run.stdout.contains("failed"),
        "{}",
        run.stdout
    );
    // Any library that this machine has will do as one that loads.
    let real = "import ctypes, os, sys\nmaps = open('/proc/self/maps').read().split()\n\
                print(next(path for path in maps if '/libc.so' in path or '/libc-' in path or 'musl' in path))";
    let output = Command::new("python3").args(["-c", real]).output().unwrap();
    let libc = String::from_utf8(output.stdout).unwrap();
    std::fs::copy(libc.trim(), folder.join("libcudart.so.12")).unwrap();
    let run = verify(&project, &[]).expect(0);
    assert!(run.stdout.contains("libcudart.so.12"), "{}", run.stdout);
}

#[test]
fn modules_are_imported_and_their_errors_shown() {
    let project = locked(&["onnxruntime"]);
    install(&project, "onnxruntime", "1.20.0");
    module(
        &project,
        "onnxruntime",
        "raise ImportError('libstdc++.so.6: version `GLIBCXX_3.4.32` not found')\n",
    );
    let run = verify(&project, &[]).expect(1);
    assert!(run.stdout.contains("GLIBCXX_3.4.32"), "{}", run.stdout);
    module(&project, "onnxruntime", "__version__ = '1.20.0'\n");
    let _ = verify(&project, &[]).expect(0);
    // A module that takes the interpreter down is no success.
    module(&project, "onnxruntime", "import os\nos.abort()\n");
    let run = verify(&project, &[]).expect(2);
    assert!(run.stderr.contains("something that it loaded is broken"), "{}", run.stderr);
}

#[test]
fn the_script_stands_alone() {
    let project = locked(&["a"]);
    install(&project, "a", "1.0");
    let run = project.run(&["verify", "--script"]).expect(0);
    project.write("verify.py", &run.stdout);
    let run = |site: &str| {
        let mut command = Command::new("python3");
        command.arg("verify.py").current_dir(project.path()).env("PYTHONPATH", site);
        command.output().unwrap()
    };
    let good = run("site");
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stdout));
    assert_eq!(run("nowhere").status.code(), Some(1));
}

#[test]
fn what_cannot_be_verified_is_bad_input() {
    let project = locked(&["a"]);
    let _ = project.run(&["verify", "none.toml"]).expect(2);
    let _ = project.run(&["verify", "env.toml"]).expect(2);
    let run = project.run(&["verify", "--python", "no-such-python"]).expect(2);
    assert!(run.stderr.contains("--python"), "{}", run.stderr);
    project
        .write("foreign.toml", "lock-version = \"1.0\"\ncreated-by = \"other\"\npackages = []\n");
    let run = project.run(&["verify", "foreign.toml"]).expect(2);
    assert!(run.stderr.contains("another program"), "{}", run.stderr);
}
