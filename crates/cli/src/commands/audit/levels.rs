//! Which findings count, and how much.

use std::collections::BTreeMap;

use cuda_lock_commands::Failure;
use cuda_lock_commands::judged::{at_level, ignoring};
use cuda_lock_constraint::audit::{Code, Finding, Severity};
use cuda_lock_formats::manifest::{AuditIgnore, AuditLevel, AuditSettings};

use crate::args::Audit;
use crate::output::audit::Report;
use crate::output::message;

/// Levels by code, and findings that are accepted.
pub struct Levels {
    by_code: BTreeMap<Code, AuditLevel>,
    ignored: Vec<AuditIgnore>,
}

/// Every code, for messages.
#[must_use]
pub fn all_codes() -> String {
    Code::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(", ")
}

impl Levels {
    /// Flags win over `[audit]` of env.toml.
    ///
    /// # Errors
    /// When a code does not exist.
    pub fn new(args: &Audit, settings: &AuditSettings) -> Result<Self, Failure> {
        let mut by_code = BTreeMap::new();
        for (code, level) in &settings.levels {
            by_code.insert(known(code, "[audit] levels")?, *level.get_ref());
        }
        let flags = [
            (&args.allow, AuditLevel::Allow, "--allow"),
            (&args.warn, AuditLevel::Warn, "--warn"),
            (&args.deny, AuditLevel::Deny, "--deny"),
        ];
        for (codes, level, flag) in flags {
            for code in codes {
                by_code.insert(known(code, flag)?, level);
            }
        }
        for ignore in &settings.ignore {
            let _ = known(ignore.code.get_ref(), "[audit] ignore")?;
        }
        Ok(Self { by_code, ignored: settings.ignore.clone() })
    }

    /// Whether a finding counts as an error, settings applied.
    #[must_use]
    pub fn is_error(&self, finding: &Finding) -> bool {
        ignoring(&self.ignored, finding.code, finding.package).is_none()
            && self.severity(finding.code, finding.severity) == Some(Severity::Error)
    }

    fn severity(&self, code: Code, found: Severity) -> Option<Severity> {
        at_level(self.by_code.get(&code).copied(), found)
    }

    /// Applies them. An ignore that matches nothing is reported: it hides the next finding of its kind.
    pub fn apply(&self, report: &mut Report) {
        let mut used = vec![false; self.ignored.len()];
        report.findings.retain(|finding| {
            let matching = ignoring(&self.ignored, finding.code, finding.package);
            if let Some(used) = matching.and_then(|at| used.get_mut(at)) {
                *used = true;
            }
            matching.is_none()
        });
        for (ignore, _) in self.ignored.iter().zip(used).filter(|(_, used)| !used) {
            let about = ignore.package.as_ref().map(|name| format!(" of {}", name.get_ref()));
            message::warning(format_args!(
                "[audit] ignores {}{}, which is not found any more ({})",
                ignore.code.get_ref(),
                about.unwrap_or_default(),
                ignore.reason
            ));
        }
        report.findings.retain_mut(|finding| {
            let severity = self.severity(finding.code, finding.severity);
            finding.severity = severity.unwrap_or(finding.severity);
            severity.is_some()
        });
    }
}

fn known(code: &str, place: &str) -> Result<Code, Failure> {
    if let Some(code) = Code::find(code) {
        return Ok(code);
    }
    Err(Failure::argument(format!("{place}: there is no code '{code}'"))
        .with_help(format!("the codes are {}", all_codes())))
}
