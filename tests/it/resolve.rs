//! `cuda-lock resolve` as a person meets it: answers, files, exit codes and messages, on an index made for each test.

use cuda_lock_testing::{Dist, Fault, Index, Manifest, Project, Run, Server};

use crate::BINARY;

/// A project that asks `server` for `dependencies`.
fn project(server: &Server, dependencies: &[&str]) -> Project {
    Project::new(BINARY, Manifest::new(server).depends(dependencies))
}

/// What one resolve against `index` locks.
fn locked(index: Index, dependencies: &[&str]) -> Vec<(String, String)> {
    let server = index.serve();
    let project = project(&server, dependencies);
    let _ = project.resolve(&[]).expect(0);
    project.packages().into_iter().collect()
}

fn pairs(packages: &[(&str, &str)]) -> Vec<(String, String)> {
    packages.iter().map(|&(name, version)| (name.to_owned(), version.to_owned())).collect()
}

/// Nothing was written beside env.toml.
fn wrote_nothing(project: &Project) -> bool {
    project.read("pylock.toml").is_none() && project.read("requirements.txt").is_none()
}

/// The text of both outputs has every one of `words`.
fn says(run: &Run, words: &[&str]) {
    let text = format!("{}{}", run.stdout, run.stderr);
    for word in words {
        assert!(text.contains(word), "{word:?} is not said:\n{text}");
    }
}

fn small() -> Index {
    Index::new()
        .release("a", "1.0.0", Dist::wheel().requires("b>=1"))
        .release("a", "1.1.0", Dist::wheel().requires("b>=2,<3"))
        .release("b", "1.0.0", Dist::wheel())
        .release("b", "2.0.0", Dist::wheel())
        .release("b", "3.0.0", Dist::wheel())
}

// Answers

#[test]
fn the_newest_versions_that_fit_together() {
    assert_eq!(locked(small(), &["a"]), pairs(&[("a", "1.1.0"), ("b", "2.0.0")]));
    assert_eq!(locked(small(), &["a", "b<2"]), pairs(&[("a", "1.0.0"), ("b", "1.0.0")]));
}

#[test]
fn lowest_resolution_takes_the_oldest() {
    let server = small().serve();
    let manifest = Manifest::new(&server).depends(["a"]).option("resolution = \"lowest\"");
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(
        project.packages().into_iter().collect::<Vec<_>>(),
        pairs(&[("a", "1.0.0"), ("b", "1.0.0")])
    );
}

#[test]
fn a_yanked_release_only_by_its_exact_pin() {
    let index = || {
        Index::new().release("a", "1.0", Dist::wheel()).release(
            "a",
            "2.0",
            Dist::wheel().yanked("broken on import"),
        )
    };
    assert_eq!(locked(index(), &["a"]), pairs(&[("a", "1.0")]));
    assert_eq!(locked(index(), &["a==2.0"]), pairs(&[("a", "2.0")]));
    let server = index().serve();
    let project = project(&server, &["a>1.0"]);
    let run = project.resolve(&[]).expect(1);
    says(&run, &["yanked", "broken on import"]);
}

#[test]
fn a_missing_digest_is_said_and_learnt_only_when_asked_for() {
    let stated = Index::new().release("a", "1.0", Dist::wheel()).serve();
    let reference = project(&stated, &["a"]);
    let _ = reference.resolve(&[]).expect(0);
    let digest = |project: &Project| {
        let lock = project.pylock();
        let hashes = lock["packages"][0]["wheels"][0]["hashes"].as_table().unwrap().clone();
        hashes.get("sha256").map(|hex| hex.as_str().unwrap().to_owned())
    };
    let server = Index::new().release("a", "1.0", Dist::wheel().without_digest()).serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&[]).expect(0);
    says(&run, &["publishes no digest for a-1.0-py3-none-any.whl", "--hash-missing"]);
    assert_eq!(digest(&project), None);
    let _ = project.resolve(&["--hash-missing"]).expect(0);
    assert_eq!(digest(&project), digest(&reference));
    // Learnt once, it stays, and the lock is up to date.
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(digest(&project), digest(&reference));
    let _ = project.resolve(&["--check"]).expect(0);
}

