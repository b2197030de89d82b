//! The layers that are left to decide: one CUDA, one cuDNN, one backend, one owner of an import package.
//!
//! Every constraint on a layer must hold at once. Where no version satisfies all of them, the pair that excludes each
//! other is reported. The CUDA that is left is then judged on the driver and the GPUs.

use std::collections::BTreeMap;

use super::finding::{FactText, Finding, Severity};
use super::judge::Case;
use super::table::Code;
use crate::constraint::{Constraint, Force, Reason};
use crate::machine::{Brand, Gpu};
use crate::name::Name;
use crate::package::Package;
use crate::rules::torch::TORCH;
use crate::rules::{self, companion};
use crate::solve::range_text;
use crate::version::{Range, SystemVersion, Version, system_range};

/// Adds what no version of a layer satisfies, and what CUDA, driver and GPU say of each other.
pub(super) fn judge(case: &mut Case<'_>) {
    let mut groups: BTreeMap<Package, Vec<Constraint>> = BTreeMap::new();
    for constraint in of_machine(case).into_iter().chain(case.constraints.iter().cloned()) {
        let free = matches!(
            constraint.package,
            Package::Cuda
                | Package::Cudnn
                | Package::Backend
                | Package::Provider(_)
                | Package::Opset
                | Package::OnnxIr
        );
        if free {
            groups.entry(constraint.package).or_default().push(constraint);
        }
    }
    let mut findings = Vec::new();
    let mut cuda: Option<(Range, Vec<Constraint>)> = None;
    for (package, constraints) in &groups {
        let present = constraints.iter().any(|constraint| constraint.force == Force::Requires);
        if !present {
            continue;
        }
        let (range, holding) = meet(case, *package, constraints, &mut findings);
        if *package == Package::Cuda {
            cuda = Some((range, holding));
        }
    }
    if let Some((range, holding)) = cuda {
        findings.extend(on_machine(case, &range, &holding));
    }
    findings.extend(gpus(case));
    case.findings.extend(findings);
}

/// What the machine says of the layers: an image's CUDA and cuDNN, and that its GPUs are to be used.
fn of_machine(case: &Case<'_>) -> Vec<Constraint> {
    let root = (Package::Root, Version::System(SystemVersion::new(0, 0)));
    let edge = |package, range, force, reason| Constraint {
        subject: root.clone(),
        package,
        range,
        force,
        reason,
    };
    let mut constraints = Vec::new();
    let model = case.question.model.unwrap_or_default();
    for (package, what, number) in
        [(Package::Opset, "opset", model.opset), (Package::OnnxIr, "ONNX IR", model.ir)]
    {
        let Some(number) = number else { continue };
        let range = Range::singleton(Version::System(SystemVersion::new(number, 0)));
        let text = format!("the model has {what} {number}");
        constraints.push(edge(
            package,
            range,
            Force::Requires,
            Reason::Manifest { text: text.into() },
        ));
    }
    let torch = Name::new(TORCH).ok().filter(|torch| case.installed.taken.contains_key(torch));
    let mut machine = case.machine.clone();
    for name in &case.question.unknown_gpus {
        let gpu =
            Gpu { name: name.clone(), capability: SystemVersion::new(0, 0), brand: Brand::Unknown };
        machine.gpus.get_or_insert_default().push(gpu);
    }
    if torch.is_some()
        && let Some((range, fact)) = rules::torch::wanted_backend(&machine)
    {
        let reason = Reason::Matrix(std::sync::Arc::new(fact));
        constraints.push(edge(Package::Backend, range, Force::IfPresent, reason));
    }
    if let (None, Some(image)) = (torch, &case.question.image) {
        let layers = [(Package::Cuda, Some(&image.cuda)), (Package::Cudnn, image.cudnn.as_ref())];
        for (package, version) in layers {
            let Some(version) = version.filter(|_| !wheels_bring(case, package)) else { continue };
            if let Ok(range) = system_range(&format!("=={version}")) {
                let text = format!("the image {} has {package} {version}", image.reference());
                constraints.push(edge(
                    package,
                    range,
                    Force::IfPresent,
                    Reason::Manifest { text: text.into() },
                ));
            }
        }
    }
    constraints
}

