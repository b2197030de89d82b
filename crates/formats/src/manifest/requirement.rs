//! Texts by the Python packaging standards: requirements, names, version specifiers.

use std::str::FromStr;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use pep440_rs::VersionSpecifiers;
use serde_spanned::Spanned;

use crate::document::{Report, owned};

/// Checks requirements and keeps those that can be read.
pub(super) fn requirements(texts: Vec<Spanned<&str>>, report: &mut Report) -> Vec<Spanned<String>> {
    texts.iter().filter_map(|text| requirement(text, report)).collect()
}

/// Checks a PEP 508 requirement, pointing at the character that is wrong.
pub(super) fn requirement(text: &Spanned<&str>, report: &mut Report) -> Option<Spanned<String>> {
    let raw = *text.get_ref();
    if raw.trim().is_empty() {
        report
            .error(text.span(), "the requirement is empty")
            .help("write a package name, such as \"torch>=2.3\"");
        return None;
    }
    let Err(error) = Requirement::from_str(raw) else { return Some(owned(text)) };
    let place = report.inside(text, error.range());
    let message = format!("invalid requirement \"{raw}\": {}", error.fault());
    let help = if raw.starts_with('-') {
        Some("options of pip have their own keys: [[index]], [options] constraints".to_owned())
    } else {
        error.help()
    };
    let reported = report.error(place, message);
    if let Some(help) = help {
        reported.help(help);
    }
    None
}

/// Checks a project name.
pub(super) fn name(text: &Spanned<&str>, report: &mut Report) -> Option<Name> {
    match Name::new(text.get_ref()) {
        Ok(name) => Some(name),
        Err(error) => {
            report.error(text.span(), error.to_string());
            None
        }
    }
}

/// Checks version specifiers such as `>=3.10,<3.13`; `what` is the key.
pub(super) fn specifiers(
    text: &Spanned<&str>,
    what: &str,
    report: &mut Report,
) -> Option<VersionSpecifiers> {
    match VersionSpecifiers::from_str(text.get_ref()) {
        Ok(specifiers) if !text.get_ref().trim().is_empty() => Some(specifiers),
        _ => {
            report
                .error(text.span(), format!("invalid `{what}` \"{}\"", text.get_ref()))
                .help("write version specifiers, such as \">=3.10,<3.13\"");
            None
        }
    }
}
