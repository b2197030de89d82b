//! Ranges and sets of versions as people write them.

use std::ops::Bound;

use crate::package::Package;
use crate::version::{DistVersion, Range, Version};

/// Segments of a range that are listed one by one; of more than these only both ends are named.
const LISTED: usize = 3;

/// A range as people write it: `>=2.1,<2.4`, `2.4.0 or 2.4.1`, `any version`. `known` folds holes that no version fills.
#[must_use]
pub fn range_text(range: &Range, known: &[Version]) -> String {
    let simple;
    // A short range is best said as it was written; a long one is folded over what exists.
    let range = if known.is_empty() || range.iter().count() <= LISTED {
        range
    } else {
        simple = range.simplify(known.iter());
        &simple
    };
    let parts: Vec<String> = range.iter().filter_map(|(low, high)| segment(low, high)).collect();
    if parts.iter().any(String::is_empty) {
        return "any version".to_owned();
    }
    match parts.as_slice() {
        [] => "no version".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if parts.len() <= LISTED => format!("{} or {last}", first.join(", ")),
        [first, .., last] => match (range.iter().next(), range.iter().last()) {
            (
                Some((Bound::Included(low), _)),
                Some((Bound::Included(high), Bound::Included(_) | Bound::Excluded(_))),
            ) => {
                format!("{} to {}", plain(low), plain(high))
            }
            _ => format!("{first}, ... or {last}"),
        },
    }
}

