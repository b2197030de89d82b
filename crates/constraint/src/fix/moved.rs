//! A requirement written for other versions.

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier};

use crate::requirement::Requirement;

/// The requirement for any version but the one that it names: that one was tried.
pub(super) fn open(requirement: &Requirement) -> String {
    let mut specifiers = requirement.specifiers.iter();
    let versions = match (specifiers.next(), specifiers.next()) {
        (Some(only), None) if *only.operator() == Operator::Equal => {
            format!("!={}", only.version())
        }
        (Some(only), None) if *only.operator() == Operator::EqualStar => {
            format!("!={}.*", only.version())
        }
        _ => String::new(),
    };
    with_versions(requirement, &versions)
}

/// The version that a requirement names, when it asks for one release or the releases of one prefix.
pub(super) fn pin(requirement: &Requirement) -> Option<Pep440> {
    let names = |specifier: &&VersionSpecifier| {
        matches!(
            specifier.operator(),
            Operator::Equal | Operator::EqualStar | Operator::ExactEqual | Operator::TildeEqual
        )
    };
    requirement.specifiers.iter().find(names).map(|specifier| specifier.version().clone())
}

/// The requirement with the bounds that exclude `chosen` moved as far as it; `None` when nothing excludes it.
pub(super) fn rewritten(requirement: &Requirement, chosen: &Pep440) -> Option<String> {
    rewritten_versions(requirement, chosen).map(|versions| with_versions(requirement, &versions))
}

/// The specifiers of that.
pub(crate) fn rewritten_versions(requirement: &Requirement, chosen: &Pep440) -> Option<String> {
    if requirement.url.is_some() {
        return Some(format!("=={chosen}"));
    }
    let allows = |specifier: &VersionSpecifier| specifier.contains(chosen);
    if requirement.specifiers.iter().all(allows) {
        return None;
    }
    // Only `==` may carry a local label.
    let public = chosen.clone().without_local();
    let parts: Vec<String> = requirement
        .specifiers
        .iter()
        .map(|specifier| match specifier.operator() {
            _ if allows(specifier) => specifier.to_string(),
            Operator::GreaterThan | Operator::GreaterThanEqual => format!(">={public}"),
            Operator::LessThan | Operator::LessThanEqual => format!("<={public}"),
            _ => format!("=={chosen}"),
        })
        .collect();
    Some(parts.join(","))
}

/// The requirement on another distribution.
pub(super) fn renamed(requirement: &Requirement, name: &str) -> String {
    let versions = requirement.specifiers.to_string().replace(' ', "");
    with_versions(requirement, &versions).replacen(requirement.name.as_str(), name, 1)
}

/// The requirement with other specifiers.
pub(crate) fn with_versions(requirement: &Requirement, versions: &str) -> String {
    let extras = match &*requirement.extras {
        [] => String::new(),
        extras => {
            let names: Vec<&str> = extras.iter().map(|extra| extra.as_str()).collect();
            format!("[{}]", names.join(","))
        }
    };
    let marker = match requirement.text().split_once(';') {
        Some((_, marker)) if requirement.marker.is_some() => format!("; {}", marker.trim()),
        _ => String::new(),
    };
    format!("{}{extras}{versions}{marker}", requirement.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(text: &str, chosen: &str) -> Option<String> {
        let requirement: Requirement = text.parse().expect("valid");
        rewritten(&requirement, &chosen.parse().expect("valid"))
    }

    #[test]
    fn only_the_bounds_that_exclude_a_release_move() {
        assert_eq!(moved("torch>=2.11,<3", "2.10.0").as_deref(), Some("torch>=2.10.0,<3"));
        assert_eq!(moved("numpy<2", "2.1.0").as_deref(), Some("numpy<=2.1.0"));
        assert_eq!(moved("torch==2.6.0", "2.7.0").as_deref(), Some("torch==2.7.0"));
        assert_eq!(moved("torch>=2.1", "2.7.0+cu128"), None);
    }

    #[test]
    fn what_was_tried_is_not_tried_again() {
        let open = |text: &str| open(&text.parse().expect("valid"));
        assert_eq!(open("torch==2.6.0+cu124"), "torch!=2.6.0+cu124");
        assert_eq!(open("torch==2.6.*"), "torch!=2.6.*");
        assert_eq!(open("torch>=2.6,<3"), "torch");
        assert_eq!(open("a[x]==1; python_version < '3.12'"), "a[x]!=1; python_version < '3.12'");
    }

    #[test]
    fn extras_and_markers_stay() {
        let moved = moved("a[x,y]==1 ; python_version < '3.12'", "2");
        assert_eq!(moved.as_deref(), Some("a[x,y]==2; python_version < '3.12'"));
    }

    #[test]
    fn a_local_label_is_written_only_after_equals() {
        assert_eq!(moved("torch>=3", "2.7.0+cu128").as_deref(), Some("torch>=2.7.0"));
        assert_eq!(moved("torch==2.6.0", "2.7.0+cu128").as_deref(), Some("torch==2.7.0+cu128"));
    }

    #[test]
    fn a_name_is_replaced_with_everything_else_kept() {
        let requirement: Requirement = "onnxruntime-gpuu[cuda]>=1.18".parse().expect("valid");
        assert_eq!(renamed(&requirement, "onnxruntime-gpu"), "onnxruntime-gpu[cuda]>=1.18");
    }
}
