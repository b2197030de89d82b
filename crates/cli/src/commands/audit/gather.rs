//! From what was found to what is reported, with places in the files.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_lock_constraint::audit::{Code, FactText, Finding, Severity, Verdict};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_formats::input::{Input, Level, Origin, ProblemCode, Span};

use super::ask::{Asked, Noted};
use crate::output::audit::{Checked, Fix, Report, Reported};

/// Adds the files of an input, and what is wrong with them as text. Returns the place of the input in the report.
pub fn input(input: &Input, report: &mut Report) -> usize {
    report
        .sources
        .push(input.files.iter().map(|f| (f.name.clone(), Arc::clone(&f.text))).collect());
    let place = report.sources.len() - 1;
    problems(input, place, report);
    hashes(input, place, report);
    place
}

/// What is wrong with the files as text.
fn problems(input: &Input, place: usize, report: &mut Report) {
    for problem in &input.problems {
        if problem.code == ProblemCode::Empty {
            report.unchecked.insert(problem.message.clone());
            continue;
        }
        let severity = match problem.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        };
        let finding = Finding {
            code: Code::Syntax,
            severity,
            package: None,
            message: problem.message.clone(),
            line: None,
            facts: Vec::new(),
            symptom: None,
            fix: problem.help.clone(),
        };
        report.findings.push(reported(input, finding, Some(problem.span), place));
    }
}

/// Lines without a hash in a file that requires them.
fn hashes(input: &Input, place: usize, report: &mut Report) {
    for entry in &input.entries {
        let requires = input.indexes_of(entry).is_some_and(|options| options.require_hashes);
        if !requires || !entry.hashes.is_empty() || entry.origin != Origin::Pip {
            continue;
        }
        let finding = Finding {
            code: Code::HashMissing,
            severity: Severity::Error,
            package: entry.name,
            message: format!("{} has no --hash, and the file requires hashes", entry.raw_name),
            line: None,
            facts: vec![FactText::new(
                "as soon as one line has a hash, pip requires them of all",
                "pip documentation, secure installs",
            )],
            symptom: Some("ERROR: In --require-hashes mode, all requirements must have their versions pinned and hashed".to_owned()),
            fix: Some("add the hashes of this line, or remove all hashes".to_owned()),
        };
        report.findings.push(reported(input, finding, Some(entry.span), place));
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
    for Noted { code, message, help, severity, span } in &asked.noted {
        let finding = Finding {
            code: *code,
            severity: *severity,
            package: None,
            message: message.clone(),
            line: None,
            facts: Vec::new(),
            symptom: None,
            fix: help.clone(),
        };
        report.findings.push(reported(input, finding, *span, place));
    }
    let fixes = fixes.into_iter().chain(std::iter::repeat(None));
    for (finding, fix) in verdict.findings.into_iter().zip(fixes) {
        let span = finding.line.and_then(|line| asked.spans.get(line)).copied();
        let image = || {
            let code = finding.code;
            let images = input.environments.iter().filter_map(|e| e.image.as_ref());
            (code == Code::ImageDriver).then(|| images.map(|image| image.span).next()).flatten()
        };
        let span = span.or_else(image);
        let mut shown = reported(input, finding, span, place);
        shown.fix = fix.or(shown.fix);
        report.findings.push(shown);
    }
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
        message: finding.message,
        source: (place, span.map_or(0, |span| span.file)),
        span: span.map(|span| span.start..span.end),
        position: position.map(|position| (position.line, position.column)),
        facts: finding.facts,
        symptom: finding.symptom,
        fix: finding.fix.map(Fix::advice),
    }
}
