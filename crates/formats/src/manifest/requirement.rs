//! Texts by the Python packaging standards: requirements, names, version specifiers.

use std::str::FromStr;

use cuda_lock_constraint::name::Name;
use pep440_rs::VersionSpecifiers;
use serde_spanned::Spanned;

use crate::document::{Report, owned};
use crate::pep508;

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
    let Err(problem) = pep508::requirement(raw) else { return Some(owned(text)) };
    let place = report.inside(text, problem.range);
    let message = format!("invalid requirement \"{raw}\": {}", problem.message);
    let reported = report.error(place, message);
    if let Some(help) = requirement_help(raw) {
        reported.help(help);
    }
    None
}

/// What people write who know another tool's syntax.
fn requirement_help(raw: &str) -> Option<String> {
    if raw.starts_with('-') {
        return Some(
            "options of pip have their own keys: [[index]], [options] constraints".to_owned(),
        );
    }
    let (name, version) = raw.split_once('=')?;
    let (name, version) = (name.trim(), version.trim());
    let fixed = format!("{name}=={version}");
    let one = !version.starts_with('=') && pep508::requirement(&fixed).is_ok();
    one.then(|| format!("an exact version is written with two equal signs: \"{fixed}\""))
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
