//! Direct references: wheels, source distributions, repositories and folders that a requirement or `[sources]` names.

use std::path::Path;
use std::process::Command;

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run, Server};

use crate::BINARY;

const TABLE: &str = "[project]\nname = 'mine'\nversion = '1.5'\ndependencies = ['dep']\n";

fn index() -> Index {
    Index::new()
        .release("dep", "1.0", Dist::wheel())
        .release("mine", "1.0", Dist::wheel().requires("dep"))
        .release("mine", "1.1", Dist::sdist().requires("dep"))
        .release("mine", "1.2", Dist::wheel_for("cp311-cp311-win_amd64").requires("dep"))
}

fn project(server: &Server, dependencies: &[&str], table: &str) -> Project {
    Project::new(BINARY, Manifest::new(server).depends(dependencies).table(table))
}

fn says(run: &Run, wanted: &[&str]) {
    let text = format!("{}{}", run.stdout, run.stderr);
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted:?} is not said:\n{text}");
    }
}

fn locked(project: &Project, name: &str) -> toml::Value {
    let lock = project.pylock();
    let packages = lock["packages"].as_array().expect("packages").clone();
    let found = packages.into_iter().find(|package| package["name"].as_str() == Some(name));
    found.unwrap_or_else(|| panic!("{name} is not locked"))
}

#[test]
fn a_wheel_and_a_source_distribution_by_their_address() {
    let server = index().serve();
    for (file, version) in [("mine-1.0-py3-none-any.whl", "1.0"), ("mine-1.1.tar.gz", "1.1")] {
        let url = server.at(&format!("/files/mine/{file}"));
        let project = project(&server, &[&format!("mine @ {url}")], "");
        let _ = project.resolve(&[]).expect(0);
        let package = locked(&project, "mine");
        assert_eq!(package["version"].as_str(), Some(version));
        let archive = &package["archive"];
        assert_eq!(archive["url"].as_str(), Some(url.as_str()));
        let digest = archive["hashes"]["sha256"].as_str().expect("learnt").to_owned();
        let requirements = project.requirements();
        assert!(requirements.contains(&format!("mine @ {url}")), "{requirements}");
        assert!(requirements.contains(&digest), "{requirements}");
        assert!(project.packages().contains_key("dep"));
        // Learnt once, it stays.
        let lock = project.read("pylock.toml");
        let _ = project.resolve(&[]).expect(0);
        assert_eq!(project.read("pylock.toml"), lock);
        let _ = project.resolve(&["--check"]).expect(0);
    }
}

#[test]
fn what_cannot_be_had_is_said() {
    let server = index().serve();
    for (reference, code, said) in [
        (server.at("/files/mine/mine-1.2-cp311-cp311-win_amd64.whl"), 1, "windows-x86_64"),
        (server.at("/files/dep/dep-1.0-py3-none-any.whl"), 2, "it is a wheel of dep"),
        (server.at("/files/mine/nothing.tar.gz"), 3, "404"),
        (
            "ftp://host.example/x.tar.gz".to_owned(),
            2,
            "a reference of the kind 'ftp' is not followed",
        ),
        ("file:///nowhere/x".to_owned(), 2, "there is no such file or folder"),
        ("git+file:///nowhere/x".to_owned(), 2, "git:"),
        ("git+ext::sh".to_owned(), 2, "a repository is given as git+https"),
    ] {
        let project = project(&server, &[&format!("mine @ {reference}")], "");
        let run = project.resolve(&[]);
        says(&run, &[said]);
        assert_eq!(run.code, code, "{reference}: {}", run.stderr);
        assert!(project.read("pylock.toml").is_none(), "{reference}");
    }
}

/// Runs git in a folder that no setting of this machine reaches.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t.example",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with a project at its top and another below `python`.
fn repository() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    git(at, &["init", "--quiet"]);
    std::fs::write(at.join("pyproject.toml"), TABLE).expect("written");
    std::fs::create_dir(at.join("python")).expect("made");
    std::fs::write(at.join("python/pyproject.toml"), TABLE.replace("1.5", "2.5")).expect("written");
    git(at, &["add", "."]);
    git(at, &["commit", "--quiet", "-m", "one"]);
    git(at, &["tag", "v1"]);
    let commit = git(at, &["rev-parse", "HEAD"]);
    (folder, commit)
}

