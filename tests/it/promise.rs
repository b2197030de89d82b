//! What `resolve` writes, `audit` passes; and what is not known is said.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use cuda_lock_testing::{Dist, Fault, Index, Machines, Manifest, Project, Replica, Run, Server};
use serde_json::Value;

use crate::BINARY;

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name)
}

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let replica = Replica::read(&recording("pytorch-2026-11-30.json.gz"));
    let pypi = Index::from_recording(&recording("index-2026-11-30.json.gz"));
    Arc::new(pypi.with_replica(replica))
});

/// An audit of the lock of a project on the machine of its env.toml, without a network but for the server.
pub fn audit_of_lock(project: &Project, server: &Server, lock: &str, machine: &str) -> Run {
    let cache = project.path().join("cache");
    let (cache, url) = (cache.to_string_lossy(), server.url());
    let fixed = ["audit", lock, "--machine", machine, "--no-solve", "--format", "json"];
    project.run(&[&fixed[..], &["--cache-dir", &cache, "--default-index", &url]].concat())
}

/// What an audit found, as `severity code: message`.
fn found(run: &Run) -> Vec<String> {
    let report: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.stdout, run.stderr));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .map(|f| format!("{} {}: {}", text(f, "severity"), text(f, "code"), text(f, "message")))
        .collect()
}

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.throw(among.len())]
    }
}

/// A machine and what should run on it.
fn random(dice: &mut Dice, server: &Server) -> Machines {
    let drivers = [
        "470.103.01",
        "525.60.13",
        "535.104.05",
        "550.54.14",
        "570.124.06",
        "580.95.05",
        "595.58.03",
    ];
    let gpus = ["Tesla V100-SXM2", "T4", "RTX 3090", "A100", "L4", "H100", "RTX 5090", "B200"];
    let wanted = [
        "torch",
        "torch>=2.3",
        "torch<2.7",
        "torch==2.4.0",
        "torch==2.6.0",
        "torchvision",
        "torchaudio",
        "onnxruntime-gpu",
        "onnxruntime-gpu<1.20",
        "onnxruntime",
        "onnx",
        "onnx<1.17",
        "transformers",
        "accelerate",
        "datasets",
        "numpy<2",
        "nvidia-cudnn-cu12<9",
        "nvidia-cuda-runtime-cu12",
    ];
    let mut machine = Machines::new(server).python(dice.pick(&["3.10", "3.11", "3.12"]));
    if dice.throw(5) > 0 {
        machine = machine.driver(dice.pick(&drivers));
    }
    machine = match dice.throw(6) {
        0 => machine.machine("gpus = []"),
        1 => machine,
        _ => machine.gpu(dice.pick(&gpus)),
    };
    for _ in 0..=dice.throw(4) {
        machine = machine.depends(&[dice.pick(&wanted)]);
    }
    machine
}

#[test]
fn no_lock_is_written_that_its_own_audit_rejects() {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, Machines::new(&server));
    let mut dice = Dice(11);
    let (start, mut written) = (Instant::now(), 0);
    for _ in 0..60 {
        let manifest = random(&mut dice, &server).to_string();
        project.write("env.toml", &manifest);
        let _ = std::fs::remove_file(project.path().join("pylock.toml"));
        let run = project.resolve(&["--quiet"]);
        assert!(matches!(run.code, 0 | 1), "{manifest}\n{}", run.stderr);
        if run.code == 1 {
            assert!(project.read("pylock.toml").is_none(), "{manifest}\n{}", run.stderr);
            // A refusal is one of the solver, or says what an audit has against the answer: never the latter here.
            assert!(!run.stderr.contains("[audit]"), "{manifest}\n{}", run.stderr);
            continue;
        }
        written += 1;
        let audit = audit_of_lock(&project, &server, "pylock.toml", "env.toml");
        assert!(audit.code == 0, "{manifest}\n{:#?}\n{}", found(&audit), audit.stderr);
        if start.elapsed() > Duration::from_secs(25) {
            break;
        }
    }
    assert!(written >= 5, "only {written} of them have an answer");
}

