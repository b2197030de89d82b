//! What surrounds the lines: pip itself, folders of libraries, packages of the system, images of others, pages of links.

use super::code::code_of_rule;
use super::finding::{FactText, Finding, Severity};
use super::install::{Installed, Taken};
use super::judge::Case;
use super::pick::{Picked, Picker};
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::{Brand, Platform};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::refused;
use crate::rules::torch::{TORCH, accelerator};
use crate::rules::{cuda_bound, driver, image, index, installer, label, owner, prebuilt};
use crate::solve::SourceKind;
use crate::version::{DistVersion, SourceId, SystemVersion, Version};

/// Adds what is said about everything around the lines.
pub(super) fn judge(case: &mut Case<'_>) {
    let mut findings = Vec::new();
    old_pip(case, &mut findings);
    refused_metadata(case, &mut findings);
    library_path(case, &mut findings);
    system_packages(case, &mut findings);
    vendor_image(case, &mut findings);
    unused_cuda(case, &mut findings);
    pages(case, &mut findings);
    compiled_here(case, &mut findings);
    system_libraries(case, &mut findings);
    second_cudnn(case, &mut findings);
    installs_itself(case, &mut findings);
    locked_for_all(case, &mut findings);
    lost(case, &mut findings);
    case.findings.extend(findings);
}

/// The torch that an image holds, unless the file installs another one.
pub(super) fn torch_of_image(picker: &Picker<'_>, installed: &mut Installed) {
    let image = picker.question.surroundings.vendor_image.as_ref();
    let (Some(version), Ok(name)) = (image.and_then(|image| image.torch.clone()), Name::new(TORCH))
    else {
        return;
    };
    let build = Picked {
        version: DistVersion::new(version, SourceId::MAX),
        file: None,
        yanked: None,
        unfit: None,
    };
    installed.taken.entry(name).or_insert_with(|| Taken {
        build,
        metadata: None,
        extras: std::collections::BTreeSet::new(),
        line: None,
        direct: false,
        pinned: true,
        expands: false,
    });
}

fn of_fact(fact: &Fact, severity: Severity, message: String) -> Finding {
    Finding {
        code: code_of_rule(fact.rule),
        severity,
        package: None,
        message,
        line: None,
        facts: vec![FactText::of(fact)],
        symptom: fact.symptom.clone(),
        fix: None,
    }
}

fn torch(case: &Case<'_>) -> Option<(Name, SystemVersion)> {
    let name = Name::new(TORCH).ok()?;
    let taken = case.installed.taken.get(&name)?;
    let found = accelerator(&case.build(name, taken), case.machine.platform)?;
    Some((name, found.cuda))
}

/// Wheels whose platform tag the pip at hand does not know.
fn old_pip(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let known = case.question.surroundings.pip.as_ref();
    let pip = known
        .map(|(version, brought_by)| installer::Pip {
            version: version.clone(),
            brought_by: brought_by.clone(),
        })
        .or_else(|| {
            installer::of_python(&case.question.target.python)
                .filter(|_| case.question.python_known)
        });
    let Some(pip) = pip else { return };
    // A pip that is known to be there refuses; one that a Python came with may have been updated since.
    let severity = if known.is_some() { Severity::Error } else { Severity::Warning };
    for (name, taken) in &case.installed.taken {
        let of_line = || {
            let line = case.question.lines.get(taken.line?)?;
            line.wheel.as_deref().filter(|_| line.requirement.name == *name)
        };
        let index_file = taken.build.file.as_ref().map(|file| file.filename.as_str());
        let Some(file) = index_file.or_else(of_line) else { continue };
        let Some(fact) = installer::refuses(&pip, file) else { continue };
        let mut finding = of_fact(&fact, severity, fact.text.clone());
        finding.package = Some(*name);
        finding.line = taken.line;
        finding.fix = Some("run `python -m pip install --upgrade pip` first".to_owned());
        findings.push(finding);
    }
}

