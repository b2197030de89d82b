//! The lock of the pylock tests as requirements.txt.

use super::*;
use crate::pylock::tests::sample;
use crate::pylock::{LockedArchive, LockedDirectory, LockedVcs};

const STYLE: RequirementsStyle<'_> = RequirementsStyle {
    command: "cuda-lock resolve --target edge",
    pip_default: "https://index.example/simple",
    manifest: "env.toml",
};

#[test]
fn pins_have_digests_and_say_who_wants_them() {
    let text = requirements_txt(&sample(), STYLE).expect("pinned");
    insta::assert_snapshot!(text, @r#"
    # This file was written by cuda-lock. To write it anew, run:
    #     cuda-lock resolve --target edge
    --extra-index-url https://torch.example/whl/cu118
    filelock @ https://files.example/filelock-3.16.1-py3-none-any.whl \
        --hash=sha256:abababababababababababababababababababababababababababababababab
        # via
        #   torch
        #   triton
    torch==2.4.1+cu118 \
        --hash=sha256:abababababababababababababababababababababababababababababababab
        # via env.toml
    triton==3.0.0 ; sys_platform == "linux" \
        --hash=sha256:abababababababababababababababababababababababababababababababab
        # via torch
    "#);
    assert!(!text.contains("s3cret"));
    let mut turned = sample();
    turned.packages.reverse();
    assert_eq!(requirements_txt(&turned, STYLE).expect("pinned"), text);
}

#[test]
fn index_lines_are_as_few_as_will_do() {
    let lines = |lock: &Pylock, pip_default| {
        let text =
            requirements_txt(lock, RequirementsStyle { pip_default, ..STYLE }).expect("pinned");
        text.lines().filter(|line| line.starts_with("--")).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut lock = sample();
    // pip's own index is asked anyway; its trailing slash does not matter.
    assert_eq!(
        lines(&lock, "https://index.example/simple/"),
        ["--extra-index-url https://torch.example/whl/cu118"]
    );
    // Nothing comes from pip's own index: it is replaced.
    assert_eq!(
        lines(&lock, "https://default.example/simple"),
        [
            "--index-url https://torch.example/whl/cu118",
            "--extra-index-url https://index.example/simple",
        ]
    );
    if let Some(tool) = &mut lock.tool {
        tool.indexes[0].flat = true;
    }
    assert_eq!(
        lines(&lock, "https://index.example/simple"),
        ["--find-links https://torch.example/whl/cu118"]
    );
    lock.packages.retain(|package| package.index.is_none());
    assert!(lines(&lock, "https://index.example/simple").is_empty());
}

#[test]
fn one_wheel_without_digest_takes_them_from_all() {
    let mut lock = sample();
    if let Origin::Index { wheels, .. } = &mut lock.packages[0].origin {
        wheels[0].hashes.clear();
    }
    let text = requirements_txt(&lock, STYLE).expect("pinned");
    assert!(!text.contains("--hash"), "{text}");
    assert!(text.contains("\n# Without digests, which these have none of: triton\n"), "{text}");
}

#[test]
fn other_origins_are_written_as_addresses() {
    let mut lock = sample();
    let package = |origin| {
        let mut package = lock.packages[0].clone();
        package.marker = None;
        package.origin = origin;
        package
    };
    let vcs = LockedVcs {
        kind: "git".to_owned(),
        url: Some("https://u:p@git.example/repo".to_owned()),
        path: None,
        requested_revision: None,
        commit_id: "abc".to_owned(),
        subdirectory: Some("python".to_owned()),
    };
    let directory =
        LockedDirectory { path: "./local".to_owned(), editable: false, subdirectory: None };
    for (origin, line) in [
        (Origin::Vcs(vcs), "triton @ git+https://git.example/repo@abc#subdirectory=python"),
        (Origin::Directory(directory), "./local"),
    ] {
        assert_eq!(pin(&package(origin)).as_deref(), Ok(line));
    }
    let nothing =
        Origin::Archive(LockedArchive { file: LockedFile::default(), subdirectory: None });
    assert!(pin(&package(nothing)).is_err());
    lock.packages[0].version = None;
    let error = requirements_txt(&lock, STYLE).expect_err("not pinned").to_string();
    assert_eq!(
        error,
        "triton has neither a version nor an address, so requirements.txt cannot pin it"
    );
}
