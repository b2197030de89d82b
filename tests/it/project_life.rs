//! A project over time: pins stay while they hold, and upgrades move what they are told to.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Dist, Index, Machines, Manifest, Project, Replica, Server};

use crate::BINARY;

type Pins = BTreeMap<String, String>;

/// The packages that two locks have at different versions, or that only one of them has.
fn churn(old: &Pins, new: &Pins) -> Vec<String> {
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
    names.filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}

// Upgrades

fn releases() -> Index {
    let mut index = Index::new();
    for version in ["1.0.0", "1.0.1", "1.1.0", "2.0.0"] {
        for name in ["torch", "onnxruntime", "a", "b"] {
            let dist = if name == "a" { Dist::wheel().requires("b") } else { Dist::wheel() };
            index = index.release(name, version, dist);
        }
    }
    index
}

/// Made-up releases of torch fit no CUDA, so the machine has none.
fn without_cuda(server: &Server) -> Manifest {
    Manifest::new(server).platform("macos-arm64")
}

/// A project whose pins are all at 1.0.0 and could all be newer.
fn dated(server: &Server) -> Project {
    let all = ["torch", "onnxruntime", "a", "b"];
    let project = Project::new(
        BINARY,
        without_cuda(server).depends(all.map(|name| format!("{name}==1.0.0"))),
    );
    let _ = project.resolve(&[]).expect(0);
    project.write("env.toml", &without_cuda(server).depends(all).to_string());
    let _ = project.resolve(&[]).expect(0);
    assert!(project.packages().values().all(|version| version == "1.0.0"), "pins are kept");
    project
}

fn at(version: &str, names: &[&str]) -> Pins {
    let all = ["torch", "onnxruntime", "a", "b"];
    let of = |name: &str| if names.contains(&name) { version } else { "1.0.0" };
    all.into_iter().map(|name| (name.to_owned(), of(name).to_owned())).collect()
}

#[test]
fn each_upgrade_moves_what_it_says() {
    let server = releases().serve();
    let stack = &["torch", "onnxruntime"][..];
    let all = &["torch", "onnxruntime", "a", "b"][..];
    for (flags, version, moved) in [
        (&["--upgrade"][..], "2.0.0", all),
        (&["--upgrade-stack"], "2.0.0", stack),
        (&["--upgrade-package", "a"], "2.0.0", &["a"]),
        (&["--upgrade-package", "A==1.1.0"], "1.1.0", &["a"]),
        (&["--upgrade-package", "a<2"], "1.1.0", &["a"]),
        (&["-P", "a", "-P", "torch"], "2.0.0", &["a", "torch"]),
        (&["--upgrade", "--within", "minor"], "1.0.1", all),
        (&["--upgrade", "--within", "major"], "1.1.0", all),
        (&["--upgrade-stack", "--within", "major"], "1.1.0", stack),
        (&["--upgrade-package", "b", "--within", "minor"], "1.0.1", &["b"]),
    ] {
        let project = dated(&server);
        let _ = project.resolve(flags).expect(0);
        assert_eq!(project.packages(), at(version, moved), "{flags:?}");
        // What was upgraded stays from then on.
        let _ = project.resolve(&["--check"]).expect(0);
    }
}

#[test]
fn upgrades_that_make_no_sense_are_refused() {
    let server = releases().serve();
    let project = dated(&server);
    for (flags, word) in [
        (&["--within", "minor"][..], "--upgrade"),
        (&["--check", "--upgrade"], "--check"),
        (&["--check", "--upgrade-stack"], "--check"),
        (&["--upgrade-package", "a>>1"], "a>>1"),
        (&["--upgrade-package", "a[x]"], "give a name"),
        (&["--upgrade", "--within", "patch"], "minor"),
    ] {
        let run = project.resolve(flags).expect(2);
        assert!(run.stderr.contains(word), "{flags:?}: {}", run.stderr);
    }
    let run = project.resolve(&["--upgrade-package", "misspelt"]).expect(0);
    assert!(run.stderr.contains("nothing here needs misspelt"), "{}", run.stderr);
    let run = project.resolve(&["--upgrade-package", "a==9"]).expect(1);
    assert!(run.stderr.contains("--upgrade-package asks for a==9"), "{}", run.stderr);
    assert_eq!(project.packages(), at("1.0.0", &[]));
}

