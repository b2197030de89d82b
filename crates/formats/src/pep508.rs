//! Requirements and markers of a file: what is wrong with one, and which of its characters are meant.

use std::ops::Range;
use std::str::FromStr;

use cuda_lock_constraint::requirement::{Marker, Requirement, RequirementError};

/// What is wrong with a text, and which bytes of it are meant; an empty range at its end when something is missing.
#[derive(Debug)]
pub(crate) struct Problem {
    pub message: String,
    pub range: Range<usize>,
}

/// Reads a requirement (PEP 508).
pub(crate) fn requirement(text: &str) -> Result<Requirement, Problem> {
    Requirement::from_str(text).map_err(|error| problem(text, &error))
}

/// Checks a marker (PEP 508).
pub(crate) fn check_marker(text: &str) -> Result<(), Problem> {
    Marker::from_str(text).map(drop).map_err(|error| problem(text, &error))
}

/// One spelling for all that mean the same.
pub(crate) fn canonical(requirement: &Requirement) -> String {
    let mut text = requirement.name.to_string();
    let mut extras: Vec<&str> = requirement.extras.iter().map(|extra| extra.as_str()).collect();
    extras.sort_unstable();
    let mut versions: Vec<String> =
        requirement.specifiers.iter().map(ToString::to_string).collect();
    versions.sort_unstable();
    text.push_str(&format!("[{}] {}", extras.join(","), versions.join(",")));
    if let Some(url) = &requirement.url {
        text.push_str(&format!(" @ {}#{}", url.url, url.fragment.as_deref().unwrap_or_default()));
    }
    if let Some(marker) = &requirement.marker {
        text.push_str(&format!(" ; {marker}"));
    }
    text
}

fn problem(text: &str, error: &RequirementError) -> Problem {
    // The error may be about a part of the text; its column counts in the text that it names.
    let home = text.find(error.text()).unwrap_or(0);
    let mut rest = error.text().char_indices().skip(error.column().saturating_sub(1));
    let start = rest.next().map_or(error.text().len(), |(at, _)| at);
    let end = rest.next().map_or(error.text().len(), |(at, _)| at);
    Problem { message: error.fault().to_string(), range: home + start..home + end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_that_of_the_fault() {
        for (text, place) in [
            ("torch >= two", 6..7),
            ("torch >=", 8..8),
            ("a- >1", 0..1),
            ("torch; os_name = 'x'", 15..16),
            ("torch; é", 7..9),
        ] {
            assert_eq!(requirement(text).expect_err(text).range, place, "{text}");
        }
        assert_eq!(check_marker("os_name = 'x'").expect_err("operator").range, 8..9);
    }

    #[test]
    fn one_spelling_for_all_that_mean_the_same() {
        let one = |text: &str| canonical(&requirement(text).expect(text));
        assert_eq!(one("Torch[b,a]>=2.3,<3"), one("torch [a, b] <3 , >=2.3"));
        assert_ne!(one("torch>=2.3"), one("torch>2.3"));
        assert_ne!(one("torch"), one("torch ; os_name == 'nt'"));
    }
}
