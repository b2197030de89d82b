//! Conda packages: which distribution they are, which channel has them, and what selects the CUDA build.
//!
//! Channels are not read. What is known of the CUDA stack on them are facts; a pinned pytorch is then judged as the build of
//! torch that it is.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use super::finding::{FactText, Finding, Severity};
use super::install::{Installed, Taken};
use super::pick::{Picked, Picker, Unfit};
use super::question::Line;
use super::table::Code;
use crate::catalog::Metadata;
use crate::matrix;
use crate::matrix::rows::conda::Selector;
use crate::name::Name;
use crate::rules::torch::{TORCH, backend_name};
use crate::version::{DistVersion, SourceId, SystemVersion};

/// The conda lines of a question.
struct Conda<'a> {
    picker: &'a Picker<'a>,
    lines: Vec<(usize, &'a Line)>,
}

/// Judges the conda lines, and adds what they install to what pip installs.
pub(super) fn packages(
    picker: &Picker<'_>,
    installed: &mut Installed,
    findings: &mut Vec<Finding>,
) {
    let lines = picker.question.lines.iter().enumerate();
    let lines: Vec<_> = lines.filter(|(_, line)| line.channels.is_some()).collect();
    if lines.is_empty() {
        return;
    }
    let conda = Conda { picker, lines };
    conda.ended(findings);
    conda.needs(findings);
    let label = conda.accelerator(findings);
    conda.install(label.as_deref(), installed, findings);
}

/// The lowest version that a line can mean: `=1.12`, `==1.12.1`, `1.12.*` and `>=1.12` all begin there.
fn named(line: &Line) -> Option<Pep440> {
    let specifiers = line.requirement.specifiers.iter();
    let mut versions = specifiers.map(|specifier| specifier.version().clone());
    versions.next()
}

fn is_exact(line: &Line) -> bool {
    use pep440_rs::Operator::{Equal, EqualStar, ExactEqual};
    line.requirement
        .specifiers
        .iter()
        .any(|specifier| matches!(specifier.operator(), Equal | EqualStar | ExactEqual))
}

