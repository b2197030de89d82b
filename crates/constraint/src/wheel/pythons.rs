//! Sets of Python 3 minor versions, as wheel tags name them.

use std::fmt;
use std::ops::Bound;

use pep440_rs::Version as Pep440;

use crate::version::{DistVersion, Range, SourceId, Version};

/// A set of minor versions of Python 3. One that holds the highest number it can is open: "3.9 and later".
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct PythonSet(u64);

/// Stands for itself and everything above it.
const TOP: u32 = 63;

impl PythonSet {
    /// No Python.
    pub const EMPTY: Self = Self(0);

    /// Every Python 3.
    pub const ALL: Self = Self(u64::MAX);

    /// 3.`minor`.
    #[must_use]
    pub fn one(minor: u64) -> Self {
        Self(1 << minor.min(u64::from(TOP)))
    }

    /// 3.`minor` and later.
    #[must_use]
    pub fn since(minor: u64) -> Self {
        Self(u64::MAX << minor.min(u64::from(TOP)))
    }

    /// Whether 3.`minor` is in it.
    #[must_use]
    pub fn contains(self, minor: u64) -> bool {
        self.0 & Self::one(minor).0 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in either.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The lowest minor version.
    #[must_use]
    pub fn lowest(self) -> Option<u64> {
        (self.0 != 0).then(|| u64::from(self.0.trailing_zeros()))
    }

    /// The highest minor version of the set that is at most `minor`.
    #[must_use]
    pub fn highest_up_to(self, minor: u64) -> Option<u64> {
        let below = self.0 & (u64::MAX >> (u64::from(TOP) - minor.min(u64::from(TOP))));
        (below != 0).then(|| u64::from(TOP - below.leading_zeros()))
    }

    /// The runs of consecutive minor versions, ascending; `None` ends an open one.
    fn runs(self) -> impl Iterator<Item = (u32, Option<u32>)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let start = rest.trailing_zeros();
            let length = (rest >> start).trailing_ones();
            let end = start + length - 1;
            if end >= TOP {
                rest = 0;
                return Some((start, None));
            }
            rest &= u64::MAX << (end + 1);
            Some((start, Some(end)))
        })
    }

    /// The versions of the package Python in it, pre-releases included.
    #[must_use]
    pub fn range(self) -> Range {
        self.runs()
            .map(|(start, end)| {
                let high = match end {
                    Some(end) => first_of([3, u64::from(end) + 1]),
                    None => first_of([4, 0]),
                };
                (Bound::Included(first_of([3, u64::from(start)])), Bound::Excluded(high))
            })
            .collect()
    }
}

/// The lowest version of a minor series.
fn first_of(release: [u64; 2]) -> Version {
    DistVersion::new(Pep440::new(release).with_min(Some(0)), SourceId(0)).into()
}

/// In words: `3.8 to 3.11, 3.13 and later`.
impl fmt::Display for PythonSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (i, (start, end)) in self.runs().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match end {
                None => write!(f, "3.{start} and later")?,
                Some(end) if end == start => write!(f, "3.{start}")?,
                Some(end) => write!(f, "3.{start} to 3.{end}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for PythonSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::python_minor_range;

    #[test]
    fn sets_read_as_words_and_as_ranges() {
        let set = PythonSet::one(8).union(PythonSet::one(9)).union(PythonSet::since(12));
        assert_eq!(set.to_string(), "3.8 to 3.9, 3.12 and later");
        assert_eq!(PythonSet::EMPTY.to_string(), "none");
        assert!(PythonSet::EMPTY.range().is_empty());
        for minor in 0..30 {
            let python: Pep440 = format!("3.{minor}.4").parse().expect("valid");
            let python = DistVersion::new(python, SourceId(0)).into();
            assert_eq!(set.range().contains(&python), set.contains(minor), "3.{minor}");
        }
        assert_eq!(PythonSet::one(11).range(), python_minor_range(3, 11));
        let four: Pep440 = "4.0.0".parse().expect("valid");
        assert!(!set.range().contains(&DistVersion::new(four, SourceId(0)).into()));
    }

    #[test]
    fn bounds_are_found_within_the_set() {
        let set = PythonSet::one(8).union(PythonSet::one(11));
        assert_eq!(set.lowest(), Some(8));
        assert_eq!(set.highest_up_to(10), Some(8));
        assert_eq!(set.highest_up_to(11), Some(11));
        assert_eq!(set.highest_up_to(7), None);
        assert_eq!(PythonSet::one(9999).lowest(), Some(63));
    }
}