/// Whether wheels supply what an image would: then the image does not count.
fn wheels_bring(case: &Case<'_>, package: Package) -> bool {
    let prefixes: &[&str] = match package {
        Package::Cudnn => &["nvidia-cudnn"],
        _ => &["nvidia-cuda-runtime", "nvidia-cublas"],
    };
    case.installed
        .taken
        .keys()
        .any(|name| prefixes.iter().any(|prefix| name.as_str().starts_with(prefix)))
}

/// The versions that satisfy all constraints, those left out that exclude an earlier one; each of these is a finding.
fn meet(
    case: &Case<'_>,
    package: Package,
    constraints: &[Constraint],
    findings: &mut Vec<Finding>,
) -> (Range, Vec<Constraint>) {
    let mut range = Range::full();
    let mut holding: Vec<Constraint> = Vec::new();
    let mut reported: Vec<(Package, Package)> = Vec::new();
    // What a line pins comes first: then the rest is what does not go with it.
    let mut sorted: Vec<&Constraint> = constraints.iter().collect();
    sorted.sort_by_key(|constraint| {
        let direct =
            constraint.subject.0.dist_name().and_then(|name| case.installed.taken.get(&name));
        let library = constraint.subject.0.dist_name().is_some_and(rules::library::is_library);
        (constraint.subject.0 != Package::Root, direct.is_none_or(|taken| !taken.direct), library)
    });
    for constraint in sorted {
        let next = range.intersection(&constraint.range);
        if !next.is_empty() {
            range = next;
            holding.push(constraint.clone());
            continue;
        }
        let against = holding
            .iter()
            .find(|other| other.range.intersection(&constraint.range).is_empty())
            .or_else(|| holding.last());
        let Some(against) = against else { continue };
        let pair = (
            constraint.subject.0.min(against.subject.0),
            constraint.subject.0.max(against.subject.0),
        );
        let library = constraint.subject.0.dist_name().is_some_and(|name| {
            let direct = case.installed.taken.get(&name).is_some_and(|taken| taken.direct);
            !direct && (rules::library::is_library(name) || name.as_str().starts_with("cuda-"))
        });
        // A program that clashes says it all; its libraries would only repeat it.
        if pair.0 == pair.1 || reported.contains(&pair) || (library && !reported.is_empty()) {
            continue;
        }
        reported.push(pair);
        findings.push(clash(case, package, against, constraint));
    }
    (range, holding)
}

fn clash(case: &Case<'_>, package: Package, first: &Constraint, second: &Constraint) -> Finding {
    let code = match package {
        Package::Cuda => Code::CudaMajorMismatch,
        Package::Cudnn => Code::CudnnMismatch,
        Package::Provider(_) => Code::ModuleClash,
        Package::Backend => backend_code(first, second),
        _ => Code::OpsetTooNew,
    };
    let words = |constraint: &Constraint| {
        let subject = case.title(constraint.subject.0);
        (subject.clone(), FactText::of_reason(&subject, &constraint.reason))
    };
    let ((one, one_fact), (two, two_fact)) = (words(first), words(second));
    let message = match package {
        Package::Provider(module) => {
            format!("{one} and {two} both install {}", module.as_str().replace('-', "_"))
        }
        _ if first.subject.0 == Package::Root => format!("{two}: {}", one_fact.text),
        _ => format!(
            "{one} and {two} do not share one {package}: {} against {}",
            range_text(&first.range, &[]),
            range_text(&second.range, &[])
        ),
    };
    let symptom = [second, first].into_iter().find_map(|constraint| match &constraint.reason {
        Reason::Matrix(fact) => fact.symptom.clone(),
        _ => None,
    });
    Finding {
        code,
        severity: Severity::Error,
        package: second.subject.0.dist_name().or_else(|| first.subject.0.dist_name()),
        message,
        line: case.line_of(second.subject.0).or_else(|| case.line_of(first.subject.0)),
        facts: vec![one_fact, two_fact],
        symptom,
        fix: None,
    }
}

