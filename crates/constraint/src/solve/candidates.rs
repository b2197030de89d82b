//! The builds of one project, joined over the sources it may come from, and which of them may be chosen.

use std::cell::OnceCell;
use std::cmp::{Ordering, Reverse};
use std::ops::Bound;
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use crate::catalog::{File, Project};
use crate::machine::Platform;
use crate::name::Name;
use crate::solve::problem::{Policy, Prerelease, Source};
use crate::solve::urls::is_url_source;
use crate::version::{DistVersion, Range, SourceId, Version};
use crate::wheel::{Arch, PlatformTag, ReleaseFit, Tags, Why};

/// Every build of a project, ascending. Versions are read and files judged when a build is first looked at: most never
/// are.
pub(super) struct Candidates {
    builds: Vec<Candidate>,
    projects: Vec<(SourceId, Arc<Project>)>,
    /// Places in `builds` from the newest public version to the oldest; among builds of one version the preferred first.
    /// Without it, the reverse of `builds`.
    newest_first: Option<Vec<u32>>,
    /// At least one release is no pre-release.
    has_stable: OnceCell<bool>,
}

/// The place of a build, and what was learnt of it.
struct Candidate {
    project: u32,
    index: u32,
    version: OnceCell<Version>,
    release: OnceCell<Box<Release>>,
}

/// One build: a release on one source.
#[derive(Clone, Copy)]
pub(super) struct Build<'a> {
    candidate: &'a Candidate,
    source: SourceId,
    project: &'a Project,
}

/// The files of a release, judged for one target.
pub(super) struct Release {
    /// The files that exist for this solve: those excluded by date are gone.
    pub(super) files: Vec<File>,
    pub(super) fit: ReleaseFit,
    /// Every usable file is yanked; the reason given with it.
    pub(super) yanked: Option<Arc<str>>,
    /// There are files, but all of them are newer than the cut-off.
    pub(super) too_new: bool,
}

/// What [`Candidate::release`] needs to judge files.
pub(super) struct Judge<'a> {
    pub(super) tags: &'a Tags,
    pub(super) policy: &'a Policy,
    pub(super) sources: &'a [Source],
}

impl Candidates {
    /// Joins the releases of several sources, given in the order of preference. `takes` says whether a version on a
    /// source counts; for sources on which all do it says so without looking at any.
    pub(super) fn join(
        projects: Vec<(SourceId, Arc<Project>)>,
        takes: impl Fn(SourceId, Option<&pep440_rs::Version>) -> bool,
    ) -> Self {
        let mut builds = Vec::with_capacity(projects.iter().map(|(_, p)| p.versions.len()).sum());
        for (place, (source, project)) in (0..).zip(&projects) {
            let all = takes(*source, None);
            let indices = (0..).take(project.versions.len());
            builds.extend(
                indices
                    .filter(|index| all || takes(*source, project.versions.get(*index as usize)))
                    .map(|index| Candidate {
                        project: place,
                        index,
                        version: OnceCell::new(),
                        release: OnceCell::new(),
                    }),
            );
        }
        let (newest_first, has_stable) = (None, OnceCell::new());
        let mut joined = Self { builds, projects, newest_first, has_stable };
        if joined.projects.len() > 1 {
            joined.sort();
        }
        joined
    }

    /// Puts the builds of several sources in order.
    fn sort(&mut self) {
        let mut builds = std::mem::take(&mut self.builds);
        builds.sort_by_cached_key(|candidate| self.build(candidate).map(|b| b.tagged().clone()));
        self.builds = builds;
        let mut newest_first: Vec<u32> = (0..).take(self.builds.len()).collect();
        newest_first.reverse();
        // Local labels sort by their text in PEP 440; that order must never choose the accelerator.
        newest_first.sort_by_cached_key(|place| {
            let candidate = self.builds.get(*place as usize)?;
            let public = self.build(candidate)?.version().version()?.clone().without_local();
            Some((Reverse(public), candidate.project))
        });
        self.newest_first = Some(newest_first);
    }

    fn build<'a>(&'a self, candidate: &'a Candidate) -> Option<Build<'a>> {
        let (source, project) = self.projects.get(candidate.project as usize)?;
        Some(Build { candidate, source: *source, project })
    }

