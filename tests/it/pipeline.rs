//! `docs/ci/pipeline.sh`, the logic of the GitHub Action and of the other templates, on a scratch git repository.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run, Server};

use crate::BINARY;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn index() -> Index {
    Index::new()
        .release("a", "1.0", Dist::wheel())
        .release("a", "2.0", Dist::wheel().requires("b"))
        .release("b", "1.0", Dist::wheel())
}

/// A clone of a bare repository, with a committed lock of a 1.0 that could be 2.0, and a `gh` that writes down what it is
/// asked.
struct Repository {
    project: Project,
}

impl Repository {
    fn new(server: &Server, folder: &str) -> Self {
        let project = Project::new(BINARY, "");
        std::fs::remove_file(project.path().join("env.toml")).unwrap();
        let this = Self { project };
        let work = this.work();
        this.git(this.project.path(), &["init", "-q", "--bare", "-b", "main", "origin.git"]);
        this.git(this.project.path(), &["clone", "-q", "origin.git", "work"]);
        this.git(&work, &["checkout", "-q", "-b", "main"]);
        std::fs::create_dir_all(work.join(folder)).unwrap();
        this.manifest(server, folder, "a<2");
        let name = format!("work/{folder}env.toml");
        let _ = this.project.run(&["resolve", &name, "-q"]).expect(0);
        this.manifest(server, folder, "a");
        let _ = this.project.run(&["resolve", &name, "-q"]).expect(0);
        this.git(&work, &["add", "-A"]);
        this.git(&work, &["commit", "-q", "-m", "first"]);
        this.git(&work, &["push", "-q", "origin", "main"]);
        let gh = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$GH_LOG\"\n\
                  if [ \"$1 $2\" = 'pr list' ]; then cat \"$GH_OPEN\" 2>/dev/null; fi\nexit 0\n";
        let bin = this.project.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join("gh"), gh).unwrap();
        std::fs::set_permissions(bin.join("gh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        this
    }

    fn work(&self) -> PathBuf {
        self.project.path().join("work")
    }

    fn manifest(&self, server: &Server, folder: &str, requirement: &str) {
        let manifest = Manifest::new(server).depends([requirement]).to_string();
        self.project.write(&format!("work/{folder}env.toml"), &manifest);
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.command("git", folder).args(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let at = |name: &str| self.project.path().join(name);
        let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", at("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "t")
            .env("GIT_AUTHOR_EMAIL", "t@example.invalid")
            .env("GIT_COMMITTER_NAME", "t")
            .env("GIT_COMMITTER_EMAIL", "t@example.invalid")
            .env("CUDA_LOCK", BINARY)
            .env("GH_LOG", at("gh.log"))
            .env("GH_OPEN", at("gh.open"))
            .env("GITHUB_STEP_SUMMARY", at("summary.md"))
            .env("GITHUB_OUTPUT", at("output"));
        command
    }

    /// Runs the script in the clone.
    fn pipeline(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
        let script = root().join("docs/ci/pipeline.sh");
        let mut command = self.command("bash", &self.work());
        let output =
            command.arg(script).args(arguments).envs(environment.iter().copied()).output().unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    fn said(&self, file: &str) -> String {
        self.project.read(file).unwrap_or_default()
    }

    /// What the remote has of a branch.
    fn remote(&self, revision_and_file: &str) -> String {
        self.git(&self.project.path().join("origin.git"), &["show", revision_and_file])
    }
}

#[test]
fn check_passes_and_fails_with_the_reason_on_the_page_of_the_run() {
    let server = index().serve();
    let repository = Repository::new(&server, "");
    let good = repository.pipeline(&["check"], &[]).expect(0);
    assert!(good.stdout.contains("up to date: pylock.toml"), "{}", good.stdout);
    assert!(repository.said("output").contains("up-to-date=true"));
    repository.manifest(&server, "", "a>=1");
    let stale = repository.pipeline(&["check"], &[]).expect(1);
    assert!(stale.stdout.contains("asks now for \"a>=1\""), "{}", stale.stdout);
    assert!(repository.said("output").contains("up-to-date=false"));
    assert!(
        repository.said("summary.md").contains("asks now for"),
        "{}",
        repository.said("summary.md")
    );
}

#[test]
fn upgrade_commits_to_its_branch_and_opens_one_pull_request() {
    let server = index().serve();
    let repository = Repository::new(&server, "");
    let _ = repository
        .pipeline(&["upgrade"], &[("CUDA_LOCK_TITLE", "Newer $(touch hacked) pins")])
        .expect(0);
    assert!(!repository.work().join("hacked").exists());
    let lock = repository.remote("cuda-lock/upgrade:pylock.toml");
    assert!(lock.contains("version = \"2.0\""), "{lock}");
    assert!(
        repository.remote("main:pylock.toml").contains("version = \"1.0\""),
        "main is left alone"
    );
    let commit = repository.remote("cuda-lock/upgrade");
    assert!(
        commit.contains("Newer $(touch hacked) pins") && commit.contains("a 1.0 → 2.0"),
        "{commit}"
    );
    let asked = repository.said("gh.log");
    assert!(asked.contains("pr create --head cuda-lock/upgrade --base main"), "{asked}");
    assert!(asked.contains("| a | 1.0 | 2.0 |"), "{asked}");
    assert!(repository.said("output").contains("changed=true"));

    // The next run of the schedule finds the same upgrade: it renews the text, and pushes nothing.
    let pushed = repository
        .git(&repository.project.path().join("origin.git"), &["rev-parse", "cuda-lock/upgrade"]);
    repository.git(&repository.work(), &["checkout", "-q", "main"]);
    repository.project.write("gh.open", "7");
    let again = repository.pipeline(&["upgrade"], &[]).expect(0);
    assert!(again.stdout.contains("there already"), "{}", again.stdout);
    let now = repository
        .git(&repository.project.path().join("origin.git"), &["rev-parse", "cuda-lock/upgrade"]);
    assert_eq!(pushed, now);
    assert!(repository.said("gh.log").contains("pr edit 7"), "{}", repository.said("gh.log"));

    // Once it is merged there is nothing to do.
    repository.git(&repository.work(), &["checkout", "-q", "main"]);
    repository.git(&repository.work(), &["merge", "-q", "cuda-lock/upgrade"]);
    let done = repository.pipeline(&["upgrade"], &[]).expect(0);
    assert!(done.stdout.contains("nothing moved"), "{}", done.stdout);
}

#[test]
fn a_manifest_in_a_folder_and_flags_are_passed_on() {
    let server = index().serve();
    let repository = Repository::new(&server, "train/");
    let environment = [("CUDA_LOCK_MANIFEST", "train/env.toml")];
    let _ = repository.pipeline(&["check"], &environment).expect(0);
    let flags = [environment[0], ("CUDA_LOCK_FLAGS", "--upgrade --within major")];
    let held = repository.pipeline(&["upgrade"], &flags).expect(0);
    assert!(held.stdout.contains("nothing moved"), "{}", held.stdout);
    let _ = repository.pipeline(&["upgrade"], &environment).expect(0);
    assert!(repository.remote("cuda-lock/upgrade:train/pylock.toml").contains("version = \"2.0\""));
    assert!(repository.remote("cuda-lock/upgrade:train/requirements.txt").contains("a==2.0"));
}

#[test]
fn a_regression_opens_no_pull_request_where_it_is_denied() {
    let server = index().serve();
    let repository = Repository::new(&server, "");
    let facts = "minimum-driver = \"470.57.02\"\ncapabilities = [\"5.0\"]\nindexes = [";
    let lock = repository.said("work/pylock.toml").replacen("indexes = [", facts, 1);
    repository.project.write("work/pylock.toml", &lock);
    repository.git(&repository.work(), &["commit", "-q", "-am", "a lock that covers sm_50"]);
    let denied = [("CUDA_LOCK_DENY_REGRESSIONS", "true")];
    let run = repository.pipeline(&["upgrade"], &denied).expect(1);
    assert!(run.stdout.contains("sm_50 was covered"), "{}", run.stdout);
    assert_eq!(repository.said("gh.log"), "");
    let branches =
        repository.git(&repository.project.path().join("origin.git"), &["branch", "--list"]);
    assert_eq!(branches.trim_start_matches(['*', ' ']), "main");
}

#[test]
fn audit_leaves_a_report_for_code_scanning_and_a_table_for_the_page_of_the_run() {
    let server = Index::new()
        .release("onnxruntime", "1.20.0", Dist::wheel())
        .release("onnxruntime-directml", "1.20.0", Dist::wheel())
        .serve();
    let repository = Repository::new(&index().serve(), "");
    let url = server.url();
    let flags =
        format!("--default-index {url} --only-index pypi --platform linux-x86_64 --python 3.11");
    let flags = [("CUDA_LOCK_FLAGS", flags.as_str())];
    repository.project.write("work/good.txt", "onnxruntime==1.20.0\n");
    let _ = repository.pipeline(&["audit", "good.txt"], &flags).expect(0);
    repository.project.write("work/bad.txt", "onnxruntime==1.20.0\nonnxruntime-directml==1.20.0\n");
    let _ = repository.pipeline(&["audit", "bad.txt"], &flags).expect(1);
    assert!(repository.said("output").contains("sarif=cuda-lock.sarif"));
    let sarif: serde_json::Value =
        serde_json::from_str(&repository.said("work/cuda-lock.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let text = sarif.to_string();
    assert!(text.contains("module-clash") && text.contains("bad.txt"), "{text}");
    assert!(
        repository.said("summary.md").contains("module-clash"),
        "{}",
        repository.said("summary.md")
    );
    // What cannot be judged leaves no report behind that could be taken for a clean one.
    let _ = repository.pipeline(&["audit", "missing.txt"], &flags).expect(2);
    assert_eq!(repository.said("work/cuda-lock.sarif"), "");
}

#[test]
fn wrong_calls_are_errors() {
    let server = index().serve();
    let repository = Repository::new(&server, "");
    let _ = repository.pipeline(&[], &[]).expect(2);
    let _ = repository.pipeline(&["audit"], &[]).expect(2);
    let _ = repository.pipeline(&["upgrade"], &[("CUDA_LOCK_BRANCH", "main")]).expect(2);
    let _ = repository.pipeline(&["check"], &[("CUDA_LOCK_MANIFEST", "none.toml")]).expect(2);
    repository.project.write("work/other.txt", "");
    repository.git(&repository.work(), &["add", "other.txt"]);
    let run = repository.pipeline(&["upgrade"], &[]).expect(2);
    assert!(run.stderr.contains("staged already"), "{}", run.stderr);
}

#[test]
fn the_action_declares_what_it_uses_and_runs_no_input_as_text() {
    let text = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let (declared, runs) = text.split_once("\nruns:").unwrap();
    for (place, _) in text.match_indices("inputs.") {
        let name: String =
            text[place + 7..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        assert!(declared.contains(&format!("\n  {name}:\n")), "inputs.{name} is not declared");
    }
    // `${{ … }}` inside a script would paste what somebody else wrote into it.
    for script in runs.split("run: ").skip(1) {
        let script = script.split("\n    - name:").next().unwrap();
        assert!(!script.contains("${{"), "{script}");
    }
    for step in ["docs/ci/pipeline.sh", "upload-sarif", "crates/cli"] {
        assert!(runs.contains(step), "{step}");
    }
}
