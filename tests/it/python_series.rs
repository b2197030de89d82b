//! `python = "3.11"` is every 3.11, `python = "3.11.2"` is that one; and macOS, which is open like glibc.

use cuda_lock_testing::{Dist, Index, Manifest, Project};

use crate::BINARY;

/// A project on Python `python`, resolved.
fn resolved(index: Index, python: &str, wanted: &[&str]) -> Project {
    let server = index.serve();
    let project = Project::new(BINARY, Manifest::new(&server).python(python).depends(wanted));
    let _ = project.resolve(&[]).expect(0);
    project
}

fn top(project: &Project, key: &str) -> String {
    project.pylock()[key].as_str().unwrap_or_default().to_owned()
}

fn tool(project: &Project, key: &str) -> Option<String> {
    project.pylock()["tool"]["cuda-lock"].get(key)?.as_str().map(str::to_owned)
}

/// The markers of the packages that have one.
fn markers(project: &Project) -> Vec<String> {
    let lock = project.pylock();
    let text = |package: &toml::Value, key| Some(package.get(key)?.as_str()?.to_owned());
    let packages = lock["packages"].as_array().unwrap();
    packages
        .iter()
        .filter_map(|p| Some(format!("{}: {}", text(p, "name")?, text(p, "marker")?)))
        .collect()
}

fn not_the_first() -> Index {
    Index::new().release("crypto", "43.0", Dist::wheel().requires_python(">=3.7")).release(
        "crypto",
        "47.0",
        Dist::wheel().requires_python(">=3.8,!=3.9.0,!=3.9.1"),
    )
}

#[test]
fn requires_python_is_judged_by_the_newest_patch_release() {
    let project = resolved(not_the_first(), "3.9", &["crypto"]);
    assert_eq!(project.packages()["crypto"], "47.0");
    assert_eq!(top(&project, "requires-python"), "==3.9.*,>=3.9.2");
    assert_eq!(tool(&project, "python").as_deref(), Some("3.9"));
    assert_eq!(tool(&project, "python-newest").as_deref(), Some("3.9.25"));
    let again = project.resolve(&["--check"]);
    assert_eq!(again.code, 0, "{}", again.stderr);

    let exact = resolved(not_the_first(), "3.9.0", &["crypto"]);
    assert_eq!(exact.packages()["crypto"], "43.0");
    assert_eq!(top(&exact, "requires-python"), "==3.9.0");
    assert_eq!(tool(&exact, "python-newest"), None);
    let later = resolved(not_the_first(), "3.9.2", &["crypto"]);
    assert_eq!(later.packages()["crypto"], "47.0");

    // One that wants a later patch release than there is, and one that leaves one out between others.
    let index = Index::new()
        .release("a", "1.0", Dist::wheel().requires_python(">=3.10,!=3.11.4"))
        .release("a", "2.0", Dist::wheel().requires_python(">=3.11.999"));
    let project = resolved(index, "3.11", &["a"]);
    assert_eq!(project.packages()["a"], "1.0");
    assert_eq!(top(&project, "requires-python"), "==3.11.*,!=3.11.4");
}

/// `a` needs `old` before 3.11.3 and `new` from then on; `old` brings `deep`, which `always` needs too or not.
fn parted(always: &str) -> Index {
    let a = Dist::wheel()
        .requires("old; python_full_version < '3.11.3'")
        .requires("new; python_full_version >= '3.11.3'")
        .requires("never; python_full_version < '3.11'")
        .requires("ever; python_full_version >= '3.11.0'");
    Index::new()
        .release("a", "1.0", a)
        .release("old", "1.0", Dist::wheel().requires("deep"))
        .release("new", "1.0", Dist::wheel())
        .release("never", "1.0", Dist::wheel())
        .release("ever", "1.0", Dist::wheel().requires(always))
        .release("deep", "1.0", Dist::wheel())
}

#[test]
fn what_only_some_patch_releases_need_has_a_marker() {
    let project = resolved(parted("new"), "3.11", &["a"]);
    let expected =
        ["deep: python_full_version < \"3.11.3\"", "old: python_full_version < \"3.11.3\""];
    assert_eq!(markers(&project), expected);
    assert_eq!(project.packages().len(), 5);
    let requirements = project.requirements();
    assert!(requirements.contains("old==1.0 ; python_full_version < \"3.11.3\""), "{requirements}");
    assert!(requirements.contains("new==1.0 \\"), "{requirements}");

    // What is needed in another way as well needs no marker.
    let project = resolved(parted("deep"), "3.11", &["a"]);
    let expected =
        ["new: python_full_version >= \"3.11.3\"", "old: python_full_version < \"3.11.3\""];
    assert_eq!(markers(&project), expected);

    // The lines of env.toml itself.
    let project = resolved(
        parted("deep"),
        "3.11",
        &["ever", "new; implementation_version == '3.11.2'", "old; python_version < '3'"],
    );
    let expected = ["new: python_full_version >= \"3.11.2\" and python_full_version < \"3.11.3\""];
    assert_eq!(markers(&project), expected);

    // An exact release has an exact answer.
    let project = resolved(parted("new"), "3.11.2", &["a"]);
    assert!(markers(&project).is_empty());
    assert!(project.packages().contains_key("old"));
    let project = resolved(parted("ever"), "3.11.5", &["a"]);
    assert!(markers(&project).is_empty() && !project.packages().contains_key("old"));
}