    /// The builds in the order in which they are tried.
    pub(super) fn in_order(&self, lowest: bool) -> impl Iterator<Item = Build<'_>> {
        let count = self.builds.len();
        let place = move |nth: usize| if lowest { count - 1 - nth } else { nth };
        (0..count).filter_map(move |nth| {
            let place = match &self.newest_first {
                Some(places) => *places.get(place(nth))? as usize,
                None => count - 1 - place(nth),
            };
            self.build(self.builds.get(place)?)
        })
    }

    /// The builds in the order of their distance from a version: those of the same release, then those above it from the
    /// lowest on, then those below it.
    pub(super) fn nearest_to(&self, version: &Pep440) -> Vec<Build<'_>> {
        let same = |build: &Build<'_>| {
            build.version().version().is_some_and(|other| is_same_release(other, version))
        };
        let above = |build: &Build<'_>| build.version().version().is_some_and(|v| v > version);
        let (mut found, others): (Vec<_>, Vec<_>) = self.in_order(false).partition(same);
        let (higher, lower): (Vec<_>, Vec<_>) = others.into_iter().partition(above);
        // Among the builds of one release the preferred one stays first.
        let public =
            |build: &Build<'_>| build.version().version().cloned().map(Pep440::without_local);
        let releases: Vec<&[Build<'_>]> = higher.chunk_by(|a, b| public(a) == public(b)).collect();
        found.extend(releases.into_iter().rev().flatten().copied());
        found.extend(lower);
        found
    }

    /// The builds in a range, in the order in which they are tried.
    pub(super) fn in_range<'a>(
        &'a self,
        range: &'a Range,
        lowest: bool,
    ) -> impl Iterator<Item = Build<'a>> {
        // Builds of several sources are not tried in the order of ranges.
        let several = self
            .newest_first
            .as_ref()
            .map(|_| self.in_order(lowest).filter(|build| range.contains(build.tagged())));
        // A range that has been through many conflicts has hundreds of runs, of which the first few are looked at.
        let runs: Vec<_> = match &several {
            Some(_) => Vec::new(),
            None => range.iter().collect(),
        };
        let mut places = runs.into_iter().flat_map(|bounds| self.run(bounds));
        let next = move || if lowest { places.next() } else { places.next_back() };
        let single =
            std::iter::from_fn(next).filter_map(|place| self.build(self.builds.get(place)?));
        several.into_iter().flatten().chain(single)
    }

    /// The places of the builds between two bounds.
    fn run(&self, (low, high): (&Bound<Version>, &Bound<Version>)) -> std::ops::Range<usize> {
        let below = |within: &dyn Fn(&Version) -> bool| {
            self.builds.partition_point(|candidate| {
                self.build(candidate).is_some_and(|b| within(b.tagged()))
            })
        };
        let start = match low {
            Bound::Included(low) => below(&|version| version < low),
            Bound::Excluded(low) => below(&|version| version <= low),
            Bound::Unbounded => 0,
        };
        let end = match high {
            Bound::Included(high) => below(&|version| version <= high),
            Bound::Excluded(high) => below(&|version| version < high),
            Bound::Unbounded => self.builds.len(),
        };
        start..end.max(start)
    }

    /// All builds, ascending.
    pub(super) fn builds(&self) -> impl DoubleEndedIterator<Item = Build<'_>> {
        self.builds.iter().filter_map(|candidate| self.build(candidate))
    }

    /// The build of exactly this version and source.
    pub(super) fn get(&self, version: &DistVersion) -> Option<Build<'_>> {
        let compare = |candidate: &Candidate| {
            self.build(candidate).map_or(Ordering::Less, |build| build.version().cmp(version))
        };
        let place = self.builds.binary_search_by(compare).ok()?;
        self.build(self.builds.get(place)?)
    }

    fn has_stable(&self) -> bool {
        *self.has_stable.get_or_init(|| {
            self.builds()
                .rev()
                .any(|build| build.version().version().is_some_and(pep440_rs::Version::is_stable))
        })
    }

    /// Whether pre-releases of this project may be chosen. `named` says that env.toml names one.
    pub(super) fn prereleases_allowed(&self, mode: Prerelease, named: bool) -> bool {
        match mode {
            Prerelease::Disallow => false,
            Prerelease::Allow => true,
            Prerelease::IfNecessary => !self.has_stable(),
            Prerelease::Explicit => named,
            Prerelease::IfNecessaryOrExplicit => named || !self.has_stable(),
        }
    }
}

