//! `cuda-lock resolve --check`: what makes files stale, what does not, and what it costs to find out.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

use cuda_lock_testing::{Dist, Fault, Index, Manifest, Project, Run, Server};

use crate::BINARY;

fn small() -> Index {
    Index::new()
        .release("a", "1.0.0", Dist::wheel().requires("b>=1"))
        .release("a", "1.1.0", Dist::wheel().requires("b>=2,<3"))
        .release("b", "1.0.0", Dist::wheel())
        .release("b", "2.0.0", Dist::wheel())
        .release("b", "3.0.0", Dist::wheel())
}

/// A project that is resolved already.
fn resolved(server: &Server, dependencies: &[&str]) -> Project {
    let project = Project::new(BINARY, Manifest::new(server).depends(dependencies));
    let _ = project.resolve(&[]).expect(0);
    project
}

/// `--check` leaves with `code`, says `words`, and writes nothing.
fn check(project: &Project, code: i32, words: &[&str]) -> Run {
    let files = ["env.toml", "pylock.toml", "requirements.txt"];
    let before = files.map(|file| project.read(file));
    let run = project.resolve(&["--check"]).expect(code);
    assert!(before == files.map(|file| project.read(file)), "a file was written");
    let text = format!("{}{}", run.stdout, run.stderr);
    for word in words {
        assert!(text.contains(word), "{word:?} is not said:\n{text}");
    }
    run
}

/// Changes a file of a project.
fn edit(project: &Project, file: &str, change: impl Fn(&str) -> String) {
    let text = project.read(file).unwrap();
    let changed = change(&text);
    assert!(changed != text, "nothing was changed in {file}:\n{text}");
    project.write(file, &changed);
}

/// From now on `server` has the page that `then` has for `name`.
fn swap_page(server: &Server, name: &str, then: Index) {
    let other = then.serve();
    let path = format!("/simple/{name}/");
    let address = other.at("").replace("http://", "");
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let json = "application/vnd.pypi.simple.v1+json";
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {json}\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    server.fault(&path, Fault::body(body));
}

#[test]
fn what_was_just_written_is_up_to_date() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    check(&project, 0, &["up to date: pylock.toml", "up to date: requirements.txt"]);
    // Neither comments nor order are content.
    edit(&project, "env.toml", |text| format!("# a comment\n{text}"));
    check(&project, 0, &[]);
}