impl Conda<'_> {
    fn line(&self, name: &str) -> Option<(usize, &Line)> {
        self.lines.iter().find(|(_, line)| line.requirement.name.as_str() == name).copied()
    }

    fn uses(&self, line: &Line, channel: &str) -> bool {
        line.channels.iter().flatten().any(|used| is_channel(used, channel))
    }

    /// Whether the build that is meant comes from `channel`: no other of its channels that has it goes before.
    fn comes_from(&self, line: &Line, channel: &str) -> bool {
        let rivals = ["conda-forge", channel];
        let first = line
            .channels
            .iter()
            .flatten()
            .find(|used| rivals.iter().any(|rival| is_channel(used, rival)));
        first.is_some_and(|first| is_channel(first, channel))
    }

    /// Releases that a channel never had, because it had ended.
    fn ended(&self, findings: &mut Vec<Finding>) {
        for row in &matrix::conda().ended {
            let Some((place, line)) = self.line(&row.package) else { continue };
            let (Some(version), Ok(last)) = (named(line), Pep440::from_str(&row.last)) else {
                continue;
            };
            let beyond = version.release() > last.release()
                && !last.to_string().starts_with(&version.to_string());
            if !beyond || !self.uses(line, &row.channel) || self.uses(line, "conda-forge") {
                continue;
            }
            findings.push(Finding {
                code: Code::VersionNotFound,
                severity: Severity::Error,
                package: Some(line.requirement.name),
                message: format!(
                    "{} {version} is not on the channel {}, which ended with {last}",
                    row.package, row.channel
                ),
                line: Some(place),
                facts: vec![FactText::new(
                    format!("the last {} on the channel {} is {last}", row.package, row.channel),
                    row.source.first().cloned().unwrap_or_default(),
                )],
                symptom: Some(format!("PackagesNotFoundError: {}={version}", row.package)),
                fix: Some(format!("use pip, or {} from conda-forge", row.package)),
            });
        }
    }

    /// Packages that need a channel which is not named.
    fn needs(&self, findings: &mut Vec<Finding>) {
        for row in &matrix::conda().needs {
            let Some((place, line)) = self.line(&row.package) else { continue };
            let named = line.channels.iter().flatten();
            let has = |used: &String| row.channels.iter().any(|channel| is_channel(used, channel));
            if named.clone().next().is_none() || named.clone().any(has) {
                continue;
            }
            let [first, ..] = row.channels.as_slice() else { continue };
            findings.push(Finding {
                code: Code::IndexMissing,
                severity: Severity::Error,
                package: Some(line.requirement.name),
                message: format!("{} needs the channel {first}: {}", row.package, row.text),
                line: Some(place),
                facts: vec![FactText::new(
                    row.text.clone(),
                    row.source.first().cloned().unwrap_or_default(),
                )],
                symptom: Some(
                    "LibMambaUnsatisfiableError: Encountered problems while solving".to_owned(),
                ),
                fix: Some(format!("add the channel {first}")),
            });
        }
    }

    /// The label of the build of pytorch that the lines select; findings where they select none.
    fn accelerator(&self, findings: &mut Vec<Finding>) -> Option<String> {
        let (place, pytorch) = self.line("pytorch")?;
        let unaware =
            matrix::conda().unaware.iter().find(|row| self.comes_from(pytorch, &row.channel));
        let release = named(pytorch).filter(|_| is_exact(pytorch));
        let cpu_only = ["cpuonly", "pytorch-cpu"].into_iter().find_map(|name| self.line(name));
        let wants_gpu = self.picker.question.machine.gpus.is_some()
            || !self.picker.question.unknown_gpus.is_empty();
        let finding = |code, severity, line, message: String, fact: FactText, fix: &str| Finding {
            code,
            severity,
            package: Some(pytorch.requirement.name),
            message,
            line: Some(line),
            facts: vec![fact],
            symptom: Some("torch.cuda.is_available() is False".to_owned()),
            fix: Some(fix.to_owned()),
        };
        if let Some((line, cpu)) = cpu_only {
            if wants_gpu {
                let name = cpu.requirement.name;
                findings.push(finding(
                    Code::CpuOnlyBuild,
                    Severity::Error,
                    line,
                    format!(
                        "{name} selects the build of pytorch for the CPU, and the machine has a GPU"
                    ),
                    FactText::new(format!("{name} is listed"), "the file"),
                    "list pytorch-cuda instead",
                ));
            }
            return Some("cpu".to_owned());
        }
        let unaware = unaware?;
        let source = |sources: &[String]| sources.first().cloned().unwrap_or_default();
        for row in matrix::conda().cpu_only.iter().filter(|row| row.channel == unaware.channel) {
            let Some((line, found)) = self.line(&row.package) else { continue };
            let versions = VersionSpecifiers::from_str(&row.versions);
            let concerns = named(found).is_none_or(|version| {
                versions.as_ref().is_ok_and(|versions| versions.contains(&version))
            });
            // Without a version it is the one that fits: beside cudatoolkit only the old one does.
            if concerns && self.line("cudatoolkit").is_some() {
                findings.push(finding(
                    Code::CpuOnlyBuild,
                    Severity::Error,
                    line,
                    format!(
                        "{} selects the build of pytorch for the CPU: {}",
                        row.package, row.text
                    ),
                    FactText::new(row.text.clone(), source(&row.source)),
                    "install it with pip",
                ));
                return Some("cpu".to_owned());
            }
        }
        let selector = release.as_ref().and_then(|release| selector(&unaware.channel, release));
        let [by_toolkit, by_cuda] = ["cudatoolkit", "pytorch-cuda"].map(|name| self.line(name));
        let Some((line, selecting)) = by_cuda.or(by_toolkit) else {
            findings.push(finding(
                Code::CpuOnlyBuild,
                if wants_gpu { Severity::Error } else { Severity::Warning },
                place,
                format!(
                    "nothing selects between the builds of pytorch for the CPU and for CUDA: {}",
                    unaware.text
                ),
                FactText::new(unaware.text.clone(), source(&unaware.source)),
                "list pytorch-cuda=VERSION, or cpuonly",
            ));
            return None;
        };
        let cuda = named(selecting)
            .and_then(|version| SystemVersion::from_str(&version.to_string()).ok())?;
        let Some(row) = selector else {
            // From 1.13 on cudatoolkit selects nothing.
            if by_cuda.is_none() && release.is_none() {
                findings.push(finding(
                    Code::CpuOnlyBuild,
                    Severity::Warning,
                    line,
                    "pytorch has no version, and from 1.13 on cudatoolkit does not select its build".to_owned(),
                    FactText::new("pytorch-cuda selects the build since 1.13", "PyTorch previous-versions page"),
                    "pin pytorch, or list pytorch-cuda",
                ));
            }
            return None;
        };
        let of = release.map_or_else(String::new, |release| release.to_string());
        if selecting.requirement.name.as_str() != row.package {
            findings.push(finding(
                if row.package == "pytorch-cuda" {
                    Code::CpuOnlyBuild
                } else {
                    Code::VersionNotFound
                },
                Severity::Error,
                line,
                format!(
                    "the CUDA build of pytorch {of} is selected by {}, not by {}",
                    row.package, selecting.requirement.name
                ),
                FactText::new(
                    format!("{} {} to {}: {}", row.package, row.from, row.to, row.cuda.join(", ")),
                    source(&row.source),
                ),
                &format!("list {}={}", row.package, row.cuda.last().map_or("", String::as_str)),
            ));
            return None;
        }
        if !row.cuda.iter().any(|known| *known == cuda.major_minor().to_string()) {
            findings.push(finding(
                Code::VersionNotFound,
                Severity::Error,
                line,
                format!(
                    "pytorch {of} has no build for {}={cuda}: there are {}",
                    row.package,
                    row.cuda.join(", ")
                ),
                FactText::new(
                    format!("builds of pytorch {} to {}", row.from, row.to),
                    source(&row.source),
                ),
                &format!("list {}={}", row.package, row.cuda.last().map_or("", String::as_str)),
            ));
            return None;
        }
        Some(backend_name(&cuda.major_minor()))
    }

    /// Pinned packages as the distributions that they are. PyPI says for which Pythons a release was built, and what it
    /// requires: the builds of one release agree in both.
    fn install(&self, label: Option<&str>, installed: &mut Installed, findings: &mut Vec<Finding>) {
        for row in &matrix::conda().package {
            let Some((place, line)) = self.line(&row.name) else { continue };
            let (Some(version), Ok(name)) = (named(line), Name::new(&row.distribution)) else {
                continue;
            };
            if !is_exact(line) || installed.taken.contains_key(&name) {
                continue;
            }
            let Some((version, metadata, unfit)) = self.release(name, &version) else { continue };
            if let Some(Unfit::File(file, why)) = &unfit {
                findings.push(Finding {
                    code: Code::PythonUnsupported,
                    severity: Severity::Error,
                    package: Some(line.requirement.name),
                    message: format!(
                        "{} {version} was not built for Python {}: {why}",
                        row.name,
                        self.picker.question.target.asked_python()
                    ),
                    line: Some(place),
                    facts: vec![FactText::new(
                        format!("{file}: {why}"),
                        format!("file names of {name} {version}"),
                    )],
                    symptom: Some(
                        "LibMambaUnsatisfiableError: Encountered problems while solving".to_owned(),
                    ),
                    fix: None,
                });
            }
            let Some(label) = label else { continue };
            let labelled = format!("{version}+{label}");
            let Ok(labelled) = Pep440::from_str(&labelled) else { continue };
            let build = Picked {
                version: DistVersion::new(labelled, SourceId::MAX),
                file: None,
                yanked: None,
                unfit: None,
            };
            let taken = Taken {
                build,
                metadata: metadata.filter(|_| name.as_str() != TORCH),
                extras: BTreeSet::new(),
                line: Some(place),
                direct: true,
                pinned: true,
                expands: false,
            };
            installed.taken.insert(name, taken);
        }
    }

    /// The newest release that a version of conda begins, on PyPI.
    fn release(
        &self,
        name: Name,
        version: &Pep440,
    ) -> Option<(Pep440, Option<std::sync::Arc<Metadata>>, Option<Unfit>)> {
        let project = self.picker.on_pypi(name)?;
        let (index, release) = project.versions.iter().enumerate().rev().find(|(_, known)| {
            let mut parts = known.release().iter();
            version.release().iter().all(|part| parts.next() == Some(part))
        })?;
        let build = DistVersion::new(release.clone(), SourceId::MAX);
        let unfit = self.picker.unfit_by_pypi(name, &build);
        let files = project.files.files(index);
        let metadata =
            files.iter().find(|file| file.filename.contains("x86_64")).and_then(|file| {
                let pypi = self.picker.question.pypi()?;
                self.picker.catalog().metadata(pypi, name, file).ok()
            });
        Some((release.clone(), metadata, unfit))
    }
}

