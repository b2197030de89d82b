//! From what was found to what is reported, with places in the files.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_lock_constraint::audit::{Finding, Place, Severity, TextFault, Verdict, of_text};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_formats::input::{Input, Level, ProblemCode, Span};

use super::ask::Asked;
use crate::output::audit::{Checked, Fix, Report, Reported};

/// Adds the files of an input, and what is wrong with them as text. Returns the place of the input in the report.
pub fn input(input: &Input, report: &mut Report) -> usize {
    report
        .sources
        .push(input.files.iter().map(|f| (f.name.clone(), Arc::clone(&f.text))).collect());
    let place = report.sources.len() - 1;
    problems(input, place, report);
    place
}

/// What is wrong with the files as text.
fn problems(input: &Input, place: usize, report: &mut Report) {
    let mut faults = Vec::new();
    let mut spans = Vec::new();
    for problem in &input.problems {
        if problem.code == ProblemCode::Empty {
            report.unchecked.insert(problem.message.clone());
            continue;
        }
        faults.push(TextFault {
            message: problem.message.clone(),
            help: problem.help.clone(),
            severity: match problem.level {
                Level::Error => Severity::Error,
                Level::Warning => Severity::Warning,
                Level::Note => Severity::Note,
            },
            place: Place::Mark(spans.len()),
        });
        spans.push(problem.span);
    }
    for (finding, span) in of_text(&faults).into_iter().zip(spans) {
        report.findings.push(reported(input, finding, Some(span), place));
    }
}

/// Adds what an audit of one environment found. `fixes` are the fixes that were found by solving, for each finding.
pub fn verdict(
    input: &Input,
    asked: &Asked,
    verdict: Verdict,
    fixes: Vec<Option<Fix>>,
    place: usize,
    report: &mut Report,
) {
    let fixes = fixes.into_iter().chain(std::iter::repeat(None));
    for (finding, fix) in verdict.findings.into_iter().zip(fixes) {
        let span = match finding.place {
            Some(Place::Line(line)) => asked.spans.get(line).copied(),
            Some(Place::Mark(mark)) => asked.marks.get(mark).copied(),
            Some(Place::Image) => asked.image,
            None => None,
        };
        let mut shown = reported(input, finding, span, place);
        shown.fix = fix.or(shown.fix);
        report.findings.push(shown);
    }
    report.steps.extend(verdict.steps.iter().map(|step| step.text.clone()));
    report.unchecked.extend(asked.unchecked.iter().cloned());
    report.unchecked.extend(verdict.unchecked);
    let names: BTreeSet<_> = verdict.checked.into_iter().collect();
    for (name, version) in names {
        let index = source_name(asked, version.source());
        report.checked.insert(Checked {
            file: report
                .sources
                .get(place)
                .and_then(|files| files.first())
                .map(|f| f.0.clone())
                .unwrap_or_default(),
            environment: asked.name.clone(),
            package: name,
            version: version.to_string(),
            index,
        });
    }
}

fn source_name(asked: &Asked, id: SourceId) -> Option<String> {
    asked.question.sources.get(usize::from(id.0)).map(|source| source.name.clone())
}

/// A finding with its place.
pub fn reported(input: &Input, finding: Finding, span: Option<Span>, place: usize) -> Reported {
    let position = span.map(|span| input.position(span));
    Reported {
        code: finding.code,
        severity: finding.severity,
        package: finding.package,
        sharing: finding.sharing.into_iter().collect(),
        message: finding.message,
        source: (place, span.map_or(0, |span| span.file)),
        span: span.map(|span| span.start..span.end),
        position: position.map(|position| (position.line, position.column)),
        facts: finding.facts,
        symptom: finding.symptom,
        fix: finding.fix.map(Fix::advice),
    }
}
