//! What was solved is judged as an audit would judge it, before anything is written.
//!
//! The solver goes by the rules that can be said as dependencies; an audit knows more. What it calls an error is no answer, and
//! what it warns of belongs to the summary.

use cuda_lock_constraint::audit::{Code, Finding, Severity, audit_answer};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::image::parse_image;
use cuda_lock_constraint::solve::{Problem, Solution};
use cuda_lock_formats::manifest::{AuditIgnore, AuditLevel, AuditSettings};

use crate::plan::Plan;

/// Judges a solution of `problem`: what an audit warns of is added to its warnings, and what it calls an error is returned.
/// `[audit]` of env.toml has the say about both.
#[must_use]
pub(crate) fn judge(
    settings: &AuditSettings,
    plan: &Plan,
    problem: &Problem,
    solution: &mut Solution,
) -> Vec<Finding> {
    let reference = plan.spec.machine.image.as_ref();
    let image =
        reference.and_then(|image| parse_image(image.get_ref(), problem.machine.platform).ok());
    solution.warnings.extend(nothing(problem, solution));
    let mut errors = Vec::new();
    for finding in audit_answer(problem, solution, image).findings {
        match severity(settings, &finding) {
            Some(Severity::Error) => errors.push(finding),
            Some(Severity::Warning) => solution.warnings.push(in_one_line(&finding)),
            Some(Severity::Note) | None => {}
        }
    }
    errors
}

/// Says so when nothing is to be installed, because no requirement holds for this target.
fn nothing(problem: &Problem, solution: &Solution) -> Option<String> {
    let target = &problem.target;
    solution.builds.is_empty().then(|| {
        let asked: Vec<&str> = problem.requirements.iter().map(|r| r.text().as_ref()).collect();
        format!(
            "nothing is to be installed: no marker holds for Python {} on {} ({})",
            target.python,
            target.platform,
            asked.join(", ")
        )
    })
}

/// How much a finding counts by `[audit]` of env.toml; `None` when it is accepted.
fn severity(settings: &AuditSettings, finding: &Finding) -> Option<Severity> {
    if ignoring(&settings.ignore, finding.code, finding.package).is_some() {
        return None;
    }
    let level = settings.levels.get(finding.code.as_str());
    at_level(level.map(|level| *level.get_ref()), finding.severity)
}

/// The place of the first ignore that accepts a finding.
#[must_use]
pub fn ignoring(ignores: &[AuditIgnore], code: Code, package: Option<Name>) -> Option<usize> {
    ignores.iter().position(|ignore| {
        let named = ignore.package.as_ref().map(|name| *name.get_ref());
        *ignore.code.get_ref() == code.as_str() && (named.is_none() || named == package)
    })
}

/// How much a finding counts at a level, when one is set for its code; `None` when it is allowed.
#[must_use]
pub fn at_level(level: Option<AuditLevel>, found: Severity) -> Option<Severity> {
    match level {
        Some(AuditLevel::Allow) => None,
        Some(AuditLevel::Warn) => Some(Severity::Warning),
        Some(AuditLevel::Deny) => Some(Severity::Error),
        None => Some(found),
    }
}

/// A finding with its code and what to do about it.
#[must_use]
pub fn in_one_line(finding: &Finding) -> String {
    let fix = finding.fix.as_ref().map_or_else(String::new, |fix| format!("; {fix}"));
    format!("{}: {}{fix}", finding.code, finding.message)
}
