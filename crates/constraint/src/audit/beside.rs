//! What lies beside the indexes: pages of links, source archives, a second cuDNN, what is installed later or was lost.

use pep440_rs::Version as Pep440;

use super::around::{of_fact, torch};
use super::finding::{FactText, Finding, Severity};
use super::judge::Case;
use super::pick::{Pick, Wish};
use super::table::Code;
use crate::machine::{Libraries, Platform};
use crate::name::Name;
use crate::package::Package;
use crate::rules::torch::TORCH;
use crate::rules::{cuda_bound, index, label, opens, owner, prebuilt};
use crate::solve::SourceKind;

/// Adds what is said about it.
pub(super) fn judge(case: &mut Case<'_>) {
    let mut findings = Vec::new();
    pages(case, &mut findings);
    compiled_here(case, &mut findings);
    compiled_against_another(case, &mut findings);
    system_libraries(case, &mut findings);
    opened(case, &mut findings);
    alone(case, &mut findings);
    second_cudnn(case, &mut findings);
    installs_itself(case, &mut findings);
    locked_for_all(case, &mut findings);
    lost(case, &mut findings);
    case.findings.extend(findings);
}

/// Pages of links that are made for one torch.
fn pages(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let Some((name, cuda)) = torch(case) else { return };
    let Some(taken) = case.installed.taken.get(&name) else { return };
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
        findings.push(Finding {
            code: Code::CompanionMismatch,
            severity: Severity::Error,
            package: Some(name),
            message: format!(
                "the page {address} has wheels for torch {}{backend}, and torch {release} is installed",
                named.torch
            ),
            line: taken.line,
            facts: vec![
                FactText::new(format!("the address names torch {}{backend}", named.torch), "the file"),
                FactText::new(format!("torch {release} is for CUDA {cuda}"), "the file"),
            ],
            symptom: Some("ImportError: undefined symbol".to_owned()),
            fix: Some("use the page for the torch that is installed".to_owned()),
        });
    }
}

/// Extensions that are compiled during the install, because the index has no wheel of them.
fn compiled_here(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for (name, taken) in &case.installed.taken {
        let is_sdist =
            taken.build.file.as_ref().is_some_and(|file| !file.filename.ends_with(".whl"));
        let Some(fact) = prebuilt::elsewhere(&case.build(*name, taken)).filter(|_| is_sdist) else {
            continue;
        };
        let mut finding = of_fact(&fact, Severity::Warning, fact.text.clone());
        finding.package = Some(*name);
        finding.line = taken.line;
        findings.push(finding);
    }
}

/// Extensions that are compiled against the torch that is there, where the file leaves torch open and something else then
/// takes another one.
fn compiled_against_another(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let Ok(torch) = Name::new(TORCH) else { return };
    let Some(taken) = case.installed.taken.get(&torch).filter(|t| t.direct && !t.pinned) else {
        return;
    };
    let Some(own) = case
        .question
        .lines
        .iter()
        .find(|line| line.requirement.name == torch && !line.bound && line.channels.is_none())
    else {
        return;
    };
    let none = std::collections::BTreeSet::new();
    let wish = Wish {
        name: torch,
        range: own.requirement.range(),
        exact: false,
        prerelease: false,
        source: own.source,
        not: &none,
    };
    let Pick::Build(newest) = case.picker.pick(&wish) else { return };
    let minor = |version: Option<&Pep440>| {
        version.map(|v| v.release().iter().take(2).copied().collect::<Vec<_>>())
    };
    if minor(newest.version.version()) == minor(taken.build.version.version()) {
        return;
    }
    for (name, other) in &case.installed.taken {
        let is_sdist =
            other.build.file.as_ref().is_some_and(|file| !file.filename.ends_with(".whl"));
        if !other.direct || !is_sdist || !prebuilt::is_compiled_against_torch(*name) {
            continue;
        }
        let title = case.title(Package::dist(*name));
        findings.push(Finding {
            code: Code::CompanionMismatch,
            severity: Severity::Error,
            package: Some(*name),
            message: format!(
                "{title} is compiled against the torch that is there: the line of torch gives {}, and in the end it is {}",
                newest.version, taken.build.version
            ),
            line: other.line,
            facts: vec![
                FactText::new(format!("{title} is only there as source"), "the index"),
                FactText::new(
                    format!("something else requires torch {}", taken.build.version),
                    "METADATA",
                ),
            ],
            symptom: Some("ImportError: undefined symbol".to_owned()),
            fix: Some(format!("pin torch=={}, and install it first", taken.build.version)),
        });
    }
}

