//! onnxruntime-gpu: the CUDA and cuDNN that a build is for, which its version number does not tell, and the libraries that
//! must be in the process.

use pep440_rs::Version as Pep440;

use super::build::{Build, Origin, major_range, named_version};
use super::rule::Rule;
use super::span::{Fit, find};
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::{Libraries, Machine};
use crate::matrix::{self, rows};
use crate::package::Package;
use crate::version::dist_range;

/// The distribution that everything here is about. Plain `onnxruntime` runs on the CPU and needs nothing.
pub const GPU: &str = "onnxruntime-gpu";

/// How `matrices/onnxruntime.toml` names PyPI.
pub(super) const PYPI: &str = "pypi";

/// What a build of onnxruntime-gpu is for.
#[derive(Clone, Debug)]
pub struct Target {
    /// CUDA major version.
    pub cuda_major: u64,
    /// cuDNN major version.
    pub cudnn_major: u64,
    /// In words, to follow the name of the build: "from PyPI is built for CUDA 13 and cuDNN 9".
    pub text: String,
    /// Public sources.
    pub sources: Vec<String>,
    /// True when the release is not among the facts and a neighbour's row was taken.
    pub assumed: bool,
}

/// How `matrices/onnxruntime.toml` names an origin.
pub(super) fn origin_name(origin: Origin<'_>) -> &str {
    match origin {
        Origin::OrtFeed { name } => name,
        Origin::PyPi | Origin::PyTorch { .. } | Origin::Other => PYPI,
    }
}

/// What a build is for: by the facts about its origin; for a release that these do not know by the extras `cuda` and
/// `cudnn` of its METADATA; else like the nearest known release of that origin.
#[must_use]
pub fn target(build: &Build) -> Option<Target> {
    let origin = origin_name(build.origin);
    let place = if origin == PYPI { "PyPI" } else { origin };
    let found = find(&matrix::onnxruntime().build, &build.release()?, |row| row.origin == origin);
    let known = found.filter(|found| found.fit == Fit::Known);
    if known.is_none()
        && let Some((cuda_major, cudnn_major)) = named_by_extras(build)
    {
        return Some(Target {
            cuda_major,
            cudnn_major,
            text: format!("asks for CUDA {cuda_major} and cuDNN {cudnn_major} in its extras"),
            sources: vec![format!("METADATA of {}", build.title())],
            assumed: false,
        });
    }
    let found = found?;
    let (cuda_major, cudnn_major) = (found.row.cuda_major, found.row.cudnn_major);
    let note = found.row.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
    Some(Target {
        cuda_major,
        cudnn_major,
        text: format!(
            "from {place} is built for CUDA {cuda_major} and cuDNN {cudnn_major}{note}{}",
            found.fit.assumption()
        ),
        sources: found.row.source.clone(),
        assumed: found.fit != Fit::Known,
    })
}

/// CUDA and cuDNN major versions by the extras: `nvidia-cuda-runtime-cu12~=12.0`, `nvidia-cuda-runtime~=13.0`,
/// `nvidia-cudnn-cu13~=9.0`.
fn named_by_extras(build: &Build) -> Option<(u64, u64)> {
    let major = |prefix: &str| {
        build
            .requirements_on(|name| name.starts_with(prefix))
            .find_map(|requirement| named_version(&requirement))
            .and_then(|version| version.release().first().copied())
    };
    Some((major("nvidia-cuda-runtime")?, major("nvidia-cudnn")?))
}

/// The libraries of a build's CUDA provider. A release without a row is like the nearest one.
pub(super) fn libraries(build: &Build) -> Option<&'static rows::onnxruntime::Libraries> {
    find(&matrix::onnxruntime().libraries, &build.release()?, |_| true).map(|found| found.row)
}

/// The wheel that brings a component for a build. `None` for components that come with another one.
pub(super) fn wheel(component: &str, target: &Target) -> Option<&'static rows::onnxruntime::Wheel> {
    matrix::onnxruntime().wheel.iter().find(|row| {
        row.component == component
            && row.cuda_major == target.cuda_major
            && row.cudnn_major.is_none_or(|major| major == target.cudnn_major)
    })
}

/// What a build of onnxruntime-gpu needs: a CUDA runtime and a cuDNN of its major versions and, when the libraries come
/// from wheels, the wheels.
#[must_use]
pub fn constraints(build: &Build, machine: &Machine) -> Vec<Constraint> {
    if build.name.as_str() != GPU {
        return Vec::new();
    }
    let (Some(target), Some(libraries)) = (target(build), libraries(build)) else {
        return Vec::new();
    };
    let mut constraints = vec![
        build.constraint(
            Package::Cuda,
            major_range(target.cuda_major),
            Force::Requires,
            fact(build, &target, Rule::CudaMajorMismatch),
        ),
        build.constraint(
            Package::Cudnn,
            major_range(target.cudnn_major),
            if libraries.linked.iter().any(|component| component == "cudnn") {
                Force::Requires
            } else {
                Force::IfPresent
            },
            fact(build, &target, Rule::CudnnMismatch),
        ),
    ];
    if machine.libraries == Libraries::Wheels {
        let components = libraries.linked.iter().chain(&libraries.on_demand);
        constraints
            .extend(components.filter_map(|component| wheel_constraint(build, &target, component)));
    }
    constraints
}