/// A range of many segments as it looks from a range that it does not meet: `<=8.9.2.26 or >=9.1.0.70`. A short one is said
/// as it is.
pub(super) fn range_around(range: &Range, other: &Range) -> String {
    let whole = || range_text(range, &[]);
    if range.iter().count() <= LISTED {
        return whole();
    }
    let Some((Bound::Included(low) | Bound::Excluded(low), _)) = other.iter().next() else {
        return whole();
    };
    let below = range.intersection(&Range::strictly_lower_than(low.clone()));
    let above = range.intersection(&Range::higher_than(low.clone()));
    let highest = below.iter().last().and_then(|(_, high)| match high {
        Bound::Included(version) => Some(format!("<={}", plain(version))),
        Bound::Excluded(version) => Some(format!("<{}", plain(version))),
        Bound::Unbounded => None,
    });
    let lowest = above.iter().next().and_then(|(low, _)| match low {
        Bound::Included(version) => Some(format!(">={}", plain(version))),
        Bound::Excluded(version) => Some(format!(">{}", plain(version))),
        Bound::Unbounded => None,
    });
    match (highest, lowest) {
        (Some(highest), Some(lowest)) => format!("{highest} or {lowest}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => whole(),
    }
}

/// One segment; empty for "any version", `None` for "not installed".
fn segment(low: &Bound<Version>, high: &Bound<Version>) -> Option<String> {
    if let (Bound::Included(low), Bound::Included(high)) = (low, high) {
        if is_absent(low) && is_absent(high) {
            return None;
        }
        let same = low == high
            || matches!((low, high), (Version::Dist(low), Version::Dist(high))
                if low.version() == high.version());
        if same {
            return Some(match low {
                Version::Dist(_) => format!("=={}", plain(low)),
                _ => plain(low),
            });
        }
    }
    if let Some(text) = family(low, high) {
        return Some(text);
    }
    let low = match low {
        Bound::Included(version) | Bound::Excluded(version) if is_absent(version) => None,
        Bound::Included(version) => Some(format!(">={}", plain(version))),
        Bound::Excluded(version) => Some(format!(">{}", plain(version))),
        Bound::Unbounded => None,
    };
    let high = match high {
        Bound::Included(version) => Some(format!("<={}", plain(version))),
        Bound::Excluded(version) => {
            let text = plain(version);
            // CUDA and cuDNN majors are written without the zero.
            let major = version.as_system().and_then(|_| text.strip_suffix(".0"));
            Some(format!("<{}", major.unwrap_or(&text)))
        }
        Bound::Unbounded => None,
    };
    Some([low, high].into_iter().flatten().collect::<Vec<_>>().join(","))
}

/// `12.1` for every CUDA 12.1, `9` for every cuDNN 9, `==1.2.*` for a prefix of a distribution.
fn family(low: &Bound<Version>, high: &Bound<Version>) -> Option<String> {
    let (Bound::Included(low), Bound::Excluded(high)) = (low, high) else { return None };
    match (low, high) {
        (Version::System(low), Version::System(high)) => {
            if low.minor() == 0 && *high == crate::version::SystemVersion::new(low.major() + 1, 0) {
                let is_major = *low == crate::version::SystemVersion::new(low.major(), 0);
                return is_major.then(|| low.major().to_string());
            }
            (*high == low.next_sibling()).then(|| low.to_string())
        }
        _ => None,
    }
}

/// A version as people write it: the `.dev0` at the end of `<2.dev0` is how PEP 440 orders things, not how it is written.
fn plain(version: &Version) -> String {
    if let Some(build) = version.as_dist().filter(|build| !build.is_absent())
        && let Some(number) = build.version().filter(|number| number.dev() == Some(0))
        && !number.is_pre()
        && !number.is_post()
    {
        return number.clone().with_dev(None).to_string();
    }
    version.to_string()
}

fn is_absent(version: &Version) -> bool {
    version.as_dist().is_some_and(DistVersion::is_absent)
}

/// Which of the known versions lie in a range, in words that follow the name of the package: `2.3.1`, `>=2.11`,
/// `1.19.0 to 1.26.0 or 1.28.0`; empty for all of them. The builds of one version are one, when the range has all of
/// them.
#[must_use]
pub fn versions_text(package: Package, range: &Range, known: &[Version]) -> String {
    if package.dist_name().is_none() || known.is_empty() {
        let text = range_text(range, known);
        return if text == "any version" { String::new() } else { text };
    }
    let releases = releases(range, known);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (place, (_, inside)) in releases.iter().enumerate() {
        if !inside {
            continue;
        }
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == place => *end = place,
            _ => runs.push((place, place)),
        }
    }
    let name =
        |place: usize| releases.get(place).map(|(text, _)| text.as_str()).unwrap_or_default();
    let last = releases.len().saturating_sub(1);
    let part = |(start, end): &(usize, usize)| match (*start, *end) {
        (0, end) if end == last && last > 0 => format!(">={}", name(0)),
        (start, end) if start == end => name(start).to_owned(),
        (start, end) if end == last => format!(">={}", name(start)),
        (start, end) => format!("{} to {}", name(start), name(end)),
    };
    let parts: Vec<String> = runs.iter().map(part).collect();
    match parts.as_slice() {
        [] => range_text(range, known),
        [one] => one.clone(),
        [first @ .., last] if parts.len() <= LISTED + 1 => {
            format!("{} and {last}", first.join(", "))
        }
        [first, .., last] => format!("{first}, ... and {last}"),
    }
}

/// The releases among known builds with whether the range has them; builds of one release stand apart only when the range
/// has some of them.
fn releases(range: &Range, known: &[Version]) -> Vec<(String, bool)> {
    let public = |version: &Version| {
        version.as_dist().and_then(DistVersion::version).map(|v| v.clone().without_local())
    };
    let mut releases = Vec::new();
    for builds in known.chunk_by(|a, b| public(a) == public(b)) {
        let inside = builds.iter().filter(|build| range.contains(build)).count();
        match builds.first().and_then(public) {
            Some(public) if builds.len() > 1 && (inside == 0 || inside == builds.len()) => {
                releases.push((public.to_string(), inside > 0));
            }
            // The same build on two indexes is one build here.
            _ => {
                for build in builds {
                    let (text, is_inside) = (build.to_string(), range.contains(build));
                    match releases.last_mut() {
                        Some((last, any)) if *last == text => *any |= is_inside,
                        _ => releases.push((text, is_inside)),
                    }
                }
            }
        }
    }
    releases
}