#[test]
fn a_newer_python_is_no_reason_to_move() {
    let index = |newest: &str| {
        Index::new()
            .release("a", "1.0", Dist::wheel_for("cp311-cp311-manylinux_2_17_x86_64"))
            .release(
                "a",
                "1.0",
                Dist::wheel_for(&format!("{newest}-{newest}-manylinux_2_17_x86_64")),
            )
    };
    let server = index("cp312").serve();
    let narrow = Manifest::new(&server).python(">=3.10,<3.12").depends(["a"]);
    let project = Project::new(BINARY, narrow);
    let _ = project.resolve(&[]).expect(0);
    let python = |project: &Project| {
        project.pylock()["tool"]["cuda-lock"]["python"].as_str().unwrap().to_owned()
    };
    assert!(python(&project).starts_with("3.11"));
    project.write(
        "env.toml",
        &Manifest::new(&server).python(">=3.10,<3.13").depends(["a"]).to_string(),
    );
    let _ = project.resolve(&[]).expect(0);
    assert!(python(&project).starts_with("3.11"), "the Python of the lock is kept");
    let _ = project.resolve(&["--upgrade"]).expect(0);
    assert!(python(&project).starts_with("3.12"), "until everything may move");
}

// Minimal churn

/// Numbers that look random and are the same in every run (the constants are Knuth's).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Projects `p0` … with versions from 1 up. A release may bound later projects: `(project, lowest, highest)`.
struct World {
    releases: Vec<Vec<Vec<(usize, u64, u64)>>>,
}

impl World {
    fn new(dice: &mut Dice) -> Self {
        const PROJECTS: usize = 7;
        let release = |dice: &mut Dice, project: usize| {
            let later = project + 1..PROJECTS;
            later
                .filter_map(|other| {
                    let bounded = dice.roll(3) == 0;
                    let low = 1 + dice.roll(4);
                    let high = low + dice.roll(3);
                    bounded.then_some((other, low, high))
                })
                .collect()
        };
        let releases =
            (0..PROJECTS).map(|project| (0..5).map(|_| release(dice, project)).collect());
        Self { releases: releases.collect() }
    }

    fn index(&self) -> Index {
        let mut index = Index::new();
        for (project, releases) in self.releases.iter().enumerate() {
            for (version, bounds) in releases.iter().enumerate() {
                let requires = |dist: Dist, (other, low, high): &(usize, u64, u64)| {
                    dist.requires(&format!("p{other}>={low},<={high}"))
                };
                let dist = bounds.iter().fold(Dist::wheel(), requires);
                index = index.release(&format!("p{project}"), &(version + 1).to_string(), dist);
            }
        }
        index
    }

    /// Every project by its name, so that none can be left out of an answer.
    fn requirements(&self) -> Vec<String> {
        (0..self.releases.len()).map(|project| format!("p{project}")).collect()
    }

    /// Whether these versions fit together, and the project `bound.0` is at most `bound.1`.
    fn fits(&self, pins: &[u64], bound: (usize, u64)) -> bool {
        let release = |project: usize| {
            let place = usize::try_from(pins[project] - 1).unwrap();
            &self.releases[project][place]
        };
        let holds = |&(other, low, high): &(usize, u64, u64)| (low..=high).contains(&pins[other]);
        pins[bound.0] <= bound.1
            && (0..pins.len()).all(|project| release(project).iter().all(holds))
    }
}

fn versions(project: &Project) -> Vec<u64> {
    let pins = project.packages();
    (0..pins.len()).map(|place| pins[&format!("p{place}")].parse().unwrap()).collect()
}

