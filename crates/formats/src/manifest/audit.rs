//! `[audit]`: which findings count.

use std::collections::BTreeMap;

use cuda_lock_constraint::name::Name;
use serde_spanned::Spanned;
use toml::de::DeTable;

use super::requirement::name;
use crate::document::{Report, as_text, owned, table, tables, text};
use crate::schema::{Key, Kind};

/// The keys of `[audit]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "levels",
        Kind::ChoiceMap(&["allow", "warn", "deny"]),
        "{ driver-floor = \"warn\" }",
        "How much a finding of a code counts: deny fails the audit, allow hides it.",
    ),
    Key::new(
        "ignore",
        Kind::Tables(IGNORE_KEYS),
        "[{ code = \"driver-floor\", reason = \"...\" }]",
        "Findings that are known and accepted.",
    ),
];

const IGNORE_KEYS: &[Key] = &[
    Key::new("code", Kind::Text, "\"driver-floor\"", "The code of the finding.").required(),
    Key::new("package", Kind::Text, "\"torch\"", "Only findings about this package."),
    Key::new("reason", Kind::Text, "\"the driver is updated next week\"", "Why it is accepted.")
        .required(),
];

/// `[audit]`. Codes are checked where the rules are at hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditSettings {
    /// Levels by code.
    pub levels: BTreeMap<String, Spanned<AuditLevel>>,
    /// Accepted findings.
    pub ignore: Vec<AuditIgnore>,
}

/// How much a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditLevel {
    /// It is not shown.
    Allow,
    /// It is shown, and the audit passes.
    Warn,
    /// The audit fails.
    Deny,
}

/// A finding that is known and accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditIgnore {
    /// The code of the finding.
    pub code: Spanned<String>,
    /// Only about this package; `None`: about any.
    pub package: Option<Spanned<Name>>,
    /// Why it is accepted.
    pub reason: String,
}

impl AuditSettings {
    pub(super) fn read(keys: &DeTable<'_>, report: &mut Report) -> Self {
        let mut levels = BTreeMap::new();
        for (code, value) in table(keys, "levels").into_iter().flatten() {
            let level = match value.get_ref().as_str() {
                Some("allow") => AuditLevel::Allow,
                Some("warn") => AuditLevel::Warn,
                _ => AuditLevel::Deny,
            };
            levels.insert(code.get_ref().to_string(), Spanned::new(code.span(), level));
        }
        let mut ignore = Vec::new();
        for (_, entry) in tables(keys, "ignore") {
            let (Some(code), Some(reason)) = (text(entry, "code"), text(entry, "reason")) else {
                continue;
            };
            if reason.get_ref().trim().is_empty() {
                report.error(reason.span(), "`reason` is empty").help(
                    "say why the finding is accepted; whoever reads this next will want to know",
                );
            }
            let package = entry
                .get("package")
                .and_then(as_text)
                .and_then(|text| Some(Spanned::new(text.span(), name(&text, report)?)));
            let reason = reason.get_ref().trim().to_owned();
            ignore.push(AuditIgnore { code: owned(&code), package, reason });
        }
        Self { levels, ignore }
    }
}
