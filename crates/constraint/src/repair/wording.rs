//! How a version is written in a line.

use pep440_rs::Version as Pep440;

use crate::fix::rewritten_versions;
use crate::name::Name;
use crate::requirement::Requirement;

/// The requirement with other specifiers; extras and marker stay.
pub(super) fn with(requirement: &Requirement, versions: &str) -> String {
    crate::fix::with_versions(requirement, versions)
}

/// The requirement with other extras; versions and marker stay.
pub(super) fn with_extras(requirement: &Requirement, extras: &[Name]) -> String {
    let versions = requirement.specifiers.to_string().replace(' ', "");
    let text = with(requirement, &versions);
    let rest = text.strip_prefix(requirement.name.as_str()).unwrap_or_default();
    let rest = match rest.strip_prefix('[') {
        Some(inner) => inner.split_once(']').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let names: Vec<&str> = extras.iter().map(|extra| extra.as_str()).collect();
    format!("{}[{}]{rest}", requirement.name, names.join(","))
}

/// The specifiers that a line needs to allow `chosen`; `None` when it allows it already.
pub(super) fn allowing(requirement: &Requirement, chosen: &Pep440) -> Option<String> {
    rewritten_versions(requirement, chosen)
}

/// One version and no other.
pub(super) fn exactly(chosen: &Pep440) -> String {
    format!("=={chosen}")
}

/// The widest simple bound that keeps `today` out and lets `chosen` in: `<2` for 1.26.4 instead of 2.3.0. A build with a
/// label, or one that differs from today's only by it, can be had by an exact pin alone.
pub(super) fn apart(chosen: &Pep440, today: Option<&Pep440>) -> String {
    let plain = |version: &Pep440| version.is_stable() && !version.is_local();
    let Some(today) = today.filter(|today| plain(today) && plain(chosen) && *today != chosen)
    else {
        return exactly(chosen);
    };
    if chosen > today {
        return format!(">={chosen}");
    }
    let number = |version: &Pep440, at: usize| version.release().get(at).copied().unwrap_or(0);
    let depth = today.release().len().max(chosen.release().len());
    let Some(first) = (0..depth).find(|at| number(chosen, *at) != number(today, *at)) else {
        return exactly(chosen);
    };
    let mut parts: Vec<String> = (0..first).map(|at| number(chosen, at).to_string()).collect();
    parts.push((number(chosen, first) + 1).to_string());
    format!("<{}", parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_as_wide_as_they_can_be() {
        let version = |text: &str| text.parse::<Pep440>().expect("valid");
        let apart = |chosen: &str, today: &str| apart(&version(chosen), Some(&version(today)));
        assert_eq!(apart("1.26.4", "2.3.0"), "<2");
        assert_eq!(apart("1.25.2", "1.26.4"), "<1.26");
        assert_eq!(apart("1.26.3", "1.26.4"), "<1.26.4");
        assert_eq!(apart("2.1.0", "1.26.4"), ">=2.1.0");
        assert_eq!(apart("2.7.1+cu118", "2.9.0"), "==2.7.1+cu118");
        assert_eq!(super::apart(&version("1.0"), None), "==1.0");
    }

    #[test]
    fn extras_are_set_between_name_and_versions() {
        let extras = ["cuda", "cudnn"].map(|name| Name::new(name).expect("valid"));
        let with = |text: &str| with_extras(&text.parse().expect("valid"), &extras);
        assert_eq!(with("a==1 ; python_version > '3'"), "a[cuda,cudnn]==1; python_version > '3'");
        assert_eq!(with("a[x]>=1,<2"), "a[cuda,cudnn]>=1,<2");
        assert_eq!(with("a"), "a[cuda,cudnn]");
    }

    #[test]
    fn a_bound_keeps_apart_what_it_is_made_of() {
        let versions: Vec<Pep440> = ["1.0", "1.0.1", "1.2.3", "1.10", "2", "2.0.0.1", "3.4.5"]
            .iter()
            .map(|text| text.parse().expect("valid"))
            .collect();
        for chosen in &versions {
            for today in versions.iter().filter(|today| *today != chosen) {
                let bound = super::apart(chosen, Some(today));
                let specifiers: pep440_rs::VersionSpecifiers = bound.parse().expect("valid");
                assert!(specifiers.contains(chosen), "{bound} excludes {chosen}");
                assert!(!specifiers.contains(today), "{bound} allows {today}");
            }
        }
    }
}
