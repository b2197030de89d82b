//! Builds that cannot be used, with the reason.

use pep440_rs::Version as Pep440;

use super::build::{Build, Origin};
use super::rule::Rule;
use super::{companion, onnxruntime};
use crate::constraint::Fact;
use crate::machine::Platform;
use crate::matrix::{self, rows};
use crate::name::Name;

/// Why a build cannot be used on a platform, whatever else is installed; `None` when nothing is known against it.
#[must_use]
pub fn unusable(build: &Build, platform: Platform) -> Option<Fact> {
    broken_release(build, platform)
        .or_else(|| foreign_accelerator(build))
        .or_else(|| stray_wheel(build, platform))
}

fn broken_release(build: &Build, platform: Platform) -> Option<Fact> {
    let concerns = |row: &&rows::broken::Release| {
        (row.platforms.is_empty() || row.platforms.contains(&platform))
            && row.origin.as_ref().is_none_or(|o| o == onnxruntime::origin_name(build.origin))
    };
    let mut rows = matrix::broken().release.of(build.name).iter().filter(concerns);
    let row = rows.find(|row| {
        build.version.version().is_some_and(|version| row.versions.contains(version))
    })?;
    Some(Fact {
        rule: Rule::BrokenRelease,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: row.symptom.clone(),
    })
}

/// Why a release that is pinned cannot be found, when it is known to have been deleted from PyPI.
#[must_use]
pub fn deleted(name: Name, version: &Pep440) -> Option<Fact> {
    let row = matrix::broken().deleted.of(name).iter().find(|row| row.version == *version)?;
    Some(Fact {
        rule: Rule::DeletedRelease,
        text: format!("{name} {version} was deleted from PyPI"),
        sources: row.source.clone(),
        symptom: Some(format!(
            "ERROR: Could not find a version that satisfies the requirement {name}=={version}"
        )),
    })
}

/// Builds of the torch family for GPUs of other makers carry the maker's stack in their label.
fn foreign_accelerator(build: &Build) -> Option<Fact> {
    companion::family(build.name)?;
    let label = build.label()?;
    let row = matrix::torch().foreign_label.iter().find(|row| label.starts_with(&row.prefix))?;
    Some(Fact {
        rule: Rule::ForeignAccelerator,
        text: format!("{} cannot use an NVIDIA GPU, because {}", build.title(), row.text),
        sources: row.source.clone(),
        symptom: None,
    })
}

/// A PyTorch index lists old wheels of every backend. Only those with its own label belong to it, and for macOS and
/// 64-bit Arm the CPU builds without any.
fn stray_wheel(build: &Build, platform: Platform) -> Option<Fact> {
    let Origin::PyTorch { backend } = build.origin else { return None };
    let family = companion::family(build.name).filter(|family| family.labelled)?;
    if backend.is_empty() || build.label().is_some_and(|label| label == backend) {
        return None;
    }
    let may_lack_label = backend == "cpu"
        && matches!(platform, Platform::MacosArm64 | Platform::LinuxAarch64)
        && build.label().is_none();
    if may_lack_label {
        return None;
    }
    Some(Fact {
        rule: Rule::StrayWheel,
        text: format!(
            "{} is listed on the PyTorch index for {backend} but is not a build for it: those carry +{backend}",
            build.title()
        ),
        sources: family.source.clone(),
        symptom: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    fn rule(pin: &Pin, platform: Platform) -> Option<&'static str> {
        unusable(&pin.build(), platform).map(|fact| fact.rule.as_str())
    }

    #[test]
    fn broken_releases_are_refused_where_they_are_broken() {
        let ort = Pin::pypi("onnxruntime-gpu", "1.27.0");
        assert_eq!(rule(&ort, linux()), Some("broken-release"));
        assert_eq!(rule(&ort, Platform::WindowsX86_64), None);
        assert_eq!(rule(&Pin::pypi("onnxruntime-gpu", "1.28.0"), linux()), None);
    }

    #[test]
    fn an_index_lists_wheels_that_are_not_its_own() {
        let on = |version, backend| Pin::pytorch("torchaudio", version, backend);
        assert_eq!(rule(&on("2.2.0", "cu132"), linux()), Some("stray-wheel"));
        assert_eq!(rule(&on("2.2.0", "cpu"), Platform::LinuxAarch64), None);
        assert_eq!(rule(&on("2.2.0+cu118", "cu118"), linux()), None);
        assert_eq!(rule(&on("2.2.0+cu118", "cu121"), linux()), Some("stray-wheel"));
    }

    #[test]
    fn deleted_releases_are_known() {
        let name = Name::new("onnxruntime-gpu").expect("valid");
        let at = |text: &str| deleted(name, &text.parse().expect("valid")).is_some();
        assert!(at("1.20.1") && !at("1.20.2"));
    }

    #[test]
    fn builds_for_other_makers_are_refused() {
        assert_eq!(
            rule(&Pin::pypi("torch", "2.9.1+rocm6.4"), linux()),
            Some("foreign-accelerator")
        );
        assert_eq!(rule(&Pin::pypi("torch", "2.9.1+xpu"), linux()), Some("foreign-accelerator"));
    }
}