#[test]
fn files_that_are_missing_are_named() {
    let server = small().serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
    let run = project.resolve(&["--check"]).expect(1);
    assert!(
        run.stderr.contains("stale: pylock.toml") && run.stderr.contains("it does not exist"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("stale: requirements.txt"), "{}", run.stderr);
    let _ = project.resolve(&[]).expect(0);
    std::fs::remove_file(project.path().join("requirements.txt")).unwrap();
    check(
        &project,
        1,
        &["up to date: pylock.toml", "stale: requirements.txt", "it does not exist"],
    );
}

#[test]
fn what_changed_in_env_toml_is_said() {
    let server = small().serve();
    let base = || Manifest::new(&server).depends(["a"]).machine("driver = \"535.104.05\"");
    for (manifest, words) in [
        (base().depends(["b<3"]), &["env.toml asks now for \"b<3\""][..]),
        (
            Manifest::new(&server).depends(["a>=1"]).machine("driver = \"535.104.05\""),
            &["asks no more for \"a\"", "asks now for \"a>=1\""],
        ),
        (
            Manifest::new(&server).depends(["a"]).machine("driver = \"550.54.14\""),
            &["driver is 550.54.14, was 535.104.05"],
        ),
        (Manifest::new(&server).depends(["a"]), &["driver is not given, was 535.104.05"]),
        (base().machine("gpus = [\"RTX 3090\"]"), &["gpus is", "RTX 3090", "was not given"]),
        (base().python("3.12"), &["python is 3.12", "the lock is for 3.11"]),
        (base().platform("windows-x86_64"), &["platform is windows-x86_64, was linux-x86_64"]),
        (base().option("exclude-newer = \"2024-06-01\""), &["exclude-newer is 2024-06-0"]),
        (base().option("prerelease = \"allow\""), &["[options]"]),
    ] {
        let project = Project::new(BINARY, base());
        let _ = project.resolve(&[]).expect(0);
        project.write("env.toml", &manifest.to_string());
        server.forget();
        let run = check(&project, 1, words);
        assert!(!run.stderr.contains("by hand"), "{}", run.stderr);
        assert_eq!(server.log().len(), 0, "what a file says needs no index");
    }
}

#[test]
fn files_edited_by_hand_are_stale() {
    let server = small().serve();
    for (file, from, to, words) in [
        (
            "pylock.toml",
            "created-by",
            "# by me\ncreated-by",
            &["stale: pylock.toml", "by hand", "# by me"][..],
        ),
        (
            "pylock.toml",
            "version = \"2.0.0\"",
            "version = \"2.0.1\"",
            &["stale: pylock.toml", "b 2.0.1", "does not list it"],
        ),
        ("pylock.toml", "sha256 = \"", "sha256 = \"0", &["stale: pylock.toml"]),
        (
            "pylock.toml",
            "lock-version",
            "<<<<<<< HEAD\nlock-version",
            &["stale: pylock.toml", "merge conflict", "line 1"],
        ),
        (
            "pylock.toml",
            "[tool.cuda-lock]",
            "[tool.other]",
            &["stale: pylock.toml", "[tool.cuda-lock]"],
        ),
        (
            "requirements.txt",
            "b==2.0.0",
            "b==3.0.0",
            &["up to date: pylock.toml", "stale: requirements.txt", "`b==3.0.0", "`b==2.0.0"],
        ),
        (
            "requirements.txt",
            "a==1.1.0",
            "extra==1.0\na==1.1.0",
            &["stale: requirements.txt", "`extra==1.0`"],
        ),
    ] {
        let project = resolved(&server, &["a"]);
        edit(&project, file, |text| text.replacen(from, to, 1));
        check(&project, 1, words);
        // Writing anew mends it; a lock that cannot be read is given up only when that is asked for.
        let run = project.resolve(&[]);
        if run.code == 2 && file == "pylock.toml" {
            assert!(run.stderr.contains("--upgrade"), "{}", run.stderr);
            let _ = project.resolve(&["--upgrade"]).expect(0);
        } else {
            let _ = run.expect(0);
        }
        check(&project, 0, &[]);
    }
}

#[test]
fn a_digest_edited_by_hand_is_found() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    for file in ["pylock.toml", "requirements.txt"] {
        edit(&project, file, |text| {
            let place = text.rfind("sha256").unwrap() + 12;
            let digit = if text.as_bytes()[place] == b'0' { "1" } else { "0" };
            format!("{}{digit}{}", &text[..place], &text[place + 1..])
        });
    }
    check(&project, 1, &["stale: pylock.toml", "sha256"]);
}

#[test]
fn line_ends_of_windows_are_no_edit() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    for file in ["pylock.toml", "requirements.txt"] {
        edit(&project, file, |text| text.replace('\n', "\r\n"));
    }
    check(&project, 0, &[]);
}

#[test]
fn a_pin_that_was_withdrawn_or_is_gone_is_named() {
    let one = || Index::new().release("a", "1.0", Dist::wheel());
    let two = |dist: Dist| one().release("a", "2.0", dist);
    let plain = || two(Dist::wheel());
    let rebuilt = plain().release("a", "2.0", Dist::wheel().build("1"));
    let yanked = two(Dist::wheel().yanked("broken on import"));
    let replaced = two(Dist::wheel().sha256(&"0".repeat(64)));
    for (before, then, words) in [
        (plain(), yanked, &["a 2.0 does not hold", "1.0", "withdrew", "broken on import"][..]),
        (plain(), one(), &["a 2.0 does not hold", "1.0", "does not list it"]),
        (plain(), replaced, &["a 2.0", "states sha256 000000000000"]),
        (
            rebuilt,
            plain(),
            &["a 2.0: the file to install is a-2.0-py3", "the lock has a-2.0-1-py3"],
        ),
    ] {
        let server = before.serve();
        let project = resolved(&server, &["a"]);
        swap_page(&server, "a", then);
        // The cache is fresh, so nobody asks.
        check(&project, 0, &[]);
        let before = project.read("pylock.toml");
        let run = project.run(&["resolve", "--check", "--no-cache"]).expect(1);
        for word in words {
            assert!(run.stderr.contains(word), "{word:?} is not said:\n{}", run.stderr);
        }
        assert!(before == project.read("pylock.toml"));
    }
}

