//! Hostile indexes and files: nothing wrong, silent, unbounded or leaked.

use std::path::Path;
use std::time::{Duration, Instant};

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run, Server};

use crate::BINARY;

const SECRET: &str = "s3cr3t";

/// What a terminal or the log of a CI job would obey, in the text of a stranger.
const EVIL: &str = "x\r\n::error::stop\u{1b}[31m\u{9b}2J\u{202e}\u{2028}::warning::y";

fn project(server: &Server, dependencies: &[&str]) -> Project {
    Project::new(BINARY, Manifest::new(server).depends(dependencies))
}

fn two_releases() -> Index {
    Index::new().release("a", "1.0.0", Dist::wheel()).release("a", "2.0.0", Dist::wheel())
}

fn text(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

/// Every file below `folder` that has the secret, except the one where the user wrote it.
fn with_secret(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(with_secret(&path));
        } else if !path.ends_with("env.toml") {
            let bytes = std::fs::read(&path).expect("a file");
            if String::from_utf8_lossy(&bytes).contains(SECRET) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_secret_of_an_index_is_sent_and_found_nowhere_else() {
    let server = two_releases().serve();
    let plain = Manifest::new(&server).depends(["a"]).to_string();
    for (from, to) in [
        ("http://", format!("http://user:{SECRET}@")),
        ("/simple/\"", format!("/simple/?token={SECRET}\"")),
    ] {
        let project = Project::new(BINARY, plain.replacen(from, &to, 1));
        server.forget();
        let mut said = text(&project.resolve(&["--save-problem", "problem.json"]).expect(0));
        let sent = server.log().iter().any(|(request, _)| {
            request.header("authorization").is_some() || request.path.contains(SECRET)
        });
        assert!(sent, "{to}");
        said += &text(&project.resolve(&["--check"]).expect(0));
        said += &text(&project.resolve(&["--check", "--format", "json"]).expect(0));
        said += &text(&project.run(&["explain", "a", "--cache-dir", "cache"]).expect(0));
        assert!(!said.contains(SECRET), "{said}");
        assert_eq!(with_secret(project.path()), [""; 0]);
    }
}

#[test]
fn an_audit_shows_no_secret_of_the_files_it_judges() {
    let server = two_releases().serve();
    let project = project(&server, &["a"]);
    project.write(
        "requirements.txt",
        &format!(
            "--extra-index-url https://u:{SECRET}@h.example/simple\na==1.0.0\n\
             b @ https://u:{SECRET}@h.example/b-1-py3-none-any.whl\n\
             git+https://{SECRET}@h.example/c#egg=c\n--nosuch http://u:{SECRET}@h.example\n\
             d @ https://h.example/d-1.zip?token={SECRET}\n"
        ),
    );
    for format in ["text", "json", "sarif", "github", "markdown"] {
        let run = project.run(&[
            "audit",
            "requirements.txt",
            "--python",
            "3.11",
            "--offline",
            "--no-cache",
            "--format",
            format,
        ]);
        assert!(run.code < 3, "{}", text(&run));
        assert!(!text(&run).contains(SECRET), "{format}: {}", text(&run));
    }
}

#[test]
fn a_lock_that_cannot_be_read_is_not_an_absent_one() {
    let server = two_releases().serve();
    let old = project(&server, &["a<2"]);
    let _ = old.resolve(&[]).expect(0);
    let lock = old.read("pylock.toml").expect("a lock");
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(lock.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let with = |end: &[u8]| [lock.as_bytes(), end].concat();
    let project = project(&server, &["a"]);
    for damaged in [utf16, with(b"#\xff\n"), with(b"# \xe9\n"), with(b"=\n")] {
        std::fs::write(project.path().join("pylock.toml"), &damaged).expect("written");
        let run = project.resolve(&[]).expect(2);
        assert!(run.stderr.contains("pylock.toml"), "{}", run.stderr);
        assert!(run.stderr.contains("--upgrade"), "{}", run.stderr);
        assert_eq!(std::fs::read(project.path().join("pylock.toml")).expect("read"), damaged);
    }
    let run = project.resolve(&["--upgrade"]).expect(0);
    assert!(run.stderr.contains("chosen anew"), "{}", run.stderr);
    assert_eq!(project.packages()["a"], "2.0.0");
}

#[test]
fn what_an_index_says_of_python_makes_a_lock_that_can_be_read() {
    for (said, written) in [
        (">=3.6.*", Some(">=3.6")),
        (">=2.7,!=3.0.*,", Some(">=2.7, !=3.0.*")),
        (">=3.6,<4.0.0.*", Some(">=3.6, <4.0.0")),
        (">=3.6 <4", Some(">=3.6, <4")),
        (">= 3.6, != 3.0.*", Some(">= 3.6, != 3.0.*")),
        (">='2.7'", Some(">=2.7")),
        ("~=3", None),
        ("python>=3.7", None),
        ("garbage", None),
        ("*", None),
    ] {
        let server = Index::new().release("a", "1.0", Dist::wheel().requires_python(said)).serve();
        let project = project(&server, &["a"]);
        let run = project.resolve(&[]).expect(0);
        let lock = project.pylock();
        let package = &lock["packages"].as_array().expect("packages")[0];
        let found = package.get("requires-python").and_then(|value| value.as_str());
        assert_eq!(found, written, "{said}");
        assert_eq!(run.stderr.contains("means nothing"), written.is_none(), "{}", run.stderr);
        let _ = project.resolve(&["--check"]).expect(0);
    }
}

#[test]
fn metadata_of_another_version_is_not_used() {
    let other = "Metadata-Version: 2.1\nName: a\nVersion: 9.0\n";
    let login = "<html><form>Sign in</form></html>";
    for metadata in [other, login] {
        let server = Index::new()
            .release("a", "1.0", Dist::wheel())
            .release("a", "2.0", Dist::wheel().metadata(metadata))
            .serve();
        let project = project(&server, &["a"]);
        let _ = project.resolve(&[]).expect(0);
        assert_eq!(project.packages()["a"], "1.0");
        let explained = project.run(&["explain", "a", "--cache-dir", "cache"]).expect(0);
        assert!(explained.stdout.contains("2.0"), "{}", explained.stdout);
    }
}

#[test]
fn text_of_an_index_is_data() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel().yanked(EVIL))
        .release("b", "1.0", Dist::wheel().requires(&format!("c @ https://x/{EVIL}")))
        .release("d", "1.0", Dist::wheel().requires_python(&format!(">=3.12{EVIL}")))
        .serve();
    for name in ["a==1.0", "b", "d"] {
        let project = project(&server, &[name]);
        let said = text(&project.resolve(&["--verbose"]))
            + &text(&project.run(&["explain", "a", "--cache-dir", "cache"]))
            + &text(&project.resolve(&["--check"]));
        for c in ['\u{1b}', '\u{9b}', '\u{202e}', '\u{2028}', '\r'] {
            assert!(!said.contains(c), "{c:?} in {said:?}");
        }
        assert!(!said.lines().any(|line| line.starts_with("::")), "{said}");
    }
}

/// Audits a file of this name and text, which must take little time.
fn audited(name: &str, content: &str) -> Run {
    let server = Index::new().serve();
    let project = project(&server, &[]);
    project.write(name, content);
    let begun = Instant::now();
    let run = project.run(&["audit", "--no-solve", "--offline", "--no-cache", name]);
    assert!(begun.elapsed() < Duration::from_secs(20), "{name}");
    run
}

#[test]
fn variables_that_double_are_left_as_they_are() {
    let numbers = 1..40;
    let arg = |i: u32| format!("ARG A{i}=$A{0}$A{0}\n", i - 1);
    let ci = |i: u32| format!("  A{i}: $A{0}$A{0}\n", i - 1);
    let many = |line: &dyn Fn(u32) -> String| numbers.clone().map(line).collect::<String>();
    let dockerfile = format!("FROM x\nARG A0=aaaa\n{}RUN pip install torch==$A39\n", many(&arg));
    let env =
        format!("FROM x\nENV A=aaaa\n{}RUN pip install torch==$A\n", "ENV A=$A$A\n".repeat(40));
    let gitlab = format!(
        "variables:\n  A0: aaaa\n{}j:\n  script:\n    - pip install torch==$A39\n",
        many(&ci)
    );
    let shell = format!("#!/bin/sh\nA=aaaa\n{}pip install torch==$A\n", "A=$A$A\n".repeat(40));
    let long =
        format!("#!/bin/sh\nA={}\npip install {}\n", "a".repeat(60_000), "$A ".repeat(100_000));
    for (name, content) in [
        ("Dockerfile", dockerfile),
        ("Dockerfile", env),
        (".gitlab-ci.yml", gitlab),
        ("x.sh", shell),
        ("x.sh", long),
    ] {
        let run = audited(name, &content);
        assert_eq!(run.code, 1, "{}", text(&run));
        assert!(text(&run).contains("grow to more text than is read"), "{}", text(&run));
    }
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read() {
    let run = audited("requirements.txt", "-r /dev/zero\n");
    assert!(text(&run).contains("not a regular file"), "{}", text(&run));
    let server = Index::new().serve();
    let project = project(&server, &[]);
    let pipe = project.path().join("pipe.txt");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    for arguments in [["audit", "pipe.txt"], ["resolve", "pipe.txt"], ["diff", "pipe.txt"]] {
        let run = project.run(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", text(&run));
    }
}

#[cfg(unix)]
#[test]
fn an_output_that_is_no_regular_file_is_left_alone() {
    let server = two_releases().serve();
    for target in ["/dev/null", "nowhere"] {
        let project = project(&server, &["a"]);
        let lock = project.path().join("pylock.toml");
        std::os::unix::fs::symlink(target, &lock).expect("a link");
        let run = project.resolve(&["--upgrade"]).expect(2);
        assert!(run.stderr.contains("pylock.toml"), "{}", run.stderr);
        assert!(std::fs::symlink_metadata(&lock).expect("there").is_symlink());
        assert_eq!(project.read("requirements.txt"), None);
    }
}

#[test]
fn a_private_index_that_loses_a_page_opens_no_way_for_a_public_one() {
    let public = Index::new().release("a", "99.0", Dist::wheel()).serve();
    let private = Index::new().release("a", "1.0", Dist::wheel()).serve();
    let manifest = Manifest::new(&public)
        .depends(["a"])
        .table(&format!("[[index]]\nname = \"corp\"\nurl = \"{}\"", private.url()))
        .to_string()
        .replace("[\"test\"]", "[\"test\", \"corp\"]");
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.packages()["a"], "1.0");
    let lock = project.read("pylock.toml");
    private.fault("/simple/a/", cuda_lock_testing::Fault::status(404));
    let run = project.resolve(&["--refresh"]).expect(1);
    assert!(run.stderr.contains("corp"), "{}", run.stderr);
    assert_eq!(project.read("pylock.toml"), lock);
    let _ = project.resolve(&["--refresh", "--upgrade-package", "a"]).expect(0);
    assert_eq!(project.packages()["a"], "99.0");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_and_leaves_nothing_behind() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let server = two_releases().serve();
        server.fault("/simple/a/", cuda_lock_testing::Fault::delay(Duration::from_secs(20)));
        let project = project(&server, &["a"]);
        let mut child = std::process::Command::new(BINARY)
            .args(["resolve", "--cache-dir", "cache"])
            .current_dir(project.path())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the program starts");
        let begun = Instant::now();
        while server.log().is_empty() && begun.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let id = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.expect("kill").success());
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(code));
        assert!(begun.elapsed() < Duration::from_secs(15));
        let names = std::fs::read_dir(project.path()).expect("a folder");
        let left: Vec<_> = names
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(".cuda-lock-") || name.starts_with(".new-"))
            .collect();
        assert_eq!(left, [""; 0]);
    }
}
