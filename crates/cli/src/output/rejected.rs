//! An answer that an audit would reject, in words.

use cuda_lock_constraint::audit::Finding;

use super::message;

/// Says why an answer is none.
pub fn print(target: Option<&str>, errors: &[Finding]) {
    if let Some(target) = target {
        message::line(format_args!("target {target}:"));
    }
    for finding in errors {
        message::error(format_args!("{}: {}", finding.code, finding.message));
        for fact in &finding.facts {
            message::line(format_args!("  {}", fact.text));
            if !fact.source.is_empty() {
                message::line(format_args!("      {}", fact.source));
            }
        }
        if let Some(symptom) = &finding.symptom {
            message::line(format_args!("  otherwise: {symptom}"));
        }
        if let Some(fix) = &finding.fix {
            message::help(fix);
        }
    }
    message::help(
        "every requirement has an answer, but it would not run on this machine, so nothing was written; \
         what [audit] of env.toml ignores is let through",
    );
}