/// Distributions that open the CUDA of the system, where nothing says that there is one.
fn system_libraries(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let question = case.question;
    let brought = case.installed.taken.keys().any(|name| {
        ["nvidia-cublas", "nvidia-cuda-runtime"]
            .iter()
            .any(|start| name.as_str().starts_with(start))
    });
    let of_system = case.machine.libraries == Libraries::System;
    let no_gpu = question.machine.gpus.as_ref().is_some_and(Vec::is_empty);
    if of_system
        || no_gpu
        || question.image.is_some()
        || question.surroundings.vendor_image.is_some()
        || brought
    {
        return;
    }
    for (name, taken) in &case.installed.taken {
        let build = case.build(*name, taken);
        let Some((fact, extra)) = cuda_bound::system_libraries(&build, case.machine.platform)
        else {
            continue;
        };
        let has_extra = extra.is_some_and(|extra| {
            let metadata = taken.metadata.as_ref();
            metadata.is_some_and(|m| m.provides_extra.iter().any(|given| given == extra))
        });
        let has_gpu = question.machine.gpus.is_some() || !question.unknown_gpus.is_empty();
        let severity = match (has_gpu, name.as_str().ends_with("-gpu")) {
            // Who leaves the extra out may well mean the CPU.
            (true, false) if has_extra => Severity::Warning,
            (true, _) => Severity::Error,
            (false, true) => Severity::Warning,
            // Most people who install it have no GPU.
            (false, false) => Severity::Note,
        };
        if severity == Severity::Note && !taken.direct {
            continue;
        }
        let mut finding =
            of_fact(&fact, severity, format!("{}, and nothing here supplies them", fact.text));
        finding.package = Some(*name);
        finding.line = taken.line;
        finding.fix = Some("install tensorflow[and-cuda] where the release has it, or use an image with these libraries".to_owned());
        findings.push(finding);
    }
}

/// Distributions that open libraries which no wheel brings.
fn opened(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let question = case.question;
    if question.image.is_some() || question.surroundings.vendor_image.is_some() {
        return;
    }
    for (name, taken) in &case.installed.taken {
        let Some(fact) = opens::unsupplied(&case.build(*name, taken), &case.machine) else {
            continue;
        };
        let mut finding = of_fact(&fact, Severity::Warning, fact.text.clone());
        finding.package = Some(*name);
        finding.line = taken.line;
        finding.fix = Some(
            "use an image or a system with these libraries: libraries = \"system\"".to_owned(),
        );
        findings.push(finding);
    }
}

/// Distributions that run on the CPU because the one with their GPU code is not there.
fn alone(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let gpus = case.question.machine.gpus.as_ref().is_some_and(|gpus| !gpus.is_empty());
    if !gpus && case.question.unknown_gpus.is_empty() {
        return;
    }
    let there =
        |name: &str| Name::new(name).is_ok_and(|name| case.installed.taken.contains_key(&name));
    for (name, taken) in &case.installed.taken {
        let Some((fact, fix)) = opens::alone(&case.build(*name, taken), there) else { continue };
        let mut finding = of_fact(&fact, Severity::Warning, fact.text.clone());
        finding.package = Some(*name);
        finding.line = taken.line;
        finding.fix = Some(fix.to_owned());
        findings.push(finding);
    }
}

