//! Ordinary requirement sets without a GPU: the answers are those of uv on the same recorded index, save the differences in
//! `accepted.toml`, each with its reason. Every answer is judged by the checker that knows nothing of the search.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers included")]
#![expect(clippy::print_stdout, reason = "how long each set took is shown with --nocapture")]

mod recorded;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::check::{Assignment, violations};
use cuda_lock_constraint::machine::{Libc, Machine, Platform};
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::solve::{Problem, Solution, SolveError, Source, SourceKind, solve};
use cuda_lock_constraint::target::Target;
use cuda_lock_constraint::version::{SourceId, SystemVersion, Version};
use recorded::Recorded;
use serde::Deserialize;

#[derive(Deserialize)]
struct Sets {
    set: Vec<Set>,
}

/// A set of `sets.toml`.
#[derive(Deserialize)]
struct Set {
    name: String,
    python: String,
    platform: Platform,
    dependencies: Vec<String>,
}

/// uv's answer.
#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    pins: Vec<String>,
    /// It refuses.
    #[serde(default)]
    none: bool,
}

#[derive(Deserialize)]
struct Accepted {
    difference: BTreeMap<String, Difference>,
}

#[derive(Deserialize)]
struct Difference {
    reason: String,
    /// The set is not solved here.
    #[serde(default)]
    skipped: bool,
    /// `NAME OURS UV`, `-` where one of them has none.
    #[serde(default)]
    pins: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests")
}

fn read<T: for<'a> Deserialize<'a>>(path: &str) -> T {
    let text = std::fs::read_to_string(folder().join(path)).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Set {
    fn problem(&self) -> Problem {
        // What uv takes for these platforms when nothing else is said.
        let glibc = self.platform.is_linux().then(|| Libc::Glibc(SystemVersion::new(2, 28)));
        let python = self.python.parse().unwrap();
        let macos = self.platform.is_macos().then(|| SystemVersion::new(13, 0));
        let target = Target {
            libc: glibc.clone(),
            macos: macos.clone(),
            ..Target::new(self.platform, &python)
        };
        let machine = Machine { libc: glibc, macos, ..Machine::new(self.platform) };
        let requirements = self
            .dependencies
            .iter()
            .map(|text| Arc::new(text.parse::<Requirement>().unwrap()))
            .collect();
        let source = Source {
            id: SourceId(0),
            name: "recorded".to_owned(),
            kind: SourceKind::Other,
            only: None,
            explicit: false,
            plain_linux: false,
        };
        Problem::new(target, machine, requirements, vec![source])
    }

    /// What differs from uv's answer, and what the checker finds.
    fn faults(
        &self,
        index: &Arc<dyn Catalog>,
        uv: &Answer,
        accepted: Option<&Difference>,
    ) -> Vec<String> {
        let began = Instant::now();
        let outcome = solve(Arc::new(self.problem()), Arc::clone(index));
        let decisions = match &outcome {
            Ok(solution) => solution.decisions,
            Err(SolveError::Conflict(conflict)) => conflict.decisions,
            Err(SolveError::Catalog(error)) => panic!("{error}"),
        };
        println!("{:20} {decisions:6} decisions {:?}", self.name, began.elapsed());
        let Ok(solution) = outcome else {
            let unexpected = !uv.none && accepted.is_none_or(|known| known.pins != ["no answer"]);
            return unexpected.then(|| format!("{}: no answer", self.name)).into_iter().collect();
        };
        if uv.none {
            return vec![format!("{}: an answer, where uv has none", self.name)];
        }
        let differing = differing(&pins(&solution), uv);
        let known = accepted.map(|known| known.pins.clone()).unwrap_or_default();
        let mut faults = judged(&solution);
        if differing != known {
            faults.push(format!("differs from uv in {differing:?}, accepted are {known:?}"));
        }
        faults.iter().map(|fault| format!("{}: {fault}", self.name)).collect()
    }
}

fn pins(solution: &Solution) -> BTreeMap<String, String> {
    let pin = |(name, chosen): (&_, &cuda_lock_constraint::solve::Chosen)| {
        (ToString::to_string(name), chosen.version.to_string())
    };
    solution.builds.iter().map(pin).collect()
}

fn differing(ours: &BTreeMap<String, String>, uv: &Answer) -> Vec<String> {
    let theirs: BTreeMap<&str, &str> =
        uv.pins.iter().filter_map(|pin| pin.split_once("==")).collect();
    let mut names: Vec<&str> =
        ours.keys().map(String::as_str).chain(theirs.keys().copied()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .filter_map(|name| {
            let (a, b) = (ours.get(name).map(String::as_str), theirs.get(name).copied());
            (a != b).then(|| format!("{name} {} {}", a.unwrap_or("-"), b.unwrap_or("-")))
        })
        .collect()
}

/// Every constraint that the answer violates.
fn judged(solution: &Solution) -> Vec<String> {
    let dists = solution.builds.iter().flat_map(|(name, chosen)| {
        let version = Version::Dist(chosen.version.clone());
        std::iter::once(None)
            .chain(chosen.extras.iter().copied().map(Some))
            .map(move |extra| (Package::Dist { name: *name, extra }, version.clone()))
    });
    let root = (Package::Root, Version::System(SystemVersion::new(0, 0)));
    let pins: Assignment = dists.chain(solution.layers.clone()).chain([root]).collect();
    let text =
        |v: &cuda_lock_constraint::check::Violation<'_>| format!("violates {:?}", v.constraint);
    violations(&pins, &solution.constraints).iter().map(text).collect()
}

#[test]
fn answers_are_those_of_uv_or_differ_for_a_reason() {
    let Sets { set: sets } = read("recordings/sets.toml");
    let answers: BTreeMap<String, Answer> = read("recordings/sets-answers.toml");
    let accepted: Accepted = read("differential/accepted.toml");
    for (name, difference) in &accepted.difference {
        assert!(sets.iter().any(|set| set.name == *name), "{name} is no set");
        assert!(difference.reason.len() > 20, "{name}: why?");
    }
    let index: Arc<dyn Catalog> =
        Arc::new(Recorded::read(&folder().join("recordings/sets-2026-11-28.json.gz")));
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(set) = sets.get(next.fetch_add(1, Ordering::Relaxed)) {
            let difference = accepted.difference.get(&set.name);
            if difference.is_none_or(|difference| !difference.skipped) {
                let found = set.faults(&index, &answers[&set.name], difference);
                faults.lock().unwrap().extend(found);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let solved =
        sets.iter().filter(|s| !accepted.difference.get(&s.name).is_some_and(|d| d.skipped));
    assert!(solved.count() >= 30, "fewer than thirty sets are compared");
}
