//! Builds against the C API of NumPy 1, which cannot run with NumPy 2 and mostly do not say so.

use super::build::Build;
use super::rule::Rule;
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::Platform;
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{dist_range, if_present};

/// If NumPy is installed beside such a build, it has to be NumPy 1.
#[must_use]
pub fn constraints(build: &Build, platform: Platform) -> Vec<Constraint> {
    let concerns = |row: &&rows::numpy_abi::Rule| {
        row.platforms.is_empty() || row.platforms.contains(&platform)
    };
    let rules = matrix::numpy_abi().rule.of(build.name).iter().filter(concerns);
    rules.filter_map(|row| constraint(build, row)).collect()
}

fn constraint(build: &Build, row: &rows::numpy_abi::Rule) -> Option<Constraint> {
    if !row.versions.contains(&build.release()?) {
        return None;
    }
    let fact = Fact {
        rule: Rule::NumpyAbi,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: Some(row.symptom.clone()),
    };
    let package = Package::dist(Name::new("numpy").ok()?);
    Some(build.constraint(package, if_present(&dist_range(&row.numpy)), Force::IfPresent, fact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};
    use crate::version::{DistVersion, SourceId, Version};

    #[test]
    fn numpy_one_or_none_at_all() {
        let constraint = &constraints(&Pin::pypi("torch", "2.2.2").build(), linux())[0];
        let numpy =
            |text: &str| Version::Dist(DistVersion::new(text.parse().expect("valid"), SourceId(0)));
        assert!(constraint.range.contains(&numpy("1.26.4")));
        assert!(!constraint.range.contains(&numpy("2.0.0")));
        assert!(constraint.range.contains(&Version::Dist(DistVersion::absent())));
    }

    #[test]
    fn windows_was_later() {
        let bound = |name, version, platform| {
            !constraints(&Pin::pypi(name, version).build(), platform).is_empty()
        };
        assert!(!bound("torch", "2.3.0", linux()));
        assert!(bound("torch", "2.4.0", Platform::WindowsX86_64));
        assert!(!bound("torch", "2.4.1+cu124", Platform::WindowsX86_64));
        assert!(bound("onnxruntime-gpu", "1.18.0", linux()));
        assert!(!bound("onnxruntime", "1.19.0", linux()));
    }
}
