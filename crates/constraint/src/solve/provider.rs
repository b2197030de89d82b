//! The graph as PubGrub asks for it: packages, versions and edges, each edge kept with its reason.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::{Catalog, CatalogError, File, Metadata, Project, Reference, Silence};
use crate::constraint::Constraint;
use crate::name::Name;
use crate::package::Package;
use crate::requirement::{Requirement, RequirementCache, RequirementError, UrlRequirement};
use crate::rules::{Build, Origin};
use crate::solve::candidates::{Candidates, Judge, PassedOver, Rejection};
use crate::solve::layers;
use crate::solve::problem::{Problem, Resolution, Source};
use crate::solve::reach::Reach;
use crate::solve::sdists::Sources;
use crate::solve::speculate::Speculator;
use crate::solve::urls::Urls;
use crate::solve::walks::{Ranks, Walks};
use crate::version::{DistVersion, Range, SourceId, Version};
use crate::wheel::Tags;

/// Why a single build cannot be used, where no edge can say it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unusable {
    /// It has only a source distribution, which does not say what it needs.
    Undeclared(Silence),
    /// For this reason.
    Because(Arc<str>),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Undeclared(why) => write!(f, "it has only a source distribution, and {why}"),
            Self::Because(why) => f.write_str(why),
        }
    }
}

impl<T: Into<Arc<str>>> From<T> for Unusable {
    fn from(why: T) -> Self {
        Self::Because(why.into())
    }
}

/// Why a solve stops before it has an answer or a proof.
#[derive(Debug, thiserror::Error)]
pub(super) enum Halt {
    /// An index could not be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A project walks through its releases: it has to be decided earlier.
    #[error("a project walks through its releases")]
    Walking,
}

/// What one package at one version needs.
pub(super) type Needs = Rc<[Rc<Constraint>]>;

/// Constraints by the pair of packages that they are between.
type Edges = FxHashMap<(Package, Package), Vec<Rc<Constraint>>>;

/// One solve, seen from PubGrub. Lives on the solver's thread.
pub(super) struct Provider {
    pub(super) problem: Arc<Problem>,
    catalog: Arc<dyn Catalog>,
    tags: Arc<Tags>,
    requirements: RequirementCache,
    speculator: Speculator,
    reach: Reach,
    facts: layers::MachineFacts,
    startable: OnceCell<layers::Startable>,
    /// Root requirements by name that name a pre-release, and those pinned with `==`.
    named_prerelease: FxHashSet<Name>,
    pinned: FxHashSet<Name>,
    direct: FxHashSet<Name>,
    urls: RefCell<Urls>,
    candidates: RefCell<FxHashMap<Name, Option<Rc<Candidates>>>>,
    /// The order in which packages turned up: ties are broken by it.
    order: RefCell<FxHashMap<Package, u32>>,
    /// What was chosen last for a distribution, so that its extras follow.
    chosen: RefCell<FxHashMap<Name, Version>>,
    /// What each package needs at the version it had last: most keep it, and the answer is made of these.
    needs: RefCell<FxHashMap<Package, (Version, Needs)>>,
    /// The extras that were asked for.
    extras: RefCell<FxHashMap<Name, BTreeSet<Name>>>,
    /// Who goes before its peers.
    pub(super) walks: RefCell<Walks>,
    /// Every edge handed out, for the report: who needs it.
    edges: RefCell<Edges>,
    rejections: RefCell<Vec<Rejection>>,
    rejected: RefCell<FxHashSet<(Name, DistVersion)>>,
    /// Releases that have only a source distribution, and what was learnt of them.
    pub(super) sources: RefCell<Sources>,
    /// How often a project was decided: releases are fetched ahead once it backtracks.
    tried: RefCell<FxHashMap<Name, u32>>,
    decisions: Cell<u64>,
}

