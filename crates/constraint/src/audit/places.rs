//! Where builds come from: wheels that lines name, indexes that are not used, images, yanked and open lines.

use super::absent::misfit_of_wheel;
use super::finding::{FactText, Finding, Severity};
use super::install::Installed;
use super::judge::{Case, named};
use super::pick::Picker;
use super::table::Code;
use crate::constraint::Force;
use crate::machine::Brand;
use crate::name::Name;
use crate::package::Package;
use crate::rules::{companion, image, onnxruntime, torch};
use crate::solve::SourceKind;
use crate::version::Version;
use crate::wheel::{Compatibility, WheelName};

/// Wheels that lines name by URL or path: judged by their names, then taken as they are.
pub(super) fn named_wheels(
    picker: &Picker<'_>,
    installed: &mut Installed,
    findings: &mut Vec<Finding>,
) {
    for (place, line) in picker.question.lines.iter().enumerate() {
        let Some(file) = &line.wheel else { continue };
        let Ok(wheel) = WheelName::parse(file) else { continue };
        let tags = picker.tags().with_plain_linux(true);
        if let Compatibility::Incompatible(why) = tags.compatibility(&wheel) {
            let Some((code, message)) = misfit_of_wheel(picker.question.python_known, file, &why)
            else {
                continue;
            };
            findings.push(Finding {
                code,
                severity: Severity::Error,
                package: Some(wheel.name),
                message,
                line: Some(place),
                facts: vec![FactText::new(format!("{file}: {why}"), "the file name of the wheel")],
                symptom: Some(format!("ERROR: {file} is not a supported wheel on this platform.")),
                fix: Some("take the wheel for this Python and platform".to_owned()),
            });
            continue;
        }
        installed.taken.entry(wheel.name).or_insert_with(|| named(&wheel, place));
    }
}

/// Adds what is said about indexes, images and the lines themselves.
pub(super) fn judge(case: &mut Case<'_>) {
    let mut findings = Vec::new();
    confused(case, &mut findings);
    container(case, &mut findings);
    for (name, taken) in &case.installed.taken {
        if let Some(reason) = &taken.build.yanked {
            let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
            findings.push(Finding {
                code: Code::Yanked,
                severity: Severity::Warning,
                package: Some(*name),
                message: format!(
                    "{name} {} was withdrawn by its author{because}",
                    taken.build.version
                ),
                line: taken.line,
                facts: vec![FactText::new(
                    format!("{name} {} is yanked{because}", taken.build.version),
                    "the index page",
                )],
                symptom: None,
                fix: None,
            });
        }
        if taken.direct && !taken.pinned && !case.question.closed {
            findings.push(Finding {
                code: Code::Unpinned,
                severity: Severity::Note,
                package: Some(*name),
                message: format!("{name} is not pinned; today it is {}", taken.build.version),
                line: taken.line,
                facts: vec![FactText::new(
                    format!("{} is the version that fits today", taken.build.version),
                    "the index",
                )],
                symptom: None,
                fix: Some(format!("{name}=={}", taken.build.version)),
            });
        }
    }
    case.findings.extend(findings);
}

