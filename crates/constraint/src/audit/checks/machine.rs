//! What each build's CUDA asks of the driver and the GPUs, and whether the driver supports the GPUs at all.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{FactText, Finding, Target};
use crate::audit::sink::Sink;
use crate::constraint::{Constraint, Force, Reason};
use crate::package::Package;
use crate::rules::{self, library};
use crate::version::{Range, Version};

/// Builds whose CUDA does not start on the driver and the GPUs: every one of them, whatever else is installed.
pub(in crate::audit) fn drivers(case: &Case<'_>, sink: &mut Sink<'_>) {
    let layers = case.machine_layers();
    if layers.is_empty() {
        return;
    }
    let mut needs: BTreeMap<Package, Vec<&Constraint>> = BTreeMap::new();
    for constraint in &case.constraints {
        if constraint.package == Package::Cuda
            && constraint.force == Force::Requires
            && constraint.subject.0.dist_name().is_some()
        {
            needs.entry(constraint.subject.0).or_default().push(constraint);
        }
    }
    let mut joint = Range::full();
    let mut any = false;
    for constraints in needs.values() {
        let own = constraints.iter().fold(Range::full(), |all, c| all.intersection(&c.range));
        // What contradicts itself is said to; each part of it is judged then.
        let range = if own.is_empty() { constraints[0].range.clone() } else { own };
        joint = joint.intersection(&range);
        for finding in unsupported(case, &layers, &range, constraints) {
            any = true;
            sink.push(finding);
        }
    }
    if !any && !joint.is_empty() {
        let main = needs.values().min_by_key(|constraints| {
            let name = constraints[0].subject.0.dist_name();
            name.is_some_and(library::is_library)
        });
        for finding in main.iter().flat_map(|main| unsupported(case, &layers, &joint, main)) {
            sink.push(finding);
        }
    }
}

/// What keeps every CUDA version of `range` from starting.
fn unsupported(
    case: &Case<'_>,
    layers: &BTreeMap<Package, Version>,
    range: &Range,
    constraints: &[&Constraint],
) -> Vec<Finding> {
    let mut versions: Vec<Version> = rules::known_versions(Package::Cuda)
        .iter()
        .filter(|version| range.contains(version))
        .cloned()
        .collect();
    versions.extend(range.iter().filter_map(|(low, _)| match low {
        Bound::Included(version) => Some(version.clone()),
        _ => None,
    }));
    versions.sort();
    let violated = |version: &Version| -> Vec<Constraint> {
        let needs = rules::layer_constraints(Package::Cuda, version, &case.machine);
        needs
            .into_iter()
            .filter(|need| layers.get(&need.package).is_some_and(|have| !need.range.contains(have)))
            .collect()
    };
    let (Some(lowest), Some(user)) = (versions.first(), constraints.first()) else {
        return Vec::new();
    };
    if versions.iter().any(|version| violated(version).is_empty()) {
        return Vec::new();
    }
    let subject = case.title(user.subject.0);
    violated(lowest)
        .into_iter()
        .filter_map(|need| {
            let Reason::Matrix(fact) = &need.reason else { return None };
            let have = case.machine_words(need.package, layers.get(&need.package)?);
            let message = format!(
                "{subject} brings CUDA {lowest}, which does not start on {have}: {}",
                fact.text
            );
            let mut finding = Finding::new(Code::of(fact.rule), message)
                .at(case.line_of(user.subject.0))
                .because(FactText::of_reason(&subject, &user.reason))
                .because(FactText::of(fact))
                .because(FactText::new(format!("the machine has {have}"), "the machine"))
                .on(Target::Machine(need.package));
            finding.package = user.subject.0.dist_name();
            finding.symptom.clone_from(&fact.symptom);
            Some(finding)
        })
        .collect()
}

/// Whether the driver supports the GPUs at all.
pub(in crate::audit) fn gpus(case: &Case<'_>, sink: &mut Sink<'_>) {
    let layers = case.machine_layers();
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
            let message = format!("driver {have} does not support {gpu}: {}", fact.text);
            let finding = Finding::of_fact(fact, message)
                .because(FactText::new(format!("the machine has driver {have}"), "the machine"));
            sink.push(finding);
        }
    }
}
