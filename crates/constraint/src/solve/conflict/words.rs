//! Facts in words.

use crate::constraint::Reason;
use crate::machine::Gpu;
use crate::name::Name;
use crate::package::Package;
use crate::solve::candidates::{PassedOver, Rejection};
use crate::solve::conflict::asked::{Asked, list};
use crate::solve::conflict::ranges::{range_around, range_text, versions_text};
use crate::solve::conflict::{CollidingFact, Setting};
use crate::solve::provider::Unusable;
use crate::version::{DistVersion, Range, SystemVersion, Version};

/// Lines of METADATA longer than this are cut at their marker, or in the middle.
const LINE: usize = 110;

/// One statement of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What is so.
    pub text: String,
    /// Who says so, when it is not env.toml.
    pub source: Option<String>,
}

/// Facts as statements. Facts of one kind become one sentence: what the machine has, what is asked for, who owns an
/// import package. Without `root` the first two are left to a headline. `all` has what the facts collide with.
pub(super) fn statements(
    facts: &[CollidingFact],
    all: &[CollidingFact],
    setting: &Setting,
    root: Option<&Asked>,
) -> Vec<Statement> {
    let mut statements = Vec::new();
    let sentence = |verb: &str, words: &[String]| {
        let text = format!("{verb} {}", list(words)?);
        Some(Statement { text, source: None })
    };
    let is_root =
        |fact: &CollidingFact| matches!(fact, CollidingFact::Needs { subject: Package::Root, .. });
    let said = |fact: &CollidingFact| statement(fact, all, setting);
    statements.extend(root.and_then(|asked| sentence("the machine has", &asked.machine)));
    statements.extend(facts.iter().filter(|fact| is_layer(fact) || is_root(fact)).filter_map(said));
    statements.extend(root.and_then(|asked| sentence("env.toml asks for", &asked.wishes)));
    let others = |fact: &&CollidingFact| !is_layer(fact) && !is_owner(fact) && !is_root(fact);
    statements.extend(facts.iter().filter(others).filter_map(said));
    statements.extend(one_backend(facts));
    statements.extend(owners(facts));
    statements
}

/// Builds of the torch family for two accelerators: why that is a conflict.
fn one_backend(facts: &[CollidingFact]) -> Option<Statement> {
    let builds = facts.iter().filter(|fact| {
        matches!(fact, CollidingFact::Needs { subject, package: Package::Backend, .. }
            if subject.dist_name().is_some())
    });
    (builds.count() > 1).then(|| Statement {
        text: "torch and everything that is built for it must be of one CUDA".to_owned(),
        source: None,
    })
}

fn is_layer(fact: &CollidingFact) -> bool {
    matches!(fact, CollidingFact::Needs { subject, .. }
        if *subject != Package::Root && subject.dist_name().is_none())
}

fn is_owner(fact: &CollidingFact) -> bool {
    matches!(fact, CollidingFact::Needs { package: Package::Provider(_), .. })
}

/// Of several distributions that own one import package only one can be there: one sentence for all of them.
fn owners(facts: &[CollidingFact]) -> Vec<Statement> {
    let mut modules: Vec<(Name, Vec<String>, Option<String>)> = Vec::new();
    for fact in facts {
        let CollidingFact::Needs { subject, package: Package::Provider(module), reasons, .. } =
            fact
        else {
            continue;
        };
        let source = reasons.first().and_then(|(_, reason)| match reason {
            Reason::Matrix(fact) => fact.sources.first().cloned(),
            _ => None,
        });
        match modules.iter_mut().find(|(known, ..)| known == module) {
            Some((_, owners, _)) => owners.push(subject.to_string()),
            None => modules.push((*module, vec![subject.to_string()], source)),
        }
    }
    let statement = |(module, owners, source): (Name, Vec<String>, Option<String>)| {
        let list = list(&owners)?;
        let text = format!(
            "{list} each install the import package {module} and overwrite each other: only one of them can be there"
        );
        Some(Statement { text, source })
    };
    modules.into_iter().filter_map(statement).collect()
}

fn package_text(package: Package, versions: &str) -> String {
    if versions.is_empty() || versions == "any version" {
        package.to_string()
    } else if versions.starts_with("==") && package.dist_name().is_some() {
        format!("{package}{versions}")
    } else {
        format!("{package} {versions}")
    }
}

