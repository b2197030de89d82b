//! Findings for people: each with the line that it is about.

use cuda_lock_constraint::audit::Severity;
use cuda_lock_formats::diagnostic::{self, Diagnostic, Source, Style};

use super::{Report, Reported, line};

/// Prints the findings, what was judged and what was not.
pub fn print(report: &Report) {
    let colour =
        !matches!(anstream::AutoStream::choice(&std::io::stdout()), anstream::ColorChoice::Never);
    let style = if colour { Style::Color } else { Style::Plain };
    for finding in &report.findings {
        line(rendered(report, finding, style).trim_end());
        line("");
    }
    line(summary(report));
    if !report.unchecked.is_empty() {
        line("\nNot judged:");
        for text in &report.unchecked {
            line(format_args!("  - {text}"));
        }
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
        shown = shown.help(format!("fix: {fix}"));
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
