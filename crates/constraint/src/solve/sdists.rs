//! Releases that have only a source distribution: how their metadata is had, and what was passed over for want of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use crate::catalog::{
    BuildNeed, CatalogError, File, FromSdist, Grade, Metadata, Reference, Silence, Undeclared,
};
use crate::constraint::{Constraint, Force};
use crate::name::Name;
use crate::package::Package;
use crate::solve::candidates::Release;
use crate::solve::provider::Provider;
use crate::solve::solution::Chosen;
use crate::version::{DistVersion, SourceId, Version};

/// So many newer releases of a project that are silent for one reason speak for an older one: a project with a hundred
/// of them would cost a hundred downloads to learn that of each.
const ENOUGH: usize = 3;

/// So many steps from a release to what it cannot be had without.
const STEPS: usize = 6;

/// What one solve learnt of source distributions.
#[derive(Default)]
pub(super) struct Sources {
    known: BTreeMap<(Name, DistVersion), Result<Arc<Metadata>, Arc<Undeclared>>>,
    /// The newest release with wheels for other targets and a source distribution, for which an older one with a wheel
    /// was taken.
    passed: BTreeMap<Name, DistVersion>,
}

impl Sources {
    /// Notes that a release was not built because an older one has a wheel.
    pub(super) fn note_passed(&mut self, name: Name, version: &Version) {
        let Some(version) = version.as_dist() else { return };
        let newest = self.passed.entry(name).or_insert_with(|| version.clone());
        if *newest < *version {
            *newest = version.clone();
        }
    }

    fn silent(&self) -> impl Iterator<Item = (Name, &DistVersion, &Arc<Undeclared>)> {
        self.known.iter().filter_map(|((name, version), known)| match known {
            Ok(_) => None,
            Err(found) => Some((*name, version, found)),
        })
    }

    /// Of each of these projects the newest release that does not say what it needs.
    pub(super) fn newest_of(&self, names: &[Name]) -> Vec<(Name, DistVersion, Arc<Undeclared>)> {
        let newest = |name: &Name| {
            let of_it = self.silent().filter(|(other, ..)| other == name);
            let (name, version, found) = of_it.max_by(|a, b| a.1.cmp(b.1))?;
            Some((name, version.clone(), Arc::clone(found)))
        };
        names.iter().filter_map(newest).collect()
    }

    /// What newer releases of a project have in common, when they are enough to speak for this one.
    fn foreseen(&self, name: Name, version: &DistVersion) -> Option<Silence> {
        let newer = self.silent().filter(|(other, newer, _)| *other == name && *newer > version);
        let reasons: Vec<Silence> = newer.map(|(_, _, found)| found.why).collect();
        let first = *reasons.first()?;
        (reasons.len() >= ENOUGH && reasons.iter().all(|why| *why == first)).then_some(first)
    }
}

impl Provider {
    /// The METADATA of a release without a wheel for the target: that of another wheel of the release, what the source
    /// distribution says, or what env.toml allows beyond that.
    pub(super) fn source_metadata(
        &self,
        name: Name,
        version: &DistVersion,
        release: &Release,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let key = (name, version.clone());
        if let Some(known) = self.sources.borrow().known.get(&key) {
            return known.clone().map_err(CatalogError::Undeclared);
        }
        let found = match self.read_source(name, version, release, file) {
            Ok(metadata) => Ok(metadata),
            Err(CatalogError::Undeclared(found)) => Err(found),
            Err(error) => return Err(error),
        };
        self.sources.borrow_mut().known.insert(key, found.clone());
        found.map_err(CatalogError::Undeclared)
    }