#[test]
fn requires_python_is_asked_of_the_target() {
    let index = || {
        Index::new().release("a", "1.0", Dist::wheel().requires_python(">=3.8")).release(
            "a",
            "2.0",
            Dist::wheel().requires_python(">=3.12"),
        )
    };
    assert_eq!(locked(index(), &["a"]), pairs(&[("a", "1.0")]));
    let server = index().serve();
    let newer = Project::new(BINARY, Manifest::new(&server).python("3.12").depends(["a"]));
    let _ = newer.resolve(&[]).expect(0);
    assert_eq!(newer.packages()["a"], "2.0");
}

#[test]
fn markers_and_wheels_are_those_of_the_target() {
    let index = Index::new()
        .release(
            "a",
            "1.0",
            Dist::wheel()
                .requires("on-windows; sys_platform == 'win32'")
                .requires("on-linux; sys_platform == 'linux'")
                .requires("on-arm; platform_machine == 'aarch64'")
                .requires("old; python_version < '3.11'"),
        )
        .release("on-windows", "1.0", Dist::wheel_for("cp311-cp311-win_amd64"))
        .release(
            "on-linux",
            "1.0",
            Dist::wheel_for("cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64"),
        )
        .release(
            "on-linux",
            "1.0",
            Dist::wheel_for("cp311-cp311-manylinux_2_17_aarch64.manylinux2014_aarch64"),
        )
        .release("on-arm", "1.0", Dist::wheel())
        .release("old", "1.0", Dist::wheel());
    let server = index.serve();
    for (platform, others) in [
        ("linux-x86_64", &["a", "on-linux"][..]),
        ("linux-aarch64", &["a", "on-arm", "on-linux"]),
        ("windows-x86_64", &["a", "on-windows"]),
        ("macos-arm64", &["a"]),
    ] {
        let project =
            Project::new(BINARY, Manifest::new(&server).platform(platform).depends(["a"]));
        let _ = project.resolve(&[]).expect(0);
        assert_eq!(project.packages().into_keys().collect::<Vec<_>>(), others, "{platform}");
    }
}

#[test]
fn extras_of_extras() {
    let index = Index::new()
        .release(
            "a",
            "1.0",
            Dist::wheel()
                .extra("all", &["a[x]", "a[y]"])
                .extra("x", &["b"])
                .extra("y", &["c; os_name != 'nt'"]),
        )
        .release("b", "1.0", Dist::wheel())
        .release("c", "1.0", Dist::wheel());
    assert_eq!(locked(index.clone(), &["a"]), pairs(&[("a", "1.0")]));
    assert_eq!(locked(index.clone(), &["a[x]"]), pairs(&[("a", "1.0"), ("b", "1.0")]));
    assert_eq!(locked(index, &["A[All]"]), pairs(&[("a", "1.0"), ("b", "1.0"), ("c", "1.0")]));
}

#[test]
fn the_higher_build_tag_wins() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel())
        .release("a", "1.0", Dist::wheel().build("1"))
        .release("a", "1.0", Dist::wheel().build("12"))
        .release("a", "1.0", Dist::wheel().build("3"))
        .serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    assert!(project.pylock().to_string().contains("a-1.0-12-py3-none-any.whl"));
}

#[test]
fn releases_after_exclude_newer_do_not_exist() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel().uploaded("2024-01-01T00:00:00Z"))
        .release("a", "2.0", Dist::wheel().uploaded("2025-01-01T00:00:00Z"))
        .serve();
    let manifest = Manifest::new(&server).depends(["a"]).option("exclude-newer = \"2024-06-01\"");
    let project = Project::new(BINARY, manifest);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.packages()["a"], "1.0");
}

#[test]
fn an_sdist_counts_when_its_metadata_is_static() {
    let index = Index::new()
        .release("a", "1.0", Dist::sdist().requires("b"))
        .release("b", "1.0", Dist::wheel())
        .release("c", "1.0", Dist::sdist().metadata_version("2.1"))
        .release("d", "1.0", Dist::sdist().dynamic("Requires-Dist"));
    assert_eq!(locked(index.clone(), &["a"]), pairs(&[("a", "1.0"), ("b", "1.0")]));
    for name in ["c", "d"] {
        let server = index.clone().serve();
        let project = project(&server, &[name]);
        let run = project.resolve(&[]).expect(1);
        says(&run, &[&format!("metadata.{name}")]);
    }
}

