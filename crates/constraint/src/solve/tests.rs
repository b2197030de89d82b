//! The solver against an index in memory, a brute-force search and the checker that knows nothing of PubGrub.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::catalog::{CoreMetadata, File, Metadata, Project};
use crate::check::{Assignment, violations};
use crate::machine::{Machine, Platform};
use crate::target::Target;
use crate::version::SourceId;

mod picking;

/// An index in memory: projects, each with versions, each with its `Requires-Dist`.
#[derive(Default, Debug, Clone)]
struct Memory(BTreeMap<String, BTreeMap<String, Vec<String>>>);

impl Memory {
    fn with(mut self, name: &str, version: &str, requires: &[&str]) -> Self {
        self.0
            .entry(name.to_owned())
            .or_default()
            .insert(version.to_owned(), requires.iter().map(ToString::to_string).collect());
        self
    }
}

impl Catalog for Memory {
    fn project(&self, _: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        let Some(releases) = self.0.get(name.as_str()) else { return Ok(None) };
        let mut versions: Vec<(pep440_rs::Version, Vec<File>)> = releases
            .keys()
            .map(|version| {
                let filename =
                    format!("{}-{version}-py3-none-any.whl", name.as_str().replace('-', "_"));
                let file = File {
                    url: format!("https://index.example/{filename}"),
                    filename,
                    sha256: None,
                    size: None,
                    requires_python: None,
                    yanked: None,
                    upload_time: None,
                    core_metadata: CoreMetadata::Yes,
                };
                (version.parse().expect("valid"), vec![file])
            })
            .collect();
        versions.sort_by(|a, b| a.0.cmp(&b.0));
        let (versions, files): (Vec<_>, Vec<_>) = versions.into_iter().unzip();
        Ok(Some(Arc::new(Project { versions: versions.into(), files: Box::new(files) })))
    }

    fn metadata(
        &self,
        _: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let version = file.filename.split('-').nth(1).expect("a wheel name");
        let requires = &self.0[name.as_str()][version];
        Ok(Arc::new(Metadata {
            name: name.to_string(),
            version: version.to_owned(),
            requires_dist: requires.iter().map(|text| Arc::from(text.as_str())).collect(),
            requires_python: None,
            // Releases without requirements have no extras either.
            provides_extra: requires
                .iter()
                .filter(|text| text.contains("extra == 'x'"))
                .map(|_| "x".to_owned())
                .take(1)
                .collect(),
            source: None,
        }))
    }
}

fn problem(requirements: &[&str]) -> Arc<Problem> {
    let target = Target::new(Platform::LinuxX86_64, &"3.11".parse().expect("valid"));
    let requirements = requirements
        .iter()
        .map(|text| Arc::new(text.parse::<crate::requirement::Requirement>().expect("valid")))
        .collect();
    let source = Source {
        id: SourceId(0),
        name: "memory".to_owned(),
        kind: SourceKind::Other,
        only: None,
        explicit: false,
        plain_linux: false,
    };
    let machine = Machine::new(target.platform);
    Arc::new(Problem::new(target, machine, requirements, vec![source]))
}

fn pins(solution: &Solution) -> Vec<String> {
    solution.builds.iter().map(|(name, chosen)| format!("{name} {}", chosen.version)).collect()
}

fn run(requirements: &[&str], index: Memory) -> Result<Solution, SolveError> {
    solve(problem(requirements), Arc::new(index))
}

#[test]
fn the_newest_set_that_agrees_is_chosen() {
    let index = Memory::default()
        .with("a", "1", &["c<2"])
        .with("a", "2", &["c>=2"])
        .with("b", "1", &["c<2"])
        .with("c", "1", &[])
        .with("c", "2", &[]);
    let solution = run(&["a", "b"], index).expect("solvable");
    assert_eq!(pins(&solution), ["a 1", "b 1", "c 1"]);
}