/// One fact as a statement; `None` for what [`statements`] says in sentences of its own.
fn statement(
    fact: &CollidingFact,
    facts: &[CollidingFact],
    setting: &Setting,
) -> Option<Statement> {
    match fact {
        CollidingFact::Needs { subject: Package::Root, reasons, .. } => {
            reasons.iter().find_map(|(_, reason)| match reason {
                Reason::Matrix(fact) => Some(Statement {
                    text: fact.text.clone(),
                    source: fact.sources.first().cloned(),
                }),
                _ => None,
            })
        }
        CollidingFact::Needs { subject, versions, known, package, range, existing, reasons } => {
            let subject_text = package_text(*subject, &versions_text(*subject, versions, known));
            let is_of_files = matches!(package, Package::Python | Package::Glibc);
            let subject_text = match origin(versions, known, setting) {
                Some(index) if !is_of_files => format!("{subject_text} of the index {index}"),
                _ => subject_text,
            };
            let reason = reasons.first();
            let source = match reason {
                Some((version, Reason::WheelTag { .. })) if reasons.len() == 1 => {
                    Some(format!("file names of {subject} {version} on the index"))
                }
                // A label says it itself: the row would say it twice.
                Some((version, Reason::Matrix(fact)))
                    if *package == Package::Backend && is_labelled(version) =>
                {
                    fact.sources.first().cloned()
                }
                Some((version, reason)) => source_text(*subject, version, reason),
                None => None,
            };
            let has = if is_list(&subject_text) { "have" } else { "has" };
            let is = if is_list(&subject_text) { "are" } else { "is" };
            let text = match (package, reason) {
                (_, Some((_, Reason::WheelTag { text }))) if reasons.len() == 1 => {
                    let rest = text.strip_prefix("has ").unwrap_or(text);
                    format!("{subject_text} {has} {rest}")
                }
                (Package::Python, Some((_, Reason::WheelTag { .. }))) => {
                    format!("{subject_text} {has} no wheels for Python {}", setting.python)
                }
                (Package::Gpu(n), _) if subject.dist_name().is_some() => {
                    let gpu = setting.machine.gpus.iter().flatten().nth(usize::from(*n));
                    format!("{subject_text} {has} no code for the {}", gpu_text(gpu))
                }
                (Package::Backend, _) => {
                    format!("{subject_text} {is} built for {}", backend_text(range))
                }
                _ => {
                    let needs = if is_list(&subject_text) { "need" } else { "needs" };
                    let needed = match opposed(fact, facts) {
                        Some(other) => range_around(range, other),
                        None => range_text(range, existing),
                    };
                    let needed = package_text(*package, &needed);
                    format!("{subject_text} {needs} {needed}")
                }
            };
            Some(Statement { text, source })
        }
        CollidingFact::NoVersion { package, unknown_project: Some(meant), .. } => {
            let hint = meant.as_ref().map(|name| format!("; did you mean {name}?"));
            let text = format!(
                "{package} is on none of the indexes that were asked{}",
                hint.unwrap_or_default()
            );
            Some(Statement { text, source: None })
        }
        CollidingFact::NoVersion { package, range, known, passed_over, .. } => {
            Some(match passed_over.first() {
                Some(newest) => Statement {
                    text: passed_over_text(
                        &package_text(*package, &passed_text(*package, passed_over, known)),
                        passed_over.len() > 1,
                        &newest.why,
                    ),
                    source: None,
                },
                None => {
                    let wanted = package_text(*package, &range_text(range, &[]));
                    let text = format!("there is no {wanted}{}", nearest(range, known));
                    Statement { text, source: None }
                }
            })
        }
        CollidingFact::Unusable { package, versions, known, why } => {
            let subject = package_text(*package, &versions_text(*package, versions, known));
            let text = match why {
                Unusable::Undeclared(why) => {
                    let has = if is_list(&subject) { "have" } else { "has" };
                    format!("{subject} {has} only a source distribution, and {why}")
                }
                // Facts of matrices begin with the name of the build.
                Unusable::Because(why) if why.starts_with(&package.to_string()) => why.to_string(),
                Unusable::Because(why) => format!("{subject} cannot be used: {why}"),
            };
            Some(Statement { text, source: None })
        }
    }
}

fn is_labelled(version: &Version) -> bool {
    version.as_dist().and_then(DistVersion::version).is_some_and(|number| number.is_local())
}

/// The index that builds are from, where another one has builds of the same versions that are not meant.
fn origin<'a>(versions: &Range, known: &[Version], setting: &'a Setting) -> Option<&'a str> {
    let builds = known.iter().filter_map(Version::as_dist);
    let (meant, others): (Vec<_>, Vec<_>) =
        builds.partition(|build| versions.contains(&Version::Dist((*build).clone())));
    let source = meant.first()?.source();
    let same = |build: &&DistVersion| meant.iter().any(|other| other.version() == build.version());
    let is_one = meant.iter().all(|build| build.source() == source);
    if !is_one || !others.iter().any(same) {
        return None;
    }
    setting.indexes.get(usize::from(source.0)).map(String::as_str)
}

/// What another fact asks of the same layer, where no version would do for both.
fn opposed<'a>(fact: &CollidingFact, facts: &'a [CollidingFact]) -> Option<&'a Range> {
    let CollidingFact::Needs { package, range, .. } = fact else { return None };
    facts.iter().find_map(|other| match other {
        CollidingFact::Needs { package: same, range: other, .. }
            if same == package && other.is_disjoint(range) =>
        {
            Some(other)
        }
        _ => None,
    })
}

