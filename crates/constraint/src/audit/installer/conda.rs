//! Conda packages: which distribution they are, and what selects the CUDA build.
//!
//! Channels are not read. What is known of the CUDA stack on them are facts; a pinned pytorch is then taken as the build of
//! torch that it is.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use pep440_rs::Version as Pep440;

use super::install::{Installed, Taken};
use super::pick::{Picked, Picker, Unfit};
use crate::audit::question::Line;
use crate::catalog::Metadata;
use crate::matrix;
use crate::matrix::rows::conda::{CpuOnly, Ended, Needs, Selector, Unaware};
use crate::name::Name;
use crate::rules::torch::{TORCH, backend_name};
use crate::version::{DistVersion, SourceId, SystemVersion};
use crate::wheel::Why;

/// Something that conda lines do not select, or select wrongly.
pub(in crate::audit) struct Fault {
    /// The line.
    pub(in crate::audit) line: usize,
    /// The package that it is about.
    pub(in crate::audit) package: Name,
    pub(in crate::audit) kind: FaultKind,
}

/// What is wrong.
pub(in crate::audit) enum FaultKind {
    /// A release that a channel never had, because it had ended.
    Ended { version: Pep440, row: &'static Ended },
    /// A package that needs a channel which is not named.
    NeedsChannel(&'static Needs),
    /// A package selects the build for the CPU.
    SelectsCpu { by: Name },
    /// A release of a package that is only there for the CPU selects the build for the CPU.
    OnlyForCpu(&'static CpuOnly),
    /// Nothing selects a build.
    Unselected(&'static Unaware),
    /// What is listed does not select a build of newer releases, and the release is open.
    Outdated { by: Name, now: &'static Selector },
    /// Another package selects the build of this release.
    OtherSelector { release: Pep440, by: Name, row: &'static Selector },
    /// There is no build of this release for this CUDA.
    NoBuild { release: Pep440, cuda: SystemVersion, row: &'static Selector },
    /// The release was not built for this Python.
    Python { version: Pep440, distribution: Name, file: String, why: Why },
}

/// The conda lines of a question.
struct Conda<'a> {
    picker: &'a Picker<'a>,
    lines: Vec<(usize, &'a Line)>,
    faults: Vec<Fault>,
}

/// Adds what conda lines install to what pip installs; gives what is wrong with them.
pub(in crate::audit) fn packages(picker: &Picker<'_>, installed: &mut Installed) -> Vec<Fault> {
    let lines = picker.question.lines.iter().enumerate();
    let lines: Vec<_> = lines.filter(|(_, line)| line.channels.is_some()).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let mut conda = Conda { picker, lines, faults: Vec::new() };
    conda.ended();
    conda.needs();
    let label = conda.accelerator();
    conda.install(label.as_deref(), installed);
    conda.faults
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

impl<'a> Conda<'a> {
    fn line(&self, name: &str) -> Option<(usize, &'a Line)> {
        self.lines.iter().find(|(_, line)| line.requirement.name.as_str() == name).copied()
    }

    fn fault(&mut self, line: usize, package: Name, kind: FaultKind) {
        self.faults.push(Fault { line, package, kind });
    }

    /// Releases that a channel never had, because it had ended.
    fn ended(&mut self) {
        for row in &matrix::conda().ended {
            let Some((place, line)) = self.line(&row.package) else { continue };
            let (Some(version), last) = (named(line), &row.last) else { continue };
            let beyond = version.release() > last.release()
                && !last.to_string().starts_with(&version.to_string());
            if beyond && uses(line, &row.channel) && !uses(line, FORGE) {
                self.fault(place, line.requirement.name, FaultKind::Ended { version, row });
            }
        }
    }

    /// Packages that need a channel which is not named.
    fn needs(&mut self) {
        for row in &matrix::conda().needs {
            let Some((place, line)) = self.line(&row.package) else { continue };
            let named = line.channels.iter().flatten();
            let has = |used: &String| row.channels.iter().any(|channel| is_channel(used, channel));
            if named.clone().next().is_none() || named.clone().any(has) {
                continue;
            }
            if !row.channels.is_empty() {
                self.fault(place, line.requirement.name, FaultKind::NeedsChannel(row));
            }
        }
    }

    /// The label of the build of pytorch that the lines select; a fault where they select none.
    fn accelerator(&mut self) -> Option<String> {
        let (place, pytorch) = self.line("pytorch")?;
        let package = pytorch.requirement.name;
        let unaware = matrix::conda().unaware.iter().find(|row| comes_from(pytorch, &row.channel));
        let release = named(pytorch).filter(|_| is_exact(pytorch));
        let cpu = ["cpuonly", "pytorch-cpu"].into_iter().find_map(|name| self.line(name));
        if let Some((line, cpu)) = cpu {
            if self.picker.question.wants_gpu() {
                let by = cpu.requirement.name;
                self.fault(line, package, FaultKind::SelectsCpu { by });
            }
            return Some("cpu".to_owned());
        }
        let unaware = unaware?;
        let toolkit = self.line("cudatoolkit");
        for row in matrix::conda().cpu_only.iter().filter(|row| row.channel == unaware.channel) {
            let Some((line, found)) = self.line(&row.package) else { continue };
            let concerns = named(found).is_none_or(|version| row.versions.contains(&version));
            // Without a version it is the one that fits: beside cudatoolkit only the old one does.
            if concerns && toolkit.is_some() {
                self.fault(line, package, FaultKind::OnlyForCpu(row));
                return Some("cpu".to_owned());
            }
        }
        let row = release.as_ref().and_then(|release| selector(&unaware.channel, release));
        let by_cuda = self.line("pytorch-cuda");
        let Some((line, selecting)) = by_cuda.or(toolkit) else {
            self.fault(place, package, FaultKind::Unselected(unaware));
            return None;
        };
        let by = selecting.requirement.name;
        let cuda = named(selecting)
            .and_then(|version| SystemVersion::from_str(&version.to_string()).ok())?;
        let (Some(row), Some(release)) = (row, release.clone()) else {
            let newest =
                matrix::conda().selector.iter().rfind(|row| row.channel == unaware.channel);
            if let Some(now) = newest.filter(|now| now.package != by.as_str())
                && release.is_none()
            {
                self.fault(line, package, FaultKind::Outdated { by, now });
            }
            return None;
        };
        if by.as_str() != row.package {
            self.fault(line, package, FaultKind::OtherSelector { release, by, row });
            return None;
        }
        if !row.cuda.contains(&cuda.major_minor()) {
            self.fault(line, package, FaultKind::NoBuild { release, cuda, row });
            return None;
        }
        Some(backend_name(&cuda.major_minor()))
    }

    /// Pinned packages as the distributions that they are. PyPI says for which Pythons a release was built, and what it
    /// requires: the builds of one release agree in both.
    fn install(&mut self, label: Option<&str>, installed: &mut Installed) {
        for row in &matrix::conda().package {
            let Some((place, line)) = self.line(&row.name) else { continue };
            let (Some(version), name) = (named(line), row.distribution) else { continue };
            if !is_exact(line) || installed.taken.contains_key(&name) {
                continue;
            }
            let Some((version, metadata, unfit)) = self.release(name, &version) else { continue };
            if let Some(Unfit::File(file, why)) = unfit {
                let version = version.clone();
                let kind = FaultKind::Python { version, distribution: name, file, why };
                self.fault(place, line.requirement.name, kind);
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

/// The channel of the community, whose builds follow the driver.
const FORGE: &str = "conda-forge";

fn uses(line: &Line, channel: &str) -> bool {
    line.channels.iter().flatten().any(|used| is_channel(used, channel))
}

/// Whether the build that is meant comes from `channel`: no other of its channels that has it goes before.
fn comes_from(line: &Line, channel: &str) -> bool {
    let rivals = [FORGE, channel];
    let first = line
        .channels
        .iter()
        .flatten()
        .find(|used| rivals.iter().any(|rival| is_channel(used, rival)));
    first.is_some_and(|first| is_channel(first, channel))
}

fn selector(channel: &str, release: &Pep440) -> Option<&'static Selector> {
    let whole = release.release();
    matrix::conda().selector.iter().filter(|row| row.channel == channel).find(|row| {
        // `=1.12` is every 1.12.
        let starts = |bound: &Pep440| bound.release().starts_with(whole);
        row.span.contains(release) || starts(&row.span.from) || starts(&row.span.to)
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