/// Whether two versions have the same release number, whatever follows it.
fn is_same_release(one: &Pep440, other: &Pep440) -> bool {
    let trimmed = |version: &Pep440| {
        let release = version.release();
        let end = release.iter().rposition(|part| *part > 0).map_or(1, |place| place + 1);
        release.iter().take(end).copied().collect::<Vec<u64>>()
    };
    one.epoch() == other.epoch() && trimmed(one) == trimmed(other)
}

impl<'a> Build<'a> {
    /// The version, as the ranges of the solver have it.
    pub(super) fn tagged(self) -> &'a Version {
        self.candidate.version.get_or_init(|| {
            let version = self.project.versions.get(self.candidate.index as usize);
            let build =
                |version: &pep440_rs::Version| DistVersion::new(version.clone(), self.source);
            Version::Dist(version.map_or_else(DistVersion::absent, build))
        })
    }

    /// The version.
    pub(super) fn version(self) -> &'a DistVersion {
        const ABSENT: &DistVersion = &DistVersion::absent();
        match self.tagged() {
            Version::Dist(version) => version,
            _ => ABSENT,
        }
    }

    /// The files of the release, judged for the target. Done once, when the build is first looked at.
    pub(super) fn release(self, judge: &Judge<'_>) -> &'a Release {
        self.candidate.release.get_or_init(|| {
            let mut files = self.project.files.files(self.candidate.index as usize);
            let before = files.len();
            // A file that a person names by its address counts as it is: nobody says when it was uploaded, or vouches for
            // what it was built on.
            let is_named = is_url_source(self.source);
            if let Some(cutoff) = judge.policy.exclude_newer.filter(|_| !is_named) {
                files.retain(|file| file.upload_time.is_some_and(|time| time < cutoff));
            }
            let too_new = files.is_empty() && before > 0;
            let own = judge.sources.get(usize::from(self.source.0));
            let plain_linux = is_named || own.is_some_and(|source| source.plain_linux);
            let tags = judge.tags.with_plain_linux(plain_linux);
            // A yanked file is used only when all others are yanked too (PEP 592 speaks of releases, indexes of files).
            let all_yanked = !files.is_empty() && files.iter().all(|file| file.yanked.is_some());
            let yanked = if all_yanked {
                files.first().and_then(|file| file.yanked.clone())
            } else {
                files.retain(|file| file.yanked.is_none());
                None
            };
            let fit = ReleaseFit::of(&files, &tags);
            Box::new(Release { files, fit, yanked, too_new })
        })
    }
}

impl Release {
    /// The wheel to install, or the source distribution whose metadata may be static.
    pub(super) fn file(&self) -> Option<&File> {
        let index = self.fit.best.as_ref().map(|best| best.0).or(self.fit.sdist)?;
        self.files.get(index)
    }

    /// The files that do not fit, each with the reason; the nearest misses first, at most three.
    pub(super) fn why_not(&self) -> Vec<String> {
        self.misses().files
    }

    /// Why no file fits.
    pub(super) fn misses(&self) -> Misses {
        let mut platforms: Vec<String> = Vec::new();
        let mut elsewhere = !self.fit.rejected.is_empty();
        for (_, why) in &self.fit.rejected {
            match why {
                Why::Platform(tag) => {
                    let name = platform_name(*tag);
                    if !platforms.contains(&name) {
                        platforms.push(name);
                    }
                }
                Why::Kind => {}
                _ => elsewhere = false,
            }
        }
        platforms.sort();
        let platforms = if elsewhere && !platforms.is_empty() { platforms } else { Vec::new() };
        Misses { files: self.nearest_misses(), platforms }
    }

    fn nearest_misses(&self) -> Vec<String> {
        let mut misses: Vec<_> = self.fit.rejected.iter().collect();
        misses.sort_by_key(|(index, why)| (Reverse(why.nearness()), *index));
        let text = |(index, why): &&(usize, Why)| {
            self.files.get(*index).map(|file| format!("{}: {why}", file.filename))
        };
        let mut lines: Vec<String> = misses.iter().take(3).filter_map(text).collect();
        if misses.len() > lines.len() {
            lines.push(format!("and {} more files", misses.len() - lines.len()));
        }
        lines
    }