// Files

#[test]
fn a_second_run_writes_the_same_bytes() {
    let server = small().serve();
    let first = project(&server, &["a"]);
    let _ = first.resolve(&[]).expect(0);
    let files = (first.read("pylock.toml"), first.read("requirements.txt"));
    let _ = first.resolve(&[]).expect(0);
    assert!(files == (first.read("pylock.toml"), first.read("requirements.txt")));
    // Another folder, another cache, another order of arrival.
    server.fault("/simple/b/", Fault::delay(std::time::Duration::from_millis(50)));
    let second = project(&server, &["a"]);
    let _ = second.resolve(&[]).expect(0);
    assert!(files == (second.read("pylock.toml"), second.read("requirements.txt")));
}

#[test]
fn every_pin_has_the_hash_of_its_file() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    let lock = project.pylock();
    let requirements = project.requirements();
    for package in lock["packages"].as_array().unwrap() {
        let (name, version) =
            (package["name"].as_str().unwrap(), package["version"].as_str().unwrap());
        assert!(requirements.contains(&format!("{name}=={version}")), "{requirements}");
        for wheel in package["wheels"].as_array().unwrap() {
            let digest = wheel["hashes"]["sha256"].as_str().unwrap();
            assert!(requirements.contains(&format!("--hash=sha256:{digest}")), "{requirements}");
            assert!(wheel["url"].as_str().unwrap().starts_with(&server.at("/files/")), "{wheel}");
        }
    }
    assert_eq!(lock["lock-version"].as_str(), Some("1.0"));
}

#[test]
fn a_dry_run_writes_nothing() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&["--dry-run"]).expect(0);
    says(&run, &["1.1.0"]);
    assert!(wrote_nothing(&project));
}

#[test]
fn json_is_one_document_on_standard_output() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&["--format", "json"]).expect(0);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(report.is_object() && run.stdout.contains("\"1.1.0\""), "{}", run.stdout);
}

#[test]
fn pins_stay_until_they_are_asked_to_move() {
    let first = Index::new().release("a", "1.0", Dist::wheel()).serve();
    let project = project(&first, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    let second =
        Index::new().release("a", "1.0", Dist::wheel()).release("a", "2.0", Dist::wheel()).serve();
    project.write("env.toml", &Manifest::new(&second).depends(["a"]).to_string());
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.packages()["a"], "1.0");
    let _ = project.resolve(&["--upgrade"]).expect(0);
    assert_eq!(project.packages()["a"], "2.0");
}

#[test]
fn a_failure_leaves_the_last_lock_alone() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    let before = (project.read("pylock.toml"), project.read("requirements.txt"));
    project.write("env.toml", &Manifest::new(&server).depends(["a", "b>3"]).to_string());
    let _ = project.resolve(&[]).expect(1);
    assert!(before == (project.read("pylock.toml"), project.read("requirements.txt")));
}

#[test]
fn check_tells_a_stale_lock_from_a_good_one() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    let _ = project.resolve(&["--check"]).expect(0);
    project.write("env.toml", &Manifest::new(&server).depends(["a", "b<2"]).to_string());
    let before = project.read("pylock.toml");
    let _ = project.resolve(&["--check"]).expect(1);
    assert!(before == project.read("pylock.toml"));
}

// Bad input

#[test]
fn a_conflict_names_both_sides() {
    let server = small().serve();
    let project = project(&server, &["a==1.1.0", "b==3.0.0"]);
    let run = project.resolve(&[]).expect(1);
    says(&run, &["a", "b", "1.1.0", "3.0.0"]);
    assert!(wrote_nothing(&project));
}

#[test]
fn a_project_that_no_index_has_is_named_with_the_index() {
    let server = small().serve();
    let project = project(&server, &["nowhere"]);
    let run = project.resolve(&[]).expect(1);
    says(&run, &["nowhere", "127.0.0.1"]);
    assert!(wrote_nothing(&project));
}

