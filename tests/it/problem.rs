//! `resolve --save-problem` and `--problem`: what was solved once is solved again from one file, without a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_testing::{Dist, Index, Machines, Manifest, Project, Replica, Run, Server};

use crate::BINARY;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

fn small() -> Index {
    Index::new()
        .release("a", "1.0.0", Dist::wheel().requires("b>=1"))
        .release("a", "1.1.0", Dist::wheel().requires("b>=2,<3"))
        .release("b", "1.0.0", Dist::wheel())
        .release("b", "2.0.0", Dist::wheel())
        .release("b", "3.0.0", Dist::wheel())
}

/// What a run prints, apart from what only the saving run says.
fn said(run: &Run) -> (String, String) {
    let own = |line: &&str| !line.contains("--problem");
    let errors = run.stderr.lines().filter(own).collect::<Vec<_>>().join("\n");
    (run.stdout.clone(), errors)
}

/// Saves what `project` solves, stops the server, and solves it again in another folder.
fn replayed(project: &Project, server: Server, flags: &[&str], file: &str, code: i32) -> Run {
    let flags = [&["--dry-run", "--save-problem", file], flags].concat();
    let first = project.resolve(&flags).expect(code);
    drop(server);
    let elsewhere = Project::new(BINARY, "");
    let source = project.path().join(file);
    let run = elsewhere.resolve(&["--problem", &source.to_string_lossy()]).expect(code);
    assert_eq!(said(&run), said(&first));
    let left: Vec<_> = std::fs::read_dir(elsewhere.path()).unwrap().map(|f| f.unwrap()).collect();
    assert_eq!(left.len(), 1, "a replay writes nothing: {left:?}");
    run
}

#[test]
fn an_answer_comes_out_again() {
    for file in ["problem.json", "problem.json.gz"] {
        let server = small().serve();
        let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
        let run = replayed(&project, server, &[], file, 0);
        assert!(run.stdout.contains("a==1.1.0\nb==2.0.0"), "{}", run.stdout);
    }
}

#[test]
fn the_lock_and_the_flags_belong_to_the_problem() {
    let server = small().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a", "b<2"]));
    let _ = project.resolve(&[]).expect(0);
    project.write("env.toml", &Manifest::new(&server).depends(["a", "b"]).to_string());
    // The lock holds a at 1.0.0; b may move.
    let run = replayed(&project, server, &["--upgrade-package", "b"], "problem.json", 0);
    assert!(run.stdout.contains("a==1.0.0\nb==3.0.0"), "{}", run.stdout);
}

#[test]
fn a_conflict_and_its_fixes_come_out_again() {
    let server = small().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a>=1.1", "b>=3"]));
    let run = replayed(&project, server, &[], "problem.json", 1);
    assert!(run.stderr.contains("b>=3"), "{}", run.stderr);
    assert!(run.stderr.contains("env.toml:"), "fixes name lines of env.toml:\n{}", run.stderr);
}

#[test]
fn other_backends_were_asked_too() {
    let index = Index::from_recording(&folder("recordings/index-2026-11-30.json.gz"));
    let replica = Replica::read(&folder("recordings/pytorch-2026-11-30.json.gz"));
    let server = Server::start(Arc::new(index.with_replica(replica)));
    let manifest = Machines::new(&server)
        .driver("470.103.01")
        .gpu("RTX 3090")
        .pytorch("backends = [\"cu128\"]")
        .depends(&["torch"]);
    let project = Project::new(BINARY, manifest);
    let run = replayed(&project, server, &[], "problem.json.gz", 1);
    assert!(run.stderr.contains("backends"), "{}", run.stderr);
}

#[test]
fn no_credentials_are_written() {
    let server = small().serve();
    let secret = server.url().replace("http://", "http://me:s3cret-token@");
    let manifest = Manifest::new(&server).depends(["a"]).to_string();
    let project = Project::new(BINARY, manifest.replace(&server.url(), &secret));
    let _ = replayed(&project, server, &[], "problem.json", 0);
    let text = project.read("problem.json").unwrap();
    assert!(text.contains("a-1.1.0-py3-none-any.whl") && !text.contains("s3cret-token"));
}

#[test]
fn the_same_problem_gives_the_same_bytes() {
    let server = small().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
    let _ = project.resolve(&["--dry-run", "--save-problem", "1.json"]).expect(0);
    let _ = project.resolve(&["--dry-run", "--offline", "--save-problem", "2.json"]).expect(0);
    assert_eq!(project.read("1.json"), project.read("2.json"));
    assert!(project.read("1.json").is_some());
}

#[test]
fn what_the_indexes_could_not_say_is_saved_as_well() {
    let server = small().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
    let run = replayed(&project, server, &["--offline"], "problem.json", 3);
    assert!(run.stderr.contains("offline") || run.stderr.contains("cache"), "{}", run.stderr);
}

#[test]
fn a_damaged_file_is_named_with_its_place() {
    let project = Project::new(BINARY, "");
    project.write(
        "p.json",
        "{\"cuda-lock-problem\": 1, \"program\": \"0\", \"manifest\": \"\"}\nnonsense\n",
    );
    let run = project.resolve(&["--problem", "p.json"]).expect(2);
    assert!(run.stderr.contains("p.json:2:1"), "{}", run.stderr);
    let _ = project.resolve(&["--problem", "missing.json"]).expect(2);
    let _ = project.resolve(&["--problem", "p.json", "--check"]).expect(2);
    let _ = project.resolve(&["--problem", "p.json", "env.toml"]).expect(2);
}
