//! What is said when there is no answer, and which changes are offered: one case for each kind of trouble.
//!
//! The index is in memory; its releases, wheel tags and `Requires-Dist` lines are those of the real projects, shortened to
//! the lines that matter.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cuda_lock_constraint::catalog::{Catalog, CatalogError, CoreMetadata, File, Metadata, Project};
use cuda_lock_constraint::fix::{self, Budget, Change};
use cuda_lock_constraint::machine::{Libc, Libraries, Machine, Platform};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::solve::{Policy, Problem, SolveError, Source, SourceKind, solve};
use cuda_lock_constraint::target::Target;
use cuda_lock_constraint::version::{SourceId, system_range};

/// One release: tags, requirements, and what the index says of its files.
#[derive(Clone, Default)]
struct Release {
    tags: Vec<String>,
    requires: Vec<Arc<str>>,
    requires_python: Option<Arc<str>>,
    yanked: Option<Arc<str>>,
    uploaded: Option<String>,
}

#[derive(Clone, Default)]
struct Index(BTreeMap<Name, BTreeMap<pep440_rs::Version, Release>>);

impl Index {
    fn release(&mut self, name: &str, version: &str) -> &mut Release {
        let name = Name::new(name).unwrap();
        self.0.entry(name).or_default().entry(version.parse().unwrap()).or_default()
    }

    /// A pure release.
    fn with(mut self, name: &str, version: &str, requires: &[&str]) -> Self {
        let release = self.release(name, version);
        release.tags = vec!["py3-none-any".to_owned()];
        release.requires = requires.iter().map(|text| Arc::from(*text)).collect();
        self
    }

    /// A release with wheels for these Pythons and this glibc: `cp38 cp311@2_17`.
    fn built(mut self, name: &str, version: &str, built: &str, requires: &[&str]) -> Self {
        let (pythons, glibc) = built.split_once('@').unwrap();
        let release = self.release(name, version);
        let tag = |python| format!("{python}-{python}-manylinux_{glibc}_x86_64");
        release.tags = pythons.split(' ').map(tag).collect();
        release.requires = requires.iter().map(|text| Arc::from(*text)).collect();
        self
    }

    fn yanked(mut self, name: &str, version: &str, why: &str) -> Self {
        self.release(name, version).yanked = Some(why.into());
        self
    }

    fn uploaded(mut self, name: &str, version: &str, day: &str) -> Self {
        self.release(name, version).uploaded = Some(format!("{day}T00:00:00Z"));
        self
    }

    fn python(mut self, name: &str, version: &str, specifiers: &str) -> Self {
        self.release(name, version).requires_python = Some(specifiers.into());
        self
    }
}

impl Catalog for Index {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        let Some(releases) = self.0.get(&name).filter(|_| source == SourceId(0)) else {
            return Ok(None);
        };
        let files = |(version, release): (&pep440_rs::Version, &Release)| {
            let file = |tag: &String| {
                let filename = format!("{}-{version}-{tag}.whl", name.as_str().replace('-', "_"));
                File {
                    url: format!("https://index.example/{filename}"),
                    filename,
                    sha256: None,
                    size: None,
                    requires_python: release.requires_python.clone(),
                    yanked: release.yanked.clone(),
                    upload_time: release.uploaded.as_ref().map(|time| time.parse().unwrap()),
                    core_metadata: CoreMetadata::Yes,
                }
            };
            release.tags.iter().map(file).collect::<Vec<_>>()
        };
        Ok(Some(Arc::new(Project {
            versions: releases.keys().cloned().collect(),
            files: Box::new(releases.iter().map(files).collect::<Vec<_>>()),
            skipped: Vec::new(),
        })))
    }

    fn metadata(
        &self,
        _: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let version = file.filename.split('-').nth(1).unwrap();
        let release = &self.0[&name][&version.parse().unwrap()];
        Ok(Arc::new(Metadata {
            name: name.to_string(),
            version: version.to_owned(),
            requires_dist: release.requires.clone(),
            requires_python: release.requires_python.clone(),
            provides_extra: vec!["and-cuda".to_owned()],
        }))
    }
}