#[test]
fn a_conflict_names_the_facts_that_collide() {
    let index = Memory::default()
        .with("a", "1", &["c<2"])
        .with("a", "1.1", &["c<2"])
        .with("b", "1", &["c>=2"])
        .with("c", "1", &[])
        .with("c", "2", &[]);
    let Err(SolveError::Conflict(conflict)) = run(&["a", "b"], index) else {
        panic!("expected a conflict");
    };
    let lines: Vec<String> = conflict
        .statements()
        .into_iter()
        .map(|said| {
            said.source.map_or(said.text.clone(), |source| format!("{} ({source})", said.text))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    env.toml asks for a and b
    a >=1 needs c <2 (METADATA of a 1.1: c<2)
    b 1 needs c >=2 (METADATA of b 1: c>=2)
    ");
}

#[test]
fn extras_follow_their_distribution() {
    let index = Memory::default()
        .with("a", "1", &["b; extra == 'x'"])
        .with("a", "2", &["b<1; extra == 'x'"])
        .with("b", "1", &[]);
    let solution = run(&["a[x]"], index).expect("solvable");
    assert_eq!(pins(&solution), ["a 1", "b 1"]);
    assert_eq!(solution.builds[&Name::new("a").expect("valid")].extras.len(), 1);
}

#[test]
fn markers_of_the_manifest_are_those_of_the_target() {
    let index = Memory::default().with("a", "1", &[]).with("b", "1", &[]);
    let requirements = ["a; sys_platform == 'linux'", "b; sys_platform == 'win32'"];
    assert_eq!(pins(&run(&requirements, index).expect("solvable")), ["a 1"]);
}

#[test]
fn a_url_is_one_build() {
    let index = Memory::default().with("a", "1", &[]).with("a", "2", &[]).with("b", "1", &["a<2"]);
    let url = "a @ https://files.example/a-2-py3-none-any.whl";
    assert!(matches!(run(&[url, "b"], index.clone()), Err(SolveError::Conflict(_))));
    let solution = run(&[url], index).expect("solvable");
    assert!(is_url_source(solution.build("a").expect("chosen").version.source()));
}

/// Projects `a` to `e` with versions 1 to 3 and random requirements on each other.
fn random_index() -> impl Strategy<Value = Memory> {
    let name = prop::sample::select(vec!["a", "b", "c", "d", "e"]);
    let bound =
        prop::sample::select(vec!["", "<2", ">=2", "==1", "!=2", "<=2", ">2", "==3.*", "[x]"]);
    let requirement = (name, bound).prop_map(|(name, bound)| format!("{name}{bound}"));
    let requires = prop::collection::vec(requirement, 0..3);
    prop::collection::vec(requires, 15).prop_map(|all| {
        let mut index = Memory::default();
        for (i, requires) in all.iter().enumerate() {
            let name = ["a", "b", "c", "d", "e"][i / 3];
            let requires: Vec<&str> = requires.iter().map(String::as_str).collect();
            index = index.with(name, &(i % 3 + 1).to_string(), &requires);
        }
        index
    })
}

/// Tries every assignment of versions (or absence) to the five projects.
fn brute_force(index: &Memory, requirements: &[&str]) -> bool {
    let names = ["a", "b", "c", "d", "e"];
    (0..4_usize.pow(5)).any(|code| {
        let version = |name: &str| {
            let place = names.iter().position(|n| *n == name).expect("known");
            Some(code / 4_usize.pow(u32::try_from(place).expect("small")) % 4).filter(|v| *v > 0)
        };
        let holds = |text: &str| {
            let requirement: pep508_rs::Requirement = text.parse().expect("valid");
            let name = requirement.name.to_string();
            let Some(found) = version(&name) else { return false };
            let found: pep440_rs::Version = found.to_string().parse().expect("valid");
            match &requirement.version_or_url {
                Some(pep508_rs::VersionOrUrl::VersionSpecifier(s)) => s.contains(&found),
                _ => true,
            }
        };
        requirements.iter().all(|text| holds(text))
            && names.iter().all(|name| {
                version(name)
                    .is_none_or(|v| index.0[*name][&v.to_string()].iter().all(|r| holds(r)))
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn answers_hold_and_refusals_are_right(index in random_index()) {
        let requirements = ["a", "b[x]"];
        match run(&requirements, index.clone()) {
            Ok(solution) => {
                prop_assert!(brute_force(&index, &requirements));
                let assignment: Assignment = solution
                    .builds
                    .iter()
                    .flat_map(|(name, chosen)| {
                        let version = Version::Dist(chosen.version.clone());
                        std::iter::once(None)
                            .chain(chosen.extras.iter().copied().map(Some))
                            .map(move |extra| (Package::Dist { name: *name, extra }, version.clone()))
                    })
                    .chain(solution.layers.clone())
                    .chain([(Package::Root, layers::root_version())])
                    .collect();
                let violated = violations(&assignment, &solution.constraints);
                prop_assert!(violated.is_empty(), "{violated:?}");
                // And the METADATA itself, read by another parser.
                for (name, chosen) in &solution.builds {
                    for text in &index.0[name.as_str()][&chosen.version.to_string()] {
                        let required: pep508_rs::Requirement = text.parse().expect("valid");
                        let found = solution.build(required.name.as_ref());
                        prop_assert!(found.is_some(), "{name} requires {text}");
                    }
                }
            }
            Err(SolveError::Conflict(conflict)) => {
                prop_assert!(!brute_force(&index, &requirements));
                prop_assert!(!conflict.facts.is_empty());
            }
            Err(SolveError::Catalog(error)) => prop_assert!(false, "{error}"),
        }
    }
}