#[test]
fn a_release_without_a_fitting_wheel_says_so() {
    let server = Index::new().release("a", "1.0", Dist::wheel_for("cp311-cp311-win_amd64")).serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&[]).expect(1);
    says(
        &run,
        &["a does not go with platform linux-x86_64", "a 1.0 has wheels only for windows-x86_64"],
    );
}

#[test]
fn broken_files_and_unknown_keys_are_shown_where_they_stand() {
    let server = small().serve();
    let good = Manifest::new(&server).depends(["a"]).to_string();
    for (text, words) in [
        (good.replace("[machine]", "[machine"), &["env.toml:"][..]),
        (good.replace("platform =", "plattform ="), &["env.toml:", "plattform", "platform"]),
        (good.replace("\"a\"", "\"a>>1\""), &["env.toml:", "a>>1"]),
        (good.replace("linux-x86_64", "linux-x86"), &["env.toml:", "linux-x86_64"]),
        (good.replace("\"3.11\"", "\"three\""), &["env.toml:", "three"]),
        (
            good.replace("[machine]", "[machine]\ngpus = [\"RTX 30900\"]"),
            &["env.toml:", "RTX 30900"],
        ),
    ] {
        let project = Project::new(BINARY, text);
        let run = project.resolve(&[]).expect(2);
        says(&run, words);
        assert!(wrote_nothing(&project));
    }
    assert_eq!(server.log().len(), 0, "nothing is asked for a file that cannot be read");
}

#[test]
fn a_missing_env_toml_is_bad_input() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&["elsewhere.toml"]).expect(2);
    says(&run, &["elsewhere.toml"]);
}

#[test]
fn metadata_that_is_none_excludes_the_release_or_ends_the_run() {
    let server = Index::new().release("a", "1.0", Dist::wheel().metadata("not a header\n")).serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&[]);
    assert!(run.code == 1 || run.code == 2, "exit code {}\n{}", run.code, run.stderr);
    says(&run, &["a-1.0-py3-none-any.whl"]);
    assert!(wrote_nothing(&project));
}

// The network

#[test]
fn an_unreachable_index_is_exit_3() {
    let server = small().serve();
    let manifest = Manifest::new(&server).depends(["a"]).to_string();
    let address = server.at("");
    drop(server);
    let project = Project::new(BINARY, manifest);
    let run = project.resolve(&[]).expect(3);
    says(&run, &[address.trim_start_matches("http://")]);
    assert!(wrote_nothing(&project));
}

#[test]
fn an_index_that_fails_is_asked_again_and_then_named() {
    let server = small().serve();
    server.fault("/simple/b/", Fault::status(503).times(1));
    let passing = project(&server, &["a"]);
    let _ = passing.resolve(&[]).expect(0);
    server.fault("/simple/b/", Fault::status(500));
    let failing = project(&server, &["a"]);
    let run = failing.resolve(&[]).expect(3);
    says(&run, &["500", "/simple/b/"]);
    assert!(wrote_nothing(&failing));
}

#[test]
fn a_body_that_ends_early_is_no_page() {
    let server = small().serve();
    server.fault("/simple/b/", Fault::truncate(40));
    let failing = project(&server, &["a"]);
    let run = failing.resolve(&[]).expect(3);
    says(&run, &["/simple/b/"]);
    assert!(wrote_nothing(&failing));
    server.mend();
    let _ = failing.resolve(&[]).expect(0);
}

#[test]
fn metadata_with_another_hash_is_not_believed() {
    let server = small().serve();
    let path = "/files/a/a-1.1.0-py3-none-any.whl.metadata";
    server.fault(
        path,
        Fault::body("Metadata-Version: 2.1\nName: a\nVersion: 1.1.0\nRequires-Dist: b>=3\n"),
    );
    let project = project(&server, &["a"]);
    let run = project.resolve(&[]);
    assert!(server.count(|request| request.path == path) > 0, "the file was asked for");
    if run.code == 0 {
        assert_eq!(project.packages()["b"], "2.0.0", "as the wheel itself says");
    } else {
        says(&run, &["a-1.1.0-py3-none-any.whl", "SHA-256"]);
        assert!(wrote_nothing(&project));
    }
}

