//! Findings for programs. Fields are added within a schema version, never changed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Report, line};

#[derive(Serialize)]
struct Shape<'a> {
    schema: u32,
    machine: BTreeMap<&'a str, &'a str>,
    findings: Vec<Entry<'a>>,
    checked: Vec<&'a super::Checked>,
    unchecked: Vec<&'a String>,
    changed: &'a [String],
    remarks: Vec<&'a String>,
    steps: Vec<&'a String>,
}

#[derive(Serialize)]
struct Entry<'a> {
    code: &'a str,
    severity: &'a str,
    package: Option<&'a str>,
    sharing: Vec<&'a str>,
    message: &'a str,
    file: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    facts: Vec<Fact<'a>>,
    symptom: Option<&'a str>,
    fix: Option<Fix<'a>>,
}

#[derive(Serialize)]
struct Fact<'a> {
    text: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
struct Fix<'a> {
    text: &'a str,
    edits: &'a [super::PlacedEdit],
    command: Option<&'a str>,
    steps: &'a [String],
    verified: bool,
}

/// Prints one JSON document.
pub fn print(report: &Report) {
    if let Ok(text) = text(report) {
        line(text);
    }
}

fn text(report: &Report) -> serde_json::Result<String> {
    let findings = report.findings.iter().map(|finding| Entry {
        code: finding.code.as_str(),
        severity: finding.severity.as_str(),
        package: finding.package.map(|name| name.as_str()),
        sharing: finding.sharing.iter().map(|name| name.as_str()).collect(),
        message: &finding.message,
        file: report.file(finding).0,
        line: finding.position.map(|position| position.0),
        column: finding.position.map(|position| position.1),
        facts: finding
            .facts
            .iter()
            .map(|fact| Fact { text: &fact.text, source: &fact.source })
            .collect(),
        symptom: finding.symptom.as_deref(),
        fix: finding.fix.as_ref().map(|fix| Fix {
            text: &fix.text,
            edits: &fix.edits,
            command: fix.command.as_deref(),
            steps: &fix.steps,
            verified: fix.verified,
        }),
    });
    serde_json::to_string_pretty(&Shape {
        schema: 1,
        machine: report.machine.iter().map(|(key, value)| (*key, value.as_str())).collect(),
        findings: findings.collect(),
        checked: report.checked.iter().collect(),
        unchecked: report.unchecked.iter().collect(),
        changed: &report.changes,
        remarks: report.remarks.iter().collect(),
        steps: report.steps.iter().collect(),
    })
}
