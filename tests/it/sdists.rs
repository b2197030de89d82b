//! Source distributions as people meet them: what each kind says, what is asked before it is used, what is passed over.

use cuda_lock_testing::{Dist, Index, Manifest, Project, Run};

use crate::BINARY;

/// What the old tools make: PKG-INFO of version 1.1, a setup.py, and an egg-info.
fn old(install_requires: &str) -> Dist {
    Dist::sdist()
        .metadata_version("1.1")
        .file("setup.py", &format!("from setuptools import setup\nsetup({install_requires})\n"))
}

/// As [`old`], with what setuptools records.
fn recorded(install_requires: &str, requires: &str) -> Dist {
    old(install_requires).file("pkg.egg-info/top_level.txt", "pkg\n").file_of_egg_info(requires)
}

trait EggInfo {
    fn file_of_egg_info(self, requires: &str) -> Self;
}

impl EggInfo for Dist {
    /// Every project of these tests that records something is called `old`.
    fn file_of_egg_info(self, requires: &str) -> Self {
        let dist = self.file("old.egg-info/SOURCES.txt", "setup.py\n");
        if requires.is_empty() { dist } else { dist.file("old.egg-info/requires.txt", requires) }
    }
}

fn project(
    index: Index,
    dependencies: &[&str],
    option: &str,
) -> (Project, cuda_lock_testing::Server) {
    let server = index.serve();
    let manifest = Manifest::new(&server).depends(dependencies).option(option);
    (Project::new(BINARY, manifest), server)
}

fn words(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

fn says(run: &Run, wanted: &[&str]) {
    let text = words(run);
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted:?} is not said:\n{text}");
    }
}

fn base() -> Index {
    Index::new().release("dep", "1.0", Dist::wheel())
}

const COMPUTED: &str = "install_requires=['dep'] if sys.version_info[0] == 3 else []";

#[test]
fn what_a_plain_setup_py_recorded_is_used_and_said() {
    let index = base().release("old", "1.0", recorded("install_requires=['dep']", "dep\n"));
    let (project, _server) = project(index, &["old"], "");
    let run = project.resolve(&[]).expect(0);
    says(&run, &["Built when it is installed:", "old", "recorded when it was made, not promised"]);
    assert_eq!(project.packages().keys().collect::<Vec<_>>(), ["dep", "old"]);
    let lock = project.pylock();
    let package = &lock["packages"][1];
    assert!(package["sdist"]["hashes"]["sha256"].as_str().is_some(), "{package}");
    assert!(package.get("wheels").is_none());
    assert_eq!(lock["tool"]["cuda-lock"]["built"][0]["name"].as_str(), Some("old"));
    let requirements = project.requirements();
    assert!(requirements.contains("# old is built when it is installed"), "{requirements}");
    assert!(requirements.contains("old==1.0 \\\n    --hash=sha256:"), "{requirements}");
    // The same again, and up to date.
    let first = project.read("pylock.toml");
    let _ = project.resolve(&[]).expect(0);
    assert_eq!(project.read("pylock.toml"), first);
    let _ = project.resolve(&["--check"]).expect(0);
}

#[test]
fn each_kind_of_source_distribution() {
    let table = "[project]\nname = 'old'\nversion = '1.0'\ndependencies = ['dep']\n";
    let requires_dist = |dist: Dist| dist.requires("dep");
    let kinds: [(&str, Dist, &str); 9] = [
        ("static PKG-INFO", requires_dist(Dist::sdist()), "dep old"),
        ("[project]", old("name='old'").file("pyproject.toml", table), "dep old"),
        ("egg-info without requirements", recorded("name='old'", ""), "old"),
        ("PKG-INFO 2.1 with requirements", requires_dist(Dist::sdist().metadata_version("2.1")).file("setup.py", "setup()"), "dep old"),
        ("nothing recorded", old("name='old'"), "nothing in it says what it needs"),
        ("computed", recorded(COMPUTED, "dep\n"), "its setup.py decides what it needs while it runs"),
        ("dynamic", requires_dist(Dist::sdist().dynamic("Requires-Dist")).file("setup.py", "setup()"), "its PKG-INFO says that a build may find other requirements"),
        (
            "stub",
            Dist::sdist().file("pyproject.toml", "[build-system]\nrequires = ['wheel-stub']\nbuild-backend = 'wheel_stub.buildapi'\n"),
            "it is a stub that fetches a wheel from its vendor's own index",
        ),
        (
            "placeholder",
            Dist::sdist().metadata_version("1.1").file("setup.py", "import sys\nif len(sys.argv) != 4:\n    raise RuntimeError('no')\n").file_of_egg_info(""),
            "it is a placeholder whose setup.py ends with an error",
        ),
    ];
    for (kind, dist, expected) in kinds {
        let (project, _server) = project(base().release("old", "1.0", dist), &["old"], "");
        let run = project.resolve(&[]);
        match run.code {
            0 => {
                let names: Vec<String> = project.packages().into_keys().collect();
                assert_eq!(names.join(" "), expected, "{kind}");
            }
            1 => {
                says(&run, &[expected, "old 1.0 has only a source distribution"]);
                assert!(project.read("pylock.toml").is_none(), "{kind}");
            }
            _ => panic!("{kind}: {}", words(&run)),
        }
    }
}