    fn read_source(
        &self,
        name: Name,
        version: &DistVersion,
        release: &Release,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        if let Some(metadata) = self.sibling_metadata(name, version, release) {
            return Ok(metadata);
        }
        let policy = &self.problem.policy;
        let foreseen = self.sources.borrow().foreseen(name, version);
        if let Some(why) = foreseen
            && (!policy.builds.allow(name) || why == Silence::Unbuilt)
        {
            let filename = file.filename.clone();
            let found = Undeclared { filename, why, detail: None, recorded: None };
            return Err(CatalogError::Undeclared(Arc::new(found)));
        }
        let found = match self.catalog().metadata(version.source(), name, file) {
            Err(CatalogError::Undeclared(found)) => found,
            outcome => return outcome,
        };
        if policy.trust_recorded.contains(&name)
            && let Some(metadata) = found.trusted()
        {
            return Ok(Arc::new(metadata));
        }
        if policy.builds.allow(name) && found.why.can_be_built() {
            return self.catalog().build(version.source(), name, file, &self.problem.target.python);
        }
        Err(CatalogError::Undeclared(found))
    }

    /// The METADATA of what a direct reference names.
    pub(super) fn referred_metadata(
        &self,
        name: Name,
        reference: &Reference,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let found = match &reference.metadata {
            Ok(metadata) => return Ok(Arc::clone(metadata)),
            Err(found) => found,
        };
        let trusted = self.problem.policy.trust_recorded.contains(&name);
        if let Some(metadata) = found.trusted().filter(|_| trusted) {
            return Ok(Arc::new(metadata));
        }
        let key = (name, DistVersion::new(reference.version.clone(), SourceId::MAX));
        self.sources.borrow_mut().known.insert(key, Err(Arc::clone(found)));
        Err(CatalogError::Undeclared(Arc::clone(found)))
    }

    /// METADATA of a wheel of the same release that is for another target. What cannot be read says nothing.
    fn sibling_metadata(
        &self,
        name: Name,
        version: &DistVersion,
        release: &Release,
    ) -> Option<Arc<Metadata>> {
        let wheel = release.sibling()?;
        let metadata = self.catalog().metadata(version.source(), name, wheel).ok()?;
        let mut metadata = Metadata::clone(&metadata);
        metadata.source = Some(Box::new(FromSdist {
            grade: Grade::Sibling(wheel.filename.as_str().into()),
            extras_open: false,
            // Wheels for some targets only: there is something to compile.
            needs: BTreeSet::from([BuildNeed::Compiler]),
        }));
        Some(Arc::new(metadata))
    }

    /// What failed builds printed, for whoever allowed them.
    pub(super) fn failed_builds(&self) -> Vec<String> {
        let sources = self.sources.borrow();
        let failed = sources.silent().filter(|(_, _, found)| found.why == Silence::Unbuilt);
        failed
            .filter(|(_, _, found)| found.detail.is_some())
            .map(|(_, _, found)| found.to_string())
            .collect()
    }

    /// The newer releases that were not taken for want of metadata; one for each project.
    pub(super) fn passed_releases(
        &self,
        builds: &BTreeMap<Name, Chosen>,
        constraints: &[Constraint],
    ) -> Vec<PassedRelease> {
        let sources = self.sources.borrow();
        let fits = |name: Name, version: &DistVersion| {
            let version = Version::Dist(version.clone());
            let on_it = constraints.iter().filter(|c| {
                c.package.dist_name() == Some(name)
                    && c.subject.0.dist_name() != Some(name)
                    && (c.force == Force::Requires || !c.range.is_empty())
            });
            on_it.map(|c| &c.range).all(|range| range.contains(&version))
        };
        let mut found: BTreeMap<Name, PassedRelease> = BTreeMap::new();
        let mut note = |name: Name, newer: &DistVersion, (because, at, why)| {
            let (Some(chosen), Some(newer)) = (builds.get(&name), newer.version()) else { return };
            let Some(taken) = chosen.version.version().filter(|taken| *taken < newer) else {
                return;
            };
            let passed = PassedRelease {
                name,
                newer: newer.clone(),
                taken: taken.clone(),
                because,
                at,
                why,
            };
            match found.get_mut(&name) {
                Some(known) if known.newer >= passed.newer => {}
                Some(known) => *known = passed,
                None => {
                    found.insert(name, passed);
                }
            }
        };
        for (name, version, undeclared) in sources.silent() {
            let Some(number) = version.version() else { continue };
            let why = (name, number.clone(), PassedWhy::Undeclared(undeclared.why));
            if fits(name, version) {
                note(name, version, why.clone());
            }
            for (holder, held) in self.held_back(name, version, builds) {
                note(holder, &held, why.clone());
            }
        }
        for (name, version) in &sources.passed {
            if let Some(number) = version.version().filter(|_| fits(*name, version)) {
                note(*name, version, (*name, number.clone(), PassedWhy::OnlySource));
            }
        }
        found.into_values().collect()
    }