#[test]
fn what_stands_against_a_pin_is_named() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    swap_page(&server, "a", Index::new().release("a", "1.0.0", Dist::wheel().requires("b>=1")));
    let run = project.run(&["resolve", "--check", "--no-cache"]).expect(1);
    assert!(run.stderr.contains("a 1.1.0 does not hold any more (1.0.0 does)"), "{}", run.stderr);
    assert!(!run.stderr.contains("b 2.0.0"), "b still holds:\n{}", run.stderr);
}

#[test]
fn a_lock_without_solution_is_stale_and_says_why() {
    let server = small().serve();
    let project = resolved(&server, &["a>1"]);
    swap_page(&server, "a", Index::new().release("a", "1.0.0", Dist::wheel()));
    let run = project.run(&["resolve", "--check", "--no-cache"]).expect(1);
    assert!(
        run.stderr.contains("stale: pylock.toml") && run.stderr.contains("no solution any more"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_index_that_cannot_be_asked_is_no_verdict() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    drop(server);
    check(&project, 0, &[]);
    let run = project.run(&["resolve", "--check", "--no-cache"]).expect(3);
    assert!(!run.stderr.contains("stale"), "{}", run.stderr);
}

#[test]
fn a_fresh_cache_is_not_asked_about_and_a_stale_one_once_per_page() {
    let fresh = small().serve();
    let project = resolved(&fresh, &["a"]);
    fresh.forget();
    check(&project, 0, &[]);
    assert_eq!(fresh.log().len(), 0);

    let stale = small().with(|features| features.max_age = 0).serve();
    let project = resolved(&stale, &["a"]);
    stale.forget();
    check(&project, 0, &[]);
    let mut asked: Vec<(String, u16)> =
        stale.log().iter().map(|(request, status)| (request.path.clone(), *status)).collect();
    asked.sort();
    assert_eq!(asked, [("/simple/a/".to_owned(), 304), ("/simple/b/".to_owned(), 304)]);
    stale.forget();
    let _ = project.resolve(&["--check", "--offline"]).expect(0);
    assert_eq!(stale.log().len(), 0);
}

#[test]
fn newer_releases_do_not_make_a_lock_stale() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    swap_page(&server, "a", small().release("a", "1.2.0", Dist::wheel().requires("b>=3")));
    let _ = project.run(&["resolve", "--check", "--no-cache"]).expect(0);
}

#[test]
fn other_facts_that_change_nothing_are_fine_and_those_that_do_are_said() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    let revision = project.pylock()["tool"]["cuda-lock"]["matrices"].as_str().unwrap().to_owned();
    edit(&project, "pylock.toml", |text| text.replace(&revision, "0123456789abcdef"));
    // Neither do other words in the explanations.
    edit(&project, "pylock.toml", |text| {
        let constraint = "\n[[tool.cuda-lock.constraints]]\nsubject = \"a 1.1.0\"\npackage = \"CUDA\"\n\
                          range = \">=1\"\nreason = \"in other words\"\n";
        format!("{text}{constraint}")
    });
    check(&project, 0, &["up to date: pylock.toml"]);
    edit(&project, "pylock.toml", |text| {
        text.replacen("indexes = [", "minimum-driver = \"470.57.02\"\nindexes = [", 1)
    });
    check(&project, 1, &["compatibility facts changed", "minimum driver 470.57.02 → none"]);
}

#[test]
fn the_report_for_programs_has_every_reason() {
    let server = small().serve();
    let project = resolved(&server, &["a"]);
    let read = |run: &Run| -> serde_json::Value { serde_json::from_str(&run.stdout).unwrap() };
    let good = read(&project.resolve(&["--check", "--format", "json"]).expect(0));
    assert_eq!(good["up_to_date"], true);
    assert_eq!(good["files"].as_array().unwrap().len(), 2);
    project.write("requirements.txt", "b==1\n");
    let bad = read(&project.resolve(&["--check", "--format", "json"]).expect(1));
    assert_eq!(bad["up_to_date"], false);
    assert_eq!(bad["files"][0]["up_to_date"], true);
    assert_eq!(bad["files"][1]["reasons"][0]["kind"], "differs");
}

#[test]
fn every_target_is_checked() {
    let server = small().serve();
    let targets = "[target.one]\ndriver = \"535.104.05\"\n\n[target.two]\ndriver = \"550.54.14\"";
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]).table(targets));
    let _ = project.resolve(&[]).expect(0);
    check(
        &project,
        0,
        &["pylock.one.toml", "requirements.one.txt", "pylock.two.toml", "requirements.two.txt"],
    );
    edit(&project, "pylock.two.toml", |text| text.replacen("2.0.0", "1.0.0", 1));
    check(&project, 1, &["up to date: pylock.one.toml", "stale: pylock.two.toml"]);
}

