//! Distributions that use one CUDA major version without saying so in METADATA.

use std::sync::LazyLock;

use super::build::{Build, major_range};
use super::span::Table;
use crate::constraint::{Constraint, Fact, Force};
use crate::matrix::{self, rows};
use crate::package::Package;

static BOUND: LazyLock<Table<rows::bound::Bound>> =
    LazyLock::new(|| Table::new(&matrix::bound().bound));

/// The CUDA and the cuDNN that such a build uses. A release without a row is like the nearest one.
#[must_use]
pub fn constraints(build: &Build) -> Vec<Constraint> {
    let name = build.name.as_str();
    if !matrix::bound().bound.iter().any(|row| row.name == name) {
        return Vec::new();
    }
    let found = build.release().and_then(|release| BOUND.find(&release, |row| row.name == name));
    let Some(found) = found else { return Vec::new() };
    let fact = |rule, layer: &str, major: u64| Fact {
        rule,
        text: format!("{} uses {layer} {major}{}", build.title(), found.fit.assumption()),
        sources: found.row.source.clone(),
        symptom: None,
    };
    let cuda = found.row.cuda_major;
    let mut constraints = vec![build.constraint(
        Package::Cuda,
        major_range(cuda),
        Force::Requires,
        fact("cuda-major-mismatch", "CUDA", cuda),
    )];
    if let Some(cudnn) = found.row.cudnn_major {
        constraints.push(build.constraint(
            Package::Cudnn,
            major_range(cudnn),
            Force::Requires,
            fact("cudnn-mismatch", "cuDNN", cudnn),
        ));
    }
    constraints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::Pin;

    #[test]
    fn ctranslate2_changed_its_cudnn_twice() {
        let lines = |version: &str| -> Vec<String> {
            let constraints = constraints(&Pin::pypi("ctranslate2", version).build());
            constraints.iter().map(|c| format!("{} {}", c.package, c.range)).collect()
        };
        assert_eq!(lines("4.4.0"), ["CUDA >=12.0, <13.0", "cuDNN >=8.0, <9.0"]);
        assert_eq!(lines("4.5.0"), ["CUDA >=12.0, <13.0", "cuDNN >=9.0, <10.0"]);
        assert_eq!(lines("4.8.5"), ["CUDA >=12.0, <13.0"]);
    }
}