/// METADATA brings the libraries only with extras, and the extra `cuda` lacks cuBLAS: each wheel is required by name.
fn wheel_constraint(build: &Build, target: &Target, component: &str) -> Option<Constraint> {
    let row = wheel(component, target)?;
    let fact = Fact {
        rule: Rule::MissingLibrary,
        text: format!(
            "{} opens {}, which {} brings; its METADATA asks for it in extras at most",
            build.title(),
            row.soname,
            row.wheel
        ),
        sources: row.source.clone(),
        symptom: symptom(Rule::MissingLibrary).map(|text| text.replace("{soname}", &row.soname)),
    };
    let package = Package::dist(row.wheel);
    Some(build.constraint(package, dist_range(&row.specifier), Force::Requires, fact))
}

fn fact(build: &Build, target: &Target, rule: Rule) -> Fact {
    Fact {
        rule,
        text: format!("{} {}", build.title(), target.text),
        sources: target.sources.clone(),
        symptom: symptom(rule).map(|text| {
            text.replace("{cuda}", &target.cuda_major.to_string())
                .replace("{cudnn}", &target.cudnn_major.to_string())
        }),
    }
}

fn symptom(rule: Rule) -> Option<&'static str> {
    let row = matrix::onnxruntime().symptom.iter().find(|row| row.rule == rule.as_str())?;
    Some(&row.text)
}

/// Releases of onnxruntime-gpu that are built for a CUDA and cuDNN, and where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available {
    /// First release.
    pub from: &'static Pep440,
    /// Last release known.
    pub to: &'static Pep440,
    /// The index, as `matrices/indexes.toml` names it.
    pub index: &'static str,
}

/// Where builds for a CUDA and a cuDNN major version are: what a refusal can offer. PyPI first.
#[must_use]
pub fn builds_for(cuda_major: u64, cudnn_major: u64) -> Vec<Available> {
    let wanted = |row: &&rows::onnxruntime::Build| {
        row.cuda_major == cuda_major && row.cudnn_major == cudnn_major
    };
    let mut builds: Vec<Available> = matrix::onnxruntime()
        .build
        .iter()
        .filter(wanted)
        .map(|row| Available { from: &row.span.from, to: &row.span.to, index: &row.origin })
        .collect();
    builds.sort_by_key(|build| build.index != PYPI);
    builds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, machine};

    fn lines(pin: &Pin) -> Vec<String> {
        let constraints = constraints(&pin.build(), &machine());
        constraints.iter().map(|c| format!("{} {} {:?}", c.package, c.range, c.force)).collect()
    }

    #[test]
    fn one_number_is_two_builds() {
        let here = target(&Pin::pypi(GPU, "1.18.0").build()).expect("known");
        let feed = Pin::feed(GPU, "1.18.0", "onnxruntime-cuda-12");
        let there = target(&feed.build()).expect("known");
        assert_eq!((here.cuda_major, here.cudnn_major), (11, 8));
        assert_eq!((there.cuda_major, there.cudnn_major), (12, 8));
    }

    #[test]
    fn a_cuda_13_build_needs_suffix_free_wheels() {
        insta::assert_snapshot!(lines(&Pin::pypi(GPU, "1.31.1")).join("\n"), @r"
            CUDA >=13.0, <14.0 Requires
            cuDNN >=9.0, <10.0 IfPresent
            nvidia-cublas >=13.0, <14 Requires
            nvidia-cuda-runtime >=13.0, <14 Requires
            nvidia-curand >=10.0, <11 Requires
            nvidia-cudnn-cu13 >=9.0, <10 Requires
            nvidia-cufft >=12.0, <13 Requires
            nvidia-cuda-nvrtc >=13.0, <14 Requires
            ");
    }

    #[test]
    fn a_cuda_12_build_needs_suffixed_wheels() {
        insta::assert_snapshot!(lines(&Pin::pypi(GPU, "1.26.0")).join("\n"), @r"
            CUDA >=12.0, <13.0 Requires
            cuDNN >=9.0, <10.0 Requires
            nvidia-cublas-cu12 >=12.0, <13 Requires
            nvidia-cuda-runtime-cu12 >=12.0, <13 Requires
            nvidia-cufft-cu12 >=11.0, <12 Requires
            nvidia-curand-cu12 >=10.0, <11 Requires
            nvidia-cudnn-cu12 >=9.0, <10 Requires
            ");
    }

    #[test]
    fn a_release_of_tomorrow_is_read_from_its_extras() {
        let pin = Pin::pypi(GPU, "1.40.0").requiring(&[
            "nvidia-cuda-runtime~=14.0; extra == 'cuda'",
            "nvidia-cudnn-cu14~=10.0; extra == 'cudnn'",
        ]);
        let read = target(&pin.build()).expect("by extras");
        assert_eq!((read.cuda_major, read.cudnn_major), (14, 10));
        let nearest = target(&Pin::pypi(GPU, "1.40.0").build()).expect("by the nearest row");
        insta::assert_snapshot!(nearest.text, @"from PyPI is built for CUDA 13 and cuDNN 9 (no fact about this release; taken from 1.31.1, the nearest one known)");
    }

    #[test]
    fn plain_onnxruntime_needs_nothing() {
        assert!(lines(&Pin::pypi("onnxruntime", "1.31.1")).is_empty());
    }

    #[test]
    fn a_refusal_can_name_the_feed() {
        let found = builds_for(12, 8);
        let [feed] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            format!("{} to {} on {}", feed.from, feed.to, feed.index),
            "1.17.0 to 1.18.0 on onnxruntime-cuda-12"
        );
        assert_eq!(builds_for(13, 9)[0].index, PYPI);
    }
}
