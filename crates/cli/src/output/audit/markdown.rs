//! Findings as a table for a pull request.

use super::{Report, line};

/// Prints a table, and what was not judged.
pub fn print(report: &Report) {
    if report.findings.is_empty() {
        line(format_args!("Nothing found; {} packages judged.", report.checked.len()));
    } else {
        line("| severity | code | where | finding | fix |\n| --- | --- | --- | --- | --- |");
        for finding in &report.findings {
            let file = report.file(finding).0;
            let place = finding
                .position
                .map_or_else(|| file.to_owned(), |(line, _)| format!("{file}:{line}"));
            line(format_args!(
                "| {} | `{}` | {} | {} | {} |",
                finding.severity.as_str(),
                finding.code,
                cell(&place),
                cell(&finding.message),
                cell(finding.fix.as_ref().map_or("", |fix| &fix.text))
            ));
        }
    }
    for remark in &report.remarks {
        line(format_args!("\n{}", cell(remark)));
    }
    if !report.unchecked.is_empty() {
        line("\nNot judged:\n");
        for text in &report.unchecked {
            line(format_args!("- {}", cell(text)));
        }
    }
}

/// A text that neither ends a cell nor starts markup of its own.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '<' | '*' | '`' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
