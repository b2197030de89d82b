//! The model that goes from exporter to runtime: what opset and IR version each side writes and reads.

use super::build::Build;
use super::owner;
use super::rule::Rule;
use super::span::{Fit, Found, find};
use super::torch::TORCH;
use crate::constraint::{Constraint, Fact, Force};
use crate::matrix::rows::table::Row;
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{Range, SystemVersion, Version};

/// The model of an env.toml.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// The ai.onnx operator set.
    pub opset: Option<u64>,
    /// The IR version. Set, the model exists already and no exporter matters.
    pub ir: Option<u64>,
}

/// What a build reads or writes of a model.
///
/// A release newer than the facts is not bounded: what runtimes read and exporters write only grows.
#[must_use]
pub fn constraints(build: &Build, model: &Model) -> Vec<Constraint> {
    match build.name.as_str() {
        TORCH if model.ir.is_none() => exporter(build, model),
        "onnx" => library(build).into_iter().collect(),
        _ if is_runtime(build.name) => runtime(build, model),
        _ => Vec::new(),
    }
}

fn is_runtime(name: Name) -> bool {
    !owner::rivals(name).is_empty() && name.as_str().starts_with("onnxruntime")
}

fn runtime(build: &Build, model: &Model) -> Vec<Constraint> {
    let Some(found) = bounded(build, &matrix::onnx().runtime) else { return Vec::new() };
    let (opset, ir) = (found.row.max_opset, found.row.max_ir);
    let fact = |rule: Rule, what: String, symptom: Option<String>| Fact {
        rule,
        text: format!("{} loads models up to {what}{}", build.title(), found.fit.assumption()),
        sources: found.row.source.clone(),
        symptom,
    };
    let opset_symptom = symptom(Rule::OpsetTooNew).map(|text| fill(text, "{opset}", model.opset));
    let ir_symptom = ir_symptom(model.ir, Some(ir));
    vec![
        build.constraint(
            Package::Opset,
            at_most(opset),
            Force::IfPresent,
            fact(Rule::OpsetTooNew, format!("opset {opset}"), opset_symptom),
        ),
        build.constraint(
            Package::OnnxIr,
            at_most(ir),
            Force::IfPresent,
            fact(Rule::IrTooNew, format!("ONNX IR {ir}"), ir_symptom),
        ),
    ]
}

fn exporter(build: &Build, model: &Model) -> Vec<Constraint> {
    let Some(release) = build.release() else { return Vec::new() };
    let mut constraints = Vec::new();
    if let Some(found) = bounded(build, &matrix::onnx().exporter) {
        let max = found.row.max_opset;
        let fact = Fact {
            rule: Rule::OpsetNotWritten,
            text: format!(
                "torch.onnx.export of {} writes opset {max} at most{}",
                build.title(),
                found.fit.assumption()
            ),
            sources: found.row.source.clone(),
            symptom: None,
        };
        constraints.push(build.constraint(Package::Opset, at_most(max), Force::IfPresent, fact));
    }
    let written = find(&matrix::onnx().exporter, &release, |_| true)
        .and_then(|found| Some((found, written_ir(found.row, model)?)));
    if let Some((found, ir)) = written {
        let fact = Fact {
            rule: Rule::IrTooNew,
            text: format!(
                "torch.onnx.export of {} writes ONNX IR {ir}{}",
                build.title(),
                found.fit.assumption()
            ),
            sources: found.row.source.clone(),
            symptom: None,
        };
        let range = Range::singleton(version(ir));
        constraints.push(build.constraint(Package::OnnxIr, range, Force::IfPresent, fact));
    }
    constraints
}

/// The IR version that an exporter writes: its own, or the one that belongs to the opset.
fn written_ir(row: &rows::onnx::Exporter, model: &Model) -> Option<u64> {
    if row.ir.is_some() {
        return row.ir;
    }
    let opset = model.opset.unwrap_or(row.default_opset);
    matrix::onnx().opset_ir.iter().find(|row| row.opset == opset).map(|row| row.ir)
}

/// The onnx package cannot check or build a model of an opset that it does not know.
fn library(build: &Build) -> Option<Constraint> {
    let found = bounded(build, &matrix::onnx().library)?;
    let fact = Fact {
        rule: Rule::OpsetTooNew,
        text: format!(
            "{} knows opsets up to {}{}",
            build.title(),
            found.row.opset,
            found.fit.assumption()
        ),
        sources: found.row.source.clone(),
        symptom: None,
    };
    Some(build.constraint(Package::Opset, at_most(found.row.opset), Force::IfPresent, fact))
}

