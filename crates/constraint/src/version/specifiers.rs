//! From PEP 440 specifiers to ranges.
//!
//! `pep440_rs` converts specifiers to ranges too, but its range for `==2.9.1` lacks `2.9.1+cu130`, which PEP 440 says it
//! matches; torch's whole world hangs on that sentence. The conversion here ends such ranges after the local labels.

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier, VersionSpecifiers};

use super::{DistVersion, Range, SourceId, SystemVersion, Version};

/// Every build of a distribution, but not its absence.
fn any_build() -> Range {
    Range::strictly_higher_than(DistVersion::absent())
}

/// The lowest build of `version`.
fn first(version: Pep440) -> Version {
    DistVersion::new(version, SourceId(0)).into()
}

fn after(version: Pep440) -> Version {
    DistVersion::after_locals(version).into()
}

/// The builds of one version and, when it names no local label, of all its labels.
#[must_use]
pub fn exact_range(version: &Pep440) -> Range {
    if version.is_local() {
        let last = DistVersion::new(version.clone(), SourceId::MAX);
        Range::from_range_bounds(first(version.clone())..=last.into())
    } else {
        Range::from_range_bounds(first(version.clone())..=after(version.clone()))
    }
}

/// The builds that satisfy all of `specifiers`. Pre-releases are not treated apart: whether they may be chosen is a
/// question of policy, not of the range.
#[must_use]
pub fn dist_range(specifiers: &VersionSpecifiers) -> Range {
    specifiers.iter().fold(any_build(), |range, specifier| range.intersection(&one(specifier)))
}

/// The Python versions that satisfy a `Requires-Python`.
///
/// A target names an exact Python, so the upper bounds of pre-releases do not matter here.
#[must_use]
pub fn python_range(specifiers: &VersionSpecifiers) -> Range {
    dist_range(specifiers)
}

fn one(specifier: &VersionSpecifier) -> Range {
    let version = specifier.version();
    match specifier.operator() {
        Operator::Equal => exact_range(version),
        // `===` compares text in PEP 440; texts that differ and versions that do not (1.0 and 1.0.0) are one release on
        // an index, so the version decides. Local labels are not ignored.
        Operator::ExactEqual => {
            let last = DistVersion::new(version.clone(), SourceId::MAX);
            Range::from_range_bounds(first(version.clone())..=last.into())
        }
        Operator::NotEqual => any_build().intersection(&exact_range(version).complement()),
        Operator::EqualStar => star(version),
        Operator::NotEqualStar => any_build().intersection(&star(version).complement()),
        Operator::TildeEqual => {
            let release = version.release();
            let prefix = Pep440::new(&release[..release.len().saturating_sub(1).max(1)])
                .with_epoch(version.epoch());
            Range::higher_than(first(version.clone())).intersection(&star(&prefix))
        }
        Operator::GreaterThanEqual => Range::higher_than(first(version.clone())),
        // `>3.1` matches neither 3.1.post1 nor 3.1+label; `>3.1.post1` matches 3.1.post2.
        Operator::GreaterThan if version.is_post() => {
            Range::strictly_higher_than(after(version.clone()))
        }
        Operator::GreaterThan if version.is_dev() => {
            Range::strictly_higher_than(after(version.clone()))
        }
        Operator::GreaterThan => {
            Range::strictly_higher_than(first(version.clone().with_max(Some(0))))
        }
        Operator::LessThanEqual => {
            any_build().intersection(&Range::lower_than(after(version.clone())))
        }
        // `<3.1` does not match 3.1.dev0 or 3.1a1, unless it names a pre-release itself.
        Operator::LessThan if version.any_prerelease() => below(version.clone()),
        Operator::LessThan => below(version.clone().with_min(Some(0))),
    }
}

fn below(version: Pep440) -> Range {
    any_build().intersection(&Range::strictly_lower_than(first(version)))
}

/// `==V.*`: from the first development release of V up to that of the next sibling.
fn star(prefix: &Pep440) -> Range {
    let mut next = prefix.release().to_vec();
    if let Some(last) = next.last_mut() {
        *last += 1;
    }
    let low = Pep440::new(prefix.release()).with_epoch(prefix.epoch()).with_min(Some(0));
    let high = Pep440::new(next).with_epoch(prefix.epoch()).with_min(Some(0));
    Range::from_range_bounds(first(low)..first(high))
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
