//! Where builds come from: indexes that are not used, that lack something, that do not answer.

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{FactText, Finding};
use crate::audit::sink::Sink;
use crate::machine::Platform;
use crate::package::Package;
use crate::rules::torch::TORCH;
use crate::rules::{companion, index, installer, label, onnxruntime, torch};
use crate::solve::{Source, SourceKind};

/// An index that is added for one accelerator, while the line takes the build for another one from elsewhere.
pub(in crate::audit) fn confused(case: &Case<'_>, sink: &mut Sink<'_>) {
    for id in &case.question.extra {
        let Some(source) = case.question.source(*id) else { continue };
        for (name, taken) in &case.installed.taken {
            if taken.build.version.source() == *id || !taken.direct || taken.pinned {
                continue;
            }
            let Some((wanted, has)) = accelerators(case, *name, source) else { continue };
            let message = format!(
                "{name} {} is taken from elsewhere and is a build for {has}; the index {} is not used for it",
                taken.build.version, source.name
            );
            let finding = Finding::new(Code::IndexConfusion, message)
                .about(*name)
                .at(taken.line)
                .because(FactText::new(format!("the file adds the index of {wanted}"), "the file"))
                .because(FactText::new(
                    "pip takes the highest version of all indexes",
                    "pip documentation, --extra-index-url",
                ))
                .advise(format!(
                    "pin a version with its label, or make {} the only index",
                    source.name
                ));
            sink.push(finding);
        }
    }
}

/// The accelerator that an index is for, and the other one that a build is for.
fn accelerators(
    case: &Case<'_>,
    name: crate::name::Name,
    source: &Source,
) -> Option<(String, String)> {
    let build = case.build(name, case.installed.taken.get(&name)?);
    match &source.kind {
        SourceKind::PyTorch { backend } if !backend.is_empty() && name.as_str() == TORCH => {
            let has = torch::accelerator(&build, case.machine.platform)?;
            let has = torch::backend_name(&has.cuda);
            (has != *backend).then(|| (backend.clone(), has))
        }
        SourceKind::OrtFeed { name: feed } if name.as_str() == onnxruntime::GPU => {
            let target = onnxruntime::target(&build)?;
            let other = !feed.contains(&format!("cuda-{}", target.cuda_major));
            other.then(|| (feed.clone(), format!("CUDA {}", target.cuda_major)))
        }
        _ => None,
    }
}

/// Wheels that an index is known to have lost while torch still pins them: on the index that torch comes from, when it is
/// the only one and could not be read, and on an index that hides PyPI from an installer which asks one index for a name.
pub(in crate::audit) fn lost_wheels(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some((name, taken)) = case.torch() else { return };
    let Some(release) = taken.build.version.version().map(|v| v.clone().without_local()) else {
        return;
    };
    let is_pypi = |source: &Source| source.kind == SourceKind::PyPi;
    let asks_pypi =
        case.question.indexes.iter().any(|id| case.question.source(*id).is_some_and(is_pypi));
    for id in &case.question.indexes {
        let Some(source) = case.question.source(*id) else { continue };
        let backend = case.question.backend(*id);
        let concerned = match backend {
            Some(_) => {
                !asks_pypi && taken.build.version.source() == *id && case.picker.is_unread(*id)
            }
            None => asks_pypi,
        };
        let Some((wheel, version, fact)) =
            index::lost(&source.name, backend, &release).filter(|_| concerned)
        else {
            continue;
        };
        let title = case.title(Package::dist(name));
        let message = format!("{title} requires {wheel}=={version}: {}", fact.text);
        let finding = Finding::of_fact(&fact, message).about(name).at(taken.line);
        sink.push(finding.advise(match backend {
            Some(_) => "ask PyPI as well: --extra-index-url instead of --index-url".to_owned(),
            None => {
                format!("leave the index {} out, or name it for its own packages only", source.name)
            }
        }));
    }
}

/// Pages of links that are made for one torch.
pub(in crate::audit) fn pages_of_links(case: &Case<'_>, sink: &mut Sink<'_>) {
    let (Some((name, cuda)), Some((_, taken))) = (case.accelerator(), case.torch()) else { return };
    let Some(release) = taken.build.version.version() else { return };
    for address in &case.question.surroundings.find_links {
        let Some(named) = label::named_torch(&address.replace("%2B", "+").replace("%2b", "+"))
        else {
            continue;
        };
        let same_minor =
            named.torch.release().iter().zip(release.release()).take(2).all(|(a, b)| a == b);
        let same_cuda = named.cuda_major().is_none_or(|major| major == cuda.major());
        if same_minor && same_cuda {
            continue;
        }
        let backend = named.backend.map_or_else(String::new, |backend| format!(" and {backend}"));
        let message = format!(
            "the page {address} has wheels for {name} {}{backend}, and {name} {release} is installed",
            named.torch
        );
        let finding = Finding::new(Code::CompanionMismatch, message)
            .about(name)
            .at(taken.line)
            .because(FactText::new(
                format!("the address names {name} {}{backend}", named.torch),
                "the file",
            ))
            .because(FactText::new(format!("{name} {release} is for CUDA {cuda}"), "the file"))
            .otherwise("ImportError: undefined symbol")
            .advise("use the page for the torch that is installed");
        sink.push(finding);
    }
}

/// A tool that locks one version for all platforms takes the labelled build, which macOS has not.
pub(in crate::audit) fn one_version_for_all(case: &Case<'_>, sink: &mut Sink<'_>) {
    if !case.question.surroundings.one_version || case.machine.platform != Platform::MacosArm64 {
        return;
    }
    let row = installer::one_version();
    for (place, line) in case.question.lines.iter().enumerate() {
        let Some(source) = line.source.and_then(|id| case.question.source(id)) else { continue };
        let SourceKind::PyTorch { backend } = &source.kind else { continue };
        let name = line.requirement.name;
        if backend.is_empty() || !companion::family(name).is_some_and(|family| family.labelled) {
            continue;
        }
        let message = format!(
            "{name} is locked as the +{backend} build of {}, which has no file for macOS",
            source.name
        );
        let finding = Finding::new(Code::PlatformUnsupported, message)
            .about(name)
            .at(Some(place))
            .because(FactText::row(
                &format!("the files for macOS carry no label; +{backend} sorts above them"),
                &row.source,
            ))
            .because(FactText::new(row.text.clone(), row.tool.clone()))
            .otherwise(format!("Unable to find installation candidates for {name} (+{backend})"))
            .advise("take it from PyPI on macOS, with a marker on each of the two");
        sink.push(finding);
    }
}

/// Lines that are to come from an index which the file does not define.
pub(in crate::audit) fn undefined(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (place, line) in case.question.lines.iter().enumerate() {
        let Some(index) = &line.undefined_index else { continue };
        let name = line.requirement.name;
        let message =
            format!("{name} is to come from the index '{index}', which the file does not define");
        let finding = Finding::new(Code::IndexMissing, message).about(name).at(Some(place));
        sink.push(finding.advise(format!("add the index with name = \"{index}\" and its url")));
    }
}

/// Indexes of the file that did not answer.
pub(in crate::audit) fn unreachable(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (id, error) in case.picker.silent() {
        let Some(source) = case.question.source(id) else { continue };
        if !case.question.indexes.contains(&id) {
            continue;
        }
        let message = format!(
            "the index {} could not be read: what is on it was judged by what is known about it",
            source.name
        );
        let finding = Finding::new(Code::IndexUnreachable, message)
            .because(FactText::new(error, "the network"))
            .advise("run again when it can be reached");
        sink.push(finding);
    }
}