/// Opset and IR version that a release of the onnx package stamps on a model when asked for nothing else, for hints: such
/// a model may be too new for every runtime, although its operators are not.
#[must_use]
pub fn stamped_by_default(build: &Build) -> Option<(u64, u64)> {
    if !is_onnx(build.name) {
        return None;
    }
    let found = find(&matrix::onnx().library, &build.release()?, |_| true)?;
    Some((found.row.opset, found.row.ir))
}

/// The row for a build, unless the build is newer than all rows.
fn bounded<R: Row>(build: &Build, rows: &'static [R]) -> Option<Found<R>> {
    let found = find(rows, &build.release()?, |_| true)?;
    let last = &rows.last()?.span()?.to;
    (found.fit != Fit::Older(last)).then_some(found)
}

fn at_most(number: u64) -> Range {
    Range::lower_than(version(number))
}

fn version(number: u64) -> Version {
    // One number, printed as one number; it always reads.
    let read = number.to_string().parse();
    Version::System(read.unwrap_or_else(|_| SystemVersion::new(number, 0)))
}

fn symptom(rule: Rule) -> Option<&'static str> {
    matrix::onnx().symptom.iter().find(|row| row.rule == rule.as_str()).map(|row| row.text.as_str())
}

/// Fills in a number, `...` for one that is not known.
fn fill(text: &str, placeholder: &str, number: Option<u64>) -> String {
    let number = number.map_or_else(|| "...".to_owned(), |number| number.to_string());
    text.replace(placeholder, &number)
}

/// What a runtime says of a model whose IR version is above its own.
pub(super) fn ir_symptom(ir: Option<u64>, max: Option<u64>) -> Option<String> {
    Some(fill(&fill(symptom(Rule::IrTooNew)?, "{ir}", ir), "{max}", max))
}

/// Whether a distribution is onnx, in releases or as a weekly build.
#[must_use]
pub fn is_onnx(name: Name) -> bool {
    is_weekly(name) || name.as_str() == "onnx"
}

/// Whether a distribution is the weekly build of onnx, which is there for what the next release writes.
#[must_use]
pub fn is_weekly(name: Name) -> bool {
    name.as_str() == "onnx-weekly"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::Pin;

    fn lines(name: &str, version: &str, model: Model) -> Vec<String> {
        let constraints = constraints(&Pin::pypi(name, version).build(), &model);
        constraints.iter().map(|c| format!("{} {}", c.package, c.range)).collect()
    }

    const OPSET_17: Model = Model { opset: Some(17), ir: None };

    #[test]
    fn a_runtime_reads_up_to_its_limits() {
        assert_eq!(lines("onnxruntime-gpu", "1.31.1", OPSET_17), ["opset <=26", "ONNX IR <=13"]);
        assert_eq!(lines("onnxruntime", "1.16.3", OPSET_17), ["opset <=19", "ONNX IR <=9"]);
        assert!(lines("onnxruntime", "1.40.0", OPSET_17).is_empty());
        assert!(lines("numpy", "2.0.0", OPSET_17).is_empty());
    }

    #[test]
    fn an_exporter_writes_its_own_ir_or_that_of_the_opset() {
        assert_eq!(lines("torch", "2.4.0", OPSET_17), ["opset <=20", "ONNX IR 8"]);
        assert_eq!(lines("torch", "2.9.1+cu128", OPSET_17), ["opset <=23", "ONNX IR 10"]);
        assert_eq!(lines("torch", "2.20.0", OPSET_17), ["ONNX IR 10"]);
        let existing = Model { opset: Some(17), ir: Some(8) };
        assert!(lines("torch", "2.9.1", existing).is_empty());
    }

    #[test]
    fn onnx_stamps_newer_than_any_gpu_runtime_reads() {
        let stamp = stamped_by_default(&Pin::pypi("onnx", "1.23.2").build()).expect("known");
        assert_eq!(stamp, (28, 14));
        assert_eq!(lines("onnx", "1.21.0", OPSET_17), ["opset <=26"]);
    }

    #[test]
    fn the_message_is_the_one_that_people_see() {
        let model = Model { opset: Some(27), ir: Some(14) };
        let constraints = constraints(&Pin::pypi("onnxruntime-gpu", "1.31.1").build(), &model);
        let crate::constraint::Reason::Matrix(fact) = &constraints[1].reason else {
            panic!("fact")
        };
        insta::assert_snapshot!(fact.symptom.as_deref().unwrap_or_default(), @"Unsupported model IR version: 14, max supported IR version: 13");
    }
}
