//! Import packages that exactly one distribution may own.

use super::build::Build;
use super::rule::Rule;
use crate::constraint::{Constraint, Fact, Force};
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{Range, Version};

/// A distribution that installs an import package with one owner must be that owner.
#[must_use]
pub fn constraints(build: &Build) -> Vec<Constraint> {
    let owned = |row: &&rows::owners::Owner| owns(row, build.name);
    let owners = matrix::owners();
    if moved(build) {
        return Vec::new();
    }
    owners.owner.iter().filter(owned).map(|row| constraint(build, row)).collect()
}

fn constraint(build: &Build, row: &rows::owners::Owner) -> Constraint {
    let fact = Fact {
        rule: Rule::ModuleClash,
        text: format!(
            "{} installs the import package {}, which one distribution must have to itself: {}",
            build.name, row.module, row.text
        ),
        sources: row.source.clone(),
        symptom: Some(row.symptom.clone()),
    };
    let package = Package::Provider(row.module);
    let owner = Range::singleton(Version::Owner(build.name));
    build.constraint(package, owner, Force::Requires, fact)
}

fn moved(build: &Build) -> bool {
    let rows = matrix::owners().moved.of(build.name);
    let version = build.version.version();
    rows.iter().any(|row| version.is_some_and(|version| row.versions.contains(version)))
}

fn owns(row: &rows::owners::Owner, name: Name) -> bool {
    row.distributions.contains(&name)
}

/// The distributions that install the same import package as `name`, itself included; empty when it has no rivals. One of
/// them can stand in for another.
#[must_use]
pub fn rivals(name: Name) -> Vec<Name> {
    let rows = matrix::owners().owner.iter().filter(|row| owns(row, name));
    rows.flat_map(|row| &row.distributions).copied().collect()
}

/// The distribution that `dependent` is known to require as the owner of its import package, for hints: substituting it
/// resolves a clash.
#[must_use]
pub fn known_to_require(dependent: Name) -> Option<Name> {
    Some(matrix::owners().dependent.of(dependent).first()?.requires)
}

/// What a distribution installs when it runs, and how to keep it from that.
#[must_use]
pub fn installs(name: Name) -> Option<(Fact, Name, &'static str)> {
    let row = matrix::owners().installs.of(name).first()?;
    let fact = Fact {
        rule: Rule::ModuleClash,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: None,
    };
    Some((fact, row.installs, &row.fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::Pin;

    #[test]
    fn every_onnxruntime_claims_the_module_for_itself() {
        for name in
            ["onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino"]
        {
            let claims = constraints(&Pin::pypi(name, "1.24.1").build());
            assert_eq!(claims.len(), 1, "{name}");
            assert_eq!(claims[0].package.to_string(), "import package onnxruntime");
            assert_eq!(claims[0].range.to_string(), name);
        }
        assert!(constraints(&Pin::pypi("onnxruntime-qnn", "2.7.0").build()).is_empty());
        assert!(constraints(&Pin::pypi("onnxruntime-genai-cuda", "0.18.0").build()).is_empty());
    }

    #[test]
    fn dependents_are_known_for_hints() {
        let name = |text| Name::new(text).expect("valid");
        assert_eq!(known_to_require(name("faster-whisper")), Some(name("onnxruntime")));
        assert_eq!(known_to_require(name("optimum")), None);
        assert!(rivals(name("onnxruntime")).contains(&name("onnxruntime-gpu")));
    }
}