fn small() -> Index {
    Index::new()
        .release("tensorflow", "2.4.0", Dist::wheel())
        .release(
            "tensorflow",
            "2.18.0",
            Dist::wheel().extra("and-cuda", &["nvidia-cudnn-cu12>=9.3"]),
        )
        .release("nvidia-cudnn-cu12", "9.3.0.75", Dist::wheel())
        .release("jax", "0.8.0", Dist::wheel().extra("cuda12", &["jax-cuda12-plugin==0.8.0"]))
        .release("jax-cuda12-plugin", "0.8.0", Dist::wheel())
        .release("ultralytics", "8.3.0", Dist::wheel())
        .release("onnxruntime-directml", "1.20.0", Dist::wheel())
        .release("faster-whisper", "1.1.0", Dist::wheel().requires("ctranslate2<5,>=4.0"))
        .release("ctranslate2", "4.8.5", Dist::wheel())
        .release("cupy-cuda12x", "13.6.0", Dist::wheel())
        .release("cupy-cuda12x", "14.2.0", Dist::wheel())
        .release("paddlepaddle-gpu", "2.6.2", Dist::wheel())
        .release("nvidia-cublas-cu12", "12.9.1.4", Dist::wheel())
        .release("nvidia-cuda-runtime-cu12", "12.9.79", Dist::wheel())
        .release("nvidia-cuda-nvrtc-cu12", "12.9.86", Dist::wheel())
        .release("nvidia-cufft-cu12", "11.4.1.4", Dist::wheel())
        .release("nvidia-curand-cu12", "10.3.10.19", Dist::wheel())
        .release("nvidia-cusolver-cu12", "11.7.5.82", Dist::wheel())
        .release("nvidia-cusparse-cu12", "12.5.10.65", Dist::wheel())
        .release("plain", "1.0", Dist::wheel())
}

const GPU: &str = "driver = \"580.95.05\"\ngpus = [\"RTX 3090\"]";

fn with_gpu(server: &Server, wanted: &[&str]) -> Project {
    Project::new(BINARY, Manifest::new(server).machine(GPU).depends(wanted))
}

