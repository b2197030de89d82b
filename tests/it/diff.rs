//! `cuda-lock diff` on files and on git revisions.

use std::process::Command;

use cuda_lock_testing::{Dist, Index, Manifest, Project, Server};

use crate::BINARY;

fn index() -> Index {
    Index::new()
        .release("a", "1.0", Dist::wheel().requires("b"))
        .release("a", "2.0", Dist::wheel().requires("b").requires("c"))
        .release("b", "1.0", Dist::wheel())
        .release("c", "1.0", Dist::wheel())
}

/// A project with `old.toml` (a 1.0) and `pylock.toml` (a 2.0).
fn two_locks(server: &Server) -> Project {
    let project = Project::new(BINARY, Manifest::new(server).depends(["a<2"]));
    let _ = project.resolve(&[]).expect(0);
    project.write("old.toml", &project.read("pylock.toml").unwrap());
    project.write("env.toml", &Manifest::new(server).depends(["a"]).to_string());
    let _ = project.resolve(&["--upgrade"]).expect(0);
    project
}

fn git(project: &Project, arguments: &[&str]) {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments)
        .current_dir(project.path())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn two_files() {
    let server = index().serve();
    let project = two_locks(&server);
    let run = project.run(&["diff", "old.toml", "pylock.toml"]).expect(0);
    for line in ["a 1.0 → 2.0", "+ c 1.0", "+ a\n", "- a<2"] {
        assert!(run.stdout.contains(line), "{line:?}\n{}", run.stdout);
    }
    assert!(!run.stdout.contains(" b "), "what did not move is not listed:\n{}", run.stdout);
    let same = project.run(&["diff", "old.toml", "old.toml"]).expect(0);
    assert_eq!(same.stdout, "nothing moved\n");
    let markdown =
        project.run(&["diff", "old.toml", "pylock.toml", "--format", "markdown"]).expect(0);
    assert!(markdown.stdout.contains("| a | 1.0 | 2.0 |"), "{}", markdown.stdout);
    let json = project.run(&["diff", "old.toml", "pylock.toml", "--format", "json"]).expect(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["locks"][0]["packages"][0]["name"], "a");
    assert_eq!(json["locks"][0]["packages"][0]["kind"], "up");
}

#[test]
fn git_revisions() {
    let server = index().serve();
    let project = two_locks(&server);
    let new = project.read("pylock.toml").unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    project.write("pylock.toml", &project.read("old.toml").unwrap());
    git(&project, &["add", "pylock.toml"]);
    git(&project, &["commit", "-q", "-m", "old"]);
    project.write("pylock.toml", &new);

    let since = project.run(&["diff", "--git", "HEAD"]).expect(0);
    assert!(since.stdout.contains("a 1.0 → 2.0"), "{}", since.stdout);
    let named = project.run(&["diff", "HEAD:pylock.toml", "pylock.toml"]).expect(0);
    assert_eq!(named.stdout, since.stdout);
    git(&project, &["commit", "-q", "-am", "new"]);
    let both = project.run(&["diff", "HEAD~1:pylock.toml", "HEAD:pylock.toml"]).expect(0);
    assert_eq!(both.stdout, since.stdout);
    let nothing = project.run(&["diff", "--git", "HEAD"]).expect(0);
    assert_eq!(nothing.stdout, "nothing moved\n");

    // A lock that is new since then has nothing to be compared with.
    project.write("pylock.edge.toml", &new);
    let added = project.run(&["diff", "--git", "HEAD", "pylock.edge.toml"]).expect(0);
    assert!(added.stdout.contains("+ a 2.0"), "{}", added.stdout);
    let all = project.run(&["diff", "--git", "HEAD~1"]).expect(0);
    assert!(
        all.stdout.contains("pylock.edge.toml:") && all.stdout.contains("pylock.toml:"),
        "{}",
        all.stdout
    );

    for arguments in [
        &["diff", "--git", "nowhere"][..],
        &["diff", "--git=--output=x"],
        &["diff", "--git", "HEAD", "/pylock.toml"],
        &["diff", "HEAD:nothing.toml", "pylock.toml"],
        &["diff", "old.toml"],
        &["diff", "old.toml", "env.toml"],
        &["diff"],
    ] {
        let run = project.run(arguments).expect(2);
        assert!(run.stderr.contains("error"), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn regressions_are_refused_when_asked_for() {
    let server = index().serve();
    let project = two_locks(&server);
    let with = |driver: &str, capabilities: &str| {
        let text = project.read("pylock.toml").unwrap();
        let facts =
            format!("minimum-driver = \"{driver}\"\ncapabilities = [{capabilities}]\nindexes = [");
        text.replacen("indexes = [", &facts, 1)
    };
    project.write("low.toml", &with("525.60.13", "\"5.0\", \"8.6\""));
    project.write("high.toml", &with("550.54.14", "\"5.0\", \"8.6\""));
    project.write("narrow.toml", &with("525.60.13", "\"8.6\""));
    for (old, new, code, words) in [
        ("low.toml", "high.toml", 1, "the minimum driver rose from 525.60.13 to 550.54.14"),
        ("low.toml", "narrow.toml", 1, "sm_50"),
        ("high.toml", "low.toml", 0, "minimum driver 550.54.14 → 525.60.13"),
        ("narrow.toml", "low.toml", 0, "sm_50 added"),
    ] {
        let run = project.run(&["diff", old, new, "--deny-regressions"]).expect(code);
        assert!(run.stdout.contains(words), "{old} {new}\n{}", run.stdout);
        let _ = project.run(&["diff", old, new]).expect(0);
    }
    // What is not known cannot be promised.
    project
        .write("foreign.toml", "lock-version = \"1.0\"\ncreated-by = \"other\"\npackages = []\n");
    let run = project.run(&["diff", "foreign.toml", "low.toml", "--deny-regressions"]).expect(2);
    assert!(run.stderr.contains("tool.cuda-lock"), "{}", run.stderr);
}
