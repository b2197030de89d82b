//! Rows that hold for a span of releases, and the nearest row for a release that none speaks of.

use pep440_rs::Version as Pep440;

use crate::matrix::rows;

/// A row with `from` and `to`, both inclusive.
pub(super) trait Spanned {
    /// First and last release as the row has them.
    fn span(&self) -> (&str, &str);
}

macro_rules! spanned {
    ($($row:ty),* $(,)?) => {
        $(impl Spanned for $row {
            fn span(&self) -> (&str, &str) {
                (&self.from, &self.to)
            }
        })*
    };
}

spanned!(
    rows::torch::Pypi,
    rows::torch::Variant,
    rows::torch::MachineCode,
    rows::torch::Links,
    rows::companions::CudaChoice,
    rows::bound::Bound,
    rows::opens::Opens,
    rows::onnxruntime::Build,
    rows::onnxruntime::Libraries,
    rows::onnxruntime::TensorRt,
    rows::onnx::Runtime,
    rows::onnx::Exporter,
    rows::onnx::Library,
    rows::onnx::Shipped,
    rows::companions::Prebuilt,
);

/// Rows with their bounds read.
pub(super) struct Table<R: 'static>(Vec<(Pep440, Pep440, &'static R)>);

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
    Older(&'static str),
    /// The nearest row begins after it, at this release.
    Newer(&'static str),
}

/// What texts say that rest on the facts of another release.
pub const ASSUMED: &str = "no fact about this release";

impl Fit {
    /// The release that the row knows: `asked` itself, or the nearest one.
    pub(super) fn release(self, asked: &Pep440) -> String {
        match self {
            Self::Known => asked.to_string(),
            Self::Older(nearest) | Self::Newer(nearest) => nearest.to_owned(),
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

impl<R: Spanned> Table<R> {
    /// Reads the bounds of `rows`. The tests check that all of them can be read; a row that cannot is left out.
    pub(super) fn new(rows: &'static [R]) -> Self {
        let read = |row: &'static R| {
            let (from, to) = row.span();
            Some((from.parse().ok()?, to.parse().ok()?, row))
        };
        Self(rows.iter().filter_map(read).collect())
    }

    /// The row that holds for `release`; else the nearest one before it; else the nearest one after it.
    pub(super) fn find(&self, release: &Pep440, wanted: impl Fn(&R) -> bool) -> Option<Found<R>> {
        let mut before: Option<&(Pep440, Pep440, &'static R)> = None;
        let mut after: Option<&(Pep440, Pep440, &'static R)> = None;
        for entry in self.0.iter().filter(|entry| wanted(entry.2)) {
            let (from, to, row) = entry;
            if release < from {
                if after.is_none_or(|nearest| from < &nearest.0) {
                    after = Some(entry);
                }
            } else if release <= to {
                return Some(Found { row, fit: Fit::Known });
            } else if before.is_none_or(|nearest| to > &nearest.1) {
                before = Some(entry);
            }
        }
        match (before, after) {
            (Some((_, _, row)), _) => Some(Found { row, fit: Fit::Older(row.span().1) }),
            (None, Some((_, _, row))) => Some(Found { row, fit: Fit::Newer(row.span().0) }),
            (None, None) => None,
        }
    }

    /// Every row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'static R> {
        self.0.iter().map(|entry| entry.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix;

    #[test]
    fn a_release_between_two_rows_takes_the_older_one() {
        let table = Table::new(&matrix::onnxruntime().libraries);
        let at = |text: &str| {
            let found = table.find(&text.parse().expect("valid"), |_| true).expect("rows");
            (found.row.from.clone(), found.fit)
        };
        assert_eq!(at("1.30.0"), ("1.28.0".to_owned(), Fit::Known));
        assert_eq!(at("1.26.1"), ("1.23.0".to_owned(), Fit::Older("1.26.0")));
        assert_eq!(at("9.0"), ("1.28.0".to_owned(), Fit::Older("1.31.1")));
        assert_eq!(at("1.2"), ("1.11.0".to_owned(), Fit::Newer("1.11.0")));
    }
}
