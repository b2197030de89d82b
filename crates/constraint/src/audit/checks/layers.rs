//! The layers that all builds of a process share: one CUDA, one cuDNN, one backend, one owner of an import package.
//!
//! Every build is held against every other: one that clashes hides no clash of a third.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{FactText, Finding, Target};
use crate::audit::sink::Sink;
use crate::constraint::{Constraint, Force, Reason};
use crate::machine::{Brand, Gpu};
use crate::package::Package;
use crate::rules;
use crate::solve::range_text;
use crate::version::{Range, SystemVersion, Version, system_range};

/// Builds that share no version of a layer.
pub(in crate::audit) fn shared(case: &Case<'_>, sink: &mut Sink<'_>) {
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
    for (package, constraints) in groups {
        if constraints.iter().any(|constraint| constraint.force == Force::Requires) {
            for finding in clashes(case, package, constraints) {
                sink.push(finding);
            }
        }
    }
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
    let has_torch = case.torch().is_some();
    let mut machine = case.machine.clone();
    for name in &case.question.unknown_gpus {
        let gpu =
            Gpu { name: name.clone(), capability: SystemVersion::new(0, 0), brand: Brand::Unknown };
        machine.gpus.get_or_insert_default().push(gpu);
    }
    if has_torch && let Some((range, fact)) = rules::torch::wanted_backend(&machine) {
        let reason = Reason::Matrix(std::sync::Arc::new(fact));
        constraints.push(edge(Package::Backend, range, Force::IfPresent, reason));
    }
    if let (false, Some(image)) = (has_torch, &case.question.image) {
        let layers = [(Package::Cuda, Some(&image.cuda)), (Package::Cudnn, image.cudnn.as_ref())];
        for (package, version) in layers {
            let Some(version) = version.filter(|_| !case.has_layer(package)) else { continue };
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

/// For every subject, the first one before it that shares no version with it. What lines name comes first, libraries come
/// last: then the rest is what does not go with it.
fn clashes(case: &Case<'_>, layer: Package, mut constraints: Vec<Constraint>) -> Vec<Finding> {
    constraints.sort_by_key(|constraint| {
        let subject = constraint.subject.0;
        let library = subject.dist_name().is_some_and(rules::library::is_library);
        (subject != Package::Root, !case.is_direct(subject), library)
    });
    let mut findings = Vec::new();
    let mut done: BTreeSet<Package> = BTreeSet::new();
    let mut before: Vec<&Constraint> = Vec::new();
    for constraint in &constraints {
        let subject = constraint.subject.0;
        let against = before.iter().find(|other| {
            other.subject.0 != subject && other.range.intersection(&constraint.range).is_empty()
        });
        if let Some(against) = against
            && done.insert(subject)
        {
            findings.push(clash(case, layer, against, constraint));
        }
        before.push(constraint);
    }
    if findings.is_empty() {
        findings.extend(together(case, layer, &constraints));
    }
    findings
}

/// Three and more that go together in pairs, and share no version: the first one that leaves none.
fn together(case: &Case<'_>, layer: Package, constraints: &[Constraint]) -> Option<Finding> {
    let mut range = Range::full();
    let mut holding: Vec<&Constraint> = Vec::new();
    for constraint in constraints {
        let next = range.intersection(&constraint.range);
        if next.is_empty() {
            let against = holding.iter().rfind(|other| other.subject.0 != constraint.subject.0)?;
            return Some(clash(case, layer, against, constraint));
        }
        range = next;
        holding.push(constraint);
    }
    None
}

fn clash(case: &Case<'_>, layer: Package, first: &Constraint, second: &Constraint) -> Finding {
    let code = match layer {
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
    let message = match layer {
        Package::Provider(module) => {
            format!("{one} and {two} both install {}", module.as_str().replace('-', "_"))
        }
        _ if first.subject.0 == Package::Root => format!("{two}: {}", one_fact.text),
        _ => format!(
            "{one} and {two} do not share one {layer}: {} against {}",
            range_text(&first.range, &[]),
            range_text(&second.range, &[])
        ),
    };
    let names = [second, first].map(|constraint| constraint.subject.0.dist_name());
    let mut finding = Finding::new(code, message)
        .at(case.line_of(second.subject.0).or_else(|| case.line_of(first.subject.0)))
        .because(one_fact)
        .because(two_fact)
        .on(Target::Shared(layer));
    finding.package = names.into_iter().flatten().next();
    finding.against = names.into_iter().flatten().skip(1).collect();
    finding.symptom = [second, first].into_iter().find_map(|constraint| match &constraint.reason {
        Reason::Matrix(fact) => fact.symptom.clone(),
        _ => None,
    });
    finding
}

fn backend_code(first: &Constraint, second: &Constraint) -> Code {
    let codes = [first, second].map(|constraint| match &constraint.reason {
        Reason::Matrix(fact) => Code::of(fact.rule),
        _ => Code::CompanionMismatch,
    });
    if codes.contains(&Code::CpuOnlyBuild) { Code::CpuOnlyBuild } else { Code::CompanionMismatch }
}