#[test]
fn an_answer_that_an_audit_rejects_is_no_answer() {
    let server = small().serve();
    let project = with_gpu(&server, &["tensorflow==2.4.0"]);
    let run = project.resolve(&[]).expect(1);
    assert!(
        run.stderr.contains("error: library-missing: tensorflow 2.4.0 opens CUDA 11"),
        "{}",
        run.stderr
    );
    assert!(project.read("pylock.toml").is_none() && project.read("requirements.txt").is_none());
    let run = project.resolve(&["--format", "json"]).expect(1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let headline = report["targets"][0]["headline"].as_str().unwrap();
    assert!(headline.contains("tensorflow 2.4.0"), "{headline}");
    // What the person accepts is let through.
    let accepted =
        "[audit]\nignore = [{ code = \"library-missing\", reason = \"the image has them\" }]";
    let manifest =
        Manifest::new(&server).machine(GPU).depends(["tensorflow==2.4.0"]).table(accepted);
    project.write("env.toml", &manifest.to_string());
    let _ = project.resolve(&[]).expect(0);
}

#[test]
fn what_an_audit_warns_of_stands_in_the_summary() {
    let server = small().serve();
    let project = with_gpu(&server, &["ultralytics", "onnxruntime-directml"]);
    let run = project.resolve(&[]).expect(0);
    assert!(
        run.stderr.contains("warning: module-clash: ultralytics 8.3.0 may overwrite"),
        "{}",
        run.stderr
    );
    let audit = audit_of_lock(&project, &server, "pylock.toml", "env.toml").expect(0);
    let warned = found(&audit);
    assert!(warned.iter().any(|text| text.starts_with("warning module-clash")), "{warned:?}");
}

#[test]
fn frameworks_without_their_gpu_part_are_said_to_run_on_the_cpu() {
    let server = small().serve();
    for (wanted, name) in [("tensorflow", "tensorflow 2.18.0"), ("jax", "jax 0.8.0")] {
        let run = with_gpu(&server, &[wanted]).resolve(&[]).expect(0);
        let said = run.stderr.contains(name) && run.stderr.contains("runs on the CPU");
        assert!(said, "{wanted}: {}", run.stderr);
        assert!(!run.stdout.contains("CUDA"), "{}", run.stdout);
    }
    let run = with_gpu(&server, &["jax[cuda12]"]).resolve(&[]).expect(0);
    assert!(!run.stderr.contains("runs on the CPU"), "{}", run.stderr);
    let without = Manifest::new(&server).machine("gpus = []").depends(["jax", "tensorflow"]);
    let run = Project::new(BINARY, without).resolve(&[]).expect(0);
    assert!(!run.stderr.contains("runs on the CPU"), "{}", run.stderr);
}

/// The versions of CUDA and cuDNN in the lock.
fn layers(project: &Project) -> [Option<String>; 2] {
    let lock = project.pylock();
    ["cuda", "cudnn"].map(|key| {
        lock["tool"]["cuda-lock"].get(key).and_then(|value| value.as_str()).map(str::to_owned)
    })
}

#[test]
fn libraries_that_metadata_does_not_bring_come_with_the_answer() {
    let server = small().serve();
    let project = with_gpu(&server, &["faster-whisper"]);
    let run = project.resolve(&[]).expect(0);
    let packages = project.packages();
    assert!(packages.contains_key("nvidia-cublas-cu12"), "{packages:?}");
    assert!(run.stdout.contains("LD_LIBRARY_PATH: nvidia/cublas/lib"), "{}", run.stdout);
    // Which CUDA 12 cuBLAS is of, nothing tells.
    assert_eq!(layers(&project), [None, None]);
    assert!(!run.stdout.contains("CUDA  "), "{}", run.stdout);

    let project = with_gpu(&server, &["cupy-cuda12x<14"]);
    let run = project.resolve(&[]).expect(0);
    assert_eq!(project.packages().len(), 8);
    assert!(run.stdout.contains("nvidia/cusolver/lib"), "{}", run.stdout);
    assert_eq!(layers(&project), [Some("12.9".to_owned()), None]);

    let project = with_gpu(&server, &["cupy-cuda12x"]);
    let run = project.resolve(&[]).expect(0);
    assert_eq!(project.packages().len(), 8);
    assert!(!run.stdout.contains("LD_LIBRARY_PATH"), "it finds them by itself: {}", run.stdout);
}

#[test]
fn no_cuda_is_named_that_nothing_supplies() {
    let server = small().serve();
    let project = with_gpu(&server, &["paddlepaddle-gpu"]);
    let run = project.resolve(&[]).expect(0);
    assert_eq!(layers(&project), [None, None]);
    assert!(!run.stdout.contains("11.8") && !run.stdout.contains("cuDNN  "), "{}", run.stdout);
    assert!(
        run.stderr.contains("opens libcublas.so and libcudnn.so, which no wheel brings"),
        "{}",
        run.stderr
    );
    let system = format!("{GPU}\nlibraries = \"system\"");
    let manifest = Manifest::new(&server).machine(&system).depends(["cupy-cuda12x"]);
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.packages().len(), 1);
    assert_eq!(layers(&project), [None, None], "what the system has is not known");
    let system = format!("{GPU}\nlibraries = \"system\"\ncuda = \"==12.4\"");
    let manifest = Manifest::new(&server).machine(&system).depends(["cupy-cuda12x"]);
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(layers(&project)[0].as_deref(), Some("12.4"));
}

