//! How much work a run is, in counts that do not depend on the machine: versions decided, requests, bytes, and, where
//! valgrind is there, instructions. `work.toml` has the most that each may be; what got better is lowered there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Index, Manifest, Project, Server};
use serde::Deserialize;
use serde_json::Value;

use crate::BINARY;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    let index = Index::from_recording(&folder("recordings/index-2026-11-30.json.gz"));
    Arc::new(index.with(|features| features.gzip = true))
});

#[derive(Deserialize)]
struct Budgets {
    run: Vec<Budget>,
}

/// The most that one environment may take.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Budget {
    name: String,
    dependencies: Vec<String>,
    machine: Vec<String>,
    exit: i32,
    decisions: u64,
    requests: u64,
    kilobytes: u64,
    /// Of `resolve --offline` with everything in the cache, in an optimized build.
    million_instructions: f64,
}

fn budgets() -> Vec<Budget> {
    let text = std::fs::read_to_string(folder("work.toml")).unwrap();
    toml::from_str::<Budgets>(&text).unwrap().run
}

impl Budget {
    fn project(&self, binary: &str, server: &Server) -> Project {
        let mut manifest = Manifest::new(server).depends(&self.dependencies);
        for line in &self.machine {
            manifest = manifest.machine(line);
        }
        Project::new(binary, manifest)
    }
}

/// The counts of one run, by name.
fn work(project: &Project, budget: &Budget, flags: &[&str]) -> impl Fn(&str) -> u64 + use<> {
    let flags = [&["--dry-run", "--format", "json", "--stats"], flags].concat();
    let run = project.resolve(&flags).expect(budget.exit);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    move |key| report["work"][key].as_u64().unwrap_or_else(|| panic!("no {key} in {report}"))
}

#[test]
fn no_run_takes_more_than_its_budget() {
    let mut over = Vec::new();
    for budget in budgets() {
        let server = Server::start(Arc::clone(&INDEX));
        let project = budget.project(BINARY, &server);
        let cold = work(&project, &budget, &[]);
        let mut judge = |what: &str, found: u64, most: u64| {
            if found > most {
                over.push(format!("{}: {what} {found}, at most {most}", budget.name));
            }
        };
        judge("decisions", cold("decisions"), budget.decisions);
        judge("requests", cold("requests"), budget.requests);
        judge("kB received", cold("bytes").div_ceil(1000), budget.kilobytes);
        // With everything in the cache nothing is asked, and the solver takes the same way.
        let warm = work(&project, &budget, &[]);
        judge("requests with a fresh cache", warm("requests"), 0);
        assert_eq!(warm("decisions"), cold("decisions"), "{}", budget.name);
        // Each page is asked for once whether it has changed. METADATA never changes; what is asked of it was only expected
        // by the first run, which ended before it came.
        server.forget();
        let _ = work(&project, &budget, &["--refresh"]);
        let log = server.log();
        let pages: Vec<_> = log.iter().filter(|(r, _)| r.path.starts_with("/simple/")).collect();
        let paths: BTreeSet<&str> = pages.iter().map(|(r, _)| r.path.as_str()).collect();
        assert_eq!(pages.len(), paths.len(), "{}: a page was asked for twice", budget.name);
        for (request, status) in pages {
            assert!(matches!(status, 304 | 404), "{} gave {status}", request.path);
        }
    }
    assert!(over.is_empty(), "more work than before:\n{}", over.join("\n"));
}

/// Run by CI with an optimized build: `CUDA_LOCK_BINARY=target/release/cuda-lock cargo test --test it work -- --ignored`.
#[test]
#[expect(clippy::print_stdout, reason = "the counts are what budgets are set by")]
#[ignore = "needs valgrind and an optimized build"]
fn no_warm_run_takes_more_instructions_than_its_budget() {
    let binary =
        std::env::var("CUDA_LOCK_BINARY").expect("CUDA_LOCK_BINARY names an optimized build");
    let binary = std::path::absolute(folder("..").join(binary)).unwrap();
    let mut over = Vec::new();
    for budget in budgets() {
        let server = Server::start(Arc::clone(&INDEX));
        let project = budget.project(&binary.to_string_lossy(), &server);
        let _ = project.resolve(&["--dry-run", "--quiet"]).expect(budget.exit);
        let run = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&binary)
            .args(["resolve", "--offline", "--dry-run", "--quiet", "--cache-dir", "cache"])
            .current_dir(project.path())
            .output()
            .expect("valgrind can be started");
        let said = String::from_utf8_lossy(&run.stderr);
        let count = said.lines().find_map(|line| line.split_once("Collected :"));
        let count: f64 = count.unwrap_or_else(|| panic!("{said}")).1.trim().parse().unwrap();
        let millions = count / 1e6;
        println!("{}: {millions:.1} million instructions", budget.name);
        if millions > budget.million_instructions {
            let most = budget.million_instructions;
            over.push(format!(
                "{}: {millions:.1} million instructions, at most {most}",
                budget.name
            ));
        }
    }
    assert!(over.is_empty(), "more work than before:\n{}", over.join("\n"));
}
