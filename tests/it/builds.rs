//! Every build there is: PyTorch's indexes for each backend and ONNX Runtime's feeds, replicated on loopback, beside a
//! recorded PyPI. Which build is right for a machine was told by the people of the reports named at each test.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Dist, Fault, Index, Machines, Project, Replica, Run, Server};

use crate::BINARY;

fn recording(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings").join(name)
}

static REPLICA: LazyLock<Replica> =
    LazyLock::new(|| Replica::read(&recording("pytorch-2026-11-30.json.gz")));

static INDEX: LazyLock<Arc<Index>> =
    LazyLock::new(|| Arc::new(pypi().with_replica(REPLICA.clone())));

/// The recorded PyPI, with the few Windows wheels that the recording left out.
fn pypi() -> Index {
    let windows = |tags: &str| Dist::wheel_for(tags);
    Index::from_recording(&recording("index-2026-11-30.json.gz"))
        .release("markupsafe", "3.0.4", windows("cp311-cp311-win_amd64"))
        .release("markupsafe", "3.0.4", windows("cp310-cp310-win_amd64"))
        .release("markupsafe", "3.0.4", windows("cp312-cp312-win_amd64"))
        .release("mkl", "2021.4.0", windows("py2.py3-none-win_amd64"))
        .release("pillow", "13.0.0", windows("cp311-cp311-win_amd64"))
        .release("pillow", "11.3.0", windows("cp310-cp310-win_amd64"))
}

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
    let project = Project::new(BINARY, manifest(Machines::new(&server)));
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
    let answer =
        solved(|m| m.driver("470.103.01").gpu("RTX 3090").depends(&["torch", "torchvision"]));
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
    assert_eq!(
        torch, "2.13.0+cu129",
        "cu126 has no code for it, CUDA 13 does not start on driver 570"
    );
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
    let answer =
        solved(|m| m.driver("595.58.03").gpu("RTX 4090").depends(&["torch", "torchvision"]));
    assert_eq!(answer.version("torch"), "2.15.0");
    assert!(answer.asked().is_empty() && answer.feeds_asked() == 0);
    let unknown = solved(|m| m.depends(&["torch"]));
    assert_eq!(unknown.version("torch"), "2.15.0");
    assert!(unknown.asked().is_empty());
}

// What comes along is bound as what is named.

#[test]
fn whoever_brings_torch_along_on_a_machine_with_a_gpu_brings_one_that_uses_it() {
    let arm = |tags: &str| Dist::wheel_for(tags);
    let index = Arc::new(
        pypi()
            .release("trainer", "2.0", Dist::wheel().requires("torch>=2"))
            .release("trainer", "1.0", Dist::wheel())
            .release("detectors", "2.0", Dist::wheel().requires("torch>=2").requires("torchvision"))
            .release("detectors", "1.0", Dist::wheel())
            .release("texts", "2.0", Dist::wheel().extra("torch", &["torch>=2.1"]))
            .release("texts", "1.0", Dist::wheel())
            .release("deep", "1.0", Dist::wheel().requires("detectors"))
            .release("markupsafe", "3.0.4", arm("cp311-cp311-manylinux_2_17_aarch64"))
            .release("pillow", "13.0.0", arm("cp311-cp311-manylinux_2_17_aarch64"))
            .release("numpy", "2.4.9", arm("cp311-cp311-manylinux_2_17_aarch64"))
            .release("numpy", "2.4.9", arm("cp311-cp311-win_amd64"))
            .with_replica(REPLICA.clone()),
    );
    let machines =
        [("windows-x86_64", "581.80", "RTX 4070"), ("linux-aarch64", "580.95.05", "GH200")];
    for (platform, driver, gpu) in machines {
        for wanted in ["trainer", "detectors", "texts[torch]", "deep", "trainer>=1"] {
            let server = Server::start(Arc::clone(&index));
            let machine = Machines::new(&server).platform(platform).driver(driver).gpu(gpu);
            let project = Project::new(BINARY, machine.depends(&[wanted]));
            let _ = project.resolve(&[]).expect(0);
            let packages = project.packages();
            let torch = packages.get("torch").unwrap_or_else(|| panic!("{wanted}: {packages:?}"));
            let on_pypi = platform == "linux-aarch64" && torch.starts_with("2.1");
            assert!(torch.contains("+cu") || on_pypi, "{platform}, {wanted}: torch {torch}");
            if let Some(vision) = packages.get("torchvision") {
                assert!(vision.contains("+cu") || on_pypi, "{platform}, {wanted}: {vision}");
            }
            assert_eq!(server.count(|r| r.path.starts_with("/feeds/onnx")), 0, "{wanted}");
        }
    }
}

