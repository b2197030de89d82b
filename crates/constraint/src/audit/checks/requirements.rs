//! What builds ask of each other and of the machine, and what is there instead.

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Clash, Doubt, FactText, Finding, Target};
use crate::audit::sink::Sink;
use crate::check::{Assignment, violations};
use crate::constraint::{Constraint, Reason};
use crate::package::Package;
use crate::rules::{Rule, companion, onnx_model};
use crate::version::Version;

/// What the machine fixes and what is installed.
fn assignment(case: &Case<'_>) -> Assignment {
    let mut pins: Assignment = case
        .installed
        .taken
        .iter()
        .map(|(name, taken)| (Package::dist(*name), Version::Dist(taken.build.version.clone())))
        .collect();
    pins.extend(case.machine_layers());
    pins
}

fn rule(constraint: &Constraint) -> Option<Rule> {
    match &constraint.reason {
        Reason::Matrix(fact) => Some(fact.rule),
        _ => None,
    }
}

/// Constraints on distributions and on what the machine fixes that do not hold. The layers that are left to decide are
/// judged together, by [`super::layers`].
pub(in crate::audit) fn violated(case: &Case<'_>, sink: &mut Sink<'_>) {
    let pins = assignment(case);
    for violation in violations(&pins, &case.constraints) {
        if let Some(found) = violation.found {
            sink.push(clash(case, violation.constraint, found));
        }
    }
}

/// What is required and not there.
pub(in crate::audit) fn not_installed(case: &Case<'_>, sink: &mut Sink<'_>) {
    let pins = assignment(case);
    for violation in violations(&pins, &case.constraints) {
        let constraint = violation.constraint;
        let wanted = match rule(constraint) {
            // Told together, by `libraries::unsupplied`.
            Some(Rule::MissingLibrary) => false,
            Some(_) => true,
            None => case.question.closed,
        };
        if violation.found.is_none() && wanted {
            let finding = lacking(case, constraint);
            finding.into_iter().for_each(|finding| sink.push(finding));
        }
    }
}

fn lacking(case: &Case<'_>, constraint: &Constraint) -> Option<Finding> {
    let name = constraint.package.dist_name()?;
    // It is said to be missing itself, or its index could not be read: then it may be there.
    if case.installed.missing.iter().any(|(missing, ..)| *missing == name)
        || case.picker.may_be_there(name)
    {
        return None;
    }
    // Whether it is required at all depends on a Python that is not known.
    if !case.question.python_known
        && let Reason::Metadata { requirement } = &constraint.reason
        && case.requirements.get(requirement).is_ok_and(|r| r.hangs_on_python())
    {
        return None;
    }
    let subject = case.title(constraint.subject.0);
    let mut finding = Finding::new(
        Code::MissingDependency,
        format!("{subject} needs {name}, which nothing installs"),
    )
    .at(case.line_of(constraint.subject.0))
    .because(FactText::of_reason(&subject, &constraint.reason))
    .opposing([name])
    .otherwise(format!(
        "ModuleNotFoundError: No module named '{}'",
        name.as_str().replace('-', "_")
    ))
    .advise(format!("add {name}"));
    finding.package = constraint.subject.0.dist_name();
    Some(finding)
}

fn clash(case: &Case<'_>, constraint: &Constraint, found: &Version) -> Finding {
    let subject = case.title(constraint.subject.0);
    let (code, symptom) = match &constraint.reason {
        Reason::Matrix(fact) => (Code::of(fact.rule), fact.symptom.clone()),
        Reason::RequiresPython { .. } => (Code::PythonUnsupported, None),
        _ => (pin_code(constraint), None),
    };
    let machine = constraint.package.dist_name().is_none();
    let have = if machine {
        case.machine_words(constraint.package, found)
    } else {
        case.title(constraint.package)
    };
    let reason = FactText::of_reason(&subject, &constraint.reason);
    let clash = Clash { subject, others: vec![have.clone()], because: vec![reason.text.clone()] };
    let mut finding = Finding::new(code, clash.message())
        .at(blamed(case, constraint))
        .because(reason)
        .because(if machine {
            FactText::new(format!("the machine has {have}"), "the machine")
        } else {
            place_of(case, constraint.package)
        })
        .unless(doubt(case, constraint))
        .on(if machine { Target::Machine(constraint.package) } else { Target::Requirements })
        .opposing(constraint.package.dist_name());
    finding.package = constraint.subject.0.dist_name();
    finding.symptom = symptom;
    finding.clash = Some(clash);
    finding
}

/// What depends on something that the file does not tell.
fn doubt(case: &Case<'_>, constraint: &Constraint) -> Doubt {
    match rule(constraint) {
        Some(Rule::CompiledHere | Rule::ExtensionSkipped) => Doubt::Elsewhere,
        // With a release, models may come from elsewhere; a weekly build is there for what the next one writes.
        Some(Rule::OnnxDefaultModel) => {
            let weekly = constraint.subject.0.dist_name().is_some_and(onnx_model::is_weekly);
            let both = [constraint.subject.0, constraint.package];
            let pinned = both
                .into_iter()
                .all(|package| case.taken(package).is_some_and(|t| t.pinned && t.direct));
            if weekly || pinned { Doubt::None } else { Doubt::Elsewhere }
        }
        _ => Doubt::None,
    }
}

/// Why a distribution is there.
fn place_of(case: &Case<'_>, package: Package) -> FactText {
    let title = case.title(package);
    match case.taken(package) {
        Some(taken) if taken.pinned && taken.direct => {
            FactText::new(format!("{title} is pinned"), "the file")
        }
        Some(taken) if taken.direct => {
            FactText::new(format!("{title} is what an installer takes today"), "the index")
        }
        _ => FactText::new(format!("{title} is brought along"), "METADATA"),
    }
}

/// The code of a METADATA requirement that another build does not meet.
fn pin_code(constraint: &Constraint) -> Code {
    let in_family = |package: Package| {
        package.dist_name().is_some_and(|name| companion::family(name).is_some())
    };
    if in_family(constraint.subject.0) && in_family(constraint.package) {
        Code::CompanionMismatch
    } else {
        Code::PinConflict
    }
}

/// The line to point at: that of the subject if a line names it, else that of the other side.
fn blamed(case: &Case<'_>, constraint: &Constraint) -> Option<usize> {
    let direct =
        |package: Package| case.taken(package).filter(|taken| taken.direct).and_then(|t| t.line);
    direct(constraint.subject.0)
        .or_else(|| direct(constraint.package))
        .or_else(|| case.line_of(constraint.subject.0))
}
