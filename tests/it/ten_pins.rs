//! Ten torch releases, and torch unpinned, beside torchvision, torchaudio, onnxruntime-gpu, onnx and NumPy, resolved on the
//! recorded index.
//!
//! The answers are checked with the rules of `ten_pins.toml`, which were read from the wheels and not from the program's
//! matrices: companions belong to their torch, ONNX Runtime has torch's CUDA and cuDNN, every library that its CUDA provider
//! needs is in the lock, and NumPy has the ABI that torch was built for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Index, Manifest, Project, Run, Server};
use serde::Deserialize;

use crate::BINARY;

#[derive(Deserialize)]
struct Facts {
    pin: Vec<Pin>,
    torchaudio: Vec<Torchaudio>,
    runtime: Vec<Runtime>,
    wheels: BTreeMap<String, BTreeMap<String, Supplier>>,
}

#[derive(Deserialize)]
struct Pin {
    torch: String,
    torchvision: String,
    torchaudio: String,
    python: String,
    cuda: u64,
    cudnn: u64,
}

#[derive(Deserialize)]
struct Torchaudio {
    version: String,
    torch: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Runtime {
    versions: Vec<String>,
    cuda: u64,
    cudnn: u64,
    numpy_below: Option<u64>,
    needs: Vec<String>,
}

#[derive(Deserialize)]
struct Supplier {
    wheel: String,
    major: u64,
}

type Packages = BTreeMap<String, String>;

static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    toml::from_str(include_str!("ten_pins.toml")).expect("the facts are well formed")
});

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    Arc::new(Index::from_recording(&folder.join("index-2026-11-30.json.gz")))
});

/// A project with the set that people ask for, torch as given, and the server it asks.
fn project(torch: &str, python: &str) -> (Project, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let manifest = Manifest::new(&server)
        .python(python)
        .depends([torch, "torchvision", "torchaudio", "onnxruntime-gpu", "onnx", "numpy"])
        .machine("glibc = \"2.35\"");
    (Project::new(BINARY, manifest), server)
}

fn pin(torch: &str) -> &'static Pin {
    FACTS
        .pin
        .iter()
        .find(|pin| pin.torch == torch)
        .unwrap_or_else(|| panic!("no facts on torch {torch}"))
}

fn major(version: &str) -> u64 {
    let digits = version.split(['.', '+']).next().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("{version} starts with a number"))
}

fn locked<'a>(packages: &'a Packages, name: &str) -> &'a str {
    packages.get(name).unwrap_or_else(|| panic!("{name} is not in the lock: {packages:#?}"))
}

/// The CUDA and cuDNN majors that the wheels of the lock bring.
fn majors(packages: &Packages) -> (u64, u64) {
    let cudas: Vec<u64> =
        [("nvidia-cublas-cu11", 11), ("nvidia-cublas-cu12", 12), ("nvidia-cublas", 13)]
            .into_iter()
            .filter(|(name, _)| packages.contains_key(*name))
            .map(|(_, major)| major)
            .collect();
    let cudnns: Vec<&String> = packages
        .iter()
        .filter(|(name, _)| name.starts_with("nvidia-cudnn-cu"))
        .map(|(_, v)| v)
        .collect();
    assert_eq!(cudas.len(), 1, "one CUDA in one process: {packages:#?}");
    assert_eq!(cudnns.len(), 1, "one cuDNN in one process: {packages:#?}");
    (cudas[0], major(cudnns[0]))
}

/// ONNX Runtime has the CUDA and cuDNN of torch, and the lock brings all that its CUDA provider needs.
fn check_runtime(packages: &Packages, cuda: u64, cudnn: u64) {
    let version = locked(packages, "onnxruntime-gpu");
    let runtime = FACTS
        .runtime
        .iter()
        .find(|row| row.versions.iter().any(|v| v == version))
        .unwrap_or_else(|| panic!("onnxruntime-gpu {version} is none that loads on Linux"));
    assert_eq!((runtime.cuda, runtime.cudnn), (cuda, cudnn), "onnxruntime-gpu {version}");
    for soname in &runtime.needs {
        let supplier = &FACTS.wheels[&cuda.to_string()][soname];
        let version = locked(packages, &supplier.wheel);
        assert_eq!(major(version), supplier.major, "{soname} from {} {version}", supplier.wheel);
    }
    if let Some(below) = runtime.numpy_below {
        assert!(
            major(locked(packages, "numpy")) < below,
            "onnxruntime-gpu {version} was built for NumPy 1"
        );
    }
    assert!(!packages.contains_key("onnxruntime"), "two distributions own onnxruntime/");
}