#[test]
fn an_answer_without_packages_says_why() {
    let server = small().serve();
    let manifest = Manifest::new(&server)
        .depends(["plain; sys_platform == 'win32'", "jax; python_version < '3'"]);
    let run = Project::new(BINARY, manifest).resolve(&[]).expect(0);
    for text in ["plain; sys_platform == 'win32'", "jax; python_version < '3'"] {
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
    assert!(run.stderr.contains("nothing is to be installed"), "{}", run.stderr);
}

#[test]
fn files_that_are_not_understood_are_refused_by_name() {
    let project = Project::new(BINARY, "");
    let files = [
        (
            "Pipfile",
            "[[source]]\nurl = \"https://pypi.example/simple\"\n\n[packages]\ntorch = \"*\"\n",
        ),
        ("Jenkinsfile", "pipeline {\n  agent any\n  stages {\n  }\n}\n"),
        ("setup.cfg", "[options]\ninstall_requires =\n    torch\n    numpy\n"),
        ("train.ipynb", "{\n \"cells\": [],\n \"nbformat\": 4\n}\n"),
    ];
    for (name, text) in files {
        project.write(name, text);
        let run = project.run(&["audit", name, "--no-solve"]).expect(2);
        assert!(
            run.stderr.starts_with(&format!("error: {name} is not read: it is a")),
            "{}",
            run.stderr
        );
        assert_eq!(run.stderr.matches("error").count(), 1, "{}", run.stderr);
    }
}

#[test]
fn a_script_is_judged_by_its_block() {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, "");
    project.write(
        "train.py",
        "# /// script\n# requires-python = \">=3.11\"\n# dependencies = [\n#   \"torch==2.6.0\",\n# ]\n# ///\nimport torch\n",
    );
    let url = server.url();
    let flags = ["--driver", "470.86", "--gpu", "RTX 3090", "--no-solve", "--default-index", &url];
    let run =
        project.run(&[&["audit", "train.py", "--format", "json"][..], &flags].concat()).expect(1);
    assert!(run.stdout.contains("driver-too-old"), "{}", run.stdout);
    assert!(
        run.stdout.contains("\"line\": 4") || run.stdout.contains("\"line\":4"),
        "{}",
        run.stdout
    );
}

/// torch 2.13.0+cu126 in a lock, on a machine for which PyPI has only older builds.
fn locked() -> (Project, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let machine = Machines::new(&server).driver("570.124.06").gpu("Tesla V100-SXM2");
    let project = Project::new(BINARY, machine.depends(&["torch"]));
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.packages()["torch"], "2.13.0+cu126");
    (project, server)
}

#[test]
fn an_index_that_could_not_be_read_moves_no_pin() {
    let (project, server) = locked();
    let before = project.read("pylock.toml");
    for backend in ["cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130", "cu132"] {
        server.fault(&format!("/whl/{backend}/torch/"), Fault::status(500));
    }
    let run = project.run(&["resolve", "--no-cache"]);
    assert!(matches!(run.code, 0 | 3), "{}", run.stderr);
    assert_eq!(project.read("pylock.toml"), before, "{}\n{}", run.stdout, run.stderr);
    assert!(run.code == 3 || run.stderr.contains("could not be read"), "{}", run.stderr);
    // Without a lock nothing can be kept.
    std::fs::remove_file(project.path().join("pylock.toml")).unwrap();
    let run = project.run(&["resolve", "--no-cache"]).expect(3);
    assert!(project.read("pylock.toml").is_none(), "{}", run.stdout);
}

#[test]
fn an_index_that_cannot_matter_is_not_missed() {
    let server = Server::start(Arc::clone(&INDEX));
    for path in ["/whl/cu126/torch/", "/whl/cu118/torch/", "/whl/cu128/torch/"] {
        server.fault(path, Fault::status(500));
    }
    let machine = Machines::new(&server).driver("595.58.03").gpu("RTX 4090").depends(&["torch"]);
    let run = Project::new(BINARY, machine).resolve(&[]).expect(0);
    assert!(run.stderr.is_empty(), "{}", run.stderr);
}
