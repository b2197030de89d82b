//! Libraries that builds open: what nothing supplies, what is supplied twice, what is found first.

use std::collections::BTreeMap;
use std::ops::Bound;

use super::folder::Objects;
use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding, Target};
use crate::audit::installer::Taken;
use crate::audit::sink::Sink;
use crate::constraint::{Constraint, Force, Reason};
use crate::machine::Libraries;
use crate::name::Name;
use crate::package::Package;
use crate::rules::{Rule, cuda_bound, library, onnxruntime, opens, torch};
use crate::version::{SourceId, SystemVersion, Version};

/// Libraries that METADATA does not ask for and that no wheel brings.
pub(in crate::audit) fn unsupplied(case: &Case<'_>, sink: &mut Sink<'_>) {
    let mut lacking: BTreeMap<Name, Vec<&Constraint>> = BTreeMap::new();
    for constraint in &case.constraints {
        let is_rule =
            matches!(&constraint.reason, Reason::Matrix(fact) if fact.rule == Rule::MissingLibrary);
        let is_there = case.taken(constraint.package).is_some();
        if let Some(name) = constraint.subject.0.dist_name()
            && is_rule
            && !is_there
            && case.taken(constraint.subject.0).is_some()
        {
            lacking.entry(name).or_default().push(constraint);
        }
    }
    let objects = Objects::of(case);
    for (name, missing) in lacking {
        // A rule that goes by names of wheels is not heard where every file is there.
        if !objects.served.contains(&name) {
            let finding = missing_wheels(case, name, &missing);
            finding.into_iter().for_each(|finding| sink.push(finding));
        }
    }
}

/// Whether torch of the same CUDA major version brings its libraries along, in its wheel or by its METADATA. Another CUDA is
/// reported as that.
fn torch_supplies(case: &Case<'_>, cuda_major: u64) -> bool {
    let Some((name, taken)) = case.torch() else { return false };
    let found = torch::accelerator(&case.build(name, taken), case.machine.platform);
    let same = found.is_some_and(|found| !found.is_cpu() && found.cuda.major() == cuda_major);
    let asks = |metadata: &crate::catalog::Metadata| {
        let lines = metadata.requires_dist.iter();
        lines
            .filter_map(|line| case.requirements.get(line).ok())
            .any(|requirement| library::is_library(requirement.name))
    };
    let carries = taken.metadata.as_ref().is_none_or(|metadata| !asks(metadata));
    same && (carries || !case.machine.platform.is_linux())
}

fn missing_wheels(case: &Case<'_>, name: Name, missing: &[&Constraint]) -> Option<Finding> {
    let taken = case.installed.taken.get(&name)?;
    let build = case.build(name, taken);
    let target = onnxruntime::target(&build);
    let cuda_major = match &target {
        Some(target) => Some(target.cuda_major),
        None => opens::cuda_major(&build, &case.machine),
    };
    if cuda_major.is_some_and(|cuda_major| torch_supplies(case, cuda_major)) {
        return None;
    }
    let subject = case.title(Package::dist(name));
    let wheels: Vec<String> = missing.iter().map(|c| c.package.to_string()).collect();
    let wheels = wheels.join(", ");
    let mut finding = Finding::new(
        Code::LibraryMissing,
        format!("{subject} opens libraries that nothing here supplies: {wheels}"),
    )
    .about(name)
    .at(taken.line)
    .on(Target::Libraries)
    .opposing(missing.iter().filter_map(|c| c.package.dist_name()))
    .unless(doubt(case, taken, target.as_ref()))
    .advise(format!("add {wheels}, or torch of the same CUDA major version"));
    finding.facts = missing.iter().map(|c| FactText::of_reason(&subject, &c.reason)).collect();
    finding.symptom = missing.iter().find_map(|constraint| match &constraint.reason {
        Reason::Matrix(fact) => fact.symptom.clone(),
        _ => None,
    });
    Some(finding)
}

/// Where other libraries are listed, the rest may come with the system; and of a wheel from elsewhere, or a release without a
/// row, it is not known for which CUDA it was built. What has no target of its own may find the libraries of the system: only
/// the plain name is asked for.
fn doubt(case: &Case<'_>, taken: &Taken, target: Option<&onnxruntime::Target>) -> Doubt {
    let any = case.installed.taken.keys().any(|name| library::is_library(*name));
    let assumed = target.is_none_or(|target| target.assumed);
    if any || assumed || taken.build.version.source() == SourceId::MAX {
        Doubt::Elsewhere
    } else {
        Doubt::None
    }
}