#[test]
fn html_is_as_good_as_json() {
    let html = || small().with(|features| features.json = false);
    assert_eq!(locked(html(), &["a"]), locked(small(), &["a"]));
}

#[test]
fn without_sidecars_the_tail_of_the_wheel_is_read() {
    let server = Index::new()
        .release("a", "1.0", Dist::wheel().size(1 << 30).requires("b"))
        .release("b", "1.0", Dist::wheel().size(1 << 30))
        .with(|features| features.sidecars = false)
        .serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.packages().len(), 2);
    let wheels = server.count(|request| request.path.ends_with(".whl") && request.method == "GET");
    let ranges =
        server.count(|request| request.path.ends_with(".whl") && request.header("range").is_some());
    assert!(wheels > 0 && wheels == ranges, "{ranges} of {wheels} requests asked for a range");
}

#[test]
fn without_sidecars_and_ranges_a_small_wheel_is_read_whole() {
    let plain = small().with(|features| {
        features.sidecars = false;
        features.ranges = false;
    });
    assert_eq!(locked(plain, &["a"]), locked(small(), &["a"]));
}

#[test]
fn what_is_fresh_is_not_asked_for_again() {
    let server = small().with(|features| features.gzip = true).serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    server.forget();
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(server.log().len(), 0);
    let _ = project.resolve(&["--refresh"]).expect(0);
    assert!(server.count(|request| request.path.starts_with("/simple/")) > 0);
}

#[test]
fn what_is_stale_is_validated() {
    let server = small().with(|features| features.max_age = 0).serve();
    let project = project(&server, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    server.forget();
    let _ = project.resolve(&[]).expect(0);
    let pages: Vec<u16> =
        server.log().iter().filter(|(r, _)| r.path.contains("/simple/")).map(|(_, s)| *s).collect();
    assert!(!pages.is_empty() && pages.iter().all(|status| *status == 304), "{pages:?}");
}

#[test]
fn offline_uses_the_cache_and_says_what_is_missing() {
    let server = small().with(|features| features.max_age = 0).serve();
    let project = project(&server, &["a"]);
    let run = project.resolve(&["--offline"]).expect(3);
    says(&run, &["offline"]);
    assert_eq!(server.log().len(), 0);
    let _ = project.resolve(&[]).expect(0);
    server.forget();
    let _ = project.resolve(&["--offline"]).expect(0);
    assert_eq!(server.log().len(), 0);
}

#[test]
fn a_redirect_to_another_server_is_followed() {
    let behind = small().serve();
    let front = small().serve();
    front.fault("/simple/b/", Fault::redirect(&behind.at("/simple/b/")));
    let project = project(&front, &["a"]);
    let _ = project.resolve(&[]).expect(0);
    // Relative addresses belong to the page that was given in the end.
    assert!(project.pylock().to_string().contains(&behind.at("/files/b/")));
}

#[test]
fn several_runs_share_one_cache() {
    let server = small().serve();
    let project = project(&server, &["a"]);
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..4).map(|_| scope.spawn(|| project.resolve(&["--dry-run"]).code)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(codes, [0; 4]);
}

#[test]
fn credentials_of_an_address_are_never_shown_or_written() {
    let server = small().serve();
    let secret = "s3cr3t-token";
    let with_credentials = |dependencies: &[&str]| {
        let manifest = Manifest::new(&server).depends(dependencies).to_string();
        manifest.replace("http://127", &format!("http://someone:{secret}@127"))
    };
    let project = Project::new(BINARY, with_credentials(&["a"]));
    let run = project.resolve(&[]).expect(0);
    assert!(server.count(|request| request.header("authorization").is_some()) > 0, "they are sent");
    let failing = Project::new(BINARY, with_credentials(&["nowhere"]));
    let failed = failing.resolve(&[]).expect(1);
    let shown =
        [run.stdout, run.stderr, failed.stdout, failed.stderr, project.requirements()].concat();
    let lock = project.read("pylock.toml").unwrap();
    assert!(!shown.contains(secret) && !lock.contains(secret), "{shown}{lock}");
}