#[test]
fn a_doubt_is_overcome_by_one_line_which_is_offered() {
    let index = || base().release("old", "1.0", recorded(COMPUTED, "dep\n[x]\nmore\n"));
    let (refused, _server) = project(index(), &["old"], "");
    let run = refused.resolve(&[]).expect(1);
    says(
        &run,
        &[
            "[options] trust-recorded add [\"old\"]",
            "gives old 1.0",
            "[metadata.old]",
            "version = \"1.0\"",
            "    \"dep\",",
            "provides-extra = [\"x\"]",
            "--build old",
        ],
    );
    let (trusted, _server) = project(index(), &["old"], "trust-recorded = [\"old\"]");
    let run = trusted.resolve(&[]).expect(0);
    says(&run, &["trusted by env.toml, though its setup.py decides what it needs while it runs"]);
    assert_eq!(trusted.packages().len(), 2);
    let (stated, server) = project(index(), &["old"], "");
    let manifest = Manifest::new(&server)
        .depends(["old"])
        .table("[metadata.old]\nversion = \"1.0\"\nrequires-dist = [\"dep\"]\n");
    stated.write("env.toml", &manifest.to_string());
    says(&stated.resolve(&[]).expect(0), &["stated in [metadata] of env.toml"]);
}

#[test]
fn a_wheel_of_the_same_release_for_another_python_says_what_it_needs() {
    let index = base()
        .release("old", "1.0", Dist::wheel_for("cp39-cp39-win_amd64").requires("dep"))
        .release("old", "1.0", old("name='old'"));
    let (project, _server) = project(index, &["old"], "");
    let run = project.resolve(&[]).expect(0);
    says(&run, &["as old-1.0-cp39-cp39-win_amd64.whl of the same release says"]);
    assert_eq!(project.packages().len(), 2);
}

#[test]
fn extras_that_are_not_declared_stop_only_those_who_ask_for_them() {
    let index = || {
        let dist = Dist::sdist().requires("dep").extra("x", &["dep"]).dynamic("Provides-Extra");
        base().release("old", "1.0", dist.file("setup.py", "setup()"))
    };
    let (plain, _server) = project(index(), &["old"], "");
    let _ = plain.resolve(&[]).expect(0);
    let (with, _server) = project(index(), &["old[x]"], "");
    says(
        &with.resolve(&[]).expect(1),
        &["the requirements of its extras are known only after building it"],
    );
}