/// On Windows a build of torch carries its cuDNN, and a wheel of cuDNN beside it is a second one.
fn second_cudnn(case: &Case<'_>, findings: &mut Vec<Finding>) {
    if case.machine.platform != Platform::WindowsX86_64 {
        return;
    }
    let Some((torch, cuda)) = torch(case).filter(|(_, cuda)| cuda.major() > 0) else { return };
    let cudnn =
        case.installed.taken.iter().find(|(name, _)| name.as_str().starts_with("nvidia-cudnn"));
    let asked = || {
        case.question.lines.iter().position(|line| {
            line.requirement.name.as_str().starts_with("nvidia-cudnn") && !line.bound
        })
    };
    let Some(line) = cudnn.map(|(_, taken)| taken.line).or_else(|| asked().map(Some)) else {
        return;
    };
    let title = case.title(Package::dist(torch));
    findings.push(Finding {
        code: Code::CudnnMismatch,
        severity: Severity::Warning,
        package: Some(torch),
        message: format!(
            "{title} for CUDA {cuda} carries cuDNN inside on Windows, and the wheel of cuDNN is a second one: whichever is loaded first is used by both"
        ),
        line,
        facts: vec![FactText::new(
            "torch loads torch/lib, others load site-packages/nvidia/cudnn",
            "PaddlePaddle/Paddle#66947",
        )],
        symptom: Some("OSError: [WinError 127] Error loading cudnn dll".to_owned()),
        fix: Some("remove the wheel of cuDNN, or pin it to the version that torch carries".to_owned()),
    });
}

/// Distributions that install a rival when they run.
fn installs_itself(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for (name, taken) in &case.installed.taken {
        let Some((fact, installs, fix)) = owner::installs(*name) else { continue };
        let rival = owner::rivals(installs)
            .into_iter()
            .find(|rival| *rival != installs && case.installed.taken.contains_key(rival));
        let Some(rival) = rival else { continue };
        let mut finding = of_fact(
            &fact,
            Severity::Warning,
            format!("{} may overwrite {}: {}", case.title(Package::dist(*name)), rival, fact.text),
        );
        finding.package = Some(rival);
        finding.line = taken.line;
        finding.fix = Some(fix.to_owned());
        findings.push(finding);
    }
}

/// A tool that locks one version for all platforms takes the labelled build, which macOS has not.
fn locked_for_all(case: &Case<'_>, findings: &mut Vec<Finding>) {
    if !case.question.surroundings.one_version || case.machine.platform != Platform::MacosArm64 {
        return;
    }
    for (place, line) in case.question.lines.iter().enumerate() {
        let Some(source) = line.source.and_then(|id| case.question.source(id)) else { continue };
        let SourceKind::PyTorch { backend } = &source.kind else { continue };
        let name = line.requirement.name;
        if backend.is_empty()
            || !crate::rules::companion::family(name).is_some_and(|family| family.labelled)
        {
            continue;
        }
        findings.push(Finding {
            code: Code::PlatformUnsupported,
            severity: Severity::Error,
            package: Some(name),
            message: format!(
                "{name} is locked as the +{backend} build of {}, which has no file for macOS",
                source.name
            ),
            line: Some(place),
            facts: vec![
                FactText::new(
                    format!("the files for macOS carry no label; +{backend} sorts above them"),
                    "python-poetry/poetry#7597",
                ),
                FactText::new("one version is locked for all platforms", "Poetry documentation"),
            ],
            symptom: Some(format!(
                "Unable to find installation candidates for {name} (+{backend})"
            )),
            fix: Some("take it from PyPI on macOS, with a marker on each of the two".to_owned()),
        });
    }
}

/// Wheels that an index is known to have lost while torch still pins them: on the index that torch comes from, when it is
/// the only one and could not be read, and on an index that hides PyPI from an installer which asks one index for a name.
fn lost(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let Ok(name) = Name::new(TORCH) else { return };
    let Some(taken) = case.installed.taken.get(&name) else { return };
    let Some(release) = taken.build.version.version().map(|v| v.clone().without_local()) else {
        return;
    };
    let asks_pypi =
        case.question.indexes.iter().any(|id| {
            case.question.source(*id).is_some_and(|source| source.kind == SourceKind::PyPi)
        });
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
        findings.push(Finding {
            code: Code::of(fact.rule),
            severity: Severity::Error,
            package: Some(name),
            message: format!("{title} requires {wheel}=={version}: {}", fact.text),
            line: taken.line,
            facts: vec![FactText::of(&fact)],
            symptom: fact.symptom.clone(),
            fix: Some(match backend {
                Some(_) => "ask PyPI as well: --extra-index-url instead of --index-url".to_owned(),
                None => format!(
                    "leave the index {} out, or name it for its own packages only",
                    source.name
                ),
            }),
        });
    }
}
