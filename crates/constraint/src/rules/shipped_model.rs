//! Distributions that carry ONNX models in their wheel: the runtime must read them.

use super::build::Build;
use super::onnx_model::ir_symptom;
use super::owner;
use super::rule::Rule;
use super::span::find;
use crate::constraint::{Constraint, Fact, Force};
use crate::matrix;
use crate::name::Name;
use crate::package::Package;
use crate::version::{DistVersion, Range, SourceId, Version, if_present};

const RUNTIME: &str = "onnxruntime";

/// The runtimes that read the models of a build.
#[must_use]
pub fn constraints(build: &Build) -> Vec<Constraint> {
    let rows = matrix::onnx().shipped.of(build.name);
    if rows.is_empty() {
        return Vec::new();
    }
    let found = build.release().and_then(|release| find(rows, &release, |_| true));
    let (Some(found), Ok(runtime)) = (found, Name::new(RUNTIME)) else { return Vec::new() };
    let ir = found.row.ir;
    let reads = matrix::onnx().runtime.iter().find(|row| row.max_ir >= ir);
    let Some(first) = reads.map(|row| row.span.from.clone()) else { return Vec::new() };
    let fact = Fact {
        rule: Rule::IrTooNew,
        text: format!(
            "{} carries a model of ONNX IR {ir}, which runtimes read from {first} on{}",
            build.title(),
            found.fit.assumption()
        ),
        sources: found.row.source.clone(),
        symptom: ir_symptom(Some(ir), None),
    };
    let from = Range::higher_than(Version::Dist(DistVersion::new(first, SourceId(0))));
    let rivals = owner::rivals(runtime).into_iter();
    rivals
        .map(|name| {
            let package = Package::dist(name);
            build.constraint(package, if_present(&from), Force::IfPresent, fact.clone())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::Pin;

    #[test]
    fn a_model_in_a_wheel_needs_a_runtime_that_reads_it() {
        let found = constraints(&Pin::pypi("nudenet", "3.4.2").build());
        let on = Package::dist(Name::new("onnxruntime").expect("valid"));
        let of_runtime = found.iter().find(|constraint| constraint.package == on).expect("a rival");
        let at = |text: &str| {
            let version = DistVersion::new(text.parse().expect("valid"), SourceId(0));
            of_runtime.range.contains(&Version::Dist(version))
        };
        assert!(!at("1.17.3") && at("1.18.0"));
    }
}
