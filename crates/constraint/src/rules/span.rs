//! The row that holds for a release, and the nearest row for a release that none speaks of.

use pep440_rs::Version as Pep440;

use crate::matrix::rows::table::Row;

/// A row, and how it fits the release that was asked for.
pub(super) struct Found<R: 'static> {
    /// The row.
    pub(super) row: &'static R,
    /// How it fits.
    pub(super) fit: Fit,
}

impl<R> Clone for Found<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Found<R> {}

/// How a row fits a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The release is in the span.
    Known,
    /// The nearest row ends before it, at this release.
    Older(&'static Pep440),
    /// The nearest row begins after it, at this release.
    Newer(&'static Pep440),
}

/// What texts say that rest on the facts of another release.
pub const ASSUMED: &str = "no fact about this release";

impl Fit {
    /// The end of the nearest row.
    fn bound(self) -> Option<&'static Pep440> {
        match self {
            Self::Known => None,
            Self::Older(at) | Self::Newer(at) => Some(at),
        }
    }

    /// The release that the row knows: `asked` itself, or the nearest one.
    pub(super) fn release(self, asked: &Pep440) -> String {
        match self {
            Self::Known => asked.to_string(),
            Self::Older(nearest) | Self::Newer(nearest) => nearest.to_string(),
        }
    }

    /// What is assumed, to follow a fact: empty when nothing is.
    pub(super) fn assumption(self) -> String {
        match self {
            Self::Known => String::new(),
            Self::Older(release) | Self::Newer(release) => {
                format!(" ({ASSUMED}; taken from {release}, the nearest one known)")
            }
        }
    }
}

/// The row that holds for `release`; else the nearest one before it; else the nearest one after it.
pub(super) fn find<R: Row>(
    rows: &'static [R],
    release: &Pep440,
    wanted: impl Fn(&R) -> bool,
) -> Option<Found<R>> {
    let mut before: Option<Found<R>> = None;
    let mut after: Option<Found<R>> = None;
    for row in rows.iter().filter(|row| wanted(row)) {
        let Some(span) = row.span() else { continue };
        if span.contains(release) {
            return Some(Found { row, fit: Fit::Known });
        }
        if *release < span.from {
            let nearer = |found: &Found<R>| found.fit.bound().is_none_or(|at| span.from < *at);
            if after.as_ref().is_none_or(nearer) {
                after = Some(Found { row, fit: Fit::Newer(&span.from) });
            }
        } else {
            let nearer = |found: &Found<R>| found.fit.bound().is_none_or(|at| span.to > *at);
            if before.as_ref().is_none_or(nearer) {
                before = Some(Found { row, fit: Fit::Older(&span.to) });
            }
        }
    }
    before.or(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix;

    #[test]
    fn a_release_between_two_rows_takes_the_older_one() {
        let at = |text: &str| {
            let release = text.parse().expect("valid");
            let found = find(&matrix::onnxruntime().libraries, &release, |_| true).expect("rows");
            let how = match found.fit {
                Fit::Known => "known".to_owned(),
                Fit::Older(at) => format!("older {at}"),
                Fit::Newer(at) => format!("newer {at}"),
            };
            format!("{} {how}", found.row.span.from)
        };
        assert_eq!(at("1.30.0"), "1.28.0 known");
        assert_eq!(at("1.26.1"), "1.23.0 older 1.26.0");
        assert_eq!(at("9.0"), "1.28.0 older 1.31.1");
        assert_eq!(at("1.2"), "1.11.0 newer 1.11.0");
    }
}
