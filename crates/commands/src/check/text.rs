//! Files compared line by line.

use cuda_lock_formats::diagnostic::Diagnostics;

/// The first line in which a file is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Counted from 1.
    pub line: usize,
    /// What stands there; `None` after the end of the file.
    pub found: Option<String>,
    /// What should stand there; `None` when the file should have ended.
    pub expected: Option<String>,
}

/// Where `found` departs from `expected`. Git may turn line ends into those of Windows, which is no edit.
#[must_use]
pub fn first_difference(found: &str, expected: &str) -> Option<Difference> {
    if found == expected {
        return None;
    }
    let (mut left, mut right) = (lines(found), lines(expected));
    let mut line = 0;
    loop {
        line += 1;
        match (left.next(), right.next()) {
            (None, None) => return None,
            (found, expected) if found == expected => {}
            (found, expected) => {
                return Some(Difference {
                    line,
                    found: found.map(str::to_owned),
                    expected: expected.map(str::to_owned),
                });
            }
        }
    }
}

/// The lines, the empty rest after a final line end included.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// What is wrong with a lock that cannot be read. Most often a merge left its marks.
#[must_use]
pub fn broken(text: &str, why: &Diagnostics) -> String {
    let mark =
        text.lines().position(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "));
    if let Some(place) = mark {
        return format!("line {} has the mark of a merge conflict", place + 1);
    }
    match why.iter().next() {
        Some(first) => first.one_line(),
        None => "it cannot be read".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        let at = |found, expected| first_difference(found, expected).map(|at| at.line);
        assert_eq!(at("a\nb\n", "a\nb\n"), None);
        assert_eq!(at("a\r\nb\r\n", "a\nb\n"), None);
        assert_eq!(at("a\nc\n", "a\nb\n"), Some(2));
        assert_eq!(at("a\n", "a\nb\n"), Some(2));
        assert_eq!(at("a\nb", "a\nb\n"), Some(3));
        assert_eq!(at("", "a\n"), Some(1));
    }
}