#[test]
fn whoever_brings_torch_along_on_a_machine_without_a_gpu_brings_one_for_the_cpu() {
    let answer = solved(|m| m.machine("gpus = []").depends(&["accelerate"]));
    assert_eq!(answer.version("torch"), "2.13.0+cpu");
    assert!(!answer.has("nvidia-") && !answer.has("triton"));
}

#[test]
fn backends_narrow_what_comes_along() {
    let answer = solved(|m| m.pytorch("backends = [\"cu126\"]").depends(&["accelerate"]));
    assert_eq!(answer.version("torch"), "2.13.0+cu126");
    assert_eq!(answer.asked(), ["cu126"]);
}

#[test]
fn a_label_in_a_bound_names_a_build_of_what_comes_along() {
    for key in ["constraints", "overrides"] {
        let options = format!("[options]\n{key} = [\"torch==2.3.1+cu118\"]");
        let answer = solved(|m| m.table(&options).depends(&["accelerate"]));
        assert_eq!(answer.version("torch"), "2.3.1+cu118", "{key}");
        assert_eq!(answer.asked(), ["cu118"], "{key}");
    }
}

#[test]
fn nothing_of_the_accelerators_is_asked_where_nothing_brings_torch_along() {
    let answer = solved(|m| {
        m.platform("windows-x86_64").driver("581.80").gpu("RTX 4070").depends(&["filelock"])
    });
    assert!(answer.asked().is_empty() && answer.feeds_asked() == 0, "{:?}", answer.packages);
}

#[test]
fn a_refusal_sorts_facts_of_all_kinds() {
    let text = refused(|m| {
        m.python("3.8")
            .driver("575.57.08")
            .gpu("RTX 5090")
            .depends(&["torch==2.0.1", "torchaudio==2.0.2"])
    });
    says(&text, &["torch==2.0.1"]);
}

// A build that env.toml names.

#[test]
fn a_label_decides_the_index() {
    let answer = solved(|m| m.depends(&["torch==2.3.1+cu118", "torchvision", "torchaudio"]));
    assert_eq!(answer.version("torch"), "2.3.1+cu118");
    assert_eq!(answer.version("torchvision"), "0.18.1+cu118");
    assert_eq!(answer.version("torchaudio"), "2.3.1+cu118");
    assert_eq!(answer.asked(), ["cu118"]);
    let lock = answer.project.read("pylock.toml").unwrap();
    says(&lock, &["torch-2.3.1%2Bcu118-cp311-cp311-linux_x86_64.whl", "/whl/cu118/"]);
}

#[test]
fn backends_narrow_the_choice_also_of_builds_on_pypi() {
    let answer = solved(|m| m.pytorch("backends = [\"cu126\"]").depends(&["torch", "torchvision"]));
    assert_eq!(answer.version("torch"), "2.13.0+cu126");
    assert_eq!(answer.version("torchvision"), "0.28.0+cu126");
    assert_eq!(answer.asked(), ["cu126"]);
    let none = solved(|m| {
        m.pytorch("backends = false").gpu("RTX 3090").driver("550.54.14").depends(&["torch"])
    });
    assert_eq!(none.version("torch"), "2.10.0");
    assert!(none.asked().is_empty());
}

#[test]
fn a_backend_of_tomorrow_needs_no_release_of_this_program() {
    let metadata = "Metadata-Version: 2.4\nName: torch\nVersion: 3.1.0+cu133\nRequires-Python: >=3.11\n\
        Requires-Dist: filelock\nRequires-Dist: nvidia-cudnn-cu13==9.26.0.51; platform_system == \"Linux\"\n";
    let filename = "torch-3.1.0+cu133-cp311-cp311-manylinux_2_28_x86_64.whl";
    let replica = REPLICA.clone().with("cu133", "torch", filename, metadata);
    for (requirement, backends) in
        [("torch==3.1.0+cu133", ""), ("torch>=3", "backends = [\"cu133\"]")]
    {
        let server = pypi().with_replica(replica.clone()).serve();
        let manifest = Machines::new(&server)
            .driver("610.10.01")
            .gpu("RTX 5090")
            .depends(&[requirement])
            .pytorch(backends);
        let project = Project::new(BINARY, manifest);
        let _ = project.resolve(&[]).expect(0);
        assert_eq!(project.packages()["torch"], "3.1.0+cu133");
    }
}

