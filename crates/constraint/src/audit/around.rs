//! What surrounds the lines: pip itself, folders of libraries, packages of the system, images.

use super::finding::{FactText, Finding, Severity};
use super::install::{Installed, Taken};
use super::judge::Case;
use super::pick::{Picked, Picker};
use super::table::Code;
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::Brand;
use crate::name::Name;
use crate::package::Package;
use crate::requirement::{Mode, Parts};
use crate::rules::torch::{TORCH, accelerator};
use crate::rules::{driver, image, installer, prebuilt};
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

pub(super) fn of_fact(fact: &Fact, severity: Severity, message: String) -> Finding {
    Finding {
        code: Code::of(fact.rule),
        severity,
        package: None,
        message,
        line: None,
        facts: vec![FactText::of(fact)],
        symptom: fact.symptom.clone(),
        fix: None,
    }
}

pub(super) fn torch(case: &Case<'_>) -> Option<(Name, SystemVersion)> {
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
        let mut lines = metadata.requires_dist.iter();
        let refused = lines.find_map(|line| Some((line, Parts::read(line, Mode::Strict).err()?)));
        let Some((line, error)) = refused else { continue };
        let why = error.fault();
        let title = case.title(Package::dist(*name));
        findings.push(Finding {
            code: Code::Syntax,
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
                    code: Code::CudnnMismatch,
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
                code: Code::LibraryMissing,
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
                code: Code::ImageDriver,
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
        code: Code::ImageMismatch,
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