#[test]
fn an_extra_and_a_patch_release_in_one_marker() {
    let a = Dist::wheel().metadata(
        "Metadata-Version: 2.1\nName: a\nVersion: 1.0\nProvides-Extra: x\n\
         Requires-Dist: b; extra == 'x' and python_full_version < '3.11.3'\n\
         Requires-Dist: c; extra == 'x' or python_full_version < '3.11.3'\n",
    );
    let index = || {
        Index::new().release("a", "1.0", a.clone()).release("b", "1.0", Dist::wheel()).release(
            "c",
            "1.0",
            Dist::wheel(),
        )
    };
    let with_extra = resolved(index(), "3.11", &["a[x]"]);
    assert_eq!(markers(&with_extra), ["b: python_full_version < \"3.11.3\""]);
    let without = resolved(index(), "3.11", &["a"]);
    assert_eq!(markers(&without), ["c: python_full_version < \"3.11.3\""]);
}

#[test]
fn a_range_of_pythons_stands_for_series_or_ends_within_one() {
    let index = || Index::new().release("a", "1.0", Dist::wheel());
    let project = resolved(index(), ">=3.10,<3.13", &["a"]);
    assert_eq!(tool(&project, "python").as_deref(), Some("3.12"));
    let project = resolved(index(), ">=3.10,<3.12.4", &["a"]);
    assert_eq!(tool(&project, "python").as_deref(), Some("3.12.3"));
}

fn on_macos(platform: &str, lines: &[&str]) -> (Project, String) {
    let wheels = ["macosx_14_0_arm64", "macosx_11_0_arm64", "macosx_10_13_x86_64"];
    let newest = ["macosx_14_0_arm64", "macosx_14_0_x86_64"];
    let of = |index: Index, version: &str, platforms: &[&str]| {
        platforms.iter().fold(index, |index, platform| {
            index.release("a", version, Dist::wheel_for(&format!("cp311-cp311-{platform}")))
        })
    };
    let server = of(of(Index::new(), "1.0", &wheels), "2.0", &newest).serve();
    let mut manifest = Manifest::new(&server).platform(platform).depends(["a"]);
    for line in lines {
        manifest = manifest.machine(line);
    }
    let project = Project::new(BINARY, manifest);
    let run = project.resolve(&[]).expect(0);
    (project, run.stdout)
}

fn wheel(project: &Project) -> String {
    project.pylock()["packages"][0]["wheels"][0]["name"].as_str().unwrap().to_owned()
}

#[test]
fn macos_is_open_or_given() {
    let (project, said) = on_macos("macos-arm64", &[]);
    assert_eq!(wheel(&project), "a-2.0-cp311-cp311-macosx_14_0_arm64.whl");
    assert!(said.contains("macOS            >= 14.0"), "{said}");
    let (project, _) = on_macos("macos-arm64", &["macos = \"12.0\""]);
    assert_eq!(wheel(&project), "a-1.0-cp311-cp311-macosx_11_0_arm64.whl");
    let locked = project.pylock();
    assert_eq!(locked["tool"]["cuda-lock"]["machine"]["macos"].as_str(), Some("12.0"));
    let (project, _) = on_macos("macos-x86_64", &["macos = \"13.0\""]);
    assert_eq!(wheel(&project), "a-1.0-cp311-cp311-macosx_10_13_x86_64.whl");
    let again = project.resolve(&["--check"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
}

#[test]
fn a_macos_that_is_too_old_is_said() {
    let server =
        Index::new().release("a", "1.0", Dist::wheel_for("cp311-cp311-macosx_14_0_arm64")).serve();
    let manifest =
        Manifest::new(&server).platform("macos-arm64").machine("macos = \"12.0\"").depends(["a"]);
    let project = Project::new(BINARY, manifest);
    let run = project.resolve(&[]).expect(1);
    assert!(run.stderr.contains("macOS 12.0"), "{}", run.stderr);
    assert!(
        run.stderr.contains("[machine] macos \"14.0\" or newer instead of \"12.0\""),
        "{}",
        run.stderr
    );
    let linux = Manifest::new(&server).machine("macos = \"12.0\"").depends(["a"]);
    let run = Project::new(BINARY, linux).resolve(&[]).expect(2);
    assert!(run.stderr.contains("`macos` is about macOS"), "{}", run.stderr);
}