fn selector(channel: &str, release: &Pep440) -> Option<&'static Selector> {
    let parsed = |text: &str| Pep440::from_str(text).ok();
    let whole = release.release();
    matrix::conda().selector.iter().filter(|row| row.channel == channel).find(|row| {
        let (Some(from), Some(to)) = (parsed(&row.from), parsed(&row.to)) else { return false };
        // `=1.12` is every 1.12.
        let starts = |bound: &Pep440| bound.release().starts_with(whole);
        (from <= *release && *release <= to) || starts(&from) || starts(&to)
    })
}

/// `pytorch`, `pytorch/linux-64` or an address that ends in it.
fn is_channel(used: &str, channel: &str) -> bool {
    let used = used.trim_end_matches('/');
    let used =
        used.strip_suffix("/linux-64").or_else(|| used.strip_suffix("/noarch")).unwrap_or(used);
    used == channel || used.ends_with(&format!("/{channel}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_known_by_name_and_address() {
        assert!(is_channel("pytorch", "pytorch"));
        assert!(is_channel("https://conda.example/pytorch/", "pytorch"));
        assert!(is_channel("pytorch/linux-64", "pytorch"));
        assert!(!is_channel("pytorch-nightly", "pytorch"));
    }

    #[test]
    fn the_selector_changed_with_1_13() {
        let of = |text: &str| {
            selector("pytorch", &text.parse().expect("valid")).map(|row| row.package.as_str())
        };
        assert_eq!(of("1.12.1"), Some("cudatoolkit"));
        assert_eq!(of("1.12"), Some("cudatoolkit"));
        assert_eq!(of("1.13.1"), Some("pytorch-cuda"));
        assert_eq!(of("2.2"), Some("pytorch-cuda"));
        assert_eq!(of("2.6.0"), None);
    }
}