#[test]
fn a_newer_release_that_is_passed_over_is_said_every_time() {
    let index = || {
        base()
            .release("old", "1.0", Dist::wheel())
            .release("old", "2.0", recorded(COMPUTED, "dep\n"))
            .release("old", "2.1", recorded(COMPUTED, "dep\n"))
            .release("user", "1.0", Dist::wheel())
            .release("user", "2.0", Dist::wheel().requires("between>=2"))
            .release("between", "2.0", Dist::wheel().requires("silent"))
            .release("silent", "1.0", old("name='silent'"))
    };
    let line = "old 1.0 was taken and not 2.1: it has only a source distribution, and its setup.py decides what it needs while it runs; `trust-recorded = [\"old\"]` in [options] takes it";
    let through = "user 1.0 was taken and not 2.0: it needs silent, of which 1.0 has only a source distribution, and nothing in it says what it needs; [metadata.silent], or `build = [\"silent\"]` in [options], takes it";
    let (project, _server) = project(index(), &["old", "user"], "");
    let first = project.resolve(&[]).expect(0);
    says(&first, &[line, through]);
    assert_eq!(words(&first).matches("was taken and not").count(), 2, "{}", words(&first));
    let lock = project.read("pylock.toml").expect("written");
    // A second run keeps the pins and says the same; so does a check, and programs are told.
    says(&project.resolve(&[]).expect(0), &[line, through]);
    assert_eq!(project.read("pylock.toml").as_ref(), Some(&lock));
    says(&project.resolve(&["--check"]).expect(0), &[line, through]);
    says(&project.resolve(&["--format", "json"]).expect(0), &["\"passed_over\": ["]);
    let cache = project.path().join("cache").to_string_lossy().into_owned();
    let why = project.run(&["explain", "old", "--cache-dir", &cache]).expect(0);
    says(&why, &["2.0 to 2.1", "its setup.py decides what it needs while it runs"]);
}

#[test]
fn a_newer_source_of_a_release_with_wheels_for_others_is_said_too() {
    let index = base()
        .release("old", "1.0", Dist::wheel())
        .release("old", "2.0", Dist::wheel_for("cp311-cp311-win_amd64"))
        .release("old", "2.0", Dist::sdist());
    let (project, _server) = project(index, &["old"], "");
    says(
        &project.resolve(&[]).expect(0),
        &[
            "old 1.0 was taken and not 2.0: it has no wheel for this machine, only a source distribution; \"old==2.0\" builds it",
        ],
    );
}

#[test]
fn releases_that_fail_for_one_reason_are_one_line_and_few_are_opened() {
    let mut index = base();
    for n in 1..=60 {
        index = index.release("old", &format!("1.{n}"), old("name='old'"));
    }
    let (project, server) = project(index, &["old"], "");
    let run = project.resolve(&[]).expect(1);
    let text = words(&run);
    says(&run, &["old >=1.1 has only a source distribution, and nothing in it says what it needs"]);
    assert_eq!(text.matches("nothing in it says").count(), 1, "{text}");
    let opened = server.count(|request| request.path.ends_with(".tar.gz"));
    assert!(opened <= 4, "{opened} source distributions were opened");
}

#[test]
fn what_a_build_needs_is_said_and_the_order_of_installing() {
    let setup = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\nsetup(ext_modules=[CUDAExtension('a', [])], install_requires=['dep'])\n";
    let dist = Dist::sdist().metadata_version("2.1").requires("dep").file("setup.py", setup);
    let (project, _server) = project(base().release("old", "1.0", dist), &["old"], "");
    let run = project.resolve(&[]).expect(0);
    says(&run, &["a C++ compiler", "nvcc", "torch installed before", "--no-build-isolation"]);
    let requirements = project.requirements();
    assert!(requirements.contains("# Install everything but old first"), "{requirements}");
}

// Builds

/// A `pip` on PATH that does what the script says; `$REPORT` is where pip's report belongs.
#[cfg(unix)]
fn run_with_pip(project: &Project, script: &str, arguments: &[&str]) -> Run {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = project.path().join("bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let text = format!(
        "#!/bin/sh\nwhile [ $# -gt 1 ]; do if [ \"$1\" = --report ]; then REPORT=$2; fi; shift; done\nSOURCE=$1\n{script}\n"
    );
    std::fs::write(bin.join("pip"), text).expect("written");
    std::fs::set_permissions(bin.join("pip"), std::fs::Permissions::from_mode(0o755)).expect("set");
    let cache = project.path().join("cache").to_string_lossy().into_owned();
    let path = format!("{}:/bin:/usr/bin", bin.display());
    let all = [&["resolve", "--cache-dir", &cache], arguments].concat();
    project.run_with(
        &all,
        &[("PATH", &path), ("CUDA_LOCK_BUILD_TIMEOUT", "2"), ("SECRET_TOKEN", "hunter2")],
    )
}