/// What has to happen before a session is made is part of the answer: shown, and in the lock.
fn check_loading(project: &Project, run: &Run) {
    let names_a_step = |text: &str| {
        let text = text.to_lowercase();
        ["preload_dlls", "import torch", "ld_library_path"].iter().any(|step| text.contains(step))
    };
    let lock = project.pylock();
    let tool = lock["tool"]["cuda-lock"].to_string();
    assert!(names_a_step(&tool), "no loading step in [tool.cuda-lock]: {tool}");
    let shown = format!("{}{}", run.stdout, run.stderr);
    assert!(names_a_step(&shown), "no loading step shown:\n{shown}");
}

fn solvable(torch: &str) {
    let pin = pin(torch);
    let (project, _server) = project(&format!("torch=={torch}"), &pin.python);
    let run = project.resolve(&[]).expect(0);
    let packages = project.packages();
    assert_eq!(locked(&packages, "torch"), pin.torch);
    assert_eq!(locked(&packages, "torchvision"), pin.torchvision);
    assert_eq!(locked(&packages, "torchaudio"), pin.torchaudio);
    assert_eq!(majors(&packages), (pin.cuda, pin.cudnn));
    check_runtime(&packages, pin.cuda, pin.cudnn);
    // torch before 2.3 was built against NumPy 1: https://github.com/pytorch/pytorch/issues/107302.
    let minor = pin.torch.split('.').nth(1).and_then(|m| m.parse::<u64>().ok()).unwrap_or(0);
    if (major(&pin.torch), minor) < (2, 3) {
        assert_eq!(major(locked(&packages, "numpy")), 1);
    }
    check_loading(&project, &run);
}

/// CUDA 12 with cuDNN 8: PyPI never had such an ONNX Runtime, and the answer says so and where there is one.
fn refused(torch: &str) {
    let pin = pin(torch);
    assert_eq!((pin.cuda, pin.cudnn), (12, 8));
    let (project, _server) = project(&format!("torch=={torch}"), &pin.python);
    let run = project.resolve(&[]).expect(1);
    let said = run.stderr;
    for word in ["onnxruntime-gpu", "cuDNN", "torch"] {
        assert!(said.contains(word), "{word} is not named:\n{said}");
    }
    let way_out = [format!("{torch}+cu118"), "onnxruntime-cuda-12".to_owned()];
    assert!(
        way_out.iter().any(|build| said.contains(build)),
        "none of {way_out:?} is named:\n{said}"
    );
    assert!(project.read("pylock.toml").is_none() && project.read("requirements.txt").is_none());
}

#[test]
fn torch_1_13_1() {
    solvable("1.13.1");
}

#[test]
fn torch_1_13_1_has_no_companion_on_python_3_11() {
    let (project, _server) = project("torch==1.13.1", "3.11");
    let run = project.resolve(&[]).expect(1);
    assert!(
        run.stderr.contains("torchvision") || run.stderr.contains("torchaudio"),
        "{}",
        run.stderr
    );
}

#[test]
fn torch_2_0_1() {
    solvable("2.0.1");
}

#[test]
fn torch_2_1_2() {
    refused("2.1.2");
}

#[test]
fn torch_2_2_2() {
    refused("2.2.2");
}

#[test]
fn torch_2_3_1() {
    refused("2.3.1");
}

#[test]
fn torch_2_4_1() {
    solvable("2.4.1");
}

#[test]
fn torch_2_5_1() {
    solvable("2.5.1");
}

#[test]
fn torch_2_6_0() {
    solvable("2.6.0");
}

#[test]
fn torch_2_8_0() {
    solvable("2.8.0");
}

#[test]
fn torch_2_11_0() {
    solvable("2.11.0");
}

#[test]
fn torch_unpinned() {
    let (project, _server) = project("torch", "3.11");
    let run = project.resolve(&[]).expect(0);
    let packages = project.packages();
    let (cuda, cudnn) = majors(&packages);
    check_runtime(&packages, cuda, cudnn);
    check_loading(&project, &run);
    assert_eq!(cuda, 13, "the newest torch of the recording has CUDA 13");
    let (torch, torchaudio) = (locked(&packages, "torch"), locked(&packages, "torchaudio"));
    let fits = FACTS
        .torchaudio
        .iter()
        .any(|row| row.version == torchaudio && row.torch.iter().any(|version| version == torch));
    assert!(fits, "torchaudio {torchaudio} does not import beside torch {torch}");
}