    /// True when the release has wheels for another Python or another glibc on the target's platform.
    pub(super) fn says_where_it_fits(&self) -> bool {
        !self.fit.pythons.is_empty() || self.fit.glibc.is_some()
    }

    /// True for a release that has no wheels at all: whoever takes it builds it, on every machine.
    pub(super) fn is_source_alone(&self) -> bool {
        self.fit.sdist.is_some() && self.fit.rejected.iter().all(|(_, why)| *why == Why::Kind)
    }

    /// Of the wheels for other targets the one that comes nearest to this one.
    pub(super) fn sibling(&self) -> Option<&File> {
        let wheels =
            self.fit.rejected.iter().filter(|(_, why)| !matches!(why, Why::Kind | Why::Name(_)));
        let nearest = wheels.max_by_key(|(index, why)| (why.nearness(), Reverse(*index)))?;
        self.files.get(nearest.0)
    }

    /// True when a wheel fits the target.
    pub(super) fn has_wheel(&self) -> bool {
        self.fit.best.is_some()
    }
}

/// A platform as env.toml writes it, or in words where it knows none like it.
fn platform_name(tag: PlatformTag) -> String {
    let known = match tag {
        PlatformTag::Manylinux { arch: Arch::X86_64, .. }
        | PlatformTag::Linux { arch: Arch::X86_64 } => Platform::LinuxX86_64,
        PlatformTag::Manylinux { arch: Arch::Aarch64, .. }
        | PlatformTag::Linux { arch: Arch::Aarch64 } => Platform::LinuxAarch64,
        PlatformTag::Windows { arch: Arch::X86_64 } => Platform::WindowsX86_64,
        PlatformTag::Macos { arch: Arch::Aarch64 | Arch::Universal2, .. } => Platform::MacosArm64,
        other => return other.to_string(),
    };
    known.to_string()
}

/// Why no file of a release can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misses {
    /// The first few files with what is wrong with each, the nearest misses first.
    pub files: Vec<String>,
    /// The platforms that there are wheels for, when the platform is what is wrong with all of them.
    pub platforms: Vec<String>,
}

/// Why a build was passed over; kept for the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassedOver {
    /// It is a pre-release, and those are not allowed for this project.
    Prerelease,
    /// Its author withdrew it, with this reason.
    Yanked(Arc<str>),
    /// All its files are newer than `exclude-newer`.
    TooNew,
    /// It has no file for the target.
    NoFile(Misses),
    /// The matrices know it as broken.
    Broken(String),
}

impl PassedOver {
    /// Whether both say the same of two builds: the same sentence can tell of both.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::NoFile(one), Self::NoFile(other)) => {
                one.platforms.is_empty() == other.platforms.is_empty()
            }
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// A build that was passed over.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The project.
    pub name: Name,
    /// The build.
    pub version: DistVersion,
    /// Why.
    pub why: PassedOver,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::dist_range;

    #[test]
    fn what_lies_in_a_range_is_what_a_search_through_all_finds() {
        let versions =
            ["0.9", "1.0a1", "1.0", "1.0+cu1", "1.0.post1", "1.1", "2.0rc1", "2.0", "3.0"];
        let project = |versions: &[&str]| {
            let versions: Vec<pep440_rs::Version> =
                versions.iter().map(|version| version.parse().expect("valid")).collect();
            let files = Box::new(vec![Vec::<File>::new(); versions.len()]);
            Arc::new(Project { versions: versions.into(), files })
        };
        let one = vec![(SourceId(0), project(&versions))];
        let two = vec![(SourceId(1), project(&versions[3..6])), (SourceId(0), project(&versions))];
        for projects in [one, two] {
            let candidates = Candidates::join(projects, |_, _| true);
            for text in ["", ">=1", "<2", "==1.0", "!=1.0,!=2.0,!=1.1", ">1,<3,!=1.1", ">9", "<0.1"]
            {
                let range = dist_range(&text.parse().expect("valid"));
                for range in [range.complement(), range] {
                    for lowest in [false, true] {
                        let searched: Vec<_> = candidates
                            .in_order(lowest)
                            .map(Build::tagged)
                            .filter(|version| range.contains(version))
                            .collect();
                        let found: Vec<_> =
                            candidates.in_range(&range, lowest).map(Build::tagged).collect();
                        assert_eq!(found, searched, "{text} {lowest}");
                    }
                }
            }
        }
    }
}
