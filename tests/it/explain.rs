//! `cuda-lock explain` as a person meets it: why something is in the lock, what holds it there, and why it is not newer.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run, Server};
use serde_json::Value;

use crate::BINARY;

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings");
    Arc::new(Index::from_recording(&folder.join("index-2026-11-30.json.gz")))
});

/// A workstation with an older driver, and what people train on it.
fn workstation() -> (Project, Server) {
    let server = Server::start(Arc::clone(&INDEX));
    let manifest = Manifest::new(&server)
        .depends(["torch", "torchvision", "numpy<2"])
        .machine("driver = \"535.104.05\"")
        .machine("gpus = [\"RTX 3090\"]")
        .machine("glibc = \"2.35\"");
    (Project::new(BINARY, manifest), server)
}

fn explain(project: &Project, arguments: &[&str]) -> Run {
    let cache = project.path().join("cache");
    let cache = cache.to_string_lossy();
    project.run(&[&["explain", "--cache-dir", &cache], arguments].concat())
}

fn text(arguments: &[&str]) -> String {
    let (project, _server) = workstation();
    explain(&project, arguments).expect(0).stdout.trim_end().to_owned()
}

#[test]
fn a_package() {
    insta::assert_snapshot!(text(&["torch"]), @"
    torch 2.10.0
      env.toml needs any version
          torch
      torchvision 0.25.0 needs ==2.10.0
          METADATA: torch (==2.10.0)

      newer releases:
      2.11.0 to 2.14.1 no: torch needs CUDA 13.0; CUDA 13.0 needs driver >=580.65.06; the machine has driver 535.104.05
      2.15.0           no: torch needs CUDA 13.2; CUDA 13.2 needs driver >=580.65.06; the machine has driver 535.104.05
    ");
}

#[test]
fn a_package_that_env_toml_bounds() {
    insta::assert_snapshot!(text(&["numpy"]), @"
    numpy 1.26.4
      env.toml needs <2
          numpy<2
      torchvision 0.25.0 needs any version
          METADATA: numpy

      newer releases:
      2.0.0 to 2.1.3 no: env.toml asks for numpy<2
      ... 25 more
      2.5.5          no: env.toml asks for numpy<2
    ");
}

#[test]
fn a_package_that_nobody_named() {
    insta::assert_snapshot!(text(&["nvidia-cudnn-cu12"]), @r#"
    nvidia-cudnn-cu12 9.10.2.21
      torch 2.10.0 needs ==9.10.2.21
          METADATA: nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux" and platform_machine == "x86_64"

      newer releases:
      9.11.0.98 to 9.15.0.57 no: torch >=1.13.1 needs cuDNN <=9.10.2.21 or >=9.19.0.56; env.toml asks for torch
      ... 21 more
      9.28.0.42              no: torch >=1.13.1 needs cuDNN <=9.26.0.51; env.toml asks for torch
    "#);
}

#[test]
fn cuda() {
    insta::assert_snapshot!(text(&["cuda"]), @r#"
    CUDA 12.8
      nvidia-cuda-runtime-cu12 12.8.90 needs 12.8
          the version of nvidia-cuda-runtime-cu12 is the CUDA version; measured: files of nvidia-cuda-runtime-cu12 12.9.79
      torch 2.10.0 needs 12.8
          METADATA: nvidia-cuda-runtime-cu12==12.8.90; platform_system == "Linux" and platform_machine == "x86_64"
      nvidia-cublas-cu12 12.8.4.1 needs 12
          nvidia-cublas-cu12 belongs to CUDA 12; measured: libraries that the onnxruntime-gpu wheels of CUDA 12 link
      nvidia-cuda-cupti-cu12 12.8.90 needs 12
          nvidia-cuda-cupti-cu12 belongs to CUDA 12; measured: files of nvidia-cuda-cupti-cu12 12.9.79
      nvidia-cuda-nvrtc-cu12 12.8.93 needs 12
          nvidia-cuda-nvrtc-cu12 belongs to CUDA 12; measured: libraries that the onnxruntime-gpu wheels of CUDA 12 link
      nvidia-cudnn-cu12 9.10.2.21 needs 12
          METADATA: nvidia-cublas-cu12
      and 10 more with looser bounds (--format json)

      newer releases:
      12.9         no: torch >=1.13.1 needs CUDA <12.9 or >=13.0; env.toml asks for torch
      13.0         no: CUDA 13.0 needs driver >=580.65.06; the machine has driver 535.104.05
      13.1         no: torch >=1.13.1 needs CUDA <13.1 or >=13.2; env.toml asks for torch
      13.2         no: CUDA 13.2 needs driver >=580.65.06; the machine has driver 535.104.05
      13.3 to 13.5 no: torch >=1.13.1 needs CUDA <13.3; env.toml asks for torch
    "#);
}

#[test]
fn cudnn() {
    insta::assert_snapshot!(text(&["cudnn"]), @r#"
    cuDNN 9.10.2.21
      nvidia-cudnn-cu12 9.10.2.21 needs 9.10.2.21
          the version of nvidia-cudnn-cu12 is the cuDNN version; measured: central directories of the PyPI wheels
      torch 2.10.0 needs 9.10.2.21
          METADATA: nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux" and platform_machine == "x86_64"

      newer releases:
      9.11 to 9.17 no: torch >=1.13.1 needs cuDNN <=9.10.2.21 or >=9.19.0.56; env.toml asks for torch
      ... 10 more
      9.28         no: torch >=1.13.1 needs cuDNN <=9.26.0.51; env.toml asks for torch
    "#);
}

#[test]
fn python() {
    insta::assert_snapshot!(text(&["python"]), @r#"
    Python 3.11
      env.toml needs ==3.11.18
          python = "3.11"
      networkx 3.6.1 needs >=3.11,<3.14.1 or >3.14.1
          Requires-Python: !=3.14.1,>=3.11
      cuda-pathfinder 1.9.1 needs >=3.11
          Requires-Python: >=3.11
      filelock 4.3.1 needs >=3.11
          Requires-Python: >=3.11
      pillow 13.0.0 needs >=3.11
          Requires-Python: >=3.11
      triton 3.6.0 needs >=3.10,<3.15
          Requires-Python: <3.15,>=3.10
      and 22 more with looser bounds (--format json)

      newer releases:
      3.12       possible; moves networkx 3.7
      3.13       no: torch >=1.13.1 has no wheels for Python 3.13; env.toml asks for torch
      3.14       no: torch >=1.13.1 has no wheels for Python 3.14; env.toml asks for torch
      3.15       no: torch >=1.13.1 has no wheels for Python 3.15; env.toml asks for torch
    "#);
}

#[test]
fn the_gpu() {
    insta::assert_snapshot!(text(&["gpu"]), @"
    GPU 8.6
      env.toml needs 8.6
          GPU RTX 3090 (compute capability 8.6)
      torch 2.10.0 needs 7.0 to 12.0
          torch 2.10.0 has GPU code for sm_70, sm_75, sm_80, sm_86, sm_90, sm_100, sm_120; arch string in libtorch_python.so of the PyPI wheels
      CUDA 12.8 needs >=5.0
          CUDA 12.8 has no code for GPUs below compute capability 5.0; the last for 3.7 (Kepler) is CUDA 11.8; docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html
      nvidia-cudnn-cu12 9.10.2.21 needs >=5.0
          nvidia-cudnn-cu12 8.8 and later, below 9.11, has code only for GPUs of compute capability 5.0 or newer; measured: wheels 8.8.0.121 .. 9.10.2.21
      nvidia-nccl-cu12 2.27.5 needs >=5.0
          nvidia-nccl-cu12 2.18 and later, below 2.28.3, has code only for GPUs of compute capability 5.0 or newer; measured: 2.18.1, 2.21.5, 2.27.3, 2.27.5
      nvidia-cublas-cu12 12.8.4.1 needs <3.2, ... or >10.1
          nvidia-cublas-cu12 has code only for GPUs outside Tegra systems (Jetson), for which JetPack has its own builds; CUDA Programming Guide (quoted): cubins of Tegra and of other GPUs are not interchangeable
    ");
}

#[test]
fn the_driver() {
    insta::assert_snapshot!(text(&["driver"]), @"
    driver of the machine                  535.104.05
    CUDA runtime                           12.8
    minimum (minor-version compatibility)  525.60.13
    released with this CUDA or newer       570.26
    for GPUs reached only through PTX      570.26
    GPU that goes first                    compute capability 7.0 (Volta 7.0) is not supported by drivers from R590 on

    CUDA 12.8 needs >=525.60.13
        CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)
    GPU 8.6 needs >=455
        RTX 3090 (Ampere 8.6) is supported by drivers from R455 on; docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html
    ");
}

#[test]
fn a_misspelt_name() {
    let (project, _server) = workstation();
    let run = explain(&project, &["torchvison"]).expect(2);
    insta::assert_snapshot!(run.stderr, @"
    error: nothing in this environment needs torchvison
    help: did you mean torchvision?
    ");
    let run = explain(&project, &["a b"]).expect(2);
    insta::assert_snapshot!(run.stderr, @"
    error: 'a b' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
    ");
}

#[test]
fn nothing_needs_it() {
    let server = Index::new().release("a", "1.0", Dist::wheel()).serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
    let run = explain(&project, &["cudnn"]).expect(2);
    insta::assert_snapshot!(run.stderr, @"
    error: nothing in this environment needs cudnn
    ");
}

/// After one resolve the lock and the cache are enough.
#[test]
fn without_a_network() {
    let (project, server) = workstation();
    let _ = project.resolve(&[]).expect(0);
    let online = explain(&project, &["torch"]).expect(0);
    server.forget();
    let offline = explain(&project, &["torch", "--offline"]).expect(0);
    assert_eq!(offline.stdout, online.stdout);
    assert!(server.log().is_empty(), "--offline asks nothing");
}

/// With only the lock's own METADATA in the cache, what cannot be known is said to be unknown.
#[test]
fn what_is_not_in_the_cache_is_said_to_be_unknown() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel().requires("b<2"))
        .release("b", "1.0", Dist::wheel())
        .release("b", "2.0", Dist::wheel().requires("c"))
        .serve();
    let manifest = Manifest::new(&server).depends(["a"]);
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    let run = explain(&project, &["b", "--offline"]).expect(0);
    insta::assert_snapshot!(run.stdout, @"
    b 1.0
      a 1.0 needs <2
          METADATA: b<2

      newer releases:
      2.0        no: not known: the METADATA of b-2.0-py3-none-any.whl is not in the cache, and --offline allows no request: run once without --offline to fill the cache
    ");
}

#[test]
fn a_lock_that_is_old_is_said_to_be_old() {
    let (project, server) = workstation();
    let _ = project.resolve(&[]).expect(0);
    let changed = project.read("env.toml").unwrap().replace("numpy<2", "numpy<1.25");
    project.write("env.toml", &changed);
    let run = explain(&project, &["numpy"]).expect(0);
    assert!(run.stderr.contains("the lock is not what env.toml gives now"), "{}", run.stderr);
    drop(server);
}

/// The shape that docs/conflicts.md describes.
#[test]
fn as_json() {
    let (project, _server) = workstation();
    let run = explain(&project, &["torch", "--format", "json"]).expect(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["name"], "torch");
    assert!(found["version"].is_string() && found["not_tried"].is_u64());
    let holder = &found["held_by"][0];
    assert!(["subject", "range", "source"].iter().all(|key| holder[key].is_string()), "{holder}");
    let newest = found["newer"].as_array().unwrap().last().unwrap();
    assert!(newest["version"].is_string() && newest["why_not"].is_string(), "{newest}");
    assert!(newest["moves"].as_array().unwrap().is_empty());
    let run = explain(&project, &["driver", "--format", "json"]).expect(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    for key in ["machine", "cuda", "minimum", "full", "ptx", "first_to_go"] {
        assert!(found[key].is_string(), "{key} in {found}");
    }
}

#[test]
fn an_environment_that_cannot_be() {
    let server = Index::new().release("a", "1.0", Dist::wheel()).serve();
    let manifest = Manifest::new(&server).depends(["a>=2"]);
    let project = Project::new(BINARY, manifest);
    let run = explain(&project, &["a"]).expect(1);
    insta::assert_snapshot!(run.stderr.trim_end(), @"
    error: a>=2 cannot be installed

      there is no a >=2; the newest is 1.0

    help: `cuda-lock resolve` looks for changes that make it solvable
    ");
}