impl Provider {
    pub(super) fn new(
        problem: Arc<Problem>,
        catalog: Arc<dyn Catalog>,
        tags: Arc<Tags>,
        reach: Reach,
        ranks: Ranks,
    ) -> Self {
        let requirements = RequirementCache::new(problem.target.marker_environment());
        let speculator = Speculator::new(
            Arc::clone(&catalog),
            Arc::clone(&problem),
            Arc::clone(&tags),
            reach.clone(),
        );
        let stated = || problem.requirements.iter().chain(&problem.overrides);
        let set = |keep: &dyn Fn(&Requirement) -> bool| -> FxHashSet<Name> {
            stated().filter(|r| keep(r)).map(|r| problem.substituted(r.name)).collect()
        };
        Self {
            facts: layers::MachineFacts::new(&problem),
            startable: OnceCell::new(),
            named_prerelease: set(&Requirement::mentions_prerelease)
                .into_iter()
                .chain(
                    problem.constraints.iter().filter(|r| r.mentions_prerelease()).map(|r| r.name),
                )
                .collect(),
            pinned: set(&Requirement::is_exact),
            direct: set(&|_| true),
            problem,
            catalog,
            tags,
            requirements,
            speculator,
            reach,
            urls: RefCell::default(),
            candidates: RefCell::default(),
            order: RefCell::default(),
            chosen: RefCell::default(),
            needs: RefCell::default(),
            extras: RefCell::default(),
            walks: RefCell::new(Walks::new(ranks)),
            edges: RefCell::default(),
            rejections: RefCell::default(),
            rejected: RefCell::default(),
            sources: RefCell::default(),
            tried: RefCell::default(),
            decisions: Cell::new(0),
        }
    }

    /// How many versions were chosen: the amount of work that the solve took.
    pub(super) fn decisions(&self) -> u64 {
        self.decisions.get()
    }

    pub(super) fn count_decision(&self) {
        self.decisions.set(self.decisions.get() + 1);
    }

    /// Forgets the decisions of this attempt for the next one; what was read stays.
    pub(super) fn start_again(&self) {
        self.walks.borrow_mut().start_again();
        self.edges.borrow_mut().clear();
        self.chosen.borrow_mut().clear();
    }

    pub(super) fn catalog(&self) -> &dyn Catalog {
        &*self.catalog
    }

    pub(super) fn facts(&self) -> &layers::MachineFacts {
        &self.facts
    }

    /// Whether the machine starts no CUDA of a range.
    pub(super) fn starts_no_cuda(&self, range: &Range) -> bool {
        let startable = self.startable.get_or_init(layers::Startable::new);
        startable.none(range, &self.facts, &self.problem)
    }

    /// The place of a package in the order in which they turned up.
    pub(super) fn order_of(&self, package: Package) -> u32 {
        let mut order = self.order.borrow_mut();
        let next = u32::try_from(order.len()).unwrap_or(u32::MAX);
        *order.entry(package).or_insert(next)
    }

    /// Starts fetching what a package will need.
    pub(super) fn expect(&self, name: Name, extra: Option<Name>, range: &Range) {
        if self.candidates.borrow().contains_key(&name) {
            return;
        }
        let places = self.problem.places(name, &self.reach);
        self.speculator.expect(name, range, extra.into_iter().collect(), &places);
    }

    /// What a package needs, when it was asked for this version last.
    pub(super) fn last_needs(&self, package: Package, version: &Version) -> Option<Needs> {
        let needs = self.needs.borrow();
        let (of, known) = needs.get(&package)?;
        (of == version).then(|| Rc::clone(known))
    }

    pub(super) fn keep_needs(&self, package: Package, version: &Version, needs: &Needs) {
        self.needs.borrow_mut().insert(package, (version.clone(), Rc::clone(needs)));
    }

    /// Keeps an edge for the report.
    pub(super) fn remember(&self, constraint: Rc<Constraint>) {
        let key = (constraint.subject.0, constraint.package);
        self.edges.borrow_mut().entry(key).or_default().push(constraint);
    }

    /// A requirement, parsed once for all METADATA that state it in the same words.
    pub(super) fn requirement(
        &self,
        text: &Arc<str>,
    ) -> Result<Arc<Requirement>, RequirementError> {
        self.requirements.get(text)
    }

