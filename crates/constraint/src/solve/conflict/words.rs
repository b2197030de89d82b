//! Facts in words.

use std::ops::Bound;

use crate::constraint::Reason;
use crate::package::Package;
use crate::solve::conflict::CollidingFact;
use crate::version::{DistVersion, Range, Version};

/// A range as people write it: `>=2.1,<2.4`, `2.4.0 or 2.4.1`, `any version`. `known` folds holes that no version fills.
#[must_use]
pub fn range_text(range: &Range, known: &[Version]) -> String {
    let simple;
    let range = if known.is_empty() {
        range
    } else {
        simple = range.simplify(known.iter());
        &simple
    };
    let parts: Vec<String> = range.iter().filter_map(|(low, high)| segment(low, high)).collect();
    if parts.iter().any(String::is_empty) {
        return "any version".to_owned();
    }
    match parts.as_slice() {
        [] => "no version".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if parts.len() <= 6 => format!("{} or {last}", first.join(", ")),
        [first, .., last] => format!("{first}, ... or {last}"),
    }
}

/// One segment; empty for "any version", `None` for "not installed".
fn segment(low: &Bound<Version>, high: &Bound<Version>) -> Option<String> {
    let absent = |version: &Version| version.as_dist().is_some_and(DistVersion::is_absent);
    if let (Bound::Included(low), Bound::Included(high)) = (low, high) {
        if absent(low) && absent(high) {
            return None;
        }
        let same = low == high
            || matches!((low, high), (Version::Dist(low), Version::Dist(high))
                if low.version() == high.version());
        if same {
            return Some(low.to_string());
        }
    }
    let low = match low {
        Bound::Included(version) if absent(version) => None,
        Bound::Excluded(version) if absent(version) => None,
        Bound::Included(version) => Some(format!(">={version}")),
        Bound::Excluded(version) => Some(format!(">{version}")),
        Bound::Unbounded => None,
    };
    let high = match high {
        Bound::Included(version) => Some(format!("<={version}")),
        Bound::Excluded(version) => Some(format!("<{version}")),
        Bound::Unbounded => None,
    };
    Some([low, high].into_iter().flatten().collect::<Vec<_>>().join(","))
}

/// `torch >=2.1`, `driver 470.86`, `torch` for any version.
fn package_text(package: Package, range: &Range, known: &[Version]) -> String {
    match (package, range_text(range, known).as_str()) {
        (Package::Root, _) => "env.toml".to_owned(),
        (Package::Provider(module), owner) => {
            format!("{owner} to own the import package '{module}'")
        }
        (package, "any version") => package.to_string(),
        (package, text) => format!("{package} {text}"),
    }
}

/// One line for a fact, and who says so.
#[must_use]
pub fn describe(fact: &CollidingFact) -> (String, Option<String>) {
    match fact {
        CollidingFact::Needs { subject: Package::Root, package, range, reasons, .. } => {
            let written = match reasons.first() {
                Some((_, Reason::Manifest { text })) => text.to_string(),
                _ => package_text(*package, range, &[]),
            };
            let verb =
                if package.dist_name().is_some() { "you ask for" } else { "the machine has" };
            (format!("{verb} {written}"), Some("env.toml".to_owned()))
        }
        CollidingFact::Needs { subject, versions, known, package, range, reasons } => {
            let subject = package_text(*subject, versions, known);
            let line = format!("{subject} needs {}", package_text(*package, range, &[]));
            (line, reasons.first().map(|(version, reason)| source_text(version, reason)))
        }
        CollidingFact::NoVersion { package, unknown_project: true, .. } => {
            (format!("{package} is on none of the indexes that were asked"), None)
        }
        CollidingFact::NoVersion { package, range, known, .. } => {
            let what = package_text(*package, range, known);
            let newest = known.last().map(|newest| format!("the newest is {newest}"));
            (format!("there is no {what} that can be used here"), newest)
        }
        CollidingFact::Unusable { package, versions, why } => {
            (format!("{} cannot be used: {why}", package_text(*package, versions, &[])), None)
        }
    }
}

fn source_text(version: &Version, reason: &Reason) -> String {
    match reason {
        Reason::Metadata { requirement } => format!("METADATA of {version}: {requirement}"),
        Reason::RequiresPython { specifiers } => {
            format!("Requires-Python of {version}: {specifiers}")
        }
        Reason::WheelTag { text } => text.to_string(),
        Reason::Matrix(fact) => match fact.sources.first() {
            Some(source) => format!("{}; {source}", fact.text),
            None => fact.text.clone(),
        },
        Reason::Manifest { text } => text.to_string(),
        Reason::Extra => "an extra belongs to its distribution".to_owned(),
    }
}
