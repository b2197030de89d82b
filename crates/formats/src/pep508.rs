//! `pep508_rs` behind a guard.
//!
//! The parser of version 0.9 panics on a name that ends with `-`, `_` or `.` before something else (`a- >1`), and runs out
//! of stack on markers that nest without end. Files of strangers are read with it, so both are caught before.

use std::ops::Range;
use std::str::FromStr;

use pep508_rs::{MarkerTree, Pep508Error, Requirement, VerbatimUrl};

/// Deeper than any marker that a person or a tool writes.
const DEPTH: usize = 64;

/// What is wrong with a text, and which bytes of it are meant.
#[derive(Debug)]
pub(crate) struct Problem {
    pub message: String,
    pub range: Range<usize>,
}

/// Reads a requirement (PEP 508).
pub(crate) fn requirement(text: &str) -> Result<Requirement<VerbatimUrl>, Problem> {
    check_names(text)?;
    check_depth(text)?;
    Requirement::from_str(text).map_err(|error| problem(text, &error))
}

/// Checks a marker (PEP 508).
pub(crate) fn check_marker(text: &str) -> Result<(), Problem> {
    check_depth(text)?;
    let marker = MarkerTree::parse_str::<VerbatimUrl>(text);
    marker.map(drop).map_err(|error| problem(text, &error))
}

fn problem(text: &str, error: &Pep508Error<VerbatimUrl>) -> Problem {
    // Sentences of the parser follow a colon here. It points past the end when something is missing there.
    let said = error.message.to_string();
    let mut letters = said.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
    let start = text.floor_char_boundary(error.start);
    let end = text.floor_char_boundary(start.saturating_add(error.len));
    Problem { message: format!("{first}{}", letters.as_str()), range: start..end }
}

/// The name, and the extras in brackets after it.
fn check_names(text: &str) -> Result<(), Problem> {
    let start = text.len() - text.trim_start().len();
    let end = check_name(text, start)?;
    let rest = text.get(end..).unwrap_or_default();
    let bracket = end + (rest.len() - rest.trim_start().len());
    if !text.get(bracket..).is_some_and(|rest| rest.starts_with('[')) {
        return Ok(());
    }
    let close = text[bracket..].find(']').map_or(text.len(), |at| bracket + at);
    let mut at = bracket + 1;
    for extra in text.get(at..close).unwrap_or_default().split(',') {
        check_name(text, at + (extra.len() - extra.trim_start().len()))?;
        at += extra.len() + 1;
    }
    Ok(())
}

/// Where the name that starts at `start` ends.
fn check_name(text: &str, start: usize) -> Result<usize, Problem> {
    let rest = text.get(start..).unwrap_or_default();
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = rest.find(|c| !in_name(c)).map_or(rest, |end| &rest[..end]);
    let end = start + name.len();
    match name.chars().next_back() {
        Some(last @ ('-' | '_' | '.')) if name.starts_with(|c: char| c.is_ascii_alphanumeric()) => {
            Err(Problem {
                message: format!("a name must end with a letter or digit, not `{last}`"),
                range: end - 1..end,
            })
        }
        _ => Ok(end),
    }
}

fn check_depth(text: &str) -> Result<(), Problem> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH {
            return Err(Problem {
                message: format!("more than {DEPTH} nested parentheses"),
                range: at..at + 1,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_the_parser_panics_on_are_refused_with_their_place() {
        for (text, place) in
            [("a- >1", 1), (" a_.; x", 3), ("torch[a-,b]", 7), ("torch [ b, c. ]", 12), ("6-", 1)]
        {
            let problem = requirement(text).expect_err(text);
            assert_eq!(problem.range, place..place + 1, "{text}");
        }
        assert!(requirement("torch [a-b, c.d] >=2.3").is_ok());
    }

    #[test]
    fn deep_markers_do_not_run_out_of_stack() {
        let deep = format!("{}os_name == 'x'{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(check_marker(&deep).is_err());
        assert!(requirement(&format!("a; {deep}")).is_err());
        assert!(check_marker("((os_name == 'x') or (os_name == 'y'))").is_ok());
    }

    fn marker() -> impl Strategy<Value = String> {
        let variable = prop_oneof![
            Just("python_version"),
            Just("python_full_version"),
            Just("os_name"),
            Just("sys_platform"),
            Just("extra"),
            Just("implementation_version"),
        ];
        let operator = prop_oneof![
            Just("=="),
            Just("!="),
            Just("<"),
            Just(">="),
            Just("~="),
            Just("==="),
            Just("in"),
            Just("not in"),
        ];
        let value = prop_oneof![
            "[0-9]{1,2}(\\.[0-9*]{1,2}){0,3}",
            "[a-z.-]{0,5}",
            Just("3.8 3.9".to_owned()),
            Just("3.9rc1".to_owned()),
            Just("1!3".to_owned()),
        ];
        (variable, operator, value, any::<bool>()).prop_map(
            |(variable, operator, value, turned)| {
                if turned {
                    format!("'{value}' {operator} {variable}")
                } else {
                    format!("{variable} {operator} '{value}'")
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_text_makes_it_panic(
            name in "[a-z0-9._-]{0,3}",
            extras in "(\\[[a-z,. -]{0,4}\\]?)?",
            versions in "([<>=~!]{1,3} ?[0-9.*a-z+!]{0,6},?){0,2}",
            markers in proptest::collection::vec(marker(), 0..4),
        ) {
            for joint in [" and ", " or "] {
                let marker = markers.join(joint);
                let _ = check_marker(&marker);
                if let Err(problem) = requirement(&format!("{name}{extras}{versions} ; {marker}")) {
                    prop_assert!(problem.range.start <= problem.range.end);
                }
            }
        }
    }
}