    /// Whether a requirement applies to the target, for the distribution itself or for one of its extras.
    pub(super) fn applies(&self, requirement: &Requirement, extra: Option<Name>) -> bool {
        self.requirements.applies(requirement, extra)
    }

    /// Notes that extras of a distribution are asked for.
    pub(super) fn ask_for_extras(&self, name: Name, extras: &[Name]) {
        if !extras.is_empty() {
            self.extras.borrow_mut().entry(name).or_default().extend(extras);
        }
    }

    /// The extras of a distribution that were asked for so far.
    pub(super) fn extras_of(&self, name: Name) -> Vec<Name> {
        self.extras.borrow().get(&name).map_or_else(Vec::new, |e| e.iter().copied().collect())
    }

    /// The one build that a URL names.
    ///
    /// # Errors
    /// When what it names cannot be had.
    pub(super) fn url_range(
        &self,
        name: Name,
        url: &UrlRequirement,
    ) -> Result<Range, CatalogError> {
        let may_build = self.problem.policy.builds.allow(name);
        let python = may_build.then_some(&self.problem.target.python);
        let (range, new) = self.urls.borrow_mut().register(name, url, (&*self.catalog, python))?;
        if new {
            // The builds of this project are joined anew, with the URL among them.
            self.candidates.borrow_mut().remove(&name);
        }
        Ok(range)
    }

    /// What the catalog knows of a direct reference.
    pub(super) fn reference(&self, source: SourceId) -> Option<Arc<Reference>> {
        self.urls.borrow().reference(source).cloned()
    }

    /// The builds that were passed over so far.
    pub(super) fn rejections(&self) -> Vec<Rejection> {
        self.rejections.borrow().clone()
    }

    /// The constraints behind the edge between two packages.
    pub(super) fn reasons(&self, subject: Package, package: Package) -> Vec<Rc<Constraint>> {
        self.edges.borrow().get(&(subject, package)).cloned().unwrap_or_default()
    }

    /// The versions of a package that exist, ascending; empty for layers and for projects that were never asked for.
    pub(super) fn known_versions(&self, package: Package) -> Vec<Version> {
        match package.dist_name().and_then(|name| self.known_candidates(name)) {
            Some(candidates) => candidates.builds().map(|build| build.tagged().clone()).collect(),
            None => Vec::new(),
        }
    }

