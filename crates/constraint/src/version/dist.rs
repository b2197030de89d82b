//! Builds of Python distributions in the order the solver compares them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use pep440_rs::Version as Pep440;

/// Which index a build comes from: its place in the list of sources of one run, lowest first.
///
/// One version number can name different builds (onnxruntime-gpu 1.18.1 is a CUDA 11 build on one index and a CUDA 12
/// build on another), so the source is part of a build's identity. It never decides which build is newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(pub u16);

impl SourceId {
    /// Above every source: the upper end of a range that allows all of them.
    pub const MAX: Self = Self(u16::MAX);
}

/// A build of a distribution: its PEP 440 version with local label, and its source.
///
/// Besides builds, two points exist that no build has. [`DistVersion::absent`] lies below every version and stands for
/// "not installed": a constraint that binds only *if* the distribution is there allows it, a requirement does not.
/// [`DistVersion::after_locals`] lies above `V` with any local label and below the next public version: PEP 440 lets
/// `==2.9.1` and `<=2.9.1` match `2.9.1+cu130`, so ranges end there.
#[derive(Clone)]
pub struct DistVersion {
    point: Point,
    source: SourceId,
}

/// The local label of a version: `cu128` of `2.9.1+cu128`.
#[must_use]
pub fn local_label(version: &Pep440) -> Option<String> {
    let parts: Vec<String> = version.local().iter().map(ToString::to_string).collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

#[derive(Clone)]
enum Point {
    Absent,
    Build(Pep440),
    /// The version has no local label.
    AfterLocals(Pep440),
}

impl DistVersion {
    /// A build from a source.
    #[must_use]
    pub fn new(version: Pep440, source: SourceId) -> Self {
        Self { point: Point::Build(version), source }
    }

    /// "Not installed".
    #[must_use]
    pub const fn absent() -> Self {
        Self { point: Point::Absent, source: SourceId(0) }
    }

    /// The point above `version` with any local label, from any source.
    #[must_use]
    pub fn after_locals(version: Pep440) -> Self {
        Self { point: Point::AfterLocals(version.without_local()), source: SourceId::MAX }
    }

    /// True for "not installed".
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self.point, Point::Absent)
    }

    /// The version with its local label, or `None` for "not installed".
    #[must_use]
    pub fn version(&self) -> Option<&Pep440> {
        match &self.point {
            Point::Absent => None,
            Point::Build(version) | Point::AfterLocals(version) => Some(version),
        }
    }

    /// True for the end of a range, which no build has.
    #[must_use]
    pub fn is_after_locals(&self) -> bool {
        matches!(self.point, Point::AfterLocals(_))
    }

    /// Where the build comes from.
    #[must_use]
    pub fn source(&self) -> SourceId {
        self.source
    }
}

impl Point {
    fn rank(&self) -> u8 {
        match self {
            Self::Absent => 0,
            Self::Build(_) | Self::AfterLocals(_) => 1,
        }
    }
}

/// Compares the end after `end`'s local labels with a build.
fn cmp_after_locals(end: &Pep440, build: &Pep440) -> Ordering {
    if build.is_local() {
        // `end` sorts below `end+label` by PEP 440, and has to sort above it here.
        match end.cmp(&build.clone().without_local()) {
            Ordering::Equal => Ordering::Greater,
            unequal => unequal,
        }
    } else {
        end.cmp(build).then(Ordering::Greater)
    }
}

impl Ord for DistVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let points = match (&self.point, &other.point) {
            (Point::Build(a), Point::Build(b)) | (Point::AfterLocals(a), Point::AfterLocals(b)) => {
                a.cmp(b)
            }
            (Point::AfterLocals(end), Point::Build(build)) => cmp_after_locals(end, build),
            (Point::Build(build), Point::AfterLocals(end)) => {
                cmp_after_locals(end, build).reverse()
            }
            (a, b) => a.rank().cmp(&b.rank()),
        };
        points.then(self.source.cmp(&other.source))
    }
}

impl PartialOrd for DistVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for DistVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for DistVersion {}

impl Hash for DistVersion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.point.rank().hash(state);
        self.is_after_locals().hash(state);
        self.version().hash(state);
        self.source.hash(state);
    }
}

impl fmt::Display for DistVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version() {
            None => f.pad("not installed"),
            Some(version) => version.fmt(f),
        }
    }
}

impl fmt::Debug for DistVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(text: &str) -> DistVersion {
        DistVersion::new(text.parse().expect("valid"), SourceId(0))
    }

    #[test]
    fn the_end_of_a_version_lies_between_its_labels_and_the_next_version() {
        let end = DistVersion::after_locals("2.9.1".parse().expect("valid"));
        let ascending = [
            DistVersion::absent(),
            build("0.dev0"),
            build("2.9.1"),
            build("2.9.1+cpu"),
            build("2.9.1+xpu"),
            end,
            build("2.9.1.post1.dev0"),
            build("2.9.2.dev0"),
        ];
        for pair in ascending.windows(2) {
            assert!(pair[0] < pair[1], "{:?} < {:?}", pair[0], pair[1]);
        }
    }

    #[test]
    fn labels_are_read() {
        assert_eq!(local_label(&"2.3.1+cu121".parse().expect("valid")).as_deref(), Some("cu121"));
        assert_eq!(local_label(&"2.3.1".parse().expect("valid")), None);
    }

    #[test]
    fn one_number_from_two_sources_is_two_builds() {
        let here = build("1.18.1");
        let there = DistVersion::new("1.18.1".parse().expect("valid"), SourceId(3));
        assert!(here < there && here != there);
        assert!(there < build("1.18.1+cu118"));
    }
}
