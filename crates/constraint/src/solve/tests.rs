//! The solver against an index in memory, a brute-force search and the checker that knows nothing of PubGrub.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::catalog::{CoreMetadata, File, Metadata, OnMetadata, OnProject, Project};
use crate::check::{Assignment, violations};
use crate::machine::{Machine, Platform};
use crate::target::Target;
use crate::version::SourceId;

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
            provides_extra: vec!["x".to_owned()],
            source: None,
        }))
    }

    fn expect_project(&self, _: SourceId, _: Name, _: OnProject) {}

    fn expect_metadata(&self, _: SourceId, _: Name, _: &File, _: OnMetadata) {}

    fn wants_hints(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<CatalogError> {
        None
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

/// Many releases of a service, each with an engine of its own, that want an older library than there is; and other things
/// to decide.
fn service() -> Memory {
    let mut index = Memory::default();
    for release in 1..=120 {
        let version = release.to_string();
        let engine = format!("engine=={release}");
        index = index.with("service", &version, &[&engine]).with(
            "engine",
            &version,
            &["library<3", "codec", "wire[x]"],
        );
    }
    for release in 1..=4 {
        index = index.with("library", &release.to_string(), &[]);
        index = index.with("wire", &release.to_string(), &["tls; extra == 'x'"]);
    }
    for name in ["codec", "tls"] {
        index = index.with(name, "1", &[]);
    }
    for (project, needs) in [("web", 16), ("shell", 12), ("store", 14)] {
        let needs: Vec<String> = (0..needs).map(|n| format!("{project}-{n}>=1")).collect();
        let texts: Vec<&str> = needs.iter().map(String::as_str).collect();
        index = index.with(project, "1", &texts);
        for name in &needs {
            index = index.with(name.trim_end_matches(">=1"), "1", &[]);
        }
    }
    index
}

/// All orders of some things.
fn orders<T: Copy>(things: &[T]) -> Vec<Vec<T>> {
    let Some((first, rest)) = things.split_first() else { return vec![Vec::new()] };
    let with_first = |order: Vec<T>| {
        (0..=order.len()).map(move |place| {
            let mut order = order.clone();
            order.insert(place, *first);
            order
        })
    };
    orders(rest).into_iter().flat_map(with_first).collect()
}

#[test]
fn the_order_of_requirements_changes_little_of_the_work() {
    let requirements = ["library", "service", "web", "shell", "store"];
    let mut work = BTreeMap::new();
    for order in orders(&requirements) {
        let solution = run(&order, service()).expect("solvable");
        let found = |name: &str| solution.build(name).expect("chosen").version.to_string();
        assert_eq!((found("service"), found("library")), ("120".to_owned(), "2".to_owned()));
        work.insert(solution.decisions, order);
    }
    let (Some((least, easy)), Some((most, hard))) = (work.first_key_value(), work.last_key_value())
    else {
        panic!("there are orders");
    };
    assert!(2 * most <= 3 * least, "{least} decisions for {easy:?}, {most} for {hard:?}");
}

#[test]
fn two_that_walk_because_of_each_other_keep_their_order() {
    let mut index = Memory::default().with("core", "1", &[]).with("core", "2", &[]);
    for release in 1..=30 {
        let old = if release > 5 { "core<2" } else { "core" };
        let new = if release > 20 { "core>=2" } else { "core" };
        let version = release.to_string();
        index = index.with("first", &version, &[old]).with("second", &version, &[new]);
    }
    let solution = run(&["first", "second"], index).expect("solvable");
    assert_eq!(pins(&solution), ["core 1", "first 30", "second 20"]);
}

#[test]
fn an_extra_that_cannot_be_had_moves_its_distribution() {
    let mut index = Memory::default().with("base", "1", &[]).with("base", "2", &[]);
    for release in 1..=200 {
        let needs = if release > 3 { "base<2; extra == 'x'" } else { "base; extra == 'x'" };
        index = index.with("a", &release.to_string(), &[needs]);
    }
    let solution = run(&["base>=2", "a[x]"], index).expect("solvable");
    assert_eq!(pins(&solution), ["a 3", "base 2"]);
    // Each release is tried once, and not once for the extra and once for itself.
    assert!(solution.decisions < 300, "{} decisions", solution.decisions);
}

/// Projects with versions from 1 up and random requirements on each other.
fn random_index(
    names: &'static [&'static str],
    versions: usize,
    bounds: &'static [&'static str],
) -> impl Strategy<Value = Memory> {
    let requirement = (prop::sample::select(names), prop::sample::select(bounds))
        .prop_map(|(name, bound)| format!("{name}{bound}"));
    let requires = prop::collection::vec(requirement, 0..3);
    prop::collection::vec(requires, names.len() * versions).prop_map(move |all| {
        let mut index = Memory::default();
        for (i, requires) in all.iter().enumerate() {
            let requires: Vec<&str> = requires.iter().map(String::as_str).collect();
            index = index.with(names[i / versions], &(i % versions + 1).to_string(), &requires);
        }
        index
    })
}

/// A few projects with few versions, and fewer with more: enough to walk.
fn broad() -> impl Strategy<Value = Memory> {
    let bounds = &["", "<2", ">=2", "==1", "!=2", "<=2", ">2", "==3.*", "[x]"];
    random_index(&["a", "b", "c", "d", "e"], 3, bounds)
}

fn long() -> impl Strategy<Value = Memory> {
    random_index(&["a", "b", "c"], 9, &["<3", "<5", ">=7", "!=9", "==2", "==8", "<=6", "[x]<4"])
}

/// Tries every assignment of versions (or absence) to the projects.
fn brute_force(index: &Memory, requirements: &[&str]) -> bool {
    let names: Vec<&str> = index.0.keys().map(String::as_str).collect();
    let choices = index.0.values().map(BTreeMap::len).max().unwrap_or(0) + 1;
    let read = |text: &String| text.parse::<pep508_rs::Requirement>().expect("valid");
    let asked: Vec<_> = requirements.iter().map(|text| read(&(*text).to_owned())).collect();
    let needs: Vec<Vec<Vec<pep508_rs::Requirement>>> = names
        .iter()
        .map(|name| {
            let of = |version: usize| index.0[*name][&version.to_string()].iter().map(read);
            (1..choices).map(|version| of(version).collect()).collect()
        })
        .collect();
    let versions: Vec<pep440_rs::Version> =
        (0..choices).map(|version| version.to_string().parse().expect("valid")).collect();
    let count = u32::try_from(names.len()).expect("few");
    (0..choices.pow(count)).any(|code| {
        let version =
            |place: usize| code / choices.pow(u32::try_from(place).expect("small")) % choices;
        let holds = |requirement: &pep508_rs::Requirement| {
            let place = names.iter().position(|n| *n == requirement.name.as_ref()).expect("known");
            let found = version(place);
            found > 0
                && match &requirement.version_or_url {
                    Some(pep508_rs::VersionOrUrl::VersionSpecifier(s)) => {
                        s.contains(&versions[found])
                    }
                    _ => true,
                }
        };
        asked.iter().all(holds)
            && needs.iter().enumerate().all(|(place, needs)| {
                let found = version(place);
                found == 0 || needs[found - 1].iter().all(holds)
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn answers_hold_and_refusals_are_right(index in prop_oneof![broad(), long()]) {
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