    pub(super) fn judge(&self) -> Judge<'_> {
        Judge { tags: &self.tags, policy: &self.problem.policy, sources: &self.problem.sources }
    }

    /// The builds of a project, `None` when no source has it.
    pub(super) fn candidates(&self, name: Name) -> Result<Option<Rc<Candidates>>, CatalogError> {
        if let Some(known) = self.candidates.borrow().get(&name) {
            return Ok(known.clone());
        }
        let mut projects = self.urls.borrow().projects(name);
        let places = self.problem.places(name, &self.reach);
        for source in places.special {
            if let Some(project) = self.catalog.project(source, name)? {
                projects.push((source, project));
            }
        }
        let takes = |source, version: Option<&_>| self.problem.takes_some(source, version);
        let has_builds = |(source, project): &(SourceId, Arc<Project>)| {
            takes(*source, None)
                || project.versions.iter().any(|version| takes(*source, Some(version)))
        };
        // A machine without a GPU takes builds for the CPU where there are any, not a newer one for CUDA.
        if self.reach != Reach::Cpu || !projects.iter().any(has_builds) {
            for source in places.general {
                if let Some(project) = self.catalog.project(source, name)? {
                    projects.push((source, project));
                    break;
                }
            }
        }
        // The order of preference among builds of one version; those of URLs come first, by their number.
        projects
            .sort_by_key(|(id, _)| self.problem.source(*id).map(|s| self.problem.preference(s)));
        let joined = (!projects.is_empty()).then(|| Rc::new(Candidates::join(projects, takes)));
        self.candidates.borrow_mut().insert(name, joined.clone());
        Ok(joined)
    }

    fn reject(&self, name: Name, version: &DistVersion, why: impl FnOnce() -> PassedOver) {
        if self.rejected.borrow_mut().insert((name, version.clone())) {
            let why = why();
            self.rejections.borrow_mut().push(Rejection { name, version: version.clone(), why });
        }
    }

    /// The build that is tried for a distribution or one of its extras.
    pub(super) fn choose_dist(
        &self,
        name: Name,
        extra: bool,
        range: &Range,
    ) -> Result<Option<Version>, CatalogError> {
        if range.contains(&Version::Dist(DistVersion::absent())) {
            return Ok(Some(Version::Dist(DistVersion::absent())));
        }
        if extra
            && let Some(version) = self.chosen.borrow().get(&name)
            && range.contains(version)
        {
            return Ok(Some(version.clone()));
        }
        let Some(candidates) = self.candidates(name)? else { return Ok(None) };
        let choice = self.pick(name, &candidates, range);
        if let Some(version) = &choice
            && !extra
        {
            let before = self.chosen.borrow_mut().insert(name, version.clone());
            // The same version again says nothing about this project: something else was reconsidered.
            if before.is_none_or(|before| before != *version) {
                self.look_ahead(name, &candidates, range, version);
            }
        }
        Ok(choice)
    }

    fn pick(&self, name: Name, candidates: &Candidates, range: &Range) -> Option<Version> {
        let policy = &self.problem.policy;
        let judge = self.judge();
        let prereleases = candidates
            .prereleases_allowed(policy.prerelease, self.named_prerelease.contains(&name));
        let lowest = match policy.resolution {
            Resolution::Highest => false,
            Resolution::Lowest => true,
            Resolution::LowestDirect => self.direct.contains(&name),
        };
        let preferred = policy.preferences.get(&name);
        // A release that was never anything but a source distribution counts as one with a wheel. One that has wheels, but
        // none for this target, is built only when no release has one; and without that the newest build that has nothing
        // for this target will do: its edges say what it is there for.
        let (mut sdist, mut fitting, mut unfit) = (None, None, None);
        let kept = preferred.into_iter().flat_map(|kept| {
            candidates
                .in_range(range, lowest)
                .filter(move |build| build.version().version() == Some(kept))
        });
        let near = policy.nearest.get(&name).map(|version| candidates.nearest_to(version));
        let rest: Box<dyn Iterator<Item = _>> = match near {
            Some(near) => Box::new(near.into_iter().filter(|build| range.contains(build.tagged()))),
            None => Box::new(candidates.in_range(range, lowest)),
        };
        for build in kept.chain(rest) {
            let version = build.tagged();
            let is_stable = build.version().version().is_some_and(pep440_rs::Version::is_stable);
            if !is_stable && !prereleases {
                self.reject(name, build.version(), || PassedOver::Prerelease);
                continue;
            }
            let release = build.release(&judge);
            if release.too_new {
                self.reject(name, build.version(), || PassedOver::TooNew);
                continue;
            }
            if let Some(reason) = &release.yanked
                && !self.pinned.contains(&name)
            {
                self.reject(name, build.version(), || PassedOver::Yanked(Arc::clone(reason)));
                continue;
            }
            if release.has_wheel() || release.is_source_alone() {
                if let Some(passed) = fitting {
                    self.sources.borrow_mut().note_passed(name, passed);
                }
                return Some(version.clone());
            }
            if release.fit.sdist.is_some() {
                sdist.get_or_insert(version);
                if fitting.is_none() && release.file().is_none_or(|file| self.runs_here(name, file))
                {
                    fitting = Some(version);
                }
            } else {
                self.reject(name, build.version(), || PassedOver::NoFile(release.misses()));
                if release.says_where_it_fits() {
                    unfit.get_or_insert(version);
                }
            }
        }
        sdist.or(unfit).cloned()
    }

    /// A project that is decided again and again is backtracking: fetch the METADATA of the next releases together.
    fn look_ahead(&self, name: Name, candidates: &Candidates, range: &Range, chosen: &Version) {
        let count = {
            let mut tried = self.tried.borrow_mut();
            let count = tried.entry(name).or_insert(0);
            *count += 1;
            *count
        };
        // The first rejection can be chance; from then on the batches keep ahead of the solver.
        let batch = match count {
            2 => 8,
            6 => 16,
            16 => 32,
            n if n > 16 && n % 24 == 0 => 48,
            _ => return,
        };
        if !self.catalog.wants_hints() {
            return;
        }
        let judge = self.judge();
        // Below what the range of now still has comes what it excludes for the moment: a project that is pinned by another
        // one which walks (botocore by boto3) is walked down with it.
        let within = candidates.in_range(range, false).filter(|build| build.tagged() < chosen);
        let beyond = candidates.in_order(false).filter(|build| {
            count > 2 && build.tagged() < chosen && !range.contains(build.tagged())
        });
        within
            .chain(beyond)
            .filter(|build| build.version().version().is_some_and(pep440_rs::Version::is_stable))
            .filter_map(|build| {
                let release = build.release(&judge);
                let file = release.file().filter(|_| release.has_wheel())?;
                self.runs_here(name, file).then_some((build, file))
            })
            .take(batch)
            .for_each(|(build, file)| {
                self.speculator.expect_metadata(build.version().source(), name, file);
            });
    }

    /// Whether the page says that a file is for the Python of the target, or says nothing.
    fn runs_here(&self, name: Name, file: &File) -> bool {
        let stated = file.requires_python.as_ref().and_then(|stated| self.python_of(name, stated));
        stated.is_none_or(|range| self.facts().holds(Package::Python, &range) != Some(false))
    }

    /// The builds of a project, when they were looked at before.
    pub(super) fn known_candidates(&self, name: Name) -> Option<Rc<Candidates>> {
        self.candidates.borrow().get(&name).cloned().flatten()
    }

    /// Whether the builds of a project were looked at in this solve.
    pub(super) fn was_asked_for(&self, name: Name) -> bool {
        self.candidates.borrow().contains_key(&name)
    }

    /// Whether env.toml pins a version of the distribution with `==`.
    pub(super) fn is_pinned(&self, name: Name) -> bool {
        self.pinned.contains(&name)
    }

    /// A build as the rules see it.
    pub(super) fn build_of<'a>(
        &'a self,
        name: Name,
        version: &'a DistVersion,
        filename: Option<&'a str>,
        metadata: &'a Metadata,
    ) -> Build<'a> {
        let origin = self.problem.source(version.source()).map_or(Origin::Other, Source::origin);
        Build {
            name,
            version,
            filename,
            origin,
            metadata: Some(metadata),
            requirements: &self.requirements,
        }
    }

    /// A build of which nothing was read but the name of its file.
    pub(super) fn unread_build<'a>(
        &'a self,
        name: Name,
        version: &'a DistVersion,
        filename: &'a str,
    ) -> Build<'a> {
        let origin = self.problem.source(version.source()).map_or(Origin::Other, Source::origin);
        let (filename, requirements) = (Some(filename), &self.requirements);
        Build { name, version, filename, origin, metadata: None, requirements }
    }

    /// The METADATA of the build's chosen file.
    pub(super) fn metadata(
        &self,
        name: Name,
        version: &DistVersion,
    ) -> Result<Option<Arc<Metadata>>, CatalogError> {
        let Some(candidates) = self.candidates(name)? else { return Ok(None) };
        let Some(build) = candidates.get(version) else { return Ok(None) };
        if let Some(reference) = self.reference(version.source()) {
            return self.referred_metadata(name, &reference).map(Some);
        }
        let judge = self.judge();
        let release = build.release(&judge);
        let Some(file) = release.file() else { return Ok(None) };
        if release.has_wheel() {
            return self.catalog.metadata(version.source(), name, file).map(Some);
        }
        self.source_metadata(name, version, release, file).map(Some)
    }

    /// Everyone who was found to need a package, with the range that they need.
    pub(super) fn who_needs(&self, package: Package) -> Vec<Rc<Constraint>> {
        let edges = self.edges.borrow();
        let to = edges.iter().filter(|((_, needed), _)| *needed == package);
        to.flat_map(|(_, constraints)| constraints.iter().cloned()).collect()
    }
}
