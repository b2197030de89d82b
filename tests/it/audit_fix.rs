//! `cuda-lock audit` and its fixes: what is found by solving, what is written, and that it holds.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Dist, Index, Manifest, Project, Replica, Run, Server};
use serde_json::Value;

use crate::BINARY;

/// PyPI as it was recorded, with PyTorch's indexes beside it.
static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let replica = Replica::read(&recording("pytorch-2026-11-30.json.gz"));
    Arc::new(
        Index::from_recording(&recording("index-2026-11-30.json.gz"))
            .release("private-thing", "1.0", Dist::wheel().requires("nowhere-to-be-found"))
            .release("doomed", "1.0", Dist::wheel())
            .release("doomed-too", "1.0", Dist::wheel().requires("doomed<1"))
            .with_replica(replica),
    )
});

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name)
}

const OLD_DRIVER: [&str; 8] = [
    "--platform",
    "linux-x86_64",
    "--python",
    "3.10",
    "--driver",
    "470.86",
    "--gpu",
    "RTX 3050 Laptop",
];

const LINUX: [&str; 4] = ["--platform", "linux-x86_64", "--python", "3.10"];

struct Bench {
    project: Project,
    server: Server,
}

impl Bench {
    fn new(files: &[(&str, &str)]) -> Self {
        let server = Server::start(Arc::clone(&INDEX));
        let project = Project::new(BINARY, Manifest::new(&server));
        let bench = Self { project, server };
        for (name, text) in files {
            bench.project.write(name, &text.replace("WHL", &bench.whl()));
        }
        bench
    }

    /// Where PyTorch's indexes are.
    fn whl(&self) -> String {
        self.server.at("/whl")
    }

    fn audit(&self, arguments: &[&str]) -> Run {
        let cache = self.project.path().join("cache");
        let cache = cache.to_string_lossy();
        let url = self.server.url();
        let fixed = ["audit", "--cache-dir", &cache, "--default-index", &url];
        let whl = self.whl();
        self.project.run_with(&[&fixed, arguments].concat(), &[("CUDA_LOCK_PYTORCH_INDEX", &whl)])
    }

    fn read(&self, name: &str) -> String {
        self.project.read(name).unwrap().replace(&self.whl(), "WHL")
    }

    /// `--fix` leaves no error, an audit afterwards finds none, and a second `--fix` changes nothing.
    fn fixed(&self, name: &str, machine: &[&str]) -> String {
        let _ = self.audit(&[&[name], machine].concat()).expect(1);
        let _ = self.audit(&[&[name, "--fix"], machine].concat()).expect(0);
        let text = self.read(name);
        let _ = self.audit(&[&[name], machine].concat()).expect(0);
        let again = self.audit(&[&[name, "--fix"], machine].concat()).expect(0);
        assert!(!again.stdout.contains("changed "), "{}", again.stdout);
        assert_eq!(self.read(name), text, "a second --fix changes nothing");
        text
    }
}

fn fixed(name: &str, text: &str, machine: &[&str]) -> String {
    Bench::new(&[(name, text)]).fixed(name, machine)
}

fn report(run: &Run) -> Value {
    serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.stdout, run.stderr))
}

#[test]
fn the_label_changes_and_the_index_is_added() {
    let text = "--extra-index-url WHL/cu121\n# the stack\ntorch==2.1.0+cu121  # 30 series\ntorchvision==0.16.0+cu121\n";
    assert_eq!(
        fixed("requirements.txt", text, &OLD_DRIVER),
        "--extra-index-url WHL/cu121\n--extra-index-url WHL/cu118\n# the stack\ntorch==2.1.0+cu118  # 30 series\ntorchvision==0.16.0+cu118\nnumpy==1.26.4\n",
        "torchvision brings NumPy, and this one is built against NumPy 1"
    );
    let plain = "requests\ntorch==2.3.1\n";
    let text = fixed("requirements.txt", plain, &OLD_DRIVER);
    assert_eq!(text, "--extra-index-url WHL/cu118\nrequests\ntorch==2.3.1+cu118\n");
}

#[test]
fn an_index_that_is_added_is_used() {
    let machine = ["--platform", "linux-x86_64", "--python", "3.10", "--driver", "535.104.05"];
    let text = "--extra-index-url WHL/cu118\ntorch\n";
    let fixed = fixed("requirements.txt", text, &machine);
    assert_eq!(fixed, "--extra-index-url WHL/cu118\ntorch==2.7.1+cu118\n");
}