#[test]
fn torch_2_3_with_cuda_12_and_cudnn_8_gets_the_runtime_of_the_feed() {
    for (torch, runtime) in [("2.1.2", "1.18.0"), ("2.2.2", "1.18.0"), ("2.3.1", "1.18.0")] {
        let torch = format!("torch=={torch}");
        let answer = solved(|m| m.depends(&[&torch, "onnxruntime-gpu"]));
        assert_eq!(answer.version("onnxruntime-gpu"), runtime, "{torch}");
        assert!(!answer.version("torch").contains('+'), "PyPI's build of torch fits");
        assert!(answer.asked().is_empty(), "no index of PyTorch is needed");
        says(&answer.project.read("pylock.toml").unwrap(), &["/feeds/onnxruntime-cuda-12/"]);
        assert!(answer.version("numpy").starts_with("1."));
    }
}

// Machines of public reports. The build that the people there settled on is the one that is chosen.

/// One report with its way out.
struct Report {
    id: &'static str,
    python: &'static str,
    platform: &'static str,
    machine: &'static str,
    depends: &'static [&'static str],
    right: &'static [(&'static str, &'static str)],
}

const LINUX: &str = "linux-x86_64";
const WINDOWS: &str = "windows-x86_64";

const REPORTS: &[Report] = &[
    Report {
        id: "lllyasviel/Fooocus#1313",
        python: "3.10",
        platform: LINUX,
        machine: "driver = \"470.86\"\ngpus = [\"RTX 3050 Laptop\"]\nglibc = \"2.33\"",
        depends: &["torch==2.1.0", "torchvision==0.16.0"],
        right: &[("torch", "2.1.0+cu118"), ("torchvision", "0.16.0+cu118")],
    },
    Report {
        id: "a driver 515 and torch>=2.1.2",
        python: "3.10",
        platform: LINUX,
        machine: "driver = \"515.105.01\"",
        depends: &["torch>=2.1.2,<2.2", "torchvision"],
        right: &[("torch", "2.1.2+cu118"), ("torchvision", "0.16.2+cu118")],
    },
    Report {
        id: "an RTX 5090 on driver 570",
        python: "3.11",
        platform: LINUX,
        machine: "driver = \"570.124.06\"\ngpus = [\"RTX 5090\"]\nglibc = \"2.35\"",
        depends: &["torch==2.7.0", "torchvision"],
        right: &[("torch", "2.7.0+cu128"), ("torchvision", "0.22.0+cu128")],
    },
    Report {
        id: "an H100 with the torch of CUDA 11.7",
        python: "3.10",
        platform: LINUX,
        machine: "gpus = [\"H100\"]",
        depends: &["torch==2.0.1", "torchvision"],
        right: &[("torch", "2.0.1+cu118"), ("torchvision", "0.15.2+cu118")],
    },
    Report {
        id: "a Tesla P100 with torch 2.8",
        python: "3.12",
        platform: LINUX,
        machine: "gpus = [\"Tesla P100\"]",
        depends: &["torch==2.8.*"],
        right: &[("torch", "2.8.0+cu126")],
    },
    Report {
        id: "a GTX 10 with torch 2.8",
        python: "3.11",
        platform: LINUX,
        machine: "gpus = [\"6.1\"]",
        depends: &["torch==2.8.0", "torchvision"],
        right: &[("torch", "2.8.0+cu126"), ("torchvision", "0.23.0+cu126")],
    },
    Report {
        id: "a Tesla K80 on its last driver",
        python: "3.11",
        platform: LINUX,
        machine: "driver = \"470.256.02\"\ngpus = [\"Tesla K80\"]",
        depends: &["torch>=2", "torchvision"],
        right: &[("torch", "2.3.1+cu118"), ("torchvision", "0.18.1+cu118")],
    },
    Report {
        id: "lllyasviel/Paints-UNDO#6",
        python: "3.10",
        platform: WINDOWS,
        machine: "gpus = [\"RTX 3090\"]",
        depends: &["torch==2.3.0", "torchvision"],
        right: &[("torch", "2.3.0+cu121"), ("torchvision", "0.18.0+cu121")],
    },
    Report {
        id: "deepbeepmeep/Wan2GP#441",
        python: "3.10",
        platform: WINDOWS,
        machine: "driver = \"572.83\"\ngpus = [\"RTX 4090\"]",
        depends: &["torch==2.7.0", "torchvision"],
        right: &[("torch", "2.7.0+cu128"), ("torchvision", "0.22.0+cu128")],
    },
    Report {
        id: "Windows before driver 580 with torch 2.12",
        python: "3.12",
        platform: WINDOWS,
        machine: "driver = \"566.36\"\ngpus = [\"RTX 4070\"]",
        depends: &["torch==2.12.1"],
        right: &[("torch", "2.12.1+cu126")],
    },
    Report {
        id: "mli/autocut#106",
        python: "3.10",
        platform: LINUX,
        machine: "",
        depends: &["torch==2.0.1+cu118", "torchaudio==2.0.2"],
        right: &[("torch", "2.0.1+cu118"), ("torchaudio", "2.0.2+cu118")],
    },
];