fn backend_code(first: &Constraint, second: &Constraint) -> Code {
    let rules = [first, second].map(|constraint| match &constraint.reason {
        Reason::Matrix(fact) => Code::of(fact.rule),
        _ => Code::CompanionMismatch,
    });
    if rules.contains(&Code::CpuOnlyBuild) { Code::CpuOnlyBuild } else { Code::CompanionMismatch }
}

/// Whether some CUDA version of the range starts on the driver and the GPUs.
fn on_machine(case: &Case<'_>, range: &Range, holding: &[Constraint]) -> Vec<Finding> {
    let layers = case.machine_layers();
    let users = || {
        holding.iter().filter(|c| c.force == Force::Requires && c.subject.0.dist_name().is_some())
    };
    if layers.is_empty() || users().next().is_none() {
        return Vec::new();
    }
    let mut versions: Vec<Version> = rules::known_versions(Package::Cuda)
        .iter()
        .filter(|version| range.contains(version))
        .cloned()
        .collect();
    let bounds = range.iter().filter_map(|(low, _)| match low {
        std::ops::Bound::Included(version) => Some(version.clone()),
        _ => None,
    });
    versions.extend(bounds);
    versions.sort();
    let violated = |version: &Version| -> Vec<Constraint> {
        let needs = rules::layer_constraints(Package::Cuda, version, &case.machine);
        needs
            .into_iter()
            .filter(|need| layers.get(&need.package).is_some_and(|have| !need.range.contains(have)))
            .collect()
    };
    let Some(lowest) = versions.first() else { return Vec::new() };
    if versions.iter().any(|version| violated(version).is_empty()) {
        return Vec::new();
    }
    let user = users()
        .find(|constraint| {
            let name = constraint.subject.0.dist_name();
            name.is_some_and(|name| {
                companion::family(name).is_some() || !rules::library::is_library(name)
            })
        })
        .or_else(|| users().next());
    let Some(user) = user else { return Vec::new() };
    let subject = case.title(user.subject.0);
    violated(lowest)
        .into_iter()
        .filter_map(|need| {
            let Reason::Matrix(fact) = &need.reason else { return None };
            let have = case.machine_words(need.package, layers.get(&need.package)?);
            Some(Finding {
                code: Code::of(fact.rule),
                severity: Severity::Error,
                package: user.subject.0.dist_name(),
                message: format!(
                    "{subject} brings CUDA {lowest}, which does not start on {have}: {}",
                    fact.text
                ),
                line: case.line_of(user.subject.0),
                facts: vec![
                    FactText::of_reason(&subject, &user.reason),
                    FactText::of(fact),
                    FactText::new(format!("the machine has {have}"), "the machine"),
                ],
                symptom: fact.symptom.clone(),
                fix: None,
            })
        })
        .collect()
}

/// Whether the driver supports the GPUs at all.
fn gpus(case: &Case<'_>) -> Vec<Finding> {
    let layers = case.machine_layers();
    let mut findings = Vec::new();
    for (package, version) in &layers {
        for need in rules::layer_constraints(*package, version, &case.machine) {
            let (Package::Gpu(_), Some(have)) = (package, layers.get(&need.package)) else {
                continue;
            };
            let Reason::Matrix(fact) = &need.reason else { continue };
            if need.range.contains(have) {
                continue;
            }
            let gpu = case.machine_words(*package, version);
            findings.push(Finding {
                code: Code::of(fact.rule),
                severity: Severity::Error,
                package: None,
                message: format!("driver {have} does not support {gpu}: {}", fact.text),
                line: None,
                facts: vec![
                    FactText::of(fact),
                    FactText::new(format!("the machine has driver {have}"), "the machine"),
                ],
                symptom: fact.symptom.clone(),
                fix: None,
            });
        }
    }
    findings
}