#[test]
fn extras_bring_the_libraries_that_are_missing() {
    let text = "onnxruntime-gpu==1.23.2  # runs the model\n";
    assert_eq!(
        fixed("requirements.txt", text, &LINUX),
        "onnxruntime-gpu[cuda,cudnn]==1.23.2  # runs the model\n"
    );
}

#[test]
fn a_wheel_that_is_named_by_its_url_counts() {
    let text = "torch @ https://index.example/torch-2.2.2-cp310-cp310-manylinux1_x86_64.whl\nnumpy==2.0.0\n";
    assert_eq!(fixed("requirements.txt", text, &LINUX), text.replace("2.0.0", "1.26.4"));
}

#[test]
fn numpy_moves_and_torch_stays() {
    let text = "torch==2.2.2\nnumpy==2.0.0 ; python_version < '4'\n";
    assert_eq!(
        fixed("requirements.txt", text, &LINUX),
        "torch==2.2.2\nnumpy==1.26.4 ; python_version < '4'\n"
    );
    // In a file of bounds a bound is added, in one of pins a pin.
    let open = "torch>=2.2,<2.3\nnumpy\n";
    assert_eq!(fixed("requirements.txt", open, &LINUX), "torch>=2.2,<2.3\nnumpy<2\n");
}

#[test]
fn one_of_two_owners_goes() {
    let text = "onnxruntime==1.23.2\nonnxruntime-gpu==1.23.2\ntorch==2.6.0\nnumpy==2.0.0\n";
    assert_eq!(
        fixed("requirements.txt", text, &LINUX),
        "onnxruntime-gpu==1.23.2\ntorch==2.6.0\nnumpy==2.0.0\n"
    );
}

#[test]
fn bytes_that_need_not_change_do_not() {
    let text = "\u{feff}# P\u{e9}p\u{ed}n\r\ntorch==2.2.2 \\\r\n    ; python_version >= '3'  # \u{4e2d}\r\n\r\nnumpy[] == 2.0.0\t# last";
    let bench = Bench::new(&[("requirements.txt", text)]);
    let now = bench.fixed("requirements.txt", &LINUX);
    assert_eq!(now, text.replace("2.0.0", "1.26.4"));
    // UTF-16, as PowerShell writes it.
    let bench = Bench::new(&[]);
    let utf16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let path = bench.project.path().join("frozen.txt");
    std::fs::write(&path, utf16("torch==2.2.2\r\nnumpy==2.0.0\r\n")).unwrap();
    let _ = bench.audit(&[&["frozen.txt", "--fix"], &LINUX[..]].concat()).expect(0);
    assert_eq!(std::fs::read(&path).unwrap(), utf16("torch==2.2.2\r\nnumpy==1.26.4\r\n"));
}

#[test]
fn hashes_follow_the_pin() {
    let server = Server::start(Arc::clone(&INDEX));
    let manifest = Manifest::new(&server).python("3.10").depends(["torch==2.2.2", "numpy<2"]);
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    // The lock with another NumPy, and without one of the dependencies.
    let right = project.requirements();
    let mut wrong = right.replace("numpy==1.26.4", "numpy==2.0.0");
    assert_ne!(wrong, right, "{right}");
    let start = wrong.find("sympy==").unwrap();
    let end = start + wrong[start..].find("torch==").unwrap();
    wrong.replace_range(start..end, "");
    let bench = Bench { project, server };
    bench.project.write("frozen.txt", &wrong);
    let now = bench.fixed("frozen.txt", &LINUX);
    let hashes = |text: &str, name: &str| -> Vec<String> {
        let from = text.find(&format!("{name}==")).unwrap();
        let lines = text[from..].lines();
        let block = lines.take_while(|line| line.ends_with('\\') || line.contains("--hash"));
        block.filter_map(|line| Some(line.split_once("sha256:")?.1[..64].to_owned())).collect()
    };
    for name in ["numpy==1.26.4", "sympy==1"] {
        assert!(now.contains(name), "{now}");
    }
    for name in ["numpy", "sympy"] {
        let new = hashes(&now, name);
        assert!(hashes(&right, name).iter().all(|hash| new.contains(hash)), "{now}");
        assert!(!new.is_empty());
    }
    let others = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("--hash"));
        let kept = lines.filter(|line| !line.starts_with("numpy") && !line.starts_with("sympy"));
        kept.map(str::to_owned).collect()
    };
    assert_eq!(others(&now), others(&wrong));
}