#[test]
fn a_repository_is_pinned_to_its_commit_and_stays_there() {
    let (folder, commit) = repository();
    let server = index().serve();
    let url = format!("file://{}", folder.path().display());
    let project = project(&server, &[&format!("mine @ git+{url}@main")], "");
    let _ = project.resolve(&[]).expect(0);
    let package = locked(&project, "mine");
    let vcs = &package["vcs"];
    assert_eq!(vcs["type"].as_str(), Some("git"));
    assert_eq!(vcs["url"].as_str(), Some(url.as_str()));
    assert_eq!(vcs["requested-revision"].as_str(), Some("main"));
    assert_eq!(vcs["commit-id"].as_str(), Some(commit.as_str()));
    assert_eq!(package["version"].as_str(), Some("1.5"));
    assert!(project.packages().contains_key("dep"));
    let line = format!("mine @ git+{url}@{commit}");
    assert!(project.requirements().contains(&line), "{}", project.requirements());
    // The branch moves; the lock does not, until it is asked to.
    std::fs::write(folder.path().join("more"), "x").expect("written");
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "--quiet", "-m", "two"]);
    let lock = project.read("pylock.toml");
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.read("pylock.toml"), lock);
    let _ = project.resolve(&["-U"]).expect(0);
    let moved = git(folder.path(), &["rev-parse", "HEAD"]);
    assert_eq!(locked(&project, "mine")["vcs"]["commit-id"].as_str(), Some(moved.as_str()));
}

#[test]
fn sources_name_repositories_addresses_and_folders() {
    let (folder, commit) = repository();
    let server = index().serve();
    let path = folder.path().display();
    let wheel = server.at("/files/mine/mine-1.0-py3-none-any.whl");
    for (source, kind, version) in [
        (
            format!("{{ git = \"file://{path}\", tag = \"v1\", subdirectory = \"python\" }}"),
            "vcs",
            "2.5",
        ),
        (format!("{{ git = \"file://{path}\", rev = \"{}\" }}", &commit[..10]), "vcs", "1.5"),
        (format!("{{ url = \"{wheel}\" }}"), "archive", "1.0"),
        ("{ path = \"below\" }".to_owned(), "directory", "3.5"),
    ] {
        // Also where something else requires it.
        let project = project(&server, &["mine"], &format!("[sources]\nmine = {source}\n"));
        std::fs::create_dir(project.path().join("below")).expect("made");
        project.write("below/pyproject.toml", &TABLE.replace("1.5", "3.5"));
        let run = project.resolve(&[]).expect(0);
        let package = locked(&project, "mine");
        assert!(package.get(kind).is_some(), "{source}: {package} {}", run.stdout);
        assert_eq!(package["version"].as_str(), Some(version), "{source}");
    }
    let project = project(&server, &["mine>=9"], "[sources]\nmine = { path = \".\" }\n");
    project.write("pyproject.toml", TABLE);
    says(&project.resolve(&[]).expect(1), &["mine>=9"]);
}

#[test]
fn a_folder_is_relative_in_the_lock() {
    let server = index().serve();
    let project = project(&server, &["mine"], "[sources]\nmine = { path = \"./below\" }\n");
    std::fs::create_dir(project.path().join("below")).expect("made");
    project.write("below/pyproject.toml", TABLE);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(locked(&project, "mine")["directory"]["path"].as_str(), Some("below"));
    assert!(project.requirements().contains("\n./below\n"), "{}", project.requirements());
    let _ = project.resolve(&["--check"]).expect(0);
}

#[test]
fn references_of_dependencies_are_followed() {
    let server = index().serve();
    let url = server.at("/files/mine/mine-1.0-py3-none-any.whl");
    let bad = server.at("/files/dep/dep-1.0-py3-none-any.whl");
    let index = index()
        .release("user", "1.0", Dist::wheel().requires(&format!("mine @ {url}")))
        .release("user", "2.0", Dist::wheel().requires(&format!("mine @ {bad}")));
    let all = index.serve();
    let project = project(&all, &["user"], "");
    let _ = project.resolve(&[]).expect(0);
    // What cannot be followed is a reason against that release alone.
    assert_eq!(project.packages()["user"], "1.0");
    assert!(locked(&project, "mine").get("archive").is_some());
}

