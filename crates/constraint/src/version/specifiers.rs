//! From PEP 440 specifiers to ranges.
//!
//! `pep440_rs` converts specifiers to ranges too, but its range for `==2.9.1` lacks `2.9.1+cu130`, which PEP 440 says it
//! matches; torch's whole world hangs on that sentence. The conversion here ends such ranges after the local labels.

use std::ops::Bound;

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier, VersionSpecifiers};

use super::{DistVersion, Range, SourceId, SystemVersion, Version};

#[cfg(test)]
mod tests;

/// Every build of a distribution, but not its absence.
#[must_use]
pub fn any_build() -> Range {
    Range::strictly_higher_than(DistVersion::absent())
}

/// `range`, or not installed at all: what a constraint allows that binds only if its package is there.
#[must_use]
pub fn if_present(range: &Range) -> Range {
    range.union(&Range::singleton(DistVersion::absent()))
}

/// The lowest build of `version`.
fn first(version: Pep440) -> Version {
    DistVersion::new(version, SourceId(0)).into()
}

/// The highest build of `version` with exactly this local label, or with none.
fn last(version: Pep440) -> Version {
    DistVersion::new(version, SourceId::MAX).into()
}

fn after(version: Pep440) -> Version {
    DistVersion::after_locals(version).into()
}

/// The builds of one version and, when it names no local label, of all its labels.
#[must_use]
pub fn exact_range(version: &Pep440) -> Range {
    let (low, high) = exact_bounds(version);
    Range::from_range_bounds(low..=high)
}

fn exact_bounds(version: &Pep440) -> (Version, Version) {
    let high = if version.is_local() { last(version.clone()) } else { after(version.clone()) };
    (first(version.clone()), high)
}

/// The builds that satisfy all of `specifiers`. Pre-releases are not treated apart: whether they may be chosen is a
/// question of policy, not of the range (see [`specifiers_mention_prerelease`]).
#[must_use]
pub fn dist_range(specifiers: &VersionSpecifiers) -> Range {
    let ranges = specifiers.iter().map(one).collect();
    all_of(ranges).unwrap_or_else(any_build)
}

/// The intersection of all `ranges`, `None` when there are none. They are met in pairs: one after the other, a
/// specifier of n clauses `!=` would take n² steps, and an index can state one of any length.
fn all_of(mut ranges: Vec<Range>) -> Option<Range> {
    while ranges.len() > 1 {
        let pairs = ranges.chunks(2);
        ranges = pairs
            .filter_map(|pair| match pair {
                [one, other] => Some(one.intersection(other)),
                [one] => Some(one.clone()),
                _ => None,
            })
            .collect();
    }
    ranges.pop()
}

/// The Python versions that satisfy a `Requires-Python`.
///
/// A target names an exact Python, so the upper bounds of pre-releases do not matter here.
#[must_use]
pub fn python_range(specifiers: &VersionSpecifiers) -> Range {
    dist_range(specifiers)
}

/// The Python versions that satisfy a `Requires-Python` but for its upper bounds, which are guesses about Pythons that did
/// not exist yet.
#[must_use]
pub fn without_upper_bounds(specifiers: &VersionSpecifiers) -> Range {
    let upper = |o: &Operator| matches!(o, Operator::LessThan | Operator::LessThanEqual);
    python_range(&specifiers.iter().filter(|s| !upper(s.operator())).cloned().collect())
}

/// Every Python of one minor version, such as 3.11, its pre-releases included.
#[must_use]
pub fn python_minor_range(major: u64, minor: u64) -> Range {
    star(&Pep440::new([major, minor]))
}

/// True when a specifier names a pre-release (`>=2.0.0rc1`, `<2.0.dev5`): by PEP 440 such a requirement opts in to
/// pre-releases of its package. `!=2.0rc1` does not.
#[must_use]
pub fn specifiers_mention_prerelease(specifiers: &VersionSpecifiers) -> bool {
    specifiers.iter().any(|specifier| {
        !matches!(specifier.operator(), Operator::NotEqual | Operator::NotEqualStar)
            && specifier.version().any_prerelease()
    })
}

