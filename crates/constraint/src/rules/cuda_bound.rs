//! Distributions that use one CUDA major version without saying so in METADATA.

use std::sync::LazyLock;

use super::build::{Build, from_within_major, major_range};
use super::span::Table;
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::Platform;
use crate::matrix::{self, rows};
use crate::package::Package;
use crate::version::SystemVersion;

static BOUND: LazyLock<Table<rows::bound::Bound>> =
    LazyLock::new(|| Table::new(&matrix::bound().bound));

/// The CUDA and the cuDNN that such a build uses. A release without a row is like the nearest one.
#[must_use]
pub fn constraints(build: &Build, platform: Platform) -> Vec<Constraint> {
    let name = build.name.as_str();
    if !matrix::bound().bound.iter().any(|row| row.name == name) {
        return Vec::new();
    }
    let concerns = |row: &rows::bound::Bound| {
        let here = |p: &String| p == platform.as_str();
        row.name == name && (row.platforms.is_empty() || row.platforms.iter().any(here))
    };
    let found = build.release().and_then(|release| BOUND.find(&release, concerns));
    let Some(found) = found else { return Vec::new() };
    let force = if found.row.if_present { Force::IfPresent } else { Force::Requires };
    let fact = |rule, what: String| Fact {
        rule,
        text: format!("{} {what}{}", build.title(), found.fit.assumption()),
        sources: found.row.source.clone(),
        symptom: found.row.symptom.clone(),
    };
    let cuda = found.row.cuda_major.map(|major| {
        let fact = fact("cuda-major-mismatch", format!("uses CUDA {major}"));
        build.constraint(Package::Cuda, major_range(major), force, fact)
    });
    let cudnn = found.row.cudnn.as_ref().and_then(|text| {
        let lowest: SystemVersion = text.parse().ok()?;
        let fact =
            fact("cudnn-mismatch", format!("uses cuDNN {lowest} or a newer {}.x", lowest.major()));
        Some(build.constraint(Package::Cudnn, from_within_major(&lowest), force, fact))
    });
    cuda.into_iter().chain(cudnn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    #[test]
    fn ctranslate2_changed_its_cudnn_twice() {
        let lines = |version: &str| -> Vec<String> {
            let constraints = constraints(&Pin::pypi("ctranslate2", version).build(), linux());
            constraints.iter().map(|c| format!("{} {}", c.package, c.range)).collect()
        };
        assert_eq!(lines("4.4.0"), ["CUDA >=12.0, <13.0", "cuDNN >=8, <9.0"]);
        assert_eq!(lines("4.5.0"), ["CUDA >=12.0, <13.0", "cuDNN >=9, <10.0"]);
        assert_eq!(lines("4.8.5"), ["CUDA >=12.0, <13.0"]);
    }
}