#[test]
fn a_wheel_for_a_torch_must_go_with_the_rest() {
    let wheel = |version: &str| (version.to_owned(), Dist::wheel_for("cp311-cp311-linux_x86_64"));
    let mut index = Index::new().release("torch", "2.7.1", Dist::wheel()).release(
        "torch",
        "2.8.0",
        Dist::wheel(),
    );
    for label in ["cu12torch2.7cxx11abiTRUE", "cu12torch2.8cxx11abiTRUE"] {
        let (version, dist) = wheel(&format!("2.8.3+{label}"));
        index = index.release("flash-attn", &version, dist.requires("torch"));
    }
    let server = index.serve();
    let url = |torch: &str| {
        server.at(&format!("/files/flash-attn/flash_attn-2.8.3%2Bcu12torch{torch}cxx11abiTRUE-cp311-cp311-linux_x86_64.whl"))
    };
    let chosen = project(&server, &["torch", &format!("flash-attn @ {}", url("2.7"))], "");
    let _ = chosen.resolve(&[]).expect(0);
    assert_eq!(chosen.packages()["torch"], "2.7.1");
    let wrong = project(&server, &["torch==2.8.0", &format!("flash-attn @ {}", url("2.7"))], "");
    says(&wrong.resolve(&[]).expect(1), &["torch==2.8.0", "is compiled against torch 2.7"]);
    // Of a page of such links the one that goes with the rest is taken.
    let page = format!("<a href=\"{}\">a</a><a href=\"{}\">b</a>", url("2.7"), url("2.8"));
    for (torch, label) in [("2.7.1", "2.7"), ("2.8.0", "2.8")] {
        let table = "[[index]]\nname = \"wheels\"\nurl = \"page.html\"\nformat = \"flat\"\n\n[sources]\nflash-attn = { index = \"wheels\" }\n";
        let manifest = Manifest::new(&server)
            .depends([&format!("torch=={torch}"), "flash-attn"])
            .table(table)
            .to_string()
            .replace("only-indexes = [\"test\"]", "only-indexes = [\"test\", \"wheels\"]");
        let by_page = Project::new(BINARY, manifest);
        by_page.write("page.html", &page);
        let _ = by_page.resolve(&[]).expect(0);
        let version = by_page.packages()["flash-attn"].clone();
        assert_eq!(version, format!("2.8.3+cu12torch{label}cxx11abitrue"));
    }
}

#[test]
fn credentials_reach_no_file() {
    let server = index().serve();
    let url =
        server.at("/files/mine/mine-1.0-py3-none-any.whl").replace("http://", "http://me:s3cret@");
    let project = project(&server, &[&format!("mine @ {url}")], "");
    let run = project.resolve(&[]).expect(0);
    for text in [
        project.read("pylock.toml").expect("written"),
        project.requirements(),
        run.stdout,
        run.stderr,
    ] {
        assert!(!text.contains("s3cret"), "{text}");
    }
}

#[test]
fn bad_sources_point_at_themselves() {
    let server = index().serve();
    for (source, said) in [
        ("{}", "does not say where mine is taken from"),
        (
            "{ git = \"https://h.example/x\", url = \"https://h.example/x.whl\" }",
            "mine has two sources",
        ),
        ("{ path = \"x\", tag = \"v1\" }", "`tag` is of a repository"),
        (
            "{ git = \"https://h.example/x\", tag = \"v1\", rev = \"a\" }",
            "one of rev, tag and branch",
        ),
        ("{ path = \"nowhere\" }", "there is no nowhere"),
        ("{ git = \"ext::sh\" }", "'ext' cannot be fetched"),
        ("{ url = \"ftp://h.example/x\" }", "'ftp' cannot be fetched"),
    ] {
        let project = project(&server, &["mine"], &format!("[sources]\nmine = {source}\n"));
        says(&project.resolve(&[]).expect(2), &[said, "env.toml:"]);
    }
}
