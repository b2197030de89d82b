//! Facts in words.

use crate::constraint::Reason;
use crate::machine::Gpu;
use crate::name::Name;
use crate::package::Package;
use crate::solve::candidates::{PassedOver, Rejection};
use crate::solve::conflict::CollidingFact;
use crate::solve::conflict::ranges::{range_text, versions_text};
use crate::version::{Range, Version};

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
/// import package.
pub(super) fn statements(facts: &[CollidingFact], gpus: &[Gpu]) -> Vec<Statement> {
    let mut statements = Vec::new();
    let from_root =
        |of_machine: bool| {
            facts.iter().filter_map(move |fact| match fact {
                CollidingFact::Needs {
                    subject: Package::Root, package, range, reasons, ..
                } if is_of_machine(*package) == of_machine => Some(match reasons.first() {
                    Some((_, Reason::Manifest { text })) if !is_numbered(*package) => {
                        text.to_string()
                    }
                    Some((_, Reason::Matrix(_))) => return None,
                    _ => machine_text(*package, range),
                }),
                _ => None,
            })
        };
    let layers = facts.iter().filter(|fact| is_layer(fact));
    let owners = owners(facts);
    for (verb, of_machine) in [("the machine has", true), ("env.toml asks for", false)] {
        let mut words: Vec<String> = Vec::new();
        for word in from_root(of_machine) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if let Some(list) = list(&words) {
            statements.push(Statement { text: format!("{verb} {list}"), source: None });
        }
        if of_machine {
            statements.extend(layers.clone().filter_map(|fact| statement(fact, gpus)));
        }
    }
    let others = facts.iter().filter(|fact| !is_layer(fact) && !is_owner(fact));
    statements.extend(others.filter_map(|fact| statement(fact, gpus)));
    statements.extend(owners);
    statements
}

/// What the machine is, as against what is asked of it.
fn is_of_machine(package: Package) -> bool {
    is_numbered(package) || matches!(package, Package::Gpu(_))
}

/// Layers of which a machine has exactly one version.
fn is_numbered(package: Package) -> bool {
    matches!(package, Package::Python | Package::Glibc | Package::Driver)
}

/// `driver 470.86`, `glibc 2.17`, `Python 3.13`.
fn machine_text(package: Package, range: &Range) -> String {
    let text = range_text(range, &[]);
    let number = text.trim_start_matches("==");
    // A Python that is given as 3.13 is solved for as 3.13.0.
    let number = match package {
        Package::Python => number.strip_suffix(".0").filter(|n| n.contains('.')).unwrap_or(number),
        _ => number,
    };
    format!("{package} {number}")
}

fn is_layer(fact: &CollidingFact) -> bool {
    matches!(fact, CollidingFact::Needs { subject, .. }
        if *subject != Package::Root && subject.dist_name().is_none())
}

fn is_owner(fact: &CollidingFact) -> bool {
    matches!(fact, CollidingFact::Needs { package: Package::Provider(_), .. })
}

/// `a`, `a and b`, `a, b and c`.
fn list(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
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
fn statement(fact: &CollidingFact, gpus: &[Gpu]) -> Option<Statement> {
    match fact {
        CollidingFact::Needs { subject: Package::Root, reasons, .. } => match reasons.first() {
            Some((_, Reason::Matrix(fact))) => {
                Some(Statement { text: fact.text.clone(), source: fact.sources.first().cloned() })
            }
            _ => None,
        },
        CollidingFact::Needs { subject, versions, known, package, range, existing, reasons } => {
            let subject_text = package_text(*subject, &versions_text(*subject, versions, known));
            let reason = reasons.first();
            let source = match reason {
                Some((version, Reason::WheelTag { .. })) if reasons.len() == 1 => {
                    Some(format!("file names of {subject} {version} on the index"))
                }
                Some((version, reason)) => source_text(*subject, version, reason),
                None => None,
            };
            let text = match (package, reason) {
                (_, Some((_, Reason::WheelTag { text }))) if reasons.len() == 1 => {
                    format!("{subject_text} {text}")
                }
                (Package::Python, Some((_, Reason::WheelTag { .. }))) => {
                    format!("{subject_text} has no wheels for this Python")
                }
                (Package::Gpu(n), _) if subject.dist_name().is_some() => {
                    format!(
                        "{subject_text} has no code for the {}",
                        gpu_text(gpus.get(usize::from(*n)))
                    )
                }
                _ => format!(
                    "{subject_text} needs {}",
                    package_text(*package, &range_text(range, existing))
                ),
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
                    text: format!(
                        "{} cannot be chosen: {}",
                        package_text(*package, &passed_text(passed_over)),
                        passed_over_text(newest)
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
            let name = package.to_string();
            // Facts of matrices begin with the name of the build.
            let text = if why.starts_with(&name) {
                why.to_string()
            } else {
                format!("{subject} cannot be used: {why}")
            };
            Some(Statement { text, source: None })
        }
    }
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

fn passed_text(passed_over: &[Rejection]) -> String {
    match passed_over {
        [one] => one.version.to_string(),
        [newest, .., oldest] => format!("{} to {}", oldest.version, newest.version),
        [] => String::new(),
    }
}

/// Why a build was passed over, to follow `it cannot be chosen:`.
fn passed_over_text(rejection: &Rejection) -> String {
    match &rejection.why {
        PassedOver::Prerelease => {
            "every release in this range is a pre-release, and those are taken only when they are asked for".to_owned()
        }
        PassedOver::Yanked(why) if why.is_empty() => "it is yanked: its author withdrew it".to_owned(),
        PassedOver::Yanked(why) => format!("it is yanked: {why}"),
        PassedOver::TooNew => "all its files are newer than exclude-newer".to_owned(),
        PassedOver::NoFile(files) => match files.first() {
            Some(nearest) => format!("no file fits this machine and Python ({nearest})"),
            None => "it has no file that can be installed".to_owned(),
        },
        PassedOver::Broken(why) => why.clone(),
    }
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