fn gpu_text(gpu: Option<&Gpu>) -> String {
    match gpu {
        Some(gpu) if gpu.name == gpu.capability.as_str() => {
            format!("GPU (compute capability {})", gpu.capability)
        }
        Some(gpu) => format!("{} (compute capability {})", gpu.name, gpu.capability),
        None => "GPU".to_owned(),
    }
}

/// `; it has 2.0.0 to 2.15.0`: what exists instead of what is asked for.
fn nearest(range: &Range, known: &[Version]) -> String {
    let stable = |version: &&Version| {
        version
            .as_dist()
            .and_then(|build| build.version())
            .is_some_and(pep440_rs::Version::is_stable)
    };
    let known: Vec<&Version> = match known.iter().filter(stable).collect::<Vec<_>>() {
        stable if stable.is_empty() => known.iter().collect(),
        stable => stable,
    };
    let below = known.iter().rev().find(|version| is_below(version, range));
    let above = known.iter().find(|version| !is_below(version, range));
    match (below, above) {
        (Some(below), Some(above)) => format!("; the nearest are {below} and {above}"),
        (Some(below), None) => format!("; the newest is {below}"),
        (None, Some(above)) => format!("; the oldest is {above}"),
        (None, None) => String::new(),
    }
}

/// True when the version lies below everything in the range.
fn is_below(version: &Version, range: &Range) -> bool {
    match range.iter().next().map(|(low, _)| low) {
        Some(std::ops::Bound::Included(low) | std::ops::Bound::Excluded(low)) => version < low,
        _ => false,
    }
}

/// Which builds were passed over.
fn passed_text(package: Package, passed_over: &[Rejection], known: &[Version]) -> String {
    let one = |rejection: &Rejection| Range::singleton(Version::Dist(rejection.version.clone()));
    let range = passed_over.iter().map(one).fold(Range::empty(), |all, one| all.union(&one));
    if known.len() > 1 && known.iter().all(|version| range.contains(version)) {
        return String::new();
    }
    versions_text(package, &range, known)
}

/// Why builds were passed over.
fn passed_over_text(builds: &str, several: bool, why: &PassedOver) -> String {
    let (is, has) = if is_list(builds) { ("are", "have") } else { ("is", "has") };
    match why {
        PassedOver::Prerelease => {
            let what = if several { "pre-releases" } else { "a pre-release" };
            let is = if several { "are" } else { "is" };
            format!("{builds} {is} {what}, and those are taken only when they are asked for")
        }
        PassedOver::Yanked(why) if why.is_empty() => {
            format!("{builds} {is} yanked: withdrawn by the author")
        }
        PassedOver::Yanked(why) => format!("{builds} {is} yanked: {why}"),
        PassedOver::TooNew => format!("{builds} {is} newer than exclude-newer allows"),
        PassedOver::NoFile(why) if !why.platforms.is_empty() => {
            let platforms = list(&why.platforms).unwrap_or_default();
            format!("{builds} {has} wheels only for {platforms}")
        }
        PassedOver::NoFile(why) => match why.files.first() {
            Some(nearest) => format!("{builds} {has} no file for this machine: {nearest}"),
            None => format!("{builds} {has} no file that can be installed"),
        },
        PassedOver::Broken(why) => format!("{builds} {is} broken: {why}"),
    }
}

/// `the CPU`, `CUDA 12.4`.
fn backend_text(range: &Range) -> String {
    let cpu = Version::System(SystemVersion::new(0, 0));
    if range.as_singleton() == Some(&cpu) {
        return "the CPU".to_owned();
    }
    let accelerated = range.intersection(&Range::singleton(cpu).complement());
    let text = range_text(&accelerated, &[]);
    if accelerated == *range { format!("CUDA {text}") } else { format!("the CPU or CUDA {text}") }
}

/// Whether the name of a package is followed by several versions, which takes a plural.
fn is_list(text: &str) -> bool {
    text.contains(" and ")
}

/// Who says so; `None` when the statement itself says it.
fn source_text(subject: Package, version: &Version, reason: &Reason) -> Option<String> {
    Some(match reason {
        Reason::Metadata { requirement } => {
            format!("METADATA of {subject} {version}: {}", shortened(requirement))
        }
        Reason::RequiresPython { specifiers } => {
            format!("Requires-Python of {subject} {version}: {specifiers}")
        }
        Reason::WheelTag { text } => format!("file names on the index: {subject} {version} {text}"),
        Reason::Matrix(fact) => match fact.sources.first() {
            Some(source) => format!("{}; {source}", fact.text),
            None => fact.text.clone(),
        },
        Reason::Manifest { text } => text.to_string(),
        Reason::Extra => return None,
    })
}

/// A requirement without its marker, and without the middle of a long list of extras.
fn shortened(requirement: &str) -> String {
    let requirement = requirement.split(';').next().unwrap_or_default().trim();
    match (requirement.split_once('['), requirement.split_once(']')) {
        (Some((name, _)), Some((_, rest))) if requirement.len() > LINE / 2 => {
            format!("{name}[...]{rest}")
        }
        _ => requirement.to_owned(),
    }
}