#[test]
fn machines_of_public_reports() {
    let mut wrong = String::new();
    for report in REPORTS {
        let (project, run, _server) = run(|m| {
            m.python(report.python)
                .platform(report.platform)
                .machine(report.machine)
                .depends(report.depends)
        });
        let packages = if run.code == 0 { project.packages() } else { BTreeMap::new() };
        for (name, version) in report.right {
            if packages.get(*name).map(String::as_str) != Some(version) {
                wrong += &format!(
                    "{}: {name} {version}, not {:?}\n{}\n",
                    report.id,
                    packages.get(*name),
                    run.stderr
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn pins_that_cannot_run_are_refused_with_their_reason() {
    let m = refused(|m| {
        m.python("3.10").driver("470.86").gpu("RTX 3050 Laptop").depends(&["torch==2.1.2+cu121"])
    });
    says(&m, &["CUDA 12", "525.60.13", "470.86"]);
    // No torch 2.0 has code for Blackwell.
    let m = refused(|m| m.python("3.10").gpu("RTX 5090").depends(&["torch==2.0.1+cu118"]));
    says(&m, &["12.0", "torch"]);
    // harlanhong/ACTalker#10 the other way round: the flavour was never built (bigai-nlco/LooGLE#8).
    let m = refused(|m| m.python("3.10").depends(&["torch==2.0.1+cu121"]));
    says(&m, &["2.0.1+cu121"]);
    // pytorch/vision#8985: public versions agree, the builds do not.
    let m =
        refused(|m| m.python("3.10").depends(&["torch==2.6.0+cu124", "torchvision==0.21.0+cu126"]));
    says(&m, &["12.4", "12.6"]);
    // cu128 dropped Pascal.
    let m = refused(|m| m.gpu("6.1").depends(&["torch==2.8.0+cu128"]));
    says(&m, &["6.1"]);
}

// Index safety.

#[test]
fn a_private_index_with_a_higher_torch_does_not_win() {
    let private = Index::new()
        .release("torch", "99.0", Dist::wheel())
        .release("torchvision", "99.0", Dist::wheel())
        .release("corp-tools", "1.0", Dist::wheel().requires("filelock"))
        .release("filelock", "99.0", Dist::wheel())
        .serve();
    let corp = format!("[[index]]\nname = \"corp\"\nurl = \"{}\"", private.url());
    let answer = solved(|m| {
        m.depends(&["torch", "torchvision", "corp-tools"]).pytorch("backends = false").table(&corp)
    });
    assert_eq!(answer.version("torch"), "2.15.0");
    assert_eq!(answer.version("corp-tools"), "1.0");
    // As with uv, a private index comes before PyPI for everything that is not known to have an index of its own.
    assert_eq!(answer.version("filelock"), "99.0");
    let said = &answer.run.stderr;
    says(said, &["torch, torchvision", "corp", "[sources]"]);
    // Whoever wants the private build says so.
    let pinned = format!("{corp}\n[sources]\ntorch = {{ index = \"corp\" }}");
    let answer = solved(|m| m.depends(&["torch"]).table(&pinned));
    assert_eq!(answer.version("torch"), "99.0");
}

#[test]
fn foreign_packages_and_wheels_in_the_root_are_not_taken_from_pytorch() {
    let answer =
        solved(|m| m.pytorch("backends = [\"cu118\"]").depends(&["torch", "numpy", "jinja2"]));
    assert_eq!(answer.version("torch"), "2.7.1+cu118");
    let foreign = ["markupsafe", "numpy", "jinja2", "sympy", "filelock"];
    let asked =
        |name: &str| answer.server.count(|r| r.path.starts_with("/whl/") && r.path.contains(name));
    assert!(foreign.iter().all(|name| asked(name) == 0));
    // cu129 lists torchaudio 2.2.0 because it lies in the root; it is for no CUDA 12.9.
    let m = refused(|m| m.python("3.10").depends(&["torch==2.13.0+cu129", "torchaudio<2.3"]));
    says(&m, &["torchaudio"]);
}

#[test]
fn credentials_go_to_their_own_host_only() {
    let pypi = Index::new()
        .release("a", "1.0", Dist::wheel())
        .release("b", "1.0", Dist::wheel())
        .release("c", "1.0", Dist::wheel())
        .serve();
    let corp = Index::new()
        .release("a", "1.0", Dist::wheel().requires("b"))
        .release("c", "1.0", Dist::wheel())
        .serve();
    // The host of the credentials sends one page on to another host.
    corp.fault("/simple/c/", Fault::redirect(&pypi.at("/simple/c/")));
    let with_secret = corp.url().replace("http://", "http://alice:s3cret@");
    let manifest = format!(
        "[environment]\npython = \"3.11\"\ndependencies = [\"a\", \"b\", \"c\"]\n[machine]\nplatform = \"linux-x86_64\"\n\
         [[index]]\nname = \"corp\"\nurl = \"{with_secret}\"\n\
         [[index]]\nname = \"test\"\nurl = \"{}\"\ndefault = true\n",
        pypi.url()
    );
    let project = Project::new(BINARY, manifest);
    let run = project.resolve(&[]).expect(0);
    let carries = |server: &Server| server.count(|r| r.header("authorization").is_some());
    assert!(carries(&corp) > 0 && carries(&corp) == corp.log().len());
    assert_eq!(carries(&pypi), 0);
    for text in
        [project.read("pylock.toml").unwrap(), project.requirements(), run.stdout, run.stderr]
    {
        assert!(!text.contains("s3cret"), "{text}");
    }
}

// System stacks.

const CUDA_11_IMAGE: &str = "image = \"nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu20.04\"";

#[test]
fn an_image_decides_the_builds_that_load_its_libraries() {
    let answer = solved(|m| {
        m.python("3.10")
            .machine(CUDA_11_IMAGE)
            .driver("535.104.05")
            .gpu("A100")
            .depends(&["onnxruntime-gpu"])
    });
    assert_eq!(
        answer.version("onnxruntime-gpu"),
        "1.18.1",
        "the newest for CUDA 11 and cuDNN 8 on PyPI"
    );
    assert!(!answer.has("nvidia-"), "the libraries are in the image");
    let lock = answer.project.pylock();
    let tool = lock["tool"]["cuda-lock"].to_string();
    says(
        &tool,
        &["11.8", "2.31", "image-driver"]
            .map(|word| if word == "image-driver" { "starts on drivers" } else { word }),
    );
}

#[test]
fn an_image_does_not_start_on_an_old_driver_of_a_geforce() {
    // The branch 450 is listed for data-center GPUs only, the CUDA 11 in it would run on both.
    let image = "image = \"nvidia/cuda:11.8.0-cudnn8-runtime-ubuntu18.04\"";
    let on = |gpu: &'static str| {
        move |m: Machines| {
            m.python("3.10")
                .machine(image)
                .driver("450.80.02")
                .gpu(gpu)
                .depends(&["onnxruntime-gpu"])
        }
    };
    let (_, run, _server) = run(on("RTX 2080 Ti"));
    let m = run.expect(2).stderr;
    says(
        &m,
        &[
            "env.toml:",
            "450.80.02",
            "RTX 2080 Ti",
            "starts on drivers >= 520",
            "unsatisfied condition: cuda>=11.8",
        ],
    );
    assert!(solved(on("T4")).version("onnxruntime-gpu").starts_with("1.1"));
}

// Where the indexes are.

#[test]
fn the_user_moves_indexes_by_environment_or_configuration() {
    let server = Server::start(Arc::clone(&INDEX));
    let manifest = Machines::new(&server).without_pytorch_index().depends(&["torch==2.3.1+cu118"]);
    let whl = server.at("/whl");
    let project = Project::new(BINARY, &manifest);
    let arguments = ["resolve", "--no-cache"];
    let _ = project.run_with(&arguments, &[("CUDA_LOCK_PYTORCH_INDEX", &whl)]).expect(0);
    assert_eq!(project.packages()["torch"], "2.3.1+cu118");
    let project = Project::new(BINARY, &manifest);
    let folder = project.path().join("configuration");
    std::fs::create_dir_all(folder.join("cuda-lock")).unwrap();
    let places =
        [("XDG_CONFIG_HOME", folder.to_str().unwrap()), ("APPDATA", folder.to_str().unwrap())];
    project
        .write("configuration/cuda-lock/config.toml", &format!("[pytorch]\nindex = \"{whl}\"\n"));
    let _ = project.run_with(&arguments, &places).expect(0);
    assert_eq!(project.packages()["torch"], "2.3.1+cu118");
    project.write("configuration/cuda-lock/config.toml", "[pytroch]\n");
    let run = project.run_with(&arguments, &places).expect(2);
    says(&run.stderr, &["config.toml", "pytroch"]);
}