/// torch, its companions and what else the cases need, as PyPI has them.
fn pypi() -> Index {
    let to_311 = "cp38 cp39 cp310 cp311@2_17";
    let to_312 = "cp38 cp39 cp310 cp311 cp312@2_17";
    let to_313 = "cp39 cp310 cp311 cp312 cp313@2_17";
    let new = "cp310 cp311 cp312 cp313@2_28";
    let cu121 = "nvidia-cuda-runtime-cu12 (==12.1.105) ; platform_system == \"Linux\"";
    let cudnn8 = "nvidia-cudnn-cu12 (==8.9.2.26) ; platform_system == \"Linux\"";
    let cudnn91 = "nvidia-cudnn-cu12==9.1.0.70; platform_system == \"Linux\"";
    let cu128 = "nvidia-cuda-runtime-cu12==12.8.90; platform_system == \"Linux\"";
    let cudnn910 = "nvidia-cudnn-cu12==9.10.2.21; platform_system == \"Linux\"";
    let torch_2_0 = ["nvidia-cuda-runtime-cu11 (==11.7.99)", "nvidia-cudnn-cu11 (==8.5.0.96)"];
    let tensorflow = [
        "nvidia-cuda-runtime-cu12==12.3.101; extra == \"and-cuda\"",
        "nvidia-cudnn-cu12==8.9.7.29; extra == \"and-cuda\"",
    ];
    let mut index = Index::default()
        .built("torch", "2.0.1", to_311, &torch_2_0)
        .built("torch", "2.1.2", to_311, &[cu121, cudnn8])
        .built("torch", "2.2.2", to_312, &[cu121, cudnn8])
        .built("torch", "2.3.1", to_312, &[cu121, cudnn8])
        .built("torch", "2.4.0", to_312, &[cu121, cudnn91])
        .built("torch", "2.6.0", to_313, &["nvidia-cuda-runtime-cu12==12.4.127", cudnn91])
        .built("torch", "2.8.0", new, &[cu128, cudnn910])
        .built("torch", "2.10.0", new, &[cu128, cudnn910])
        .built(
            "torch",
            "2.11.0",
            new,
            &["cuda-toolkit[cudart]==13.0.2", "nvidia-cudnn-cu13==9.19.0.56"],
        )
        .built("torchvision", "0.15.2", to_311, &["torch (==2.0.1)"])
        .built("torchvision", "0.18.1", to_312, &["torch (==2.3.1)"])
        .built("torchvision", "0.19.0", to_312, &["torch (==2.4.0)"])
        .built("torchvision", "0.21.0", to_313, &["torch==2.6.0"])
        .built("torchvision", "0.26.0", new, &["torch==2.11.0"])
        .built("torchaudio", "2.3.1", to_312, &["torch==2.3.1"])
        .built("torchaudio", "2.6.0", to_313, &["torch==2.6.0"])
        .built("torchaudio", "2.11.0", new, &[])
        .built("onnxruntime-gpu", "1.16.3", to_311, &[])
        .built("onnxruntime-gpu", "1.18.1", "cp38 cp39 cp310 cp311 cp312@2_28", &[])
        .built("onnxruntime-gpu", "1.19.2", "cp38 cp39 cp310 cp311 cp312@2_28", &[])
        .built("onnxruntime-gpu", "1.23.2", new, &[])
        .built("onnxruntime-gpu", "1.31.1", "cp311 cp312 cp313@2_28", &[])
        .built("onnxruntime", "1.18.1", "cp38 cp311 cp312@2_27", &["numpy>=1.21.6"])
        .built("onnxruntime", "1.23.2", "cp311 cp312 cp313@2_27", &["numpy>=1.21.6"])
        .built("xformers", "0.0.27", to_312, &["torch==2.3.1"])
        .built("tensorflow", "2.16.1", to_312, &tensorflow)
        .with("faster-whisper", "1.1.0", &["onnxruntime<2,>=1.14"])
        .with("cuda-toolkit", "13.0.2", &["nvidia-cuda-runtime==13.0.96; extra == \"cudart\""]);
    for (name, versions) in [
        ("numpy", "1.26.4 2.3.5"),
        ("nvidia-cuda-runtime", "13.0.96"),
        ("nvidia-cudnn-cu13", "9.19.0.56"),
        ("nvidia-cuda-runtime-cu11", "11.7.99 11.8.89"),
        ("nvidia-cudnn-cu11", "8.5.0.96"),
        ("nvidia-cuda-runtime-cu12", "12.1.105 12.3.101 12.4.127 12.8.90"),
        ("nvidia-cudnn-cu12", "8.9.2.26 8.9.7.29 9.1.0.70 9.10.2.21"),
        ("nvidia-cublas-cu11", "11.11.3.6"),
        ("nvidia-cublas-cu12", "12.4.5.8"),
        ("nvidia-cublas", "13.1.0.3"),
        ("nvidia-cufft-cu11", "10.9.0.58"),
        ("nvidia-cufft-cu12", "11.2.1.3"),
        ("nvidia-cufft", "12.0.0.61"),
        ("nvidia-curand-cu11", "10.3.0.86"),
        ("nvidia-curand-cu12", "10.3.5.147"),
        ("nvidia-curand", "10.4.0.35"),
        ("nvidia-cuda-nvrtc-cu11", "11.8.89"),
        ("nvidia-cuda-nvrtc-cu12", "12.4.127"),
        ("nvidia-cuda-nvrtc", "13.0.88"),
    ] {
        for version in versions.split(' ') {
            index = index.with(name, version, &[]);
        }
    }
    index
}

