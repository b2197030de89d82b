//! Which build of a project is tried first in a range.

use crate::name::Name;
use crate::package::Package;
use crate::solve::candidates::{Build, Candidates, PassedOver, Rejection, Release};
use crate::solve::problem::{Prerelease, Resolution};
use crate::solve::provider::Provider;
use crate::version::{DistVersion, Range, Version};

/// When the pre-releases of a project are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prereleases {
    Never,
    /// After every other release of the range.
    Last,
    /// Like any other release.
    InOrder,
}

/// The best of what was found.
#[derive(Default)]
struct Found<'a> {
    /// It has a wheel, or was never anything but a source distribution: the search ends.
    fit: Option<&'a Version>,
    /// It has wheels, but none for this target: it is built only when no release has one.
    sdist: Option<&'a Version>,
    /// The newest of those whose source is not said to be for other Pythons.
    passed: Option<&'a Version>,
    /// Without that the newest build that has nothing for this target: its edges say what it is there for.
    unfit: Option<&'a Version>,
}

impl Found<'_> {
    fn is_usable(&self) -> bool {
        self.fit.is_some() || self.sdist.is_some()
    }
}

impl Provider {
    /// The build that is tried: the first of the range that fits. A pre-release comes after all others, so it is taken
    /// where a requirement, whoever states it, leaves nothing else, or where nothing else fits.
    pub(super) fn pick(
        &self,
        name: Name,
        candidates: &Candidates,
        range: &Range,
    ) -> Option<Version> {
        let lowest = self.takes_lowest(name);
        let policy = &self.problem.policy;
        let kept = policy.preferences.get(&name).into_iter().flat_map(|kept| {
            candidates
                .in_range(range, lowest)
                .filter(move |build| build.version().version() == Some(kept))
        });
        let near = policy.nearest.get(&name).map(|version| candidates.nearest_to(version));
        let rest: Box<dyn Iterator<Item = _>> = match near {
            Some(near) => Box::new(near.into_iter().filter(|build| range.contains(build.tagged()))),
            None => Box::new(candidates.in_range(range, lowest)),
        };
        let when = self.prereleases(name);
        let (mut found, mut later) = (Found::default(), Vec::new());
        for build in kept.chain(rest) {
            if !is_stable(build) && when != Prereleases::InOrder {
                later.push(build);
                continue;
            }
            self.consider(name, build, &mut found);
            if found.fit.is_some() {
                break;
            }
        }
        if found.is_usable() || when == Prereleases::Never {
            for build in later {
                self.reject(name, build.version(), || PassedOver::Prerelease);
            }
        } else {
            let mut last = Found::default();
            for build in later {
                self.consider(name, build, &mut last);
                if last.fit.is_some() {
                    break;
                }
            }
            last.unfit = found.unfit.or(last.unfit);
            found = last;
        }
        if let (Some(_), Some(passed)) = (found.fit, found.passed) {
            self.sources.borrow_mut().note_passed(name, passed);
        }
        let choice = found.fit.or(found.sdist).or(found.unfit)?;
        if let Version::Dist(version) = choice {
            self.take_back(name, version);
        }
        Some(choice.clone())
    }

    fn takes_lowest(&self, name: Name) -> bool {
        match self.problem.policy.resolution {
            Resolution::Highest => false,
            Resolution::Lowest => true,
            Resolution::LowestDirect => self.is_direct(name),
        }
    }

    fn prereleases(&self, name: Name) -> Prereleases {
        match self.problem.policy.prerelease {
            Prerelease::Disallow => Prereleases::Never,
            Prerelease::Allow => Prereleases::InOrder,
            Prerelease::IfNecessary | Prerelease::IfNecessaryOrExplicit => Prereleases::Last,
            Prerelease::Explicit if self.names_prerelease(name) => Prereleases::Last,
            Prerelease::Explicit => Prereleases::Never,
        }
    }

    /// Takes note of a build, or of why it cannot be used.
    fn consider<'a>(&self, name: Name, build: Build<'a>, found: &mut Found<'a>) {
        let judge = self.judge();
        let version = build.tagged();
        let release = build.release(&judge);
        if release.too_new {
            self.reject(name, build.version(), || PassedOver::TooNew);
        } else if let Some(reason) = release.yanked.as_ref().filter(|_| !self.is_pinned(name)) {
            self.reject(name, build.version(), || PassedOver::Yanked(reason.clone()));
        } else if release.has_wheel() || release.is_source_alone() {
            found.fit = Some(version);
        } else if release.fit.sdist.is_some() {
            found.sdist.get_or_insert(version);
            if found.passed.is_none() && self.runs_here(name, release) {
                found.passed = Some(version);
            }
        } else {
            self.reject(name, build.version(), || PassedOver::NoFile(release.misses()));
            if release.says_where_it_fits() {
                found.unfit.get_or_insert(version);
            }
        }
    }

    /// Whether the index does not say that a release is for other Pythons.
    pub(super) fn runs_here(&self, name: Name, release: &Release) -> bool {
        let stated = release.file().and_then(|file| file.requires_python.as_deref());
        let range = stated.and_then(|specifiers| self.python_of(name, specifiers));
        range.is_none_or(|range| self.facts().holds(Package::Python, &range) != Some(false))
    }

    fn reject(&self, name: Name, version: &DistVersion, why: impl FnOnce() -> PassedOver) {
        if self.rejected.borrow_mut().insert((name, version.clone())) {
            let why = why();
            self.rejections.borrow_mut().push(Rejection { name, version: version.clone(), why });
        }
    }

    /// A pre-release that was passed over while there was something else, and is tried now.
    fn take_back(&self, name: Name, version: &DistVersion) {
        let is_stable = version.version().is_some_and(pep440_rs::Version::is_stable);
        if !is_stable && self.rejected.borrow_mut().remove(&(name, version.clone())) {
            self.rejections.borrow_mut().retain(|r| {
                (r.name, &r.version, &r.why) != (name, version, &PassedOver::Prerelease)
            });
        }
    }
}

fn is_stable(build: Build<'_>) -> bool {
    build.version().version().is_some_and(pep440_rs::Version::is_stable)
}