/// An index that is added for one accelerator, while the line takes the build for another one from elsewhere.
fn confused(case: &Case<'_>, findings: &mut Vec<Finding>) {
    for id in &case.question.extra {
        let Some(source) = case.question.source(*id) else { continue };
        for (name, taken) in &case.installed.taken {
            if taken.build.version.source() == *id || !taken.direct || taken.pinned {
                continue;
            }
            let build = case.build(*name, taken);
            let (wanted, has) = match &source.kind {
                SourceKind::PyTorch { backend }
                    if companion::family(*name).is_some_and(|f| f.labelled) =>
                {
                    let Some(accelerator) = torch::accelerator(&build, case.machine.platform)
                    else {
                        continue;
                    };
                    if name.as_str() != torch::TORCH || backend.is_empty() {
                        continue;
                    }
                    let has = torch::backend_name(&accelerator.cuda);
                    if has == *backend {
                        continue;
                    }
                    (backend.clone(), has)
                }
                SourceKind::OrtFeed { name: feed } if name.as_str() == onnxruntime::GPU => {
                    let Some(target) = onnxruntime::target(&build) else { continue };
                    let has = format!("CUDA {}", target.cuda_major);
                    if feed.contains(&format!("cuda-{}", target.cuda_major)) {
                        continue;
                    }
                    (feed.clone(), has)
                }
                _ => continue,
            };
            findings.push(Finding {
                code: Code::IndexConfusion,
                severity: Severity::Error,
                package: Some(*name),
                message: format!(
                    "{name} {} is taken from elsewhere and is a build for {has}; the index {} is not used for it",
                    taken.build.version, source.name
                ),
                line: taken.line,
                facts: vec![
                    FactText::new(format!("the file adds the index of {wanted}"), "the file"),
                    FactText::new(
                        "pip takes the highest version of all indexes",
                        "pip documentation, --extra-index-url",
                    ),
                ],
                symptom: None,
                fix: Some(format!("pin a version with its label, or make {} the only index", source.name)),
            });
        }
    }
}

/// The image on the driver and the GPUs, and the libraries that its flavour lacks.
fn container(case: &Case<'_>, findings: &mut Vec<Finding>) {
    let Some(found) = &case.question.image else { return };
    let machine = &case.question.machine;
    if let Some(driver) = &machine.driver {
        let gpu = machine.gpus.iter().flatten().next().cloned().unwrap_or(crate::machine::Gpu {
            name: "a GPU".to_owned(),
            capability: crate::version::SystemVersion::new(0, 0),
            brand: Brand::Unknown,
        });
        if let Some(limit) = image::image_driver(found, &gpu, machine.platform)
            && !limit.allows(driver)
        {
            findings.push(Finding {
                code: Code::of(limit.fact.rule),
                severity: if machine.gpus.is_some() || !case.question.unknown_gpus.is_empty() {
                    Severity::Error
                } else {
                    Severity::Warning
                },
                package: None,
                message: format!(
                    "the image {} does not start on driver {driver}: {}",
                    found.reference(),
                    limit.fact.text
                ),
                line: None,
                facts: vec![
                    FactText::of(&limit.fact),
                    FactText::new(format!("the machine has driver {driver}"), "the machine"),
                ],
                symptom: limit.fact.symptom.clone(),
                fix: None,
            });
        }
    }
    if case.machine.libraries != crate::machine::Libraries::System
        || found.flavour.contains("cudnn")
    {
        return;
    }
    let wants = case.constraints.iter().find(|constraint| {
        constraint.package == Package::Cudnn
            && constraint.force == Force::Requires
            && matches!(constraint.subject.1, Version::Dist(_))
    });
    let brings =
        Name::new("nvidia-cudnn-cu12").is_ok_and(|name| case.installed.taken.contains_key(&name));
    if let (Some(wants), false) = (wants, brings) {
        let subject = case.title(wants.subject.0);
        findings.push(Finding {
            code: Code::LibraryMissing,
            severity: Severity::Error,
            package: wants.subject.0.dist_name(),
            message: format!("{subject} needs cuDNN, and the image {} has none", found.reference()),
            line: case.line_of(wants.subject.0),
            facts: vec![
                FactText::of_reason(&subject, &wants.reason),
                FactText::new(
                    format!("the flavour {} has no cuDNN", found.flavour),
                    "tags of nvidia/cuda",
                ),
            ],
            symptom: None,
            fix: Some("take the cudnn flavour of the image".to_owned()),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::audit::pick::label_of;

    #[test]
    fn labels_are_read() {
        assert_eq!(label_of(&"2.3.1+cu121".parse().expect("valid")).as_deref(), Some("cu121"));
        assert_eq!(label_of(&"2.3.1".parse().expect("valid")), None);
    }
}