/// A problem on Linux x86-64, from PyPI alone.
fn problem(python: &str, requirements: &[&str]) -> Problem {
    let target = Target::new(Platform::LinuxX86_64, &python.parse().unwrap());
    let parse = |text: &&str| Arc::new(text.parse::<Requirement>().unwrap());
    Problem {
        machine: Machine {
            platform: target.platform,
            libc: None,
            driver: None,
            gpus: None,
            cuda: None,
            cudnn: None,
            libraries: Libraries::Wheels,
        },
        target,
        requirements: requirements.iter().map(parse).collect(),
        constraints: Vec::new(),
        overrides: Vec::new(),
        substitute: BTreeMap::new(),
        sources: vec![Source {
            id: SourceId(0),
            name: "pypi".to_owned(),
            kind: SourceKind::PyPi,
            only: None,
            explicit: false,
            plain_linux: false,
        }],
        pinned_sources: BTreeMap::new(),
        backends: None,
        model: None,
        policy: Policy::default(),
    }
}

fn on(driver: &str, gpu: &str, requirements: &[&str]) -> Problem {
    let mut problem = problem("3.11", requirements);
    problem.machine.driver = Some(driver.parse().unwrap());
    if !gpu.is_empty() {
        problem.machine.gpus = Some(vec![find_gpu(gpu).unwrap()]);
    }
    problem
}

fn glibc(version: &str, requirements: &[&str]) -> Problem {
    let mut problem = problem("3.11", requirements);
    let libc = Libc::Glibc(version.parse().unwrap());
    problem.machine.libc = Some(libc.clone());
    problem.target.libc = Some(libc);
    problem
}

fn change(change: &Change) -> String {
    match change {
        Change::Move { requirement, now } | Change::Rename { requirement, now } => {
            format!("{} -> {now}", requirement.text())
        }
        Change::Drop { requirement } => format!("without {}", requirement.text()),
        Change::Substitute { from, to } => format!("{to} for {from}"),
        Change::Prerelease => "pre-releases".to_owned(),
        Change::ExcludeNewer { until } => format!("exclude-newer {}", until.unwrap()),
        Change::Backend { name } => format!("backend {name:?}"),
        Change::NoWish { layer } => format!("no wish for {layer}"),
        Change::Driver { at_least } => format!("driver >= {at_least}"),
        Change::Glibc { at_least } => format!("glibc >= {at_least}"),
        Change::Python { version } => format!("python {version}"),
    }
}

/// The report and the fixes, one line each; sources follow their statement after a bar.
fn report(problem: Problem, index: Index) -> String {
    let catalog: Arc<dyn Catalog> = Arc::new(index);
    let conflict = match solve(Arc::new(problem.clone()), Arc::clone(&catalog)) {
        Err(SolveError::Conflict(conflict)) => conflict,
        Ok(solution) => panic!("there is an answer: {:?}", solution.builds.keys()),
        Err(error) => panic!("{error}"),
    };
    let said = |said: cuda_lock_constraint::solve::Statement| match said.source {
        Some(source) => format!("{} | {source}", said.text),
        None => said.text,
    };
    let mut lines: Vec<String> = conflict.statements().into_iter().map(said).collect();
    assert!(lines.len() <= 10, "too long:\n{}", lines.join("\n"));
    lines.extend(conflict.hints.iter().map(|hint| format!("note: {hint}")));
    let budget = Budget { time: Duration::from_secs(60), ..Budget::default() };
    let found = fix::find(&problem, &catalog, &conflict, Vec::new(), budget);
    for fix in &found.fixes {
        let changes: Vec<String> = fix.changes.iter().map(change).collect();
        let gives: Vec<String> = fix.gives.iter().map(|(name, v)| format!("{name} {v}")).collect();
        lines.push(format!("fix: {} ({})", changes.join(" and "), gives.join(", ")));
    }
    if let Some(also) = &found.also {
        lines.extend(also.statements().into_iter().map(|said| format!("also: {}", said.text)));
    }
    lines.join("\n")
}

