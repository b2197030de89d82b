//! A run that has no report says why: in words, and as a document where a program waits for one.

use cuda_lock_testing::{Index, Manifest, Project};
use serde_json::{Value, json};

use crate::BINARY;

fn error(project: &Project, arguments: &[&str], code: i32) -> Value {
    let run = project.run(arguments).expect(code);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["schema"], 1);
    document["error"].clone()
}

#[test]
fn a_program_is_told_why_there_is_no_report() {
    let server = Index::new().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a =="]));
    let told = error(&project, &["resolve", "--format", "json"], 2);
    assert_eq!(told["kind"], "input");
    assert_eq!(told["places"][0]["file"], "env.toml");
    assert!(told["places"][0]["line"].as_u64().is_some(), "{told}");

    let told = error(&project, &["resolve", "--format", "json", "gone/env.toml"], 2);
    assert_eq!(told["kind"], "system");
    assert_eq!(told["places"], json!([]));
    assert_eq!(told["help"], "name the file, as in: cuda-lock resolve path/to/env.toml");

    let told = error(&project, &["resolve", "--format", "json", "--exclude-newer", "soon"], 2);
    assert_eq!(told["kind"], "argument");
    let told = error(&project, &["audit", "--format", "json", "--deny", "no-code", "env.toml"], 2);
    assert_eq!(told["kind"], "argument");
    assert!(told["help"].as_str().unwrap().starts_with("the codes are "), "{told}");
}

#[test]
fn an_index_that_cannot_be_read_is_told_apart() {
    let server = Index::new().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
    let told = error(&project, &["resolve", "--offline", "--format", "json"], 3);
    assert_eq!(told["kind"], "index");
}

#[test]
fn people_are_told_in_words_alone() {
    let project = Project::new(BINARY, "");
    let run = project.run(&["resolve", "gone/env.toml"]).expect(2);
    assert_eq!(run.stdout, "");
}
