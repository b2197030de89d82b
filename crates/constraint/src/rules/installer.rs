//! pip itself: one that is too old does not know the platform tag of a wheel, and says that no version was found.

use pep440_rs::Version as Pep440;

use super::rule::Rule;
use crate::constraint::Fact;
use crate::machine::Platform;
use crate::matrix;
use crate::matrix::rows::python::{InstallerFact, OneVersion, Utf8};

/// A pip, and what brings it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pip {
    /// Its version.
    pub version: Pep440,
    /// What brings it, in words.
    pub brought_by: String,
}

/// The pip in the packages of a system, as tags of images write it.
#[must_use]
pub fn of_system(os: &str) -> Option<Pip> {
    found(|row| row.os.as_deref() == Some(os))
}

/// The pip that comes with a Python, when no release of that Python comes with a newer one.
#[must_use]
pub fn of_python(python: &Pep440) -> Option<Pip> {
    let [major, minor, ..] = *python.release() else { return None };
    let text = format!("{major}.{minor}");
    found(|row| row.python.as_deref() == Some(&text))
}

fn found(wanted: impl Fn(&matrix::rows::python::Pip) -> bool) -> Option<Pip> {
    let row = matrix::python().pip.iter().find(|row| wanted(row))?;
    Some(Pip { version: row.pip.clone(), brought_by: row.brought_by.clone() })
}

/// Why a pip does not take a wheel; `None` when it knows one of its platform tags, or the file is no wheel.
#[must_use]
pub fn refuses(pip: &Pip, file: &str) -> Option<Fact> {
    let platforms = file.strip_suffix(".whl")?.rsplit('-').next()?;
    let first_for = |platform: &str| {
        let rows = matrix::python().platform_tag.iter();
        rows.filter(|row| platform.starts_with(&row.prefix)).max_by_key(|row| row.prefix.len())
    };
    // Any tag that needs no newer pip will do.
    let needed: Option<Vec<_>> = platforms.split('.').map(first_for).collect();
    let row = needed?.into_iter().min_by(|a, b| a.pip.cmp(&b.pip))?;
    let first = &row.pip;
    if pip.version >= *first {
        return None;
    }
    Some(Fact {
        rule: Rule::OldPip,
        text: format!(
            "{file} has a platform tag that pip knows from {first} on, and {} brings pip {}",
            pip.brought_by, pip.version
        ),
        sources: row.source.clone(),
        symptom: Some(format!("ERROR: {file} is not a supported wheel on this platform.")),
    })
}

/// From which pip on releases with METADATA that PEP 440 does not allow are refused.
#[must_use]
pub fn strict_metadata() -> &'static InstallerFact {
    &matrix::python().strict_metadata
}

/// From which pip on a requirements file is UTF-8, on a platform where older ones read it in another encoding.
#[must_use]
pub fn system_encoding(platform: Platform) -> Option<&'static Utf8> {
    let row = &matrix::python().utf8;
    row.platforms.contains(&platform).then_some(row)
}

/// The tool that locks one version for all platforms.
#[must_use]
pub fn one_version() -> &'static OneVersion {
    &matrix::python().one_version
}

/// The Python that a file is read for when none is known: the one that most releases have wheels for.
#[must_use]
pub fn assumed_python() -> Pep440 {
    matrix::python().assumed.version.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_pip_passes_new_tags_over() {
        let focal = of_system("ubuntu20.04").expect("a row");
        let refused = |file: &str| refuses(&focal, file).is_some();
        assert!(refused("onnxruntime_gpu-1.18.0-cp39-cp39-manylinux_2_28_x86_64.whl"));
        assert!(!refused("numpy-1.26.4-cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"));
        assert!(!refused("six-1.16.0-py2.py3-none-any.whl") && !refused("six-1.16.0.tar.gz"));
        let old = of_python(&"3.6.9".parse().expect("valid")).expect("a row");
        assert!(
            refuses(&old, "onnxruntime_gpu-1.7.0-cp36-cp36m-manylinux2014_x86_64.whl").is_some()
        );
        assert!(of_python(&"3.10".parse().expect("valid")).is_none());
    }
}
