//! What is said when there is no answer, and which changes are offered: one case for each kind of trouble.
//!
//! The index is in memory; its releases, wheel tags and `Requires-Dist` lines are those of the real projects, shortened to
//! the lines that matter.

#![allow(clippy::unwrap_used)]

mod catalog;

use std::sync::Arc;
use std::time::Duration;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::constraint::{Force, Reason};
use cuda_lock_constraint::explain;
use cuda_lock_constraint::fix::{self, Budget, Change};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::solve::{LayerBound, Problem, SolveError, Statement, solve};
use cuda_lock_constraint::version::system_range;

use catalog::{Index, glibc, on, problem, pypi};

fn change(change: &Change) -> String {
    match change {
        Change::Move { requirement, now } | Change::Rename { requirement, now } => {
            format!("{} -> {now}", requirement.text())
        }
        Change::Drop { requirement } => format!("without {}", requirement.text()),
        Change::Substitute { from, to } => format!("{to} for {from}"),
        Change::TrustRecorded { name } => format!("trust {name}"),
        Change::Prerelease => "pre-releases".to_owned(),
        Change::ExcludeNewer { until } => format!("exclude-newer {}", until.unwrap()),
        Change::Backend { name } => format!("backend {name:?}"),
        Change::NoWish { layer } => format!("no wish for {layer}"),
        Change::Wheels => "libraries from wheels".to_owned(),
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
    let conflict = fix::among_pins(&problem, &catalog, &conflict).unwrap_or(conflict);
    let said = |said: Statement| match said.source {
        Some(source) => format!("{} | {source}", said.text),
        None => said.text,
    };
    let mut lines: Vec<String> = conflict.statements().into_iter().map(said).collect();
    assert!(lines.len() <= 10, "too long:\n{}", lines.join("\n"));
    lines.extend(conflict.hints.iter().map(|hint| format!("note: {hint}")));
    let budget = Budget { waiting: Duration::from_secs(60), ..Budget::default() };
    let found = fix::find(&problem, &catalog, &conflict, Vec::new(), budget);
    for fix in &found.fixes {
        let changes: Vec<String> = fix.changes.iter().map(change).collect();
        let gives: Vec<String> = fix.gives.iter().map(|(name, v)| format!("{name} {v}")).collect();
        lines.push(format!("fix: {} ({})", changes.join(" and "), gives.join(", ")));
    }
    for also in &found.also {
        lines.push(format!("even without {}:", also.without.text()));
        let said = also.conflict.statements().into_iter();
        lines.extend(said.map(|said| format!("also: {}", said.text)));
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
    insta::assert_snapshot!(plain(&["torch==2.3.1", "onnxruntime-gpu"]), @"
    env.toml asks for onnxruntime-gpu and torch==2.3.1
    onnxruntime-gpu 1.16.3 to 1.18.1 needs CUDA 11 | onnxruntime-gpu 1.18.1 from PyPI is built for CUDA 11 and cuDNN 8; DT_NEEDED and PTX ISA of one wheel per platform and release
    onnxruntime-gpu >=1.19.2 needs cuDNN 9 | onnxruntime-gpu 1.31.1 from PyPI is built for CUDA 13 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release
    torch 2.3.1 needs CUDA 12.1 | METADATA of torch 2.3.1: nvidia-cuda-runtime-cu12 (==12.1.105)
    torch 2.3.1 needs cuDNN 8.9.2.26 | METADATA of torch 2.3.1: nvidia-cudnn-cu12 (==8.9.2.26)
    note: onnxruntime-gpu 1.17.0 to 1.18.0 for CUDA 12 and cuDNN 8 is on the index onnxruntime-cuda-12, which env.toml leaves out
    fix: torch==2.3.1 -> torch==2.4.0 (onnxruntime-gpu 1.23.2, torch 2.4.0)
    fix: without onnxruntime-gpu (torch 2.3.1)
    ");
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
    torchaudio 2.11.0 needs torch >=2.11 | torchaudio 2.11.0 needs the stable ABI of torch 2.11 or newer, built with its own CUDA 13.0; its METADATA names no torch at all; imports of torchaudio 2.11.0 with torch 2.11.0 and 2.13.0 (CUDA 13.0, it loads) and 2.15.0 (CUDA 13.2, it does not)
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
    insta::assert_snapshot!(report(problem("3.13", &["torch", "torchvision==0.19.0"]), pypi()), @"
    the machine has Python 3.13
    env.toml asks for torchvision==0.19.0
    torchvision 0.19.0 has wheels for Python 3.8 to 3.12 | file names of torchvision 0.19.0 on the index
    fix: torchvision==0.19.0 -> torchvision==0.21.0 (torchvision 0.21.0)
    fix: python 3.12 (torchvision 0.19.0)
    ");
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
    insta::assert_snapshot!(plain(&["onnxruntime-gpuu>=1.18"]), @"
    env.toml asks for onnxruntime-gpuu>=1.18
    onnxruntime-gpuu is on none of the indexes that were asked; did you mean onnxruntime-gpu?
    fix: onnxruntime-gpuu>=1.18 -> onnxruntime-gpu>=1.18 (onnxruntime-gpu 1.31.1)
    ");
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
    insta::assert_snapshot!(report(problem("3.11", &["user"]), index), @"
    env.toml asks for user
    user 1 needs thing >=1.5 | METADATA of user 1: thing>=1.5
    thing 2.0rc1 is a pre-release, and those are taken only when they are asked for
    fix: pre-releases (user 1)
    fix: without user ()
    ");
}

#[test]
fn only_withdrawn_releases() {
    let index = pypi().with("thing", "1.0", &[]).with("thing", "2.0", &[]).yanked(
        "thing",
        "2.0",
        "broken on Python 3.11",
    );
    insta::assert_snapshot!(report(problem("3.11", &["thing>=2"]), index), @"
    env.toml asks for thing>=2
    thing 2.0 is yanked: broken on Python 3.11
    fix: thing>=2 -> thing>=1.0 (thing 1.0)
    ");
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
    insta::assert_snapshot!(report(problem, index), @"
    env.toml asks for thing>=2
    thing 2.0 is newer than exclude-newer allows
    fix: thing>=2 -> thing>=1.0 (thing 1.0)
    fix: exclude-newer 2026-03-04T00:00:01Z (thing 2.0)
    ");
}

#[test]
fn only_wheels_for_another_platform() {
    let mut index = pypi().with("thing", "1.0", &[]);
    index.release("thing", "1.0").tags = vec!["cp311-cp311-win_amd64".to_owned()];
    insta::assert_snapshot!(report(problem("3.11", &["thing"]), index), @"
    the machine has platform linux-x86_64
    env.toml asks for thing
    thing 1.0 has wheels only for windows-x86_64
    fix: without thing ()
    ");
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

/// What a container image, or another target of env.toml, asks of a layer beside env.toml's own wish.
#[test]
fn two_bounds_on_one_layer() {
    let mut problem = problem("3.11", &["torch==2.6.0"]);
    problem.machine.cuda = Some(("<12".to_owned(), system_range("<12").unwrap()));
    problem.bounds.push(LayerBound {
        package: Package::Cuda,
        range: system_range(">=12.4").unwrap(),
        force: Force::Requires,
        reason: Reason::Manifest { text: "cuda = \">=12.4\" of the target deploy".into() },
    });
    insta::assert_snapshot!(report(problem, pypi()), @r#"
    env.toml asks for cuda = "<12" and cuda = ">=12.4" of the target deploy
    fix: no wish for CUDA ()
    "#);
}

#[test]
fn library_pins_two_levels_down() {
    let wishes = ["numpy", "torch==2.3.1", "torchvision", "tensorflow[and-cuda]==2.16.1"];
    insta::assert_snapshot!(plain(&wishes), @"
    env.toml asks for tensorflow[and-cuda]==2.16.1 and torch==2.3.1
    tensorflow 2.16.1 needs cuDNN >=8.9.7.29,<9 | tensorflow 2.16.1 uses cuDNN 8.9.7.29 or a newer 8.x; METADATA of tensorflow 2.16.1, extra and-cuda: the cuDNN it is compiled with
    torch 2.3.1 needs cuDNN 8.9.2.26 | METADATA of torch 2.3.1: nvidia-cudnn-cu12 (==8.9.2.26)
    fix: without tensorflow[and-cuda]==2.16.1 (torch 2.3.1)
    ");
}

/// Each pair of the three collides; the one that is pinned on both sides says most.
#[test]
fn what_pins_collide_on_comes_first() {
    let wishes = ["torch==2.3.1", "onnxruntime-gpu", "tensorflow[and-cuda]==2.16.1"];
    insta::assert_snapshot!(plain(&wishes), @"
    env.toml asks for tensorflow[and-cuda]==2.16.1 and torch==2.3.1
    tensorflow 2.16.1 needs cuDNN >=8.9.7.29,<9 | tensorflow 2.16.1 uses cuDNN 8.9.7.29 or a newer 8.x; METADATA of tensorflow 2.16.1, extra and-cuda: the cuDNN it is compiled with
    torch 2.3.1 needs cuDNN 8.9.2.26 | METADATA of torch 2.3.1: nvidia-cudnn-cu12 (==8.9.2.26)
    fix: without tensorflow[and-cuda]==2.16.1 and torch==2.3.1 -> torch==2.4.0 (torch 2.4.0)
    even without torch==2.3.1:
    also: env.toml asks for onnxruntime-gpu and tensorflow[and-cuda]==2.16.1
    also: onnxruntime-gpu 1.16.3 to 1.18.1 needs CUDA 11
    also: onnxruntime-gpu >=1.19.2 needs cuDNN 9
    also: tensorflow[and-cuda] 2.16.1 needs CUDA 12.3
    also: tensorflow[and-cuda] 2.16.1 needs cuDNN 8.9.7.29
    even without tensorflow[and-cuda]==2.16.1:
    also: env.toml asks for onnxruntime-gpu and torch==2.3.1
    also: onnxruntime-gpu 1.16.3 to 1.18.1 needs CUDA 11
    also: onnxruntime-gpu >=1.19.2 needs cuDNN 9
    also: torch 2.3.1 needs CUDA 12.1
    also: torch 2.3.1 needs cuDNN 8.9.2.26
    ");
}

#[test]
fn a_library_pinned_by_hand() {
    insta::assert_snapshot!(plain(&["torch==2.4.0", "nvidia-cudnn-cu12==9.10.2.21"]), @"
    env.toml asks for nvidia-cudnn-cu12==9.10.2.21 and torch==2.4.0
    torch 2.4.0 needs cuDNN 9.1.0.70 | METADATA of torch 2.4.0: nvidia-cudnn-cu12==9.1.0.70
    fix: torch==2.4.0 -> torch==2.8.0 (torch 2.8.0)
    fix: nvidia-cudnn-cu12==9.10.2.21 -> nvidia-cudnn-cu12==9.1.0.70 (torch 2.4.0, nvidia-cudnn-cu12 9.1.0.70)
    ");
}

#[test]
fn two_conflicts_at_once() {
    let wishes = ["torch==2.3.1", "torchvision==0.15.2", "numpy>=2", "onnxruntime==1.18.1"];
    insta::assert_snapshot!(plain(&wishes), @"
    env.toml asks for torch==2.3.1 and torchvision==0.15.2
    torchvision 0.15.2 needs torch==2.0.1 | METADATA of torchvision 0.15.2: torch (==2.0.1)
    fix: torch==2.3.1 -> torch==2.0.1 and numpy>=2 -> numpy>=1.26.4 (torch 2.0.1, torchvision 0.15.2, numpy 1.26.4)
    fix: torchvision==0.15.2 -> torchvision==0.18.1 and numpy>=2 -> numpy>=1.26.4 (torch 2.3.1, torchvision 0.18.1, numpy 1.26.4)
    fix: torchvision==0.15.2 -> torchvision==0.18.1 and onnxruntime==1.18.1 -> onnxruntime==1.23.2 (torch 2.3.1, torchvision 0.18.1, onnxruntime 1.23.2)
    even without torch==2.3.1:
    also: env.toml asks for numpy>=2 and onnxruntime==1.18.1
    also: onnxruntime 1.18.1 needs numpy <2
    ");
}

/// Why `name` is where it is, and why it is not newer.
fn explained(problem: Problem, name: &str) -> String {
    let catalog: Arc<dyn Catalog> = Arc::new(pypi());
    let solution = solve(Arc::new(problem.clone()), Arc::clone(&catalog)).unwrap();
    let name = Name::new(name).unwrap();
    let explanation = explain::distribution(&problem, &catalog, &solution, name).unwrap().unwrap();
    let mut lines = vec![format!("{} {}", explanation.name, explanation.version)];
    for holder in &explanation.held_by {
        lines.push(format!("{} needs {} | {}", holder.subject, holder.range, holder.source));
    }
    for newer in &explanation.newer {
        let why = newer.why_not.clone().unwrap_or_else(|| format!("possible {:?}", newer.moves));
        lines.push(format!("{}: {why}", newer.version));
    }
    lines.join("\n")
}

#[test]
fn why_torch_is_not_newer() {
    let problem = on("535.104.05", "RTX 3090", &["torch", "torchvision"]);
    insta::assert_snapshot!(explained(problem, "torch"), @"
    torch 2.6.0
    env.toml needs any version | torch
    torchvision 0.21.0 needs ==2.6.0 | METADATA: torch==2.6.0
    2.8.0: torchvision >=0.15.2 needs torch <=2.6.0 or >=2.11.0; env.toml asks for torchvision
    2.10.0: torchvision >=0.15.2 needs torch <=2.6.0 or >=2.11.0; env.toml asks for torchvision
    2.11.0: torch 2.11.0 needs CUDA 13.0; CUDA 13.0 needs driver >=580.65.06; the machine has driver 535.104.05
    ");
}

#[test]
fn why_numpy_is_not_newer() {
    insta::assert_snapshot!(explained(problem("3.11", &["numpy", "torch==2.2.2"]), "numpy"), @r#"
    numpy 1.26.4
    env.toml needs any version | numpy
    torch 2.2.2 needs <2 | torch before 2.3 is built against NumPy 1, and its METADATA does not bound numpy; NumPy C-API names in libtorch_python of torch 1.13.1 to 2.3.1
    2.3.5: torch 2.2.2 needs numpy <2; env.toml asks for torch==2.2.2
    "#);
}

#[test]
fn the_drivers_of_an_environment() {
    let problem = on("535.104.05", "RTX 3090", &["torch"]);
    let catalog: Arc<dyn Catalog> = Arc::new(pypi());
    let solution = solve(Arc::new(problem.clone()), Arc::clone(&catalog)).unwrap();
    let drivers = explain::drivers(&solution, &problem);
    insta::assert_debug_snapshot!(drivers, @r#"
    Drivers {
        machine: Some(
            "535.104.05",
        ),
        cuda: Some(
            "12.8",
        ),
        minimum: Some(
            "525.60.13",
        ),
        full: Some(
            "570.26",
        ),
        ptx: Some(
            "570.26",
        ),
        held_by: [
            Holder {
                subject: "CUDA 12.8",
                range: ">=525.60.13",
                source: "CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)",
            },
            Holder {
                subject: "GPU 8.6",
                range: ">=455",
                source: "RTX 3090 (Ampere 8.6) is supported by drivers from R455 on; docs.nvidia.com/datacenter/tesla/drivers/cuda-toolkit-driver-and-architecture-matrix.html",
            },
        ],
        first_to_go: Some(
            "compute capability 7.0 (Volta 7.0) is not supported by drivers from R590 on",
        ),
    }
    "#);
}