/// Distributions that open the CUDA of the system, where nothing says that there is one.
pub(in crate::audit) fn of_the_system(case: &Case<'_>, sink: &mut Sink<'_>) {
    let question = case.question;
    if in_an_image(case)
        || case.machine.libraries == Libraries::System
        || question.machine.gpus.as_ref().is_some_and(Vec::is_empty)
        || case.has_layer(Package::Cuda)
    {
        return;
    }
    for (name, taken) in &case.installed.taken {
        let build = case.build(*name, taken);
        let found = cuda_bound::system_libraries(&build, case.machine.platform);
        let Some((fact, extra)) = found else { continue };
        // Most people who install the plain one have no GPU; whoever asks for the other one has.
        let for_gpus = name.as_str().ends_with("-gpu");
        if !for_gpus && !question.wants_gpu() && !taken.direct {
            continue;
        }
        let has_extra = extra.is_some_and(|extra| {
            let metadata = taken.metadata.as_ref();
            metadata.is_some_and(|m| m.provides_extra.iter().any(|given| given == extra))
        });
        let doubt = match (for_gpus, has_extra && question.wants_gpu()) {
            (true, _) => Doubt::HasGpu,
            // Who leaves the extra out may well mean the CPU.
            (false, true) => Doubt::Elsewhere,
            (false, false) => Doubt::NeedsNoGpu,
        };
        let message = format!("{}, and nothing here supplies them", fact.text);
        let finding = Finding::of_fact(&fact, message)
            .about(*name)
            .at(taken.line)
            .unless(doubt)
            .advise(format!(
                "install {}[and-cuda] where the release has it, or use an image with these libraries",
                name.as_str().trim_end_matches("-gpu")
            ));
        sink.push(finding);
    }
}

/// Whether an image may have libraries beside those that wheels bring.
fn in_an_image(case: &Case<'_>) -> bool {
    case.question.image.is_some() || case.question.surroundings.vendor_image.is_some()
}

/// Distributions that open libraries by names that no wheel has.
pub(in crate::audit) fn opened(case: &Case<'_>, sink: &mut Sink<'_>) {
    if in_an_image(case) {
        return;
    }
    for (name, taken) in &case.installed.taken {
        let found = opens::unsupplied(&case.build(*name, taken), &case.machine);
        let Some(fact) = found else { continue };
        let finding = Finding::of_fact(&fact, fact.text.clone()).about(*name).at(taken.line);
        sink.push(
            finding
                .unless(Doubt::Elsewhere)
                .advise("use an image or a system with these libraries: libraries = \"system\""),
        );
    }
}

/// Distributions that run on the CPU because the one with their GPU code is not there.
pub(in crate::audit) fn alone(case: &Case<'_>, sink: &mut Sink<'_>) {
    let gpus = case.question.machine.gpus.as_ref().is_some_and(|gpus| !gpus.is_empty());
    if !gpus && case.question.unknown_gpus.is_empty() {
        return;
    }
    let there = |name: Name| case.installed.taken.contains_key(&name);
    for (name, taken) in &case.installed.taken {
        let Some((fact, fix)) = opens::alone(&case.build(*name, taken), there) else { continue };
        let finding = Finding::of_fact(&fact, fact.text.clone()).about(*name).at(taken.line);
        sink.push(finding.unless(Doubt::Elsewhere).advise(fix));
    }
}

/// A cuDNN that a build needs, in an image whose flavour has none.
pub(in crate::audit) fn of_the_image(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some(found) = &case.question.image else { return };
    if case.machine.libraries != Libraries::System
        || found.cudnn.is_some()
        || found.flavour.contains("cudnn")
        || case.has_layer(Package::Cudnn)
    {
        return;
    }
    for constraint in &case.constraints {
        let (Package::Cudnn, Force::Requires, Version::Dist(_)) =
            (constraint.package, constraint.force, &constraint.subject.1)
        else {
            continue;
        };
        let subject = case.title(constraint.subject.0);
        let message =
            format!("{subject} needs cuDNN, and the image {} has none", found.reference());
        let mut finding = Finding::new(Code::LibraryMissing, message)
            .at(case.line_of(constraint.subject.0))
            .because(FactText::of_reason(&subject, &constraint.reason))
            .because(FactText::new(
                format!("the flavour {} has no cuDNN", found.flavour),
                "tags of nvidia/cuda",
            ))
            .on(Target::Machine(Package::Cudnn))
            .advise("take the cudnn flavour of the image");
        finding.package = constraint.subject.0.dist_name();
        sink.push(finding);
    }
}