#[test]
fn a_changed_requirement_moves_only_what_must_move() {
    let mut dice = Dice(7);
    let (mut changed, mut moved) = (0, 0);
    for _ in 0..60 {
        let world = World::new(&mut dice);
        let server = world.index().serve();
        let mut requirements = world.requirements();
        let project = Project::new(BINARY, Manifest::new(&server).depends(&requirements));
        let run = project.resolve(&[]);
        if run.code != 0 {
            assert_eq!(run.code, 1, "{}", run.stderr);
            continue;
        }
        let old = versions(&project);
        let none = (0, u64::MAX);
        assert!(world.fits(&old, none), "{old:?}");

        // What holds anyway moves nothing.
        let place = usize::try_from(dice.roll(7)).unwrap();
        let stated = requirements.iter().cloned().chain([format!("p{place}>=1")]);
        project.write("env.toml", &Manifest::new(&server).depends(stated).to_string());
        let _ = project.resolve(&[]).expect(0);
        assert_eq!(versions(&project), old);

        // A bound that the pin breaks moves it, and of the others only those that do not fit the new answer.
        if old[place] == 1 {
            continue;
        }
        let bound = (place, old[place] - 1);
        requirements.push(format!("p{place}<={}", bound.1));
        project.write("env.toml", &Manifest::new(&server).depends(&requirements).to_string());
        let _ = project.resolve(&["--check"]).expect(1);
        if project.resolve(&[]).code != 0 {
            continue;
        }
        let new = versions(&project);
        assert!(world.fits(&new, bound), "{new:?}");
        changed += 1;
        for place in (0..new.len()).filter(|place| new[*place] != old[*place]) {
            moved += 1;
            let mut back = new.clone();
            back[place] = old[place];
            assert!(
                !world.fits(&back, bound),
                "p{place} moved from {old:?} to {new:?} for nothing"
            );
        }
        let _ = project.resolve(&["--check"]).expect(0);
    }
    assert!(
        changed >= 15 && moved >= changed,
        "too few cases to show anything: {changed}, {moved}"
    );
}

// Half a year

/// The recording keeps the newest releases of each project, which for filelock are those of a few weeks: one that is older
/// than the half year is added.
static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let recording = "../../tests/recordings/index-2026-11-30.json.gz";
    let index = Index::from_recording(&Path::new(env!("CARGO_MANIFEST_DIR")).join(recording));
    let filelock = Dist::wheel().requires_python(">=3.9").uploaded("2025-03-14T07:11:39Z");
    Arc::new(index.release("filelock", "3.18.0", filelock))
});

/// The first days of six months, and the last day that the recording knows.
const DAYS: [&str; 7] = [
    "2026-05-30",
    "2026-06-30",
    "2026-07-30",
    "2026-08-30",
    "2026-09-30",
    "2026-10-30",
    "2026-11-28",
];

fn on(server: &Server, day: &str) -> Manifest {
    Manifest::new(server)
        .depends(["torch", "torchvision", "onnx", "onnxruntime-gpu", "numpy", "transformers"])
        .machine("glibc = \"2.35\"")
        .machine("driver = \"580.95.05\"")
        .machine("gpus = [\"RTX 3090\"]")
        .option(&format!("exclude-newer = \"{day}\""))
}

#[test]
fn half_a_year_of_a_project() {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, on(&server, DAYS[0]));
    let _ = project.resolve(&[]).expect(0);
    let _ = project.resolve(&["--check"]).expect(0);
    let (mut kept, mut upgraded) = (0, 0);
    for day in &DAYS[1..] {
        let old = project.packages();
        project.write("old.toml", &project.read("pylock.toml").unwrap());
        project.write("env.toml", &on(&server, day).to_string());

        // The new day is a change of env.toml, which check tells and resolve takes over without moving a pin.
        let stale = project.resolve(&["--check"]).expect(1);
        assert!(stale.stderr.contains("exclude-newer is"), "{}", stale.stderr);
        let _ = project.resolve(&[]).expect(0);
        kept += churn(&old, &project.packages()).len();
        let _ = project.resolve(&["--check"]).expect(0);

        // The monthly upgrade; diff counts what an own comparison counts.
        let _ = project.resolve(&["--upgrade"]).expect(0);
        let moved = churn(&old, &project.packages());
        upgraded += moved.len();
        let diff = project.run(&["diff", "old.toml", "pylock.toml", "--format", "json"]).expect(0);
        let diff: serde_json::Value = serde_json::from_str(&diff.stdout).unwrap();
        let mut told: Vec<String> = ["stack", "packages"]
            .iter()
            .flat_map(|part| diff["locks"][0][part].as_array().unwrap())
            .map(|moved| moved["name"].as_str().unwrap().to_owned())
            .collect();
        told.sort();
        let mut moved = moved;
        moved.sort();
        assert_eq!(told, moved, "{day}");
        let _ = project.resolve(&["--check"]).expect(0);
    }
    assert_eq!(kept, 0, "a month that passes is no reason to move a pin");
    assert!(upgraded >= 10, "{upgraded} pins moved in half a year: the recording shows nothing");
}