#[test]
fn included_files_are_changed_where_the_pin_stands() {
    let bench = Bench::new(&[
        ("requirements.txt", "-r base.txt\n-c pins.txt\nnumpy\n"),
        ("base.txt", "# base\r\ntorch==2.2.2\r\n"),
        ("pins.txt", "numpy==2.0.0\n"),
    ]);
    let _ = bench.fixed("requirements.txt", &LINUX);
    assert_eq!(bench.read("requirements.txt"), "-r base.txt\n-c pins.txt\nnumpy\n");
    assert_eq!(bench.read("base.txt"), "# base\r\ntorch==2.2.2\r\n");
    assert_eq!(bench.read("pins.txt"), "numpy==1.26.4\n");
}

#[test]
fn commands_of_a_dockerfile_and_of_jobs_are_changed() {
    let docker = "FROM python:3.10-slim\nENV A=1\nRUN pip install --no-cache-dir \\\n      torch==2.3.1 \"requests\" \\\n && echo done\n";
    assert_eq!(
        fixed("Dockerfile", docker, &OLD_DRIVER),
        docker.replace(" torch==2.3.1 ", " torch==2.3.1+cu118 --extra-index-url WHL/cu118 ")
    );
    let ci =
        "test:\n  image: python:3.10\n  script:\n    - pip install torch==2.2.2 numpy==2.0.0\n";
    assert_eq!(fixed(".gitlab-ci.yml", ci, &LINUX), ci.replace("2.0.0", "1.26.4"));
}

#[test]
fn projects_and_conda_environments_are_changed() {
    let project = "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\n  \"torch==2.2.2\",\n  \"numpy>=1.24\", # any\n]\n";
    assert_eq!(
        fixed("pyproject.toml", project, &LINUX),
        project.replace("numpy>=1.24", "numpy>=1.24,<2")
    );
    let conda =
        "name: x\ndependencies:\n  - python=3.10\n  - pip\n  - pip:\n      - torch==2.3.1 # gpu\n";
    assert_eq!(
        fixed("environment.yml", conda, &OLD_DRIVER),
        conda.replace(
            "      - torch==2.3.1 # gpu",
            "      - --extra-index-url WHL/cu118\n      - torch==2.3.1+cu118 # gpu"
        )
    );
}

#[test]
fn json_has_the_edits_and_whether_they_hold() {
    let bench = Bench::new(&[("requirements.txt", "torch==2.2.2\nnumpy==2.0.0\n")]);
    let json = ["requirements.txt", "--format", "json"];
    let run = bench.audit(&[&json[..], &LINUX].concat()).expect(1);
    let report = report(&run);
    let finding = &report["findings"][0];
    assert_eq!(finding["code"], "numpy-abi");
    let expected = serde_json::json!({
        "text": "numpy==1.26.4",
        "edits": [{
            "file": "requirements.txt",
            "line": 2, "column": 8, "end_line": 2, "end_column": 13,
            "old": "2.0.0", "new": "1.26.4",
        }],
        "command": null,
        "steps": [],
        "verified": true,
    });
    assert_eq!(finding["fix"], expected);
    assert_eq!(bench.read("requirements.txt"), "torch==2.2.2\nnumpy==2.0.0\n");
    let run = bench.audit(&[&json[..], &["--no-solve"], &LINUX].concat()).expect(1);
    assert_ne!(self::report(&run)["findings"][0]["fix"]["verified"], true);
}

#[test]
fn a_difference_is_shown_and_nothing_written() {
    let text = "torch==2.2.2\nnumpy==2.0.0\n";
    let bench = Bench::new(&[("requirements.txt", text)]);
    let run = bench.audit(&[&["requirements.txt", "--diff"], &LINUX[..]].concat()).expect(1);
    assert_eq!(
        run.stdout,
        "--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1,2 +1,2 @@\n torch==2.2.2\n-numpy==2.0.0\n+numpy==1.26.4\n"
    );
    assert!(run.stderr.contains("numpy-abi"), "{}", run.stderr);
    assert_eq!(bench.read("requirements.txt"), text);
    let right = Bench::new(&[("requirements.txt", "requests\n")]);
    let run = right.audit(&[&["requirements.txt", "--diff"], &LINUX[..]].concat()).expect(0);
    assert_eq!(run.stdout, "");
}

