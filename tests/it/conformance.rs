//! Resolution scenarios, run through the whole program against an index on loopback.
//!
//! The scenarios are data: one file per group in `conformance/`, each with the public source of its facts. A group's test
//! runs all of them and names every one that did not give the expected result.

use std::collections::BTreeMap;
use std::path::PathBuf;

use cuda_lock_testing::{Dist, Index, Manifest, Project};
use serde::Deserialize;

use crate::BINARY;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    source: String,
    #[serde(default)]
    scenario: Vec<Scenario>,
    /// Scenarios that are not run, with the options that exclude them.
    #[serde(default)]
    skipped: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    id: String,
    #[serde(default = "default_python")]
    python: String,
    prerelease: Option<String>,
    glibc: Option<String>,
    requires: Vec<String>,
    satisfiable: bool,
    /// Every package of the answer; empty where only satisfiability is stated.
    #[serde(default)]
    expect: BTreeMap<String, String>,
    /// Why something else is expected than the source has.
    today: Option<String>,
    #[serde(default)]
    packages: BTreeMap<String, BTreeMap<String, Release>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Release {
    requires: Vec<String>,
    extras: BTreeMap<String, Vec<String>>,
    requires_python: Option<String>,
    wheel: bool,
    wheel_tags: Vec<String>,
    sdist: bool,
    yanked: bool,
}

impl Default for Release {
    fn default() -> Self {
        Self {
            requires: Vec::new(),
            extras: BTreeMap::new(),
            requires_python: None,
            wheel: true,
            wheel_tags: vec!["py3-none-any".into()],
            sdist: true,
            yanked: false,
        }
    }
}

fn default_python() -> String {
    "3.12".into()
}

impl Release {
    fn facts(&self, mut dist: Dist) -> Dist {
        for requirement in &self.requires {
            dist = dist.requires(requirement);
        }
        for (name, requirements) in &self.extras {
            let requirements: Vec<&str> = requirements.iter().map(String::as_str).collect();
            dist = dist.extra(name, &requirements);
        }
        if let Some(specifiers) = &self.requires_python {
            dist = dist.requires_python(specifiers);
        }
        if self.yanked { dist.yanked("") } else { dist }
    }

    fn dists(&self) -> Vec<Dist> {
        let tags = self.wheel_tags.iter().filter(|_| self.wheel);
        let wheels = tags.map(|tags| self.facts(Dist::wheel_for(tags)));
        wheels.chain(self.sdist.then(|| self.facts(Dist::sdist()))).collect()
    }
}

impl Scenario {
    /// What is wrong with the program's answer, if anything is.
    fn fault(&self) -> Option<String> {
        let mut index = Index::new();
        for (name, releases) in &self.packages {
            for (version, release) in releases {
                for dist in release.dists() {
                    index = index.release(name, version, dist);
                }
            }
        }
        let server = index.serve();
        let mut manifest = Manifest::new(&server).python(&self.python).depends(&self.requires);
        if let Some(mode) = &self.prerelease {
            manifest = manifest.option(&format!("prerelease = \"{mode}\""));
        }
        if let Some(version) = &self.glibc {
            manifest = manifest.machine(&format!("glibc = \"{version}\""));
        }
        let project = Project::new(BINARY, manifest);
        let run = project.resolve(&[]);
        let wanted = if self.satisfiable { 0 } else { 1 };
        if run.code != wanted {
            return Some(format!(
                "exit code {} instead of {wanted}\n{}",
                run.code,
                run.stderr.trim_end()
            ));
        }
        if !self.satisfiable || self.expect.is_empty() {
            return None;
        }
        let found = project.packages();
        (found != self.expect).then(|| format!("locked {found:?} instead of {:?}", self.expect))
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance")
}

fn read(name: &str) -> Group {
    let path = folder().join(name).with_extension("toml");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run(name: &str) {
    let group = read(name);
    let faults: Vec<String> = group
        .scenario
        .iter()
        .filter_map(|scenario| {
            Some(format!("{}{}.toml: {}", group.source, scenario.id, scenario.fault()?))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} of {} scenarios fail\n\n{}",
        faults.len(),
        group.scenario.len(),
        faults.join("\n\n")
    );
}

macro_rules! groups {
    ($($name:ident)*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*
        const GROUPS: &[&str] = &[$(stringify!($name)),*];
    };
}

groups! {
    backtracking does_not_exist excluded extras incompatible_versions local post prereleases requires_python wheels yanked
}

/// Groups of which every scenario is left out.
const SKIPPED: [&str; 2] = ["fork", "tag_and_markers"];

/// A file that no test names, or a scenario left out for another reason than its options, must not go unnoticed.
#[test]
fn every_scenario_is_run_or_says_why_not() {
    const EXCLUDING: [&str; 4] = ["universal", "no_binary", "no_build", "required_environments"];
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "README")
        .collect();
    files.sort();
    let mut named: Vec<&str> = GROUPS.iter().chain(&SKIPPED).copied().collect();
    named.sort_unstable();
    assert_eq!(files, named);
    let groups: Vec<Group> = named.iter().map(|name| read(name)).collect();
    assert_eq!(groups.iter().map(|group| group.scenario.len()).sum::<usize>(), 102);
    assert_eq!(groups.iter().map(|group| group.skipped.len()).sum::<usize>(), 45);
    let scenarios = groups.iter().flat_map(|group| &group.scenario);
    let changed: Vec<&str> = scenarios.filter_map(|s| s.today.as_deref()).collect();
    assert_eq!(changed.len(), 8);
    assert!(changed.iter().all(|why| why.contains("the source has")));
    for (id, options) in groups.iter().flat_map(|group| &group.skipped) {
        assert!(
            options.iter().any(|option| EXCLUDING.contains(&option.as_str())),
            "{id}: {options:?}"
        );
    }
}
