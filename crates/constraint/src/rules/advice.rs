//! Constraints that hold only for one use of a distribution, which no input names. They are worth a warning, and a preference
//! among versions that are otherwise equal, but never a refusal.

use pep440_rs::Version as Pep440;

use super::build::Build;
use super::onnx_model::{Model, ir_symptom, stamped_by_default};
use super::rule::Rule;
use super::span::find;
use super::{compiled, onnxruntime, owner, prebuilt};
use crate::constraint::{Constraint, Fact, Force};
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{DistVersion, Range, SourceId, Version, if_present};

/// The import package whose owners read models.
const RUNTIME: &str = "onnxruntime";

/// The rules of this module, as their facts name them.
const RULES: [Rule; 4] =
    [Rule::CompiledHere, Rule::ExtensionSkipped, Rule::OnnxDefaultModel, Rule::TensorrtMismatch];

/// Whether a fact is no more than advice.
#[must_use]
pub fn is_advice(fact: &Fact) -> bool {
    RULES.contains(&fact.rule)
}

/// What is good to hold beside [`stack::constraints`](super::stack::constraints). Every one is [`Force::IfPresent`]. Of a
/// model that is named, what the onnx package would write into another one says nothing.
#[must_use]
pub fn constraints(build: &Build, model: Option<&Model>) -> Vec<Constraint> {
    match build.name.as_str() {
        "onnx" | "onnx-weekly" if model.is_none() => default_model(build),
        "onnx" | "onnx-weekly" => Vec::new(),
        onnxruntime::GPU => tensorrt(build),
        _ => prebuilt::advice(build).into_iter().chain(compiled::advice(build)).collect(),
    }
}

/// A model that the onnx package makes without a wish carries its newest opset and IR version; a runtime should read it.
fn default_model(build: &Build) -> Vec<Constraint> {
    let (Some((opset, ir)), Ok(runtime)) = (stamped_by_default(build), Name::new(RUNTIME)) else {
        return Vec::new();
    };
    let runtimes = &matrix::onnx().runtime;
    let reads = |row: &&rows::onnx::Runtime| row.max_opset >= opset && row.max_ir >= ir;
    // What runtimes read only grows: the first one that reads the model, and everything after it. When none does yet, only
    // a release newer than all that are known can.
    let first = runtimes.iter().find(reads).map(|row| row.span.from.clone());
    let at = |version: Pep440| Version::Dist(DistVersion::new(version, SourceId(0)));
    let range = match (first, runtimes.last().map(|row| row.span.to.clone())) {
        (Some(first), _) => Range::higher_than(at(first)),
        (None, Some(last)) => {
            Range::strictly_higher_than(Version::Dist(DistVersion::after_locals(last)))
        }
        (None, None) => return Vec::new(),
    };
    let fact = Fact {
        rule: Rule::OnnxDefaultModel,
        text: format!(
            "{} makes models of opset {opset} and ONNX IR {ir} unless told otherwise; set both when saving, or use \
             an onnx that the runtime can follow",
            build.title()
        ),
        sources: vec![format!("onnx.helper.make_model() of {}", build.title())],
        symptom: ir_symptom(Some(ir), None),
    };
    owner::rivals(runtime)
        .into_iter()
        .map(|name| {
            build.constraint(
                Package::dist(name),
                if_present(&range),
                Force::IfPresent,
                fact.clone(),
            )
        })
        .collect()
}

/// The TensorRT provider links one major version of TensorRT.
fn tensorrt(build: &Build) -> Vec<Constraint> {
    let found = build
        .release()
        .and_then(|release| find(&matrix::onnxruntime().tensorrt, &release, |_| true));
    let Some(found) = found else { return Vec::new() };
    let major = found.row.major;
    let fact = Fact {
        rule: Rule::TensorrtMismatch,
        text: format!(
            "the TensorRT provider of {} needs TensorRT {major}{}",
            build.title(),
            found.fit.assumption()
        ),
        sources: found.row.source.clone(),
        symptom: Some(found.row.symptom.clone()),
    };
    let bound = |release| Version::Dist(DistVersion::new(Pep440::new([release]), SourceId(0)));
    let range = Range::from_range_bounds(bound(major)..bound(major + 1));
    let names = found.row.wheels.iter();
    names
        .map(|name| {
            let package = Package::dist(*name);
            build.constraint(package, if_present(&range), Force::IfPresent, fact.clone())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::Reason;
    use crate::rules::stack::testing::Pin;

    fn allows(build: &Pin, name: &str, version: &str) -> bool {
        let version = DistVersion::new(version.parse().expect("valid"), SourceId(0));
        let on = Package::dist(Name::new(name).expect("valid"));
        let mut constraints = constraints(&build.build(), None);
        assert!(
            constraints
                .iter()
                .all(|c| matches!(&c.reason, Reason::Matrix(fact) if is_advice(fact)))
        );
        constraints.retain(|constraint| constraint.package == on);
        assert_eq!(constraints.len(), 1, "{name}");
        assert!(constraints[0].range.contains(&Version::Dist(DistVersion::absent())));
        constraints[0].range.contains(&Version::Dist(version))
    }

    #[test]
    fn a_default_model_needs_a_runtime_that_follows() {
        let onnx = Pin::pypi("onnx", "1.14.0");
        assert!(!allows(&onnx, "onnxruntime", "1.14.1"));
        assert!(allows(&onnx, "onnxruntime", "1.15.0"));
        let newest = Pin::pypi("onnx", "1.23.2");
        assert!(!allows(&newest, "onnxruntime-gpu", "1.31.1"));
        assert!(allows(&newest, "onnxruntime", "1.32.0"));
        assert!(allows(&Pin::pypi("onnx", "1.21.0"), "onnxruntime-gpu", "1.31.1"));
    }

    #[test]
    fn the_tensorrt_provider_follows_one_major_version() {
        let runtime = Pin::pypi("onnxruntime-gpu", "1.31.1");
        assert!(allows(&runtime, "tensorrt-cu13", "10.14.1.48"));
        assert!(!allows(&runtime, "tensorrt-cu13", "11.4.0.106"));
    }
}