#[test]
fn standard_input_comes_back_fixed() {
    let bench = Bench::new(&[]);
    let cache = bench.project.path().join("cache");
    let (url, whl) = (bench.server.url(), bench.whl());
    let mut child = Command::new(BINARY)
        .args(["audit", "-", "--fix", "--default-index", &url, "--cache-dir"])
        .arg(cache)
        .args(LINUX)
        .env("CUDA_LOCK_PYTORCH_INDEX", whl)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"torch==2.2.2\r\nnumpy==2.0.0\r\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"torch==2.2.2\r\nnumpy==1.26.4\r\n");
    let refused = bench.audit(&["-", "env.toml", "--fix"]).expect(2);
    assert!(refused.stderr.contains("standard output"), "{}", refused.stderr);
}

#[test]
fn what_no_pin_mends_is_said_and_left_alone() {
    // No torch that runs on this driver has wheels for this Python.
    let text = "torch==2.12.0\n";
    let bench = Bench::new(&[("requirements.txt", text)]);
    let machine = ["--platform", "linux-x86_64", "--python", "3.14", "--driver", "470.86"];
    let run = bench.audit(&[&["requirements.txt", "--fix"], &machine[..]].concat()).expect(1);
    assert!(run.stdout.contains("no change of pins that was tried is a fix"), "{}", run.stdout);
    assert_eq!(bench.read("requirements.txt"), text);
    // A package that no index has hides nothing: the rest is mended.
    let text = "nowhere-to-be-found==1\ntorch==2.2.2\nnumpy==2.0.0\n";
    let bench = Bench::new(&[("requirements.txt", text)]);
    let _ = bench.audit(&[&["requirements.txt", "--fix"], &LINUX[..]].concat()).expect(1);
    assert_eq!(bench.read("requirements.txt"), text.replace("2.0.0", "1.26.4"));
}

#[test]
fn a_fault_that_nothing_mends_leaves_another_its_fix() {
    let text = "torch==2.2.2\nnumpy==2.0.0\ndoomed==1.0\ndoomed-too==1.0\n";
    let bench = Bench::new(&[("requirements.txt", text)]);
    let _ = bench.audit(&[&["requirements.txt", "--fix"], &LINUX[..]].concat()).expect(1);
    assert_eq!(bench.read("requirements.txt"), text.replace("2.0.0", "1.26.4"));
}

#[test]
fn locks_are_not_edited_and_what_to_run_is_said() {
    let lock = "version = 1\nrevision = 3\nrequires-python = \"==3.10.*\"\n\n[[package]]\nname = \"numpy\"\nversion = \"2.0.0\"\nsource = { registry = \"URL\" }\n\n[[package]]\nname = \"torch\"\nversion = \"2.2.2\"\nsource = { registry = \"URL\" }\n";
    let bench = Bench::new(&[]);
    let lock = lock.replace("URL", &bench.server.url());
    bench.project.write("uv.lock", &lock);
    let run = bench.audit(&[&["uv.lock", "--fix"], &LINUX[..]].concat()).expect(1);
    assert_eq!(bench.project.read("uv.lock").unwrap(), lock);
    let _ = run;
    let run = bench.audit(&[&["uv.lock"], &LINUX[..]].concat()).expect(1);
    assert!(run.stdout.contains("run: uv add"), "{}", run.stdout);
}

/// `docs/audit.md` shows a report; it is the one that the program prints.
#[test]
fn the_documented_report_is_what_is_printed() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/audit.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let block = |fence: &str| {
        let start = docs.find(fence).unwrap() + fence.len();
        docs[start..].split("```").next().unwrap().to_owned()
    };
    let input = block("```text requirements.txt\n");
    let bench = Bench::new(&[("requirements.txt", &input)]);
    let json = ["requirements.txt", "--format", "json"];
    let run = bench.audit(&[&json[..], &LINUX].concat()).expect(1);
    let printed = report(&run);
    let shown: Value = serde_json::from_str(&block("```json\n")).unwrap();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&shown), keys(&printed));
    for key in ["schema", "machine", "findings", "unchecked", "changed", "remarks"] {
        assert_eq!(shown[key], printed[key], "{key}:\n{}", run.stdout);
    }
    let checked = printed["checked"].as_array().unwrap();
    for build in shown["checked"].as_array().unwrap() {
        assert!(checked.contains(build), "{build} is not in {}", printed["checked"]);
    }
}
