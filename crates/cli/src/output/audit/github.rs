//! Findings as workflow commands of GitHub Actions, which show them beside the lines of a pull request.

use cuda_lock_constraint::audit::Severity;

use super::{Report, Reported, line};

/// Prints one command for each finding.
pub fn print(report: &Report) {
    for finding in &report.findings {
        line(command(report, finding));
    }
}

fn command(report: &Report, finding: &Reported) -> String {
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let mut properties = format!("file={}", property(report.file(finding).0));
    if let Some((line, column)) = finding.position {
        properties.push_str(&format!(",line={line},col={column}"));
    }
    properties.push_str(&format!(",title={}", property(finding.code.as_str())));
    let mut text = finding.message.clone();
    if let Some(fix) = &finding.fix {
        text.push_str("\nfix: ");
        text.push_str(&fix.text);
    }
    format!("::{kind} {properties}::{}", data(&text))
}

/// Escapes the text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, in which two more characters have a meaning.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_is_escaped() {
        assert_eq!(data("50%\nno"), "50%25%0Ano");
        assert_eq!(property("C:\\a,b"), "C%3A\\a%2Cb");
    }
}
