//! Every build there is: PyTorch's indexes for each backend and ONNX Runtime's feeds, replicated on loopback, beside a
//! recorded PyPI. Which build is right for a machine was told by the people of the reports named at each test.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers included")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Dist, Index, Machines, Project, Replica, Run, Server};

fn recording(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name)
}

static REPLICA: LazyLock<Replica> =
    LazyLock::new(|| Replica::read(&recording("pytorch-2026-11-30.json.gz")));

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let pypi = Index::from_recording(&recording("index-2026-11-30.json.gz"));
    Arc::new(pypi.with_replica(REPLICA.clone()))
});

/// What one machine got.
struct Answer {
    packages: BTreeMap<String, String>,
    project: Project,
    run: Run,
    server: Server,
}

impl Answer {
    fn version(&self, name: &str) -> &str {
        self.packages.get(name).unwrap_or_else(|| panic!("no {name} in {:#?}", self.packages))
    }

    /// The backends of PyTorch's indexes that were asked for anything, in order.
    fn asked(&self) -> Vec<String> {
        let paths = self.server.log().into_iter().map(|(request, _)| request.path);
        let backends = paths.filter_map(|path| {
            let mut parts = path.strip_prefix("/whl/")?.split('/');
            parts.next().map(str::to_owned)
        });
        let mut backends: Vec<String> = backends.collect();
        backends.sort();
        backends.dedup();
        backends
    }

    fn feeds_asked(&self) -> usize {
        self.server.count(|request| request.path.starts_with("/feeds/"))
    }

    fn has(&self, prefix: &str) -> bool {
        self.packages.keys().any(|name| name.starts_with(prefix))
    }
}

fn run(manifest: impl FnOnce(Machines) -> Machines) -> (Project, Run, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let project =
        Project::new(env!("CARGO_BIN_EXE_cuda-lock"), manifest(Machines::new(&server)));
    let run = project.resolve(&[]);
    (project, run, server)
}

fn solved(manifest: impl FnOnce(Machines) -> Machines) -> Answer {
    let (project, run, server) = run(manifest);
    let run = run.expect(0);
    Answer { packages: project.packages(), project, run, server }
}

/// What is said when there is no answer.
fn refused(manifest: impl FnOnce(Machines) -> Machines) -> String {
    let (project, run, _server) = run(manifest);
    assert!(project.read("pylock.toml").is_none());
    run.expect(1).stderr
}

fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is not said:\n{text}");
    }
}

// The four machines that PyPI's build does not fit.

#[test]
fn driver_470_with_an_rtx_3090_gets_cu118() {
    let answer = solved(|m| m.driver("470.103.01").gpu("RTX 3090").depends(&["torch", "torchvision"]));
    assert_eq!(answer.version("torch"), "2.7.1+cu118");
    assert_eq!(answer.version("torchvision"), "0.22.1+cu118");
    assert!(answer.has("nvidia-cudnn-cu11") && !answer.has("nvidia-cudnn-cu12"));
    assert_eq!(answer.asked(), ["cu118"], "the other indexes have nothing newer that runs here");
    assert_eq!(answer.feeds_asked(), 0);
}

#[test]
fn an_rtx_5090_gets_code_for_sm_120() {
    let answer = solved(|m| m.driver("570.124.06").gpu("RTX 5090").depends(&["torch"]));
    let torch = answer.version("torch");
    assert_eq!(torch, "2.13.0+cu129", "cu126 has no code for it, CUDA 13 does not start on driver 570");
    let lock = answer.project.pylock();
    let covered = lock["tool"]["cuda-lock"].to_string();
    assert!(covered.contains("12.0"), "{covered}");
}

#[test]
fn a_v100_never_gets_cuda_13() {
    for driver in ["570.124.06", "580.95.05"] {
        let answer = solved(|m| m.driver(driver).gpu("Tesla V100-SXM2").depends(&["torch"]));
        assert_eq!(answer.version("torch"), "2.13.0+cu126", "driver {driver}");
        assert!(!answer.has("nvidia-cudnn-cu13"));
    }
}

#[test]
fn a_machine_without_a_gpu_gets_the_cpu_build() {
    let answer = solved(|m| m.machine("gpus = []").depends(&["torch", "torchvision"]));
    assert_eq!(answer.version("torch"), "2.13.0+cpu");
    assert_eq!(answer.version("torchvision"), "0.28.0+cpu");
    assert!(!answer.has("nvidia-") && !answer.has("triton"));
    assert_eq!(answer.asked(), ["cpu"]);
}

#[test]
fn windows_with_a_gpu_gets_a_cuda_build() {
    let answer = solved(|m| {
        m.platform("windows-x86_64").driver("581.80").gpu("RTX 3090").depends(&["torch"])
    });
    assert_eq!(answer.version("torch"), "2.13.0+cu130");
}

#[test]
fn windows_without_a_gpu_is_served_by_pypi() {
    let answer = solved(|m| m.platform("windows-x86_64").machine("gpus = []").depends(&["torch"]));
    assert_eq!(answer.version("torch"), "2.15.0");
    assert!(answer.asked().is_empty());
}

#[test]
fn where_pypi_fits_no_other_index_is_asked() {
    let answer = solved(|m| m.driver("595.58.03").gpu("RTX 4090").depends(&["torch", "torchvision"]));
    assert_eq!(answer.version("torch"), "2.15.0");
    assert!(answer.asked().is_empty() && answer.feeds_asked() == 0);
    let unknown = solved(|m| m.depends(&["torch"]));
    assert_eq!(unknown.version("torch"), "2.15.0");
    assert!(unknown.asked().is_empty());
}