/// Where a build of torch carries its cuDNN inside, a wheel of cuDNN beside it is a second one.
pub(in crate::audit) fn second_cudnn(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some(row) = library::second_cudnn(case.machine.platform) else { return };
    let Some((torch, cuda)) = case.accelerator().filter(|(_, cuda)| cuda.major() > 0) else {
        return;
    };
    let installed = case.brings(Package::Cudnn).next().map(|(name, taken)| (name, taken.line));
    let asked = || {
        let mut lines = case.question.lines.iter().enumerate();
        let is_cudnn = |name| library::brings(name) == Some(Package::Cudnn);
        lines
            .find(|(_, line)| !line.bound && is_cudnn(line.requirement.name))
            .map(|(place, line)| (line.requirement.name, Some(place)))
    };
    let Some((cudnn, line)) = installed.or_else(asked) else { return };
    let title = case.title(Package::dist(torch));
    let message = format!(
        "{title} for CUDA {cuda} carries cuDNN inside on {}, and {cudnn} is a second one: whichever is loaded first is used by both",
        case.machine.platform
    );
    let finding = Finding::new(Code::CudnnMismatch, message)
        .about(torch)
        .at(line)
        .opposing([cudnn])
        .unless(Doubt::Elsewhere)
        .because(FactText::row(&row.text, &row.source))
        .otherwise(row.symptom.clone())
        .advise(row.fix.clone());
    sink.push(finding);
}

/// Folders of libraries that go before those that wheels bring.
pub(in crate::audit) fn search_path(case: &Case<'_>, sink: &mut Sink<'_>) {
    for folder in &case.question.surroundings.library_path {
        let fact = FactText::new(
            format!("LD_LIBRARY_PATH has {folder}, which is searched before the wheels"),
            "the file",
        );
        if let Some(found) = version_after(folder, "cudnn") {
            older_cudnn(case, &found, &fact, sink);
        } else if let Some(found) = version_after(folder, "cuda") {
            older_cuda(case, &found, fact, sink);
        }
    }
}

fn older_cudnn(case: &Case<'_>, found: &SystemVersion, fact: &FactText, sink: &mut Sink<'_>) {
    let row = library::search_order();
    for constraint in &case.constraints {
        if constraint.package != Package::Cudnn || constraint.force != Force::Requires {
            continue;
        }
        let low = constraint.range.iter().find_map(|(low, _)| match low {
            Bound::Included(Version::System(low)) => Some(low.clone()),
            _ => None,
        });
        let fits = |low: &SystemVersion| {
            low.major() == found.major() && low.major_minor() <= found.major_minor()
        };
        let Some(low) = low.filter(|low| !fits(low)) else { continue };
        let subject = case.title(constraint.subject.0);
        let message = format!(
            "{subject} is built with cuDNN {low}, and LD_LIBRARY_PATH puts cuDNN {found} before it"
        );
        let mut finding = Finding::new(Code::CudnnMismatch, message)
            .at(case.line_of(constraint.subject.0))
            .because(FactText::of_reason(&subject, &constraint.reason))
            .because(fact.clone())
            .on(Target::Shared(Package::Cudnn))
            .otherwise(row.cudnn_symptom.clone())
            .advise("unset LD_LIBRARY_PATH for this environment");
        finding.package = constraint.subject.0.dist_name();
        sink.push(finding);
    }
}

fn older_cuda(case: &Case<'_>, found: &SystemVersion, fact: FactText, sink: &mut Sink<'_>) {
    let Some((name, cuda)) = case.accelerator() else { return };
    if found.major() != cuda.major() || found.major_minor() >= cuda.major_minor() {
        return;
    }
    let row = library::search_order();
    let package = Package::dist(name);
    let message = format!(
        "{} brings CUDA {cuda}, and LD_LIBRARY_PATH puts libraries of CUDA {found} with the same names before it",
        case.title(package)
    );
    let finding = Finding::new(Code::LibraryMissing, message)
        .about(name)
        .at(case.line_of(package))
        .unless(Doubt::Elsewhere)
        .because(fact)
        .because(FactText::row(&row.text, &row.source))
        .otherwise(row.cuda_symptom.clone())
        .advise("unset LD_LIBRARY_PATH for this environment");
    sink.push(finding);
}

/// The version in `/usr/local/cudnn-8.2/lib`.
fn version_after(folder: &str, word: &str) -> Option<SystemVersion> {
    let lower = folder.to_ascii_lowercase();
    lower.match_indices(word).find_map(|(at, _)| {
        let rest = lower.get(at + word.len()..)?.trim_start_matches(['-', '_', '/', 'v']);
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number = rest.get(..end)?.trim_end_matches('.');
        number.contains('.').then(|| number.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_tell_versions() {
        let read = |folder, word| version_after(folder, word).map(|v| v.to_string());
        assert_eq!(read("/usr/local/cudnn-8.2/lib", "cudnn").as_deref(), Some("8.2"));
        assert_eq!(read("/opt/cudnn_v8.9.7/lib64", "cudnn").as_deref(), Some("8.9.7"));
        assert_eq!(read("/usr/local/cuda-11.3/lib64", "cuda").as_deref(), Some("11.3"));
        assert_eq!(read("/usr/local/cuda/lib64", "cuda"), None);
        assert_eq!(read("/usr/lib/wsl/lib", "cuda"), None);
    }
}