fn one(specifier: &VersionSpecifier) -> Range {
    let version = specifier.version();
    match specifier.operator() {
        Operator::Equal => exact_range(version),
        // `===` compares text in PEP 440; texts that differ and versions that do not (1.0 and 1.0.0) are one release on
        // an index, so the version decides. Local labels are not ignored.
        Operator::ExactEqual => {
            Range::from_range_bounds(first(version.clone())..=last(version.clone()))
        }
        Operator::NotEqual => {
            let (low, high) = exact_bounds(version);
            outside(low, Bound::Excluded(high))
        }
        Operator::EqualStar => star(version),
        Operator::NotEqualStar => {
            let (low, high) = star_bounds(version);
            outside(low, Bound::Included(high))
        }
        Operator::TildeEqual => {
            let release = version.release();
            let prefix = Pep440::new(&release[..release.len().saturating_sub(1).max(1)])
                .with_epoch(version.epoch());
            Range::from_range_bounds(first(version.clone())..star_bounds(&prefix).1)
        }
        Operator::GreaterThanEqual => Range::higher_than(first(version.clone())),
        // `>3.1` matches neither 3.1.post1 nor 3.1+label, `>3.1rc1` not 3.1rc1.post1; `>3.1.post1` matches 3.1.post2.
        Operator::GreaterThan if version.is_post() || version.is_dev() => {
            Range::strictly_higher_than(after(version.clone()))
        }
        Operator::GreaterThan => {
            Range::strictly_higher_than(first(version.clone().with_max(Some(0))))
        }
        Operator::LessThanEqual => below(Bound::Included(after(version.clone()))),
        // `<3.1` does not match 3.1.dev0 or 3.1a1, unless it names a pre-release itself; `<3.1.post1` does match 3.1.
        Operator::LessThan if version.any_prerelease() => {
            below(Bound::Excluded(first(version.clone())))
        }
        Operator::LessThan if version.is_post() => {
            below(Bound::Excluded(first(version.clone().with_dev(Some(0)))))
        }
        // The sentinel lies right below the first development release, and is printed like the version itself.
        Operator::LessThan => below(Bound::Excluded(first(version.clone().with_min(Some(0))))),
    }
}

fn absent_excluded() -> Bound<Version> {
    Bound::Excluded(DistVersion::absent().into())
}

/// The builds up to `end`.
fn below(end: Bound<Version>) -> Range {
    Range::from_range_bounds((absent_excluded(), end))
}

/// The builds below `low`, and those from `high` on.
fn outside(low: Version, high: Bound<Version>) -> Range {
    [(absent_excluded(), Bound::Excluded(low)), (high, Bound::Unbounded)].into_iter().collect()
}

/// `==V.*`: from the first development release of V up to that of the next sibling.
fn star(prefix: &Pep440) -> Range {
    let (low, high) = star_bounds(prefix);
    Range::from_range_bounds(low..high)
}

fn star_bounds(prefix: &Pep440) -> (Version, Version) {
    let mut next = prefix.release().to_vec();
    if let Some(last) = next.last_mut() {
        *last = last.saturating_add(1);
    }
    let dev0 =
        |release: &[u64]| first(Pep440::new(release).with_epoch(prefix.epoch()).with_min(Some(0)));
    (dev0(prefix.release()), dev0(&next))
}

/// A wish for a system layer that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a version range: write it as '>=12,<13', '==12.4.*' or '12.4'")]
pub struct SystemRangeError {
    /// What was written.
    pub text: String,
}

/// Reads a range of a system layer: PEP 440 operators over plain numbers. A bare `12.4` means `==12.4.*`.
///
/// # Errors
/// When an operator or a number cannot be read.
pub fn system_range(text: &str) -> Result<Range, SystemRangeError> {
    let error = || SystemRangeError { text: text.to_owned() };
    let mut range = Range::full();
    for clause in text.split(',') {
        let clause = clause.trim();
        let split = clause.find(|c: char| c.is_ascii_digit()).ok_or_else(error)?;
        let (operator, number) = (clause[..split].trim(), clause[split..].trim());
        let (number, starred) = match number.strip_suffix(".*") {
            Some(prefix) => (prefix, true),
            None => (number, false),
        };
        let version: SystemVersion = number.parse().map_err(|_| error())?;
        let low: Version = version.clone().into();
        let next: Version = version.next_sibling().into();
        let family = Range::from_range_bounds(low.clone()..next.clone());
        range = range.intersection(&match (operator, starred) {
            ("" | "==", true) | ("", false) => family,
            ("!=", true) => family.complement(),
            ("==" | "===", false) => Range::singleton(low),
            ("!=", false) => Range::singleton(low).complement(),
            (">=", false) => Range::higher_than(low),
            (">", false) => Range::strictly_higher_than(low),
            ("<=", false) => Range::lower_than(low),
            ("<", false) => Range::strictly_lower_than(low),
            ("~=", false) => {
                let Some((prefix, _)) = number.rsplit_once('.') else { return Err(error()) };
                let prefix: SystemVersion = prefix.parse().map_err(|_| error())?;
                Range::from_range_bounds(low..prefix.next_sibling().into())
            }
            _ => return Err(error()),
        });
    }
    Ok(range)
}