/// The report for Python 3.11 on a machine of which nothing else is known.
fn plain(requirements: &[&str]) -> String {
    report(problem("3.11", requirements), pypi())
}

#[test]
fn driver_too_old_for_cuda_12() {
    insta::assert_snapshot!(report(on("470.86", "RTX 3050", &["torch>=2.1,<2.11"]), pypi()), @r#"
    the machine has driver 470.86
    CUDA 12.1, 12.4 or 12.8 needs driver >=525.60.13 | CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)
    env.toml asks for torch>=2.1,<2.11
    torch >=2.1.2 needs CUDA 12.1, 12.4 or 12.8 | METADATA of torch 2.4.0: nvidia-cuda-runtime-cu12 (==12.1.105)
    fix: torch>=2.1,<2.11 -> torch>=2.0.1,<2.11 (torch 2.0.1)
    fix: driver >= 525.60.13 (torch 2.10.0)
    "#);
}

#[test]
fn driver_too_old_for_cuda_13() {
    insta::assert_snapshot!(report(on("570.124.06", "RTX 4090", &["torch>=2.11"]), pypi()), @r#"
    the machine has driver 570.124.06
    CUDA 13.0 needs driver >=580.65.06 | CUDA 13.x needs driver >= 580.65.06 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=580)
    env.toml asks for torch>=2.11
    torch 2.11.0 needs CUDA 13.0 | METADATA of torch 2.11.0: cuda-toolkit[cudart]==13.0.2
    fix: torch>=2.11 -> torch>=2.10.0 (torch 2.10.0)
    fix: driver >= 580.65.06 (torch 2.11.0)
    "#);
}

#[test]
fn driver_too_old_and_no_gpu_given() {
    insta::assert_snapshot!(report(on("510.108.03", "", &["torch==2.6.0"]), pypi()), @r#"
    the machine has driver 510.108.03
    CUDA 12.4 needs driver >=525.60.13 | CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)
    env.toml asks for torch==2.6.0
    torch 2.6.0 needs CUDA 12.4 | METADATA of torch 2.6.0: nvidia-cuda-runtime-cu12==12.4.127
    fix: torch==2.6.0 -> torch==2.0.1 (torch 2.0.1)
    fix: driver >= 525.60.13 (torch 2.6.0)
    "#);
}

