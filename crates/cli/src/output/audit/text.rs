//! Findings for people: each with the line that it is about.

use cuda_lock_constraint::audit::Severity;
use cuda_lock_formats::diagnostic::{self, Diagnostic, Source, Style};

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Fix, PlacedEdit, Report, Reported, line};
use crate::output::message;

/// Prints the findings, what was judged and what was not.
pub fn print(report: &Report) {
    let choice = anstream::AutoStream::choice(&std::io::stdout());
    line(text(report, style(choice)).trim_end());
}

/// The same on standard error, where standard output belongs to something else.
pub fn print_to_stderr(report: &Report) {
    let choice = anstream::AutoStream::choice(&std::io::stderr());
    message::line(text(report, style(choice)).trim_end());
}

fn style(choice: anstream::ColorChoice) -> Style {
    if matches!(choice, anstream::ColorChoice::Never) { Style::Plain } else { Style::Color }
}

fn text(report: &Report, style: Style) -> String {
    let mut out = String::new();
    for name in &report.changes {
        let _ = writeln!(out, "changed {name}");
    }
    for finding in &report.findings {
        let _ = writeln!(out, "{}\n", rendered(report, finding, style).trim_end());
    }
    fixes(report, &mut out);
    for remark in &report.remarks {
        let _ = writeln!(out, "{remark}");
    }
    if !report.steps.is_empty() {
        out.push_str("Before it runs:\n");
        for step in &report.steps {
            let _ = writeln!(out, "  - {step}");
        }
        out.push('\n');
    }
    let _ = writeln!(out, "{}", summary(report));
    if !report.unchecked.is_empty() {
        out.push_str("\nNot judged:\n");
        for text in &report.unchecked {
            let _ = writeln!(out, "  - {text}");
        }
    }
    out
}

/// The fixes that were solved for: their edits by file and line, or what to run.
fn fixes(report: &Report, out: &mut String) {
    let found = report.findings.iter().filter_map(|finding| finding.fix.as_ref());
    let found: Vec<&Fix> = found.filter(|fix| fix.verified).collect();
    let edits: BTreeSet<&PlacedEdit> = found.iter().flat_map(|fix| &fix.edits).collect();
    if !edits.is_empty() {
        out.push_str("Changes after which these errors are gone (solved for, and judged again):\n");
        for edit in edits.iter().filter(|edit| !edit.words.is_empty()) {
            let _ = writeln!(out, "  {}:{}: {}", edit.file, edit.line, edit.words);
        }
        out.push_str("make them with --fix, see them with --diff\n\n");
    }
    let commands: BTreeSet<&String> = found.iter().filter_map(|fix| fix.command.as_ref()).collect();
    for command in commands {
        let _ = writeln!(out, "run: {command}\n");
    }
    let steps: BTreeSet<&String> = found.iter().flat_map(|fix| &fix.steps).collect();
    if !steps.is_empty() {
        out.push_str("and then, for the libraries to be found:\n");
        for step in steps {
            let _ = writeln!(out, "  - {step}");
        }
        out.push('\n');
    }
}

fn rendered(report: &Report, finding: &Reported, style: Style) -> String {
    let (name, text) = report.file(finding);
    let severity = match finding.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
        Severity::Note => diagnostic::Severity::Note,
    };
    let source = Source::new(name, text);
    let message = format!("{}: {}", finding.code, finding.message);
    let mut shown = Diagnostic::new(severity, &source, message);
    if let Some(span) = &finding.span {
        shown = shown.at(span.clone());
    }
    for fact in &finding.facts {
        let source =
            if fact.source.is_empty() { String::new() } else { format!(" ({})", fact.source) };
        shown = shown.help(format!("because {}{source}", fact.text));
    }
    if let Some(symptom) = &finding.symptom {
        shown = shown.help(format!("otherwise: {symptom}"));
    }
    if let Some(fix) = &finding.fix {
        let checked = if fix.verified { "fix (checked by solving)" } else { "fix" };
        let text = match (&fix.command, fix.edits.is_empty()) {
            (Some(_), _) => "the command below",
            (None, false) => "the changes below",
            (None, true) => &fix.text,
        };
        shown = shown.help(format!("{checked}: {text}"));
    }
    shown.render(style)
}

fn summary(report: &Report) -> String {
    let many =
        |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let counts = [Severity::Error, Severity::Warning, Severity::Note]
        .map(|severity| (report.count(severity), severity.as_str()));
    let found: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| many(*count, word))
        .collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    format!("{found}; {} judged", many(report.checked.len(), "package"))
}