#[test]
fn the_stack_moves_alone() {
    let server = Server::start(Arc::clone(&INDEX));
    let project = Project::new(BINARY, on(&server, DAYS[0]));
    let _ = project.resolve(&[]).expect(0);
    let old = project.packages();
    project.write("env.toml", &on(&server, DAYS[6]).to_string());
    let _ = project.resolve(&["--upgrade-stack"]).expect(0);
    let stack = churn(&old, &project.packages());
    let _ = project.resolve(&["--upgrade"]).expect(0);
    let all = churn(&old, &project.packages());
    assert!(stack.iter().any(|name| name == "torch"), "{stack:?}");
    assert!(!stack.iter().any(|name| name == "transformers"), "{stack:?}");
    assert!(all.len() > stack.len(), "{stack:?}\n{all:?}");
}

/// The backends of PyTorch's indexes that were asked since the log was last forgotten.
fn backends_asked(server: &Server) -> Vec<String> {
    let paths = server.log().into_iter().map(|(request, _)| request.path);
    let backend = |path: String| Some(path.strip_prefix("/whl/")?.split('/').next()?.to_owned());
    let mut backends: Vec<String> = paths.filter_map(backend).collect();
    backends.sort();
    backends.dedup();
    backends
}

#[test]
fn a_build_for_one_accelerator_is_a_pin_like_any_other() {
    let replica = "../../tests/recordings/pytorch-2026-11-30.json.gz";
    let replica = Replica::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(replica));
    let index = Arc::unwrap_or_clone(Arc::clone(&INDEX)).with_replica(replica);
    let server = Server::start(Arc::new(index));
    let machine = |driver: &str, dependencies: &[&str]| {
        Machines::new(&server).driver(driver).gpu("RTX 3090").depends(dependencies).to_string()
    };
    let both = &["torch", "torchvision"][..];
    let project = Project::new(BINARY, machine("470.103.01", both));
    let _ = project.resolve(&[]).expect(0);
    let old = project.packages();
    assert_eq!(old["torch"], "2.7.1+cu118");
    let _ = project.resolve(&["--check"]).expect(0);

    // With a newer driver the build on PyPI would do; the pin still holds, and only its own index is asked.
    project.write("env.toml", &machine("580.95.05", both));
    server.forget();
    let _ = project.resolve(&["--refresh"]).expect(0);
    assert_eq!(churn(&old, &project.packages()), [""; 0]);
    assert_eq!(backends_asked(&server), ["cu118"]);
    let _ = project.resolve(&["--check"]).expect(0);
    let _ = project.resolve(&["--upgrade-stack"]).expect(0);
    assert!(!project.packages()["torch"].contains('+'), "{}", project.packages()["torch"]);

    // A pin of PyPI that is not the newest is no reason to look for newer builds elsewhere.
    project.write("env.toml", &machine("580.95.05", &["torch==2.8.0", "torchvision"]));
    let _ = project.resolve(&[]).expect(0);
    project.write("env.toml", &machine("580.95.05", both));
    server.forget();
    let _ = project.resolve(&["--refresh"]).expect(0);
    assert_eq!(project.packages()["torch"], "2.8.0");
    assert_eq!(backends_asked(&server), [""; 0]);
}