#[test]
fn targets_that_agree_are_up_to_date() {
    let server = small().serve();
    let targets = "[target.one]\ndependencies = [\"b<3\"]\n\n[target.two]\ndependencies = [\"b\"]";
    let manifest = || Manifest::new(&server).depends(["a"]).option("same = [\"b\"]").table(targets);
    let project = Project::new(BINARY, manifest().to_string().replace("\"a\"", "\"a==1.0.0\""));
    let _ = project.resolve(&[]).expect(0);
    let two = project.read("pylock.two.toml").unwrap();
    assert!(two.contains("version = \"2.0.0\"") && !two.contains("3.0.0"), "{two}");
    check(&project, 0, &["pylock.one.toml", "pylock.two.toml"]);
}

#[test]
fn a_cutoff_of_the_command_line_belongs_to_the_check_too() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel().uploaded("2024-01-01T00:00:00Z"))
        .release("a", "2.0", Dist::wheel().uploaded("2025-01-01T00:00:00Z"))
        .serve();
    let project = Project::new(BINARY, Manifest::new(&server).depends(["a"]));
    let _ = project.resolve(&["--exclude-newer", "2024-06-01"]).expect(0);
    let _ = project.resolve(&["--check", "--exclude-newer", "2024-06-01"]).expect(0);
    check(&project, 1, &["exclude-newer is not given", "--exclude-newer"]);
}

#[test]
fn two_machines_in_two_time_zones_write_the_same_lock() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel().uploaded("2024-05-31T23:30:00Z"))
        .release("a", "2.0", Dist::wheel().uploaded("2024-06-01T12:00:00Z"))
        .serve();
    let manifest = Manifest::new(&server).depends(["a"]).option("exclude-newer = \"2024-06-01\"");
    let locks: Vec<_> = [("Pacific/Auckland", "0"), ("America/Los_Angeles", "1700000000")]
        .into_iter()
        .map(|(zone, epoch)| {
            let project = Project::new(BINARY, manifest.clone());
            let environment = [("TZ", zone), ("SOURCE_DATE_EPOCH", epoch)];
            let _ = project.run_with(&["resolve"], &environment).expect(0);
            (project.read("pylock.toml").unwrap(), project.requirements())
        })
        .collect();
    assert!(locks[0] == locks[1], "{locks:?}");
}

#[test]
fn a_cache_moves_to_a_machine_without_a_network() {
    let server = small().with(|features| features.max_age = 0).serve();
    let here = resolved(&server, &["a"]);
    let folder = |project: &Project| project.path().join("cache").to_string_lossy().into_owned();
    let run = here.run(&["cache", "export", "cache.tar", "--cache-dir", &folder(&here)]).expect(0);
    assert!(run.stdout.contains("cache.tar"), "{}", run.stdout);

    let there = Project::new(BINARY, here.read("env.toml").unwrap());
    std::fs::copy(here.path().join("cache.tar"), there.path().join("cache.tar")).unwrap();
    let _ = there.run(&["cache", "import", "cache.tar", "--cache-dir", &folder(&there)]).expect(0);
    let dir = there.run(&["cache", "dir", "--cache-dir", &folder(&there)]).expect(0);
    assert_eq!(dir.stdout.trim(), folder(&there));
    let size = there.run(&["cache", "size", "--cache-dir", &folder(&there)]).expect(0);
    assert!(size.stdout.trim().parse::<u64>().unwrap() > 0);
    server.forget();
    let _ = there.resolve(&["--offline"]).expect(0);
    assert_eq!(server.log().len(), 0);
    assert!(there.read("pylock.toml") == here.read("pylock.toml"));

    let _ = there
        .run(&["cache", "prune", "--older-than", "1h", "--cache-dir", &folder(&there)])
        .expect(0);
    let _ = there.resolve(&["--offline", "--check"]).expect(0);
    let _ = there
        .run(&["cache", "prune", "--older-than", "0s", "--cache-dir", &folder(&there)])
        .expect(0);
    let _ = there.resolve(&["--offline", "--check"]).expect(3);
    let broken =
        there.run(&["cache", "import", "env.toml", "--cache-dir", &folder(&there)]).expect(2);
    assert!(broken.stderr.contains("archive"), "{}", broken.stderr);
}