#[test]
fn gpu_older_than_the_code() {
    insta::assert_snapshot!(report(on("580.65.06", "V100", &["torch>=2.11"]), pypi()), @r#"
    the machine has GPU V100 (compute capability 7.0)
    env.toml asks for torch>=2.11
    torch 2.11.0 has no code for the V100 (compute capability 7.0) | torch 2.11.0 has GPU code for sm_75, sm_80, sm_86, sm_90, sm_100, sm_120; arch string in libtorch_python.so of the PyPI wheels
    fix: torch>=2.11 -> torch>=2.10.0 (torch 2.10.0)
    "#);
}

#[test]
fn gpu_newer_than_the_code() {
    insta::assert_snapshot!(report(on("580.65.06", "RTX 5090", &["torch==2.6.0"]), pypi()), @r#"
    the machine has GPU RTX 5090 (compute capability 12.0)
    env.toml asks for torch==2.6.0
    torch 2.6.0 has no code for the RTX 5090 (compute capability 12.0) | torch 2.6.0 has GPU code for sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, sm_90; pytorch/builder release/2.1..2.5 manywheel/build_cuda.sh
    fix: torch==2.6.0 -> torch==2.8.0 (torch 2.8.0)
    "#);
}

#[test]
fn cudnn_8_with_cuda_12_has_no_partner() {
    insta::assert_snapshot!(plain(&["torch==2.3.1", "onnxruntime-gpu"]), @r#"
    env.toml asks for onnxruntime-gpu and torch==2.3.1
    onnxruntime-gpu <=1.18.1 needs CUDA 11 | onnxruntime-gpu 1.18.1 from PyPI is built for CUDA 11 and cuDNN 8; DT_NEEDED and PTX ISA of one wheel per platform and release
    onnxruntime-gpu >=1.19.2 needs cuDNN 9 | onnxruntime-gpu 1.31.1 from PyPI is built for CUDA 13 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release
    torch 2.3.1 needs CUDA 12.1 | METADATA of torch 2.3.1: nvidia-cuda-runtime-cu12 (==12.1.105)
    torch 2.3.1 needs cuDNN 8.9.2.26 | METADATA of torch 2.3.1: nvidia-cudnn-cu12 (==8.9.2.26)
    note: onnxruntime-gpu 1.17.0 to 1.18.0 for CUDA 12 and cuDNN 8 is on the index onnxruntime-cuda-12, which env.toml leaves out
    fix: torch==2.3.1 -> torch==2.4.0 (onnxruntime-gpu 1.23.2, torch 2.4.0)
    fix: without onnxruntime-gpu (torch 2.3.1)
    "#);
}

#[test]
fn cuda_11_runtime_beside_cuda_12() {
    insta::assert_snapshot!(plain(&["torch==2.4.0", "onnxruntime-gpu==1.16.3"]), @r#"
    env.toml asks for onnxruntime-gpu==1.16.3 and torch==2.4.0
    onnxruntime-gpu 1.16.3 needs CUDA 11 | onnxruntime-gpu 1.16.3 from PyPI is built for CUDA 11 and cuDNN 8; DT_NEEDED and PTX ISA of one wheel per platform and release
    torch 2.4.0 needs CUDA 12.1 | METADATA of torch 2.4.0: nvidia-cuda-runtime-cu12 (==12.1.105)
    fix: torch==2.4.0 -> torch==2.0.1 (onnxruntime-gpu 1.16.3, torch 2.0.1)
    fix: onnxruntime-gpu==1.16.3 -> onnxruntime-gpu==1.19.2 (onnxruntime-gpu 1.19.2, torch 2.4.0)
    "#);
}

#[test]
fn cuda_13_runtime_beside_cuda_12() {
    insta::assert_snapshot!(plain(&["torch==2.6.0", "onnxruntime-gpu==1.31.1"]), @r#"
    env.toml asks for onnxruntime-gpu==1.31.1 and torch==2.6.0
    onnxruntime-gpu 1.31.1 needs CUDA 13 | onnxruntime-gpu 1.31.1 from PyPI is built for CUDA 13 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release
    torch 2.6.0 needs CUDA 12.4 | METADATA of torch 2.6.0: nvidia-cuda-runtime-cu12==12.4.127
    fix: torch==2.6.0 -> torch==2.11.0 (onnxruntime-gpu 1.31.1, torch 2.11.0)
    fix: onnxruntime-gpu==1.31.1 -> onnxruntime-gpu==1.23.2 (onnxruntime-gpu 1.23.2, torch 2.6.0)
    "#);
}

#[test]
fn two_owners_of_one_import_package() {
    insta::assert_snapshot!(plain(&["onnxruntime", "onnxruntime-gpu"]), @r#"
    env.toml asks for onnxruntime and onnxruntime-gpu
    onnxruntime and onnxruntime-gpu each install the import package onnxruntime and overwrite each other: only one of them can be there | file lists and CRCs of the wheels: 285 to 318 shared paths with onnxruntime-gpu
    fix: onnxruntime-gpu for onnxruntime (onnxruntime-gpu 1.31.1)
    "#);
}

#[test]
fn an_owner_that_something_else_requires() {
    insta::assert_snapshot!(plain(&["faster-whisper", "onnxruntime-gpu==1.23.2"]), @r#"
    env.toml asks for faster-whisper and onnxruntime-gpu==1.23.2
    faster-whisper 1.1.0 needs onnxruntime >=1.14,<2 | METADATA of faster-whisper 1.1.0: onnxruntime<2,>=1.14
    onnxruntime and onnxruntime-gpu each install the import package onnxruntime and overwrite each other: only one of them can be there | file lists and CRCs of the wheels: 285 to 318 shared paths with onnxruntime-gpu
    fix: onnxruntime-gpu for onnxruntime (faster-whisper 1.1.0, onnxruntime-gpu 1.23.2)
    fix: without faster-whisper (onnxruntime-gpu 1.23.2)
    "#);
}

#[test]
fn torchvision_of_another_torch() {
    insta::assert_snapshot!(plain(&["torch==2.3.1", "torchvision==0.15.2"]), @r#"
    env.toml asks for torch==2.3.1 and torchvision==0.15.2
    torchvision 0.15.2 needs torch==2.0.1 | METADATA of torchvision 0.15.2: torch (==2.0.1)
    fix: torch==2.3.1 -> torch==2.0.1 (torch 2.0.1, torchvision 0.15.2)
    fix: torchvision==0.15.2 -> torchvision==0.18.1 (torch 2.3.1, torchvision 0.18.1)
    "#);
}

#[test]
fn torchaudio_that_does_not_say_its_torch() {
    insta::assert_snapshot!(plain(&["torch==2.6.0", "torchaudio==2.11.0"]), @r#"
    env.toml asks for torch==2.6.0 and torchaudio==2.11.0
    torchaudio 2.11.0 needs torch >=2.11 | torchaudio 2.11.0 needs the stable ABI of torch 2.11 or newer and CUDA 13; its METADATA names no torch at all; METADATA and libtorchaudio.so of torchaudio 2.11.0 (needs libcudart.so.13)
    fix: torch==2.6.0 -> torch==2.11.0 (torch 2.11.0, torchaudio 2.11.0)
    fix: torchaudio==2.11.0 -> torchaudio==2.6.0 (torch 2.6.0, torchaudio 2.6.0)
    "#);
}

#[test]
fn xformers_of_another_torch() {
    insta::assert_snapshot!(plain(&["torch==2.4.0", "xformers==0.0.27"]), @r#"
    env.toml asks for torch==2.4.0 and xformers==0.0.27
    xformers 0.0.27 needs torch==2.3.1 | METADATA of xformers 0.0.27: torch==2.3.1
    fix: torch==2.4.0 -> torch==2.3.1 (torch 2.3.1, xformers 0.0.27)
    fix: without xformers==0.0.27 (torch 2.4.0)
    "#);
}

#[test]
fn four_wishes_of_which_two_collide() {
    let wishes = ["numpy", "torch==2.3.1", "torchvision==0.21.0", "faster-whisper"];
    insta::assert_snapshot!(plain(&wishes), @r#"
    env.toml asks for torch==2.3.1 and torchvision==0.21.0
    torchvision 0.21.0 needs torch==2.6.0 | METADATA of torchvision 0.21.0: torch==2.6.0
    fix: torch==2.3.1 -> torch==2.6.0 (torch 2.6.0, torchvision 0.21.0)
    fix: torchvision==0.21.0 -> torchvision==0.18.1 (torch 2.3.1, torchvision 0.18.1)
    "#);
}

#[test]
fn numpy_2_with_a_torch_for_numpy_1() {
    insta::assert_snapshot!(plain(&["numpy>=2", "torch==2.2.2"]), @r#"
    env.toml asks for numpy>=2 and torch==2.2.2
    torch 2.2.2 needs numpy <2 | torch before 2.3 is built against NumPy 1, and its METADATA does not bound numpy; NumPy C-API names in libtorch_python of torch 1.13.1 to 2.3.1
    fix: numpy>=2 -> numpy>=1.26.4 (numpy 1.26.4, torch 2.2.2)
    fix: torch==2.2.2 -> torch==2.3.1 (numpy 2.3.5, torch 2.3.1)
    "#);
}

#[test]
fn numpy_2_with_an_onnxruntime_for_numpy_1() {
    insta::assert_snapshot!(plain(&["numpy>=2", "onnxruntime==1.18.1"]), @r#"
    env.toml asks for numpy>=2 and onnxruntime==1.18.1
    onnxruntime 1.18.1 needs numpy <2 | onnxruntime before 1.19 is built against NumPy 1, and its METADATA bounds numpy only in 1.18.1; NumPy C-API names in onnxruntime_pybind11_state of 1.12.0 to 1.23.2
    fix: numpy>=2 -> numpy>=1.26.4 (numpy 1.26.4, onnxruntime 1.18.1)
    fix: onnxruntime==1.18.1 -> onnxruntime==1.23.2 (numpy 2.3.5, onnxruntime 1.23.2)
    "#);
}

#[test]
fn python_newer_than_the_wheels() {
    insta::assert_snapshot!(report(problem("3.13", &["torch==2.4.0"]), pypi()), @r#"
    the machine has Python 3.13
    env.toml asks for torch==2.4.0
    torch 2.4.0 has wheels for Python 3.8 to 3.12 | file names of torch 2.4.0 on the index
    fix: torch==2.4.0 -> torch==2.6.0 (torch 2.6.0)
    fix: python 3.12 (torch 2.4.0)
    "#);
}

#[test]
fn python_newer_than_the_wheels_of_a_companion() {
    insta::assert_snapshot!(report(problem("3.13", &["torch", "torchvision==0.19.0"]), pypi()), @r#"
    the machine has Python 3.13
    env.toml asks for torchvision==0.19.0
    torchvision 0.19.0 has wheels for Python 3.8 to 3.12 | file names of torchvision 0.19.0 on the index
    fix: torchvision==0.19.0 -> torchvision==0.21.0 (torchvision 0.21.0)
    fix: python 3.12 (torchvision 0.19.0)
    "#);
}

#[test]
fn requires_python_of_the_only_release() {
    let index = pypi().with("modern", "1.0", &[]).python("modern", "1.0", ">=3.12");
    insta::assert_snapshot!(report(problem("3.11", &["modern"]), index), @r#"
    the machine has Python 3.11
    env.toml asks for modern
    modern 1.0 needs Python >=3.12 | Requires-Python of modern 1.0: >=3.12
    fix: python 3.12 (modern 1.0)
    fix: without modern ()
    "#);
}

#[test]
fn glibc_older_than_the_wheels() {
    insta::assert_snapshot!(report(glibc("2.17", &["torch==2.8.0"]), pypi()), @r#"
    the machine has glibc 2.17
    env.toml asks for torch==2.8.0
    torch 2.8.0 has wheels for glibc >= 2.28 | file names of torch 2.8.0 on the index
    fix: torch==2.8.0 -> torch==2.6.0 (torch 2.6.0)
    fix: glibc >= 2.28 (torch 2.8.0)
    "#);
}

#[test]
fn a_label_that_no_index_here_has() {
    insta::assert_snapshot!(plain(&["torch==2.3.1+cu118"]), @r#"
    env.toml asks for torch==2.3.1+cu118
    there is no torch==2.3.1+cu118; the nearest are 2.3.1 and 2.4.0
    note: torch==2.3.1+cu118 is a build of the index pytorch-cu118, which env.toml leaves out
    fix: torch==2.3.1+cu118 -> torch==2.3.1 (torch 2.3.1)
    "#);
}

#[test]
fn a_version_that_does_not_exist() {
    insta::assert_snapshot!(plain(&["torch==2.3.7"]), @r#"
    env.toml asks for torch==2.3.7
    there is no torch==2.3.7; the nearest are 2.3.1 and 2.4.0
    fix: torch==2.3.7 -> torch==2.4.0 (torch 2.4.0)
    "#);
}

#[test]
fn a_version_above_the_newest() {
    insta::assert_snapshot!(plain(&["torch>=3"]), @r#"
    env.toml asks for torch>=3
    there is no torch >=3; the newest is 2.11.0
    fix: torch>=3 -> torch>=2.11.0 (torch 2.11.0)
    "#);
}

#[test]
fn a_misspelt_name() {
    insta::assert_snapshot!(plain(&["onnxruntime-gpuu>=1.18"]), @r#"
    env.toml asks for onnxruntime-gpuu>=1.18
    onnxruntime-gpuu is on none of the indexes that were asked; did you mean onnxruntime-gpu?
    fix: onnxruntime-gpuu>=1.18 -> onnxruntime-gpu>=1.18 ()
    fix: without onnxruntime-gpuu>=1.18 ()
    "#);
}

#[test]
fn a_name_that_nobody_has() {
    insta::assert_snapshot!(plain(&["torch", "corp-internal-thing"]), @r#"
    env.toml asks for corp-internal-thing
    corp-internal-thing is on none of the indexes that were asked
    fix: without corp-internal-thing ()
    "#);
}

#[test]
fn only_pre_releases() {
    let index = pypi().with("thing", "1.0", &[]).with("thing", "2.0rc1", &[]).with(
        "user",
        "1",
        &["thing>=1.5"],
    );
    insta::assert_snapshot!(report(problem("3.11", &["user"]), index), @r#"
    env.toml asks for user
    user 1 needs thing >=1.5 | METADATA of user 1: thing>=1.5
    thing 2.0rc1 cannot be chosen: every release in this range is a pre-release, and those are taken only when they are asked for
    fix: pre-releases (user 1)
    fix: without user ()
    "#);
}

#[test]
fn only_withdrawn_releases() {
    let index = pypi().with("thing", "1.0", &[]).with("thing", "2.0", &[]).yanked(
        "thing",
        "2.0",
        "broken on Python 3.11",
    );
    insta::assert_snapshot!(report(problem("3.11", &["thing>=2"]), index), @r#"
    env.toml asks for thing>=2
    thing 2.0 cannot be chosen: it is yanked: broken on Python 3.11
    fix: thing>=2 -> thing>=1.0 (thing 1.0)
    "#);
}

#[test]
fn only_newer_than_the_cut_off() {
    let index = pypi()
        .with("thing", "1.0", &[])
        .uploaded("thing", "1.0", "2025-01-01")
        .with("thing", "2.0", &[])
        .uploaded("thing", "2.0", "2026-03-04");
    let mut problem = problem("3.11", &["thing>=2"]);
    problem.policy.exclude_newer = Some("2026-01-01T00:00:00Z".parse().unwrap());
    insta::assert_snapshot!(report(problem, index), @r#"
    env.toml asks for thing>=2
    thing 2.0 cannot be chosen: all its files are newer than exclude-newer
    fix: thing>=2 -> thing>=1.0 (thing 1.0)
    fix: exclude-newer 2026-03-04T00:00:01Z (thing 2.0)
    "#);
}

#[test]
fn only_wheels_for_another_platform() {
    let mut index = pypi().with("thing", "1.0", &[]);
    index.release("thing", "1.0").tags = vec!["cp311-cp311-win_amd64".to_owned()];
    insta::assert_snapshot!(report(problem("3.11", &["thing"]), index), @r#"
    env.toml asks for thing
    thing 1.0 cannot be chosen: no file fits this machine and Python (thing-1.0-cp311-cp311-win_amd64.whl: it is for Windows on x86-64)
    fix: without thing ()
    "#);
}

#[test]
fn a_wish_that_no_build_grants() {
    let mut problem = problem("3.11", &["torch==2.6.0"]);
    problem.machine.cuda = Some((">=13".to_owned(), system_range(">=13").unwrap()));
    insta::assert_snapshot!(report(problem, pypi()), @r#"
    env.toml asks for cuda = ">=13" and torch==2.6.0
    torch 2.6.0 needs CUDA 12.4 | METADATA of torch 2.6.0: nvidia-cuda-runtime-cu12==12.4.127
    fix: torch==2.6.0 -> torch==2.11.0 (torch 2.11.0)
    fix: no wish for CUDA (torch 2.6.0)
    "#);
}

#[test]
fn library_pins_two_levels_down() {
    let wishes = ["numpy", "torch==2.3.1", "torchvision", "tensorflow[and-cuda]==2.16.1"];
    insta::assert_snapshot!(plain(&wishes), @r#"
    env.toml asks for tensorflow[and-cuda]==2.16.1 and torch==2.3.1
    tensorflow 2.16.1 needs cuDNN >=8.9.7.29,<9 | tensorflow 2.16.1 uses cuDNN 8.9.7.29 or a newer 8.x; METADATA of tensorflow 2.16.1, extra and-cuda: the cuDNN it is compiled with
    torch 2.3.1 needs cuDNN 8.9.2.26 | METADATA of torch 2.3.1: nvidia-cudnn-cu12 (==8.9.2.26)
    fix: without tensorflow[and-cuda]==2.16.1 (torch 2.3.1)
    "#);
}

#[test]
fn a_library_pinned_by_hand() {
    insta::assert_snapshot!(plain(&["torch==2.4.0", "nvidia-cudnn-cu12==9.10.2.21"]), @r#"
    env.toml asks for nvidia-cudnn-cu12==9.10.2.21 and torch==2.4.0
    torch 2.4.0 needs cuDNN 9.1.0.70 | METADATA of torch 2.4.0: nvidia-cudnn-cu12==9.1.0.70
    fix: torch==2.4.0 -> torch==2.8.0 (torch 2.8.0)
    fix: nvidia-cudnn-cu12==9.10.2.21 -> nvidia-cudnn-cu12==9.1.0.70 (torch 2.4.0)
    "#);
}

#[test]
fn two_conflicts_at_once() {
    let wishes = ["torch==2.3.1", "torchvision==0.15.2", "numpy>=2", "onnxruntime==1.18.1"];
    insta::assert_snapshot!(plain(&wishes), @r#"
    env.toml asks for torch==2.3.1 and torchvision==0.15.2
    torchvision 0.15.2 needs torch==2.0.1 | METADATA of torchvision 0.15.2: torch (==2.0.1)
    also: env.toml asks for numpy>=2 and onnxruntime==1.18.1
    also: onnxruntime 1.18.1 needs numpy <2
    "#);
}