#[cfg(unix)]
const REPORT: &str = r#"printf '{"install": [{"metadata": {"name": "old", "version": "1.0", "requires_dist": ["dep"]}}]}' > "$REPORT""#;

#[cfg(unix)]
#[test]
fn metadata_is_built_where_that_is_allowed_and_nowhere_else() {
    let index = || base().release("old", "1.0", old("name='old'"));
    let (project, _server) = project(index(), &["old"], "");
    let trace = format!(
        "env > \"$REPORT.env\"; cp \"$REPORT.env\" {0}/env.txt; echo \"$SOURCE\" >> {0}/built.txt\n{REPORT}",
        project.path().display()
    );
    let _ = run_with_pip(&project, &trace, &[]).expect(1);
    assert_eq!(project.read("built.txt"), None, "nothing runs unasked");
    let run = run_with_pip(&project, &trace, &["--build", "old"]).expect(0);
    says(&run, &["requirements: built here"]);
    assert_eq!(project.packages().len(), 2);
    assert!(project.read("built.txt").expect("built").trim().ends_with("old-1.0.tar.gz"));
    assert!(!project.read("env.txt").expect("an environment").contains("hunter2"));
    // Once for a file and a Python.
    let _ = run_with_pip(&project, &trace, &["--build", ":all:", "-U"]).expect(0);
    assert_eq!(project.read("built.txt").expect("built").lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_build_that_fails_or_hangs_is_ended_and_shown() {
    let index = || base().release("old", "1.0", old("name='old'"));
    for (script, said) in [
        ("echo 'no torch here' >&2; exit 3", "no torch here"),
        ("sleep 60 & sleep 60", "its build took more than 2 seconds"),
        ("yes 'noise that fills a disk'", "its build printed more than 16 MiB"),
        ("printf 'no json' > \"$REPORT\"", "the report of pip"),
        (
            "printf '{\"install\": [{\"metadata\": {\"name\": \"other\", \"version\": \"1\"}}]}' > \"$REPORT\"",
            "its METADATA is of 'other'",
        ),
    ] {
        let (project, _server) = project(index(), &["old"], "build = [\"old\"]");
        let started = std::time::Instant::now();
        let run = run_with_pip(&project, script, &[]).expect(1);
        says(&run, &[said]);
        assert!(project.read("pylock.toml").is_none(), "{script}");
        assert!(started.elapsed().as_secs() < 30, "{script}");
    }
}

#[test]
fn names_in_options_are_checked() {
    for option in ["trust-recorded = [\"a b\"]", "build = [\"a b\"]", "build = \"a\""] {
        let (project, _server) = project(base(), &["dep"], option);
        let run = project.resolve(&[]).expect(2);
        says(&run, &["env.toml:"]);
    }
}

// Hostile archives

/// An archive with one member of this path and contents, and what setuptools would record.
fn crafted(path: &str, kind: tar::EntryType, size: u64) -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    let mut header = tar::Header::new_gnu();
    let name = &mut header.as_gnu_mut().expect("gnu").name;
    name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    if kind != tar::EntryType::Regular {
        header.set_link_name("/etc/passwd").expect("short");
    }
    header.set_cksum();
    archive.append(&header, std::io::Read::take(std::io::repeat(b'a'), size)).expect("memory");
    archive.into_inner().expect("memory").finish().expect("memory")
}

#[test]
fn hostile_archives_end_in_a_message() {
    for (what, bytes, said) in [
        (
            "a path that leads out",
            crafted("../../old-1.0/PKG-INFO", tar::EntryType::Regular, 10),
            "nothing in it says",
        ),
        ("a link", crafted("old-1.0/PKG-INFO", tar::EntryType::Symlink, 0), "nothing in it says"),
        (
            "a bomb",
            crafted("old-1.0/PKG-INFO", tar::EntryType::Regular, 64 << 20),
            "its archive cannot be read",
        ),
        ("no archive", vec![7; 1000], "its archive cannot be read"),
    ] {
        let index = base().release("old", "1.0", Dist::sdist().bytes(bytes));
        let (project, _server) = project(index, &["old"], "");
        let run = project.resolve(&[]).expect(1);
        says(&run, &[said]);
        assert!(project.read("pylock.toml").is_none(), "{what}");
    }
}