/// Pinned releases that pip passes over, because a line of their METADATA is none that it accepts.
fn refused_metadata(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for (name, taken) in &case.installed.taken {
        let Some(metadata) = taken.metadata.as_ref().filter(|_| taken.pinned && taken.direct)
        else {
            continue;
        };
        let line = metadata.requires_dist.iter().find_map(|line| Some((line, refused(line)?)));
        let Some((line, why)) = line else { continue };
        let title = case.title(Package::dist(*name));
        findings.push(Finding {
            code: "syntax",
            severity: Severity::Error,
            package: Some(*name),
            message: format!("pip from 24.1 on refuses {title}: it requires '{line}', and {why}"),
            line: taken.line,
            facts: vec![
                FactText::new(format!("{title} requires {line}"), format!("METADATA of {title}")),
                FactText::new(
                    "metadata that PEP 440 does not allow is refused",
                    "pip changelog 24.1",
                ),
            ],
            symptom: Some(format!(
                "WARNING: Ignoring version {} of {name} since it has invalid metadata",
                taken.build.version
            )),
            fix: Some("take a newer release, or pip<24.1".to_owned()),
        });
    }
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

/// Folders of libraries go before those that wheels bring.
fn library_path(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for folder in &case.question.surroundings.library_path {
        let fact = || {
            FactText::new(
                format!("LD_LIBRARY_PATH has {folder}, which is searched before the wheels"),
                "the file",
            )
        };
        if let Some(found) = version_after(folder, "cudnn") {
            let wants = |c: &&Constraint| c.package == Package::Cudnn && c.force == Force::Requires;
            let lowest = |constraint: &Constraint| {
                constraint.range.iter().find_map(|(low, _)| match low {
                    std::ops::Bound::Included(Version::System(low)) => Some(low.clone()),
                    _ => None,
                })
            };
            let older = case.constraints.iter().filter(wants).find_map(|constraint| {
                let low = lowest(constraint)?;
                let fits = low.major() == found.major() && low.major_minor() <= found.major_minor();
                (!fits).then_some((constraint, low))
            });
            if let Some((constraint, low)) = older {
                let subject = case.title(constraint.subject.0);
                findings.push(Finding {
                    code: "cudnn-mismatch",
                    severity: Severity::Error,
                    package: constraint.subject.0.dist_name(),
                    message: format!(
                        "{subject} is built with cuDNN {low}, and LD_LIBRARY_PATH puts cuDNN {found} before it"
                    ),
                    line: case.line_of(constraint.subject.0),
                    facts: vec![FactText::of_reason(&subject, &constraint.reason), fact()],
                    symptom: Some("RuntimeError: cuDNN version incompatibility".to_owned()),
                    fix: Some("unset LD_LIBRARY_PATH for this environment".to_owned()),
                });
            }
        } else if let (Some(found), Some((name, cuda))) =
            (version_after(folder, "cuda"), torch(case))
            && found.major() == cuda.major()
            && found.major_minor() < cuda.major_minor()
        {
            let subject = case.title(Package::dist(name));
            findings.push(Finding {
                code: "library-missing",
                severity: Severity::Warning,
                package: Some(name),
                message: format!(
                    "{subject} brings CUDA {cuda}, and LD_LIBRARY_PATH puts libraries of CUDA {found} with the same names before it"
                ),
                line: case.line_of(Package::dist(name)),
                facts: vec![
                    fact(),
                    FactText::new("the dynamic loader takes the first library of a name", "pytorch/pytorch#103832"),
                ],
                symptom: Some("undefined symbol: cublasLtGetStatusString, version libcublasLt.so.11".to_owned()),
                fix: Some("unset LD_LIBRARY_PATH for this environment".to_owned()),
            });
        }
    }
}

/// Packages that bring a Linux driver, where the host brings it: in WSL and in containers.
fn system_packages(case: &Case<'_>, findings: &mut Vec<Finding>) {
    // A script may well be meant for the machine itself.
    if case.question.surroundings.shell {
        return;
    }
    for package in &case.question.surroundings.system_packages {
        let Some(fact) = driver::package_with_driver(package) else { continue };
        let mut finding = of_fact(
            &fact,
            Severity::Warning,
            format!("the package {package} brings a driver of its own: {}", fact.text),
        );
        finding.fix = Some(
            "install the toolkit alone (cuda-toolkit-X-Y), or none: wheels bring their libraries"
                .to_owned(),
        );
        findings.push(finding);
    }
}

fn vendor_image(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let Some(found) = &case.question.surroundings.vendor_image else { return };
    let machine = &case.question.machine;
    if let (Some(driver), Some(cuda)) = (&machine.driver, found.as_cuda_image()) {
        let full = driver::full_support_driver(&cuda.cuda, machine.platform);
        let gpu = machine.gpus.iter().flatten().next();
        let forward = gpu.is_some_and(|gpu| matches!(gpu.brand, Brand::DataCenter | Brand::Jetson));
        let listed = gpu.and_then(|gpu| image::image_driver(&cuda, gpu, machine.platform));
        let refused = listed.as_ref().is_some_and(|limit| !limit.allows(driver));
        // An image with torch inside has no forward-compatibility package: the CUDA rules judge it.
        let older = full.filter(|full| driver < full && found.torch.is_none());
        if let Some(full) = older
            && (refused || !forward)
        {
            findings.push(Finding {
                code: "image-driver",
                severity: Severity::Error,
                package: None,
                message: format!(
                    "the image {} holds CUDA {} and the forward-compatibility libraries of its base: on driver {driver} they only work with data-center GPUs",
                    found.reference, cuda.cuda
                ),
                line: None,
                facts: vec![
                    FactText::new(
                        format!("CUDA {} needs driver {full} without them", cuda.cuda),
                        "NVIDIA CUDA compatibility guide",
                    ),
                    FactText::new(format!("the machine has driver {driver}"), "the machine"),
                ],
                symptom: Some("Error 804: forward compatibility was attempted on non supported HW".to_owned()),
                fix: Some(format!("use driver {full} or newer, or an image of an older CUDA")),
            });
        }
    }
    let Some(fact) = &found.own_torch else { return };
    for (name, taken) in &case.installed.taken {
        if !taken.direct || !prebuilt::is_compiled_against_torch(*name) {
            continue;
        }
        let title = case.title(Package::dist(*name));
        let mut finding = of_fact(
            fact,
            Severity::Error,
            format!(
                "{title} is made for a release of torch, and {} holds none: {}",
                found.reference, fact.text
            ),
        );
        finding.package = Some(*name);
        finding.line = taken.line;
        finding.fix = Some(format!(
            "build {name} from source in this image, or start from an image without torch"
        ));
        findings.push(finding);
    }
}

/// A CUDA in the image that torch does not use, because it brings another one.
fn unused_cuda(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let (Some(found), Some((name, cuda))) = (&case.question.image, torch(case)) else { return };
    if cuda.major() == 0 || cuda.major() == found.cuda.major() {
        return;
    }
    let title = case.title(Package::dist(name));
    findings.push(Finding {
        code: "image-mismatch",
        severity: Severity::Warning,
        package: Some(name),
        message: format!(
            "{title} brings CUDA {cuda}, and the image {} holds CUDA {}: one of them is not what is meant",
            found.reference(), found.cuda
        ),
        line: case.line_of(Package::dist(name)),
        facts: vec![
            FactText::new(format!("{title} is built for CUDA {cuda}"), "builds of torch"),
            FactText::new(format!("the image holds CUDA {}", found.cuda), "tags of nvidia/cuda"),
        ],
        symptom: None,
        fix: Some(format!("take the build of torch for CUDA {}, or an image without CUDA", found.cuda.major())),
    });
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
            code: "companion-mismatch",
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

/// Distributions that open the CUDA of the system, where nothing says that there is one.
fn system_libraries(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let question = case.question;
    let brought = case.installed.taken.keys().any(|name| {
        ["nvidia-cublas", "nvidia-cuda-runtime"]
            .iter()
            .any(|start| name.as_str().starts_with(start))
    });
    if question.image.is_some() || question.surroundings.vendor_image.is_some() || brought {
        return;
    }
    for (name, taken) in &case.installed.taken {
        let build = case.build(*name, taken);
        let Some(fact) = cuda_bound::system_libraries(&build, case.machine.platform) else {
            continue;
        };
        let has_gpu = question.machine.gpus.is_some() || !question.unknown_gpus.is_empty();
        let severity = match (has_gpu, name.as_str().ends_with("-gpu")) {
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
        code: "cudnn-mismatch",
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
            code: "platform-unsupported",
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
            code: code_of_rule(fact.rule),
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
