//! Near misses: what was probably meant, and what exists instead.

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run};

use crate::BINARY;

fn resolve(index: Index, change: impl FnOnce(Manifest) -> Manifest, flags: &[&str]) -> Run {
    let server = index.serve();
    let manifest = change(Manifest::new(&server));
    let run = Project::new(BINARY, manifest).resolve(flags);
    Run { stderr: run.stderr.replace(&server.at(""), "http://index.example"), ..run }
}

fn refused(index: Index, change: impl FnOnce(Manifest) -> Manifest) -> String {
    resolve(index, change, &[]).expect(1).stderr.trim_end().to_owned()
}

#[test]
fn a_misspelt_package() {
    let index = Index::new().release("torchvision", "0.26.0", Dist::wheel());
    insta::assert_snapshot!(refused(index, |m| m.depends(["torchvison>=0.20"])), @r#"
    error: torchvison>=0.20 cannot be installed

      torchvison is on none of the indexes that were asked; did you mean torchvision?
    help: asked for torchvison: test (http://index.example/simple/)

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torchvision>=0.20" instead of "torchvison>=0.20"  gives torchvision 0.26.0
    "#);
}

#[test]
fn a_misspelt_key() {
    let run = resolve(Index::new(), |m| m.depends(["a"]).machine("drivr = \"535.104.05\""), &[]);
    insta::assert_snapshot!(run.expect(2).stderr.trim_end(), @r#"
    error: unknown key `drivr` in [machine]
      --> env.toml:10:1
       |
    10 | drivr = "535.104.05"
       | ^^^^^
       |
       = help: did you mean `driver`?
    "#);
}

#[test]
fn only_a_pre_release() {
    let index = Index::new()
        .release("a", "1.0", Dist::wheel())
        .release("a", "2.0rc1", Dist::wheel())
        .release("a", "2.0rc2", Dist::wheel());
    insta::assert_snapshot!(refused(index, |m| m.depends(["a>1.5"])), @r#"
    error: a>1.5 cannot be installed

      a >=2.0rc1 are pre-releases, and those are taken only when they are asked for

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "a>=1.0" instead of "a>1.5"  gives a 1.0
      2. env.toml: [options] prerelease add "allow"  gives a 2.0rc2
    "#);
}

#[test]
fn one_yanked_release_among_others() {
    let index = Index::new()
        .release("a", "1.0", Dist::wheel())
        .release("a", "1.1", Dist::wheel().requires("b"))
        .release("a", "1.2", Dist::wheel().yanked("broken metadata"))
        .release("b", "1.0", Dist::wheel().requires_python(">=3.12"));
    insta::assert_snapshot!(refused(index, |m| m.depends(["a>=1.1"])), @r#"
    error: a>=1.1 does not go with Python 3.11

      a 1.1 needs b
          METADATA of a 1.1: b
      b 1.0 needs Python >=3.12
          Requires-Python of b 1.0: >=3.12
      a 1.2 is yanked: broken metadata

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "a>=1.0" instead of "a>=1.1"  gives a 1.0
      2. env.toml:3: python "3.12" instead of "3.11"  gives a 1.1
    "#);
}

#[test]
fn another_python() {
    let index =
        Index::new().release("a", "1.0", Dist::wheel_for("cp312-cp312-manylinux_2_28_x86_64"));
    insta::assert_snapshot!(refused(index, |m| m.depends(["a"])), @r#"
    error: a does not go with Python 3.11

      a 1.0 has wheels for Python 3.12
          file names of a 1.0 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:3: python "3.12" instead of "3.11"  gives a 1.0
      2. env.toml:5: dependencies remove "a"
    "#);
}

#[test]
fn another_platform() {
    let index = Index::new().release("a", "1.0", Dist::wheel_for("cp311-cp311-macosx_11_0_arm64"));
    insta::assert_snapshot!(refused(index, |m| m.depends(["a"])), @r#"
    error: a does not go with platform linux-x86_64

      a 1.0 has wheels only for macos-arm64

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies remove "a"
    "#);
}

#[test]
fn another_glibc() {
    let index =
        Index::new().release("a", "1.0", Dist::wheel_for("cp311-cp311-manylinux_2_28_x86_64"));
    let machine = |m: Manifest| m.depends(["a"]).machine("glibc = \"2.17\"");
    insta::assert_snapshot!(refused(index, machine), @r#"
    error: a does not go with glibc 2.17

      a 1.0 has wheels for glibc >= 2.28
          file names of a 1.0 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:10: [machine] glibc "2.28" or newer instead of "2.17"  gives a 1.0
      2. env.toml:5: dependencies remove "a"
    "#);
}

#[test]
fn a_name_that_another_index_has() {
    insta::assert_snapshot!(refused(Index::new(), |m| m.depends(["torch-tensorrt"])), @r#"
    error: torch-tensorrt cannot be installed

      torch-tensorrt is on none of the indexes that were asked

    note: torch-tensorrt is on the index pytorch-*, which env.toml leaves out
    help: asked for torch-tensorrt: test (http://index.example/simple/)

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies remove "torch-tensorrt"
    "#);
}

#[test]
fn an_extra_that_does_not_exist() {
    let index = Index::new().release("a", "1.0", Dist::wheel().extra("cuda", &["b"])).release(
        "b",
        "1.0",
        Dist::wheel(),
    );
    let run = resolve(index.clone(), |m| m.depends(["a[cudaa]"]), &[]).expect(0);
    assert!(
        run.stderr.contains("a 1.0 has no extra 'cudaa'; did you mean 'cuda'?"),
        "{}",
        run.stderr
    );
    let run = resolve(index, |m| m.depends(["a[gpu]"]), &[]).expect(0);
    assert!(run.stderr.contains("a 1.0 has no extra 'gpu'; it has cuda"), "{}", run.stderr);
}

/// `--verbose` has every fact of the solver's own proof, and `--format json` what the text has.
#[test]
fn all_of_the_proof_and_all_of_it_for_programs() {
    let index = Index::new()
        .release("a", "1.0", Dist::wheel().requires("c<2"))
        .release("b", "1.0", Dist::wheel().requires("c>=2"))
        .release("c", "1.0", Dist::wheel())
        .release("c", "2.0", Dist::wheel());
    let wishes = |m: Manifest| m.depends(["a", "b"]);
    let run = resolve(index.clone(), wishes, &["--verbose"]).expect(1);
    insta::assert_snapshot!(run.stderr.trim_end(), @r#"
    error: no environment satisfies env.toml on this machine

      env.toml asks for a and b
      a 1.0 needs c <2
          METADATA of a 1.0: c<2
      b 1.0 needs c >=2
          METADATA of b 1.0: c>=2

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies remove "a"  gives b 1.0
      2. env.toml:6: dependencies remove "b"  gives a 1.0
    "#);
    let run = resolve(index, wishes, &["--format", "json"]).expect(1);
    insta::assert_snapshot!(run.stdout.trim_end(), @r#"
    {
      "schema": 1,
      "targets": [
        {
          "target": null,
          "stack": null,
          "packages": [],
          "loading": [],
          "warnings": [],
          "passed_over": [],
          "built": [],
          "headline": "a and b do not go together",
          "conflict": [
            {
              "text": "env.toml asks for a and b",
              "source": null
            },
            {
              "text": "a 1.0 needs c <2",
              "source": "METADATA of a 1.0: c<2"
            },
            {
              "text": "b 1.0 needs c >=2",
              "source": "METADATA of b 1.0: c>=2"
            }
          ],
          "also": [],
          "fixes": [
            {
              "edits": [
                {
                  "line": 5,
                  "key": "dependencies",
                  "old": "\"a\"",
                  "new": null,
                  "or_newer": false
                }
              ],
              "gives": [
                "b 1.0"
              ]
            },
            {
              "edits": [
                {
                  "line": 6,
                  "key": "dependencies",
                  "old": "\"b\"",
                  "new": null,
                  "or_newer": false
                }
              ],
              "gives": [
                "a 1.0"
              ]
            }
          ],
          "hints": [],
          "stopped": false
        }
      ]
    }
    "#);
}
