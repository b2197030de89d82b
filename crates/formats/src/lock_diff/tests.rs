use cuda_lock_constraint::machine::{Libraries, Platform};

use super::*;
use crate::pylock::{LockMetadata, LockedFile, LockedMachine, LockedPackage, Origin, Pylock};

fn package(name: &str, version: &str, digest: &str) -> LockedPackage {
    let version: pep440_rs::Version = version.parse().expect("a version");
    let mut package = LockedPackage::new(Name::new(name).expect("a name"), version.clone());
    let file = LockedFile {
        url: Some(format!("https://index.example/{name}-{version}-py3-none-any.whl")),
        size: Some(1_000_000),
        hashes: [("sha256".to_owned(), digest.to_owned())].into(),
        ..LockedFile::default()
    };
    package.index = Some("https://index.example/simple/".to_owned());
    package.origin = Origin::Index { sdist: None, wheels: vec![file] };
    package
}

fn lock(
    cuda: &str,
    driver: Option<&str>,
    capabilities: &[&str],
    packages: Vec<LockedPackage>,
) -> Pylock {
    let system = |text: &str| text.parse().expect("a system version");
    let mut lock = Pylock::new();
    lock.packages = packages;
    lock.tool = Some(LockMetadata {
        manifest: "0".to_owned(),
        matrices: "1".to_owned(),
        target: None,
        python: "3.11".to_owned(),
        requirements: vec!["torch".to_owned()],
        exclude_newer: None,
        indexes: Vec::new(),
        machine: LockedMachine {
            platform: Platform::LinuxX86_64,
            glibc: None,
            musl: None,
            driver: None,
            gpus: Some(vec!["RTX 3090".to_owned()]),
            libraries: Libraries::Wheels,
            image: None,
        },
        cuda: Some(system(cuda)),
        cudnn: None,
        minimum_driver: driver.map(system),
        capabilities: capabilities.iter().map(|text| system(text)).collect(),
        loading: Vec::new(),
        built: Vec::new(),
        passed_over: Vec::new(),
        constraints: Vec::new(),
    });
    lock
}

fn two() -> (Pylock, Pylock) {
    let old = lock(
        "12.1",
        Some("525.60.13"),
        &["5.0", "7.5", "8.6"],
        vec![
            package("torch", "2.4.0", "a1"),
            package("numpy", "2.1.0", "b1"),
            package("same", "1.0", "c1"),
            package("gone", "1.0", "d1"),
        ],
    );
    let new = lock(
        "12.4",
        Some("525.60.13"),
        &["7.5", "8.6"],
        vec![
            package("torch", "2.5.1", "a2"),
            package("numpy", "1.26.4", "b2"),
            package("same", "1.0", "c1"),
            package("triton", "3.1.0", "e1"),
        ],
    );
    (old, new)
}

#[test]
fn the_stack_comes_first() {
    let (old, new) = two();
    insta::assert_snapshot!(LockDiff::new(&old, &new).text(), @r"
    CUDA 12.1 → 12.4, minimum driver unchanged 525.60.13, sm_50 dropped

    stack
        torch 2.4.0 → 2.5.1
      + triton 3.1.0

    packages
      - gone 1.0
        numpy 2.1.0 → 1.26.4 (older)

    regressions
      sm_50 was covered and is not any more
    ");
}

#[test]
fn markdown_is_for_a_pull_request() {
    let (old, new) = two();
    insta::assert_snapshot!(LockDiff::new(&old, &new).markdown(), @r"
    **CUDA 12.1 → 12.4, minimum driver unchanged 525.60.13, sm_50 dropped**

    > ⚠️ sm_50 was covered and is not any more

    | Stack | before | after |
    | --- | --- | --- |
    | CUDA | 12.1 | 12.4 |
    | torch | 2.4.0 | 2.5.1 |
    | triton | – | 3.1.0 |

    | Packages | before | after |
    | --- | --- | --- |
    | gone | 1.0 | – |
    | numpy | 2.1.0 | 1.26.4 (older) |
    ");
}

#[test]
fn a_lock_and_itself_differ_in_nothing() {
    let (old, _) = two();
    let diff = LockDiff::new(&old, &old);
    assert!(diff.is_empty(), "{diff:?}");
    assert_eq!(diff.regressions, []);
    assert_eq!(diff.headline(), "CUDA unchanged 12.1, minimum driver unchanged 525.60.13");
}

#[test]
fn a_driver_that_rises_is_a_regression_and_one_that_falls_is_none() {
    let low = lock("12.1", Some("525.60.13"), &["8.6"], Vec::new());
    let high = lock("12.1", Some("550.54.14"), &["8.6"], Vec::new());
    let none = lock("12.1", None, &["8.6"], Vec::new());
    let kinds = |old, new| {
        LockDiff::new(old, new)
            .regressions
            .iter()
            .map(|regression| regression.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(&low, &high), ["minimum-driver"]);
    assert_eq!(kinds(&none, &low), ["minimum-driver"]);
    assert_eq!(kinds(&high, &low), [""; 0]);
    assert_eq!(kinds(&low, &none), [""; 0]);
}

#[test]
fn another_build_of_one_release_is_said_to_be_one() {
    let of = |version, digest| lock("12.1", None, &[], vec![package("torch", version, digest)]);
    let moved = |old: Pylock, new: Pylock| {
        let diff = LockDiff::new(&old, &new);
        diff.stack.first().map(|moved| (moved.kind, moved.note.clone()))
    };
    let other = moved(of("2.4.1+cu121", "a"), of("2.4.1+cu124", "b"));
    assert_eq!(other, Some((Kind::Rebuilt, None)));
    let digest = moved(of("2.4.1", "a"), of("2.4.1", "b"));
    let note = "the same file name with another digest".to_owned();
    assert_eq!(digest, Some((Kind::Rebuilt, Some(note))));
}

#[test]
fn bytes_are_said_in_round_numbers() {
    for (bytes, text) in [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (2_449_999_999, "2.4 GB"),
        (u64::MAX, "18446744073.7 GB"),
    ] {
        assert_eq!(bytes_text(bytes), text);
    }
}

#[test]
fn the_stack_is_what_the_matrices_know() {
    let stack = |name: &str| is_stack(Name::new(name).expect("a name"));
    for name in
        ["torch", "torchvision", "triton", "onnxruntime", "onnxruntime-gpu", "nvidia-cudnn-cu12"]
    {
        assert!(stack(name), "{name}");
    }
    for name in ["numpy", "transformers", "requests"] {
        assert!(!stack(name), "{name}");
    }
}