    /// The releases of chosen projects that could not be taken because they need this one, through others or directly.
    fn held_back(
        &self,
        name: Name,
        version: &DistVersion,
        builds: &BTreeMap<Name, Chosen>,
    ) -> Vec<(Name, DistVersion)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::from([name]);
        let mut open = vec![(name, version.clone())];
        for _ in 0..STEPS {
            let mut next = Vec::new();
            for (needed, at) in std::mem::take(&mut open) {
                let chosen = builds.get(&needed).map(|c| Version::Dist(c.version.clone()));
                let at = Version::Dist(at);
                for edge in self.who_needs(Package::dist(needed)) {
                    let serves = |version: &Version| edge.range.contains(version);
                    if !serves(&at) || chosen.as_ref().is_some_and(serves) {
                        continue;
                    }
                    let (Some(holder), Some(held)) =
                        (edge.subject.0.dist_name(), edge.subject.1.as_dist())
                    else {
                        continue;
                    };
                    if builds.contains_key(&holder) {
                        found.push((holder, held.clone()));
                    } else if seen.insert(holder) {
                        next.push((holder, held.clone()));
                    }
                }
            }
            open = next;
        }
        found
    }
}

/// A newer release that was not taken because what it needs could not be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedRelease {
    /// The project.
    pub name: Name,
    /// The release that was not taken.
    pub newer: Pep440,
    /// The one that was.
    pub taken: Pep440,
    /// Whose metadata is missing: the project's own, or that of a distribution that the newer release needs.
    pub because: Name,
    /// The release of it that was looked at.
    pub at: Pep440,
    /// Why.
    pub why: PassedWhy,
}

/// Why a newer release was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassedWhy {
    /// It has only a source distribution that does not say what it needs.
    Undeclared(Silence),
    /// It has wheels, but none for this machine, and an older release has one.
    OnlySource,
}

impl PassedRelease {
    /// What in env.toml would allow it, in words; `None` when nothing would.
    #[must_use]
    pub fn allowed_by(&self) -> Option<String> {
        let Self { because, at, .. } = self;
        match self.why {
            PassedWhy::Undeclared(why) if why.can_be_trusted() => {
                Some(format!("`trust-recorded = [\"{because}\"]` in [options] takes it"))
            }
            PassedWhy::Undeclared(why) if why.can_be_built() => Some(format!(
                "[metadata.{because}], or `build = [\"{because}\"]` in [options], takes it"
            )),
            PassedWhy::Undeclared(_) => None,
            PassedWhy::OnlySource => Some(format!("\"{because}=={at}\" builds it")),
        }
    }
}

impl fmt::Display for PassedRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, newer, taken, because, at, why } = self;
        write!(f, "{name} {taken} was taken and not {newer}: ")?;
        match why {
            PassedWhy::OnlySource => {
                write!(f, "it has no wheel for this machine, only a source distribution")?;
            }
            PassedWhy::Undeclared(why) if because == name && at == newer => {
                write!(f, "it has only a source distribution, and {why}")?;
            }
            PassedWhy::Undeclared(why) => {
                write!(
                    f,
                    "it needs {because}, of which {at} has only a source distribution, and {why}"
                )?;
            }
        }
        match self.allowed_by() {
            Some(line) => write!(f, "; {line}"),
            None => Ok(()),
        }
    }
}
