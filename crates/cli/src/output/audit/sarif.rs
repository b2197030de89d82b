//! Findings as SARIF 2.1.0, which code scanning reads.

use std::collections::BTreeMap;

use cuda_lock_constraint::audit::{Code, Severity};
use serde_json::{Value, json};

use super::{Fix, Report, Reported, line};

/// Prints one SARIF log.
pub fn print(report: &Report) {
    if let Ok(text) = serde_json::to_string_pretty(&log(report)) {
        line(text);
    }
}

fn log(report: &Report) -> Value {
    let rules: Vec<Value> = Code::ALL
        .iter()
        .map(|code| {
            let row = code.page();
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": row.title },
                "fullDescription": { "text": row.why },
                "help": { "text": row.fix },
                "defaultConfiguration": { "level": row.severity.as_str() },
            })
        })
        .collect();
    let results: Vec<Value> =
        report.findings.iter().map(|finding| result(report, finding)).collect();
    json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": {
                "name": "cuda-lock",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(report: &Report, finding: &Reported) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut text = finding.message.clone();
    if let Some(fix) = &finding.fix {
        text.push_str(". Fix: ");
        text.push_str(&fix.text);
    }
    let uri = uri(report.file(finding).0);
    let mut place = json!({ "artifactLocation": { "uri": uri } });
    if let (Some((line, column)), Some(region)) = (finding.position, place.as_object_mut()) {
        region.insert("region".to_owned(), json!({ "startLine": line, "startColumn": column }));
    }
    let rule = Code::ALL.iter().position(|code| *code == finding.code);
    let mut result = json!({
        "ruleId": finding.code.as_str(),
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
    });
    if let (Some(rule), Some(object)) = (rule, result.as_object_mut()) {
        object.insert("ruleIndex".to_owned(), json!(rule));
    }
    let fix = finding.fix.as_ref().filter(|fix| fix.verified && !fix.edits.is_empty());
    if let (Some(fix), Some(object)) = (fix, result.as_object_mut()) {
        object.insert("fixes".to_owned(), json!([changes(fix)]));
    }
    result
}

/// The edits of a fix, gathered by file.
fn changes(fix: &Fix) -> Value {
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for edit in &fix.edits {
        files.entry(uri(&edit.file)).or_default().push(json!({
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": { "text": edit.new },
        }));
    }
    let files: Vec<Value> = files
        .into_iter()
        .map(|(uri, replacements)| {
            json!({ "artifactLocation": { "uri": uri }, "replacements": replacements })
        })
        .collect();
    json!({ "description": { "text": fix.text }, "artifactChanges": files })
}

/// A path as a relative reference: everything that RFC 3986 gives a meaning, or does not allow, is escaped.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let mut uri = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~') {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}
