//! From facts to edges: everything that a package needs at one version.

use std::rc::Rc;
use std::sync::Arc;

use pep440_rs::VersionSpecifiers;
use pubgrub::{Dependencies, DependencyProvider, PackageResolutionStatistics};

use crate::catalog::{CatalogError, Metadata, Silence};
use crate::constraint::{Constraint, Force, Reason};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::Requirement;
use crate::rules;
use crate::solve::layers;
use crate::solve::order::Priority;
use crate::solve::provider::{Halt, Needs, Provider, Unusable};
use crate::version::{DistVersion, Range, Version, if_present, python_range, without_upper_bounds};
use crate::wheel::ReleaseFit;

impl Provider {
    /// Everything `package` needs at `version`, whether or not the machine satisfies it anyway.
    pub(super) fn needs(
        &self,
        package: Package,
        version: &Version,
    ) -> Result<Result<Needs, Unusable>, CatalogError> {
        if let Some(needs) = self.last_needs(package, version) {
            return Ok(Ok(needs));
        }
        let needs: Needs = match self.constraints(package, version)? {
            Ok(constraints) => constraints.into_iter().map(Rc::new).collect(),
            Err(unusable) => return Ok(Err(unusable)),
        };
        self.keep_needs(package, version, &needs);
        Ok(Ok(needs))
    }

    fn constraints(
        &self,
        package: Package,
        version: &Version,
    ) -> Result<Result<Vec<Constraint>, Unusable>, CatalogError> {
        match (package, version) {
            (Package::Root, _) => Ok(Ok(self.root_constraints()?)),
            (Package::Dist { name, extra: None }, Version::Dist(build)) => {
                self.build_constraints(name, build)
            }
            (Package::Dist { name, extra: Some(extra) }, Version::Dist(build)) => {
                self.extra_constraints(name, extra, build)
            }
            _ => Ok(Ok(layers::constraints(package, version, &self.problem))),
        }
    }

    fn root_constraints(&self) -> Result<Vec<Constraint>, CatalogError> {
        let root = (Package::Root, layers::root_version());
        let mut constraints = layers::machine_constraints(&self.problem, &root);
        let applies = |requirement: &&Arc<Requirement>| self.applies(requirement, None);
        for requirement in self.problem.requirements.iter().filter(applies) {
            let reason = Reason::Manifest { text: Arc::clone(requirement.text()) };
            self.require(&mut constraints, &root, requirement, &reason)?;
        }
        for requirement in self.problem.constraints.iter().filter(applies) {
            constraints.push(Constraint {
                subject: root.clone(),
                package: Package::dist(requirement.name),
                range: if_present(requirement.range()),
                force: Force::IfPresent,
                reason: Reason::Manifest { text: Arc::clone(requirement.text()) },
            });
        }
        Ok(constraints)
    }

    /// The edges of one requirement: to the distribution, and to each extra of it.
    ///
    /// # Errors
    /// When it is a direct reference to something that cannot be had.
    fn require(
        &self,
        constraints: &mut Vec<Constraint>,
        subject: &(Package, Version),
        requirement: &Requirement,
        reason: &Reason,
    ) -> Result<(), CatalogError> {
        let name = self.problem.substituted(requirement.name);
        let overridden = self.problem.overrides.iter().find(|over| over.name == name);
        let (range, reason) = match overridden {
            Some(over) => (
                self.overridden(over, requirement)?,
                Reason::Manifest { text: format!("override {}", over.text()).into() },
            ),
            None => (self.range_of(requirement)?, reason.clone()),
        };
        self.ask_for_extras(name, &requirement.extras);
        let extras = requirement.extras.iter().copied().map(Some);
        for extra in std::iter::once(None).chain(extras) {
            constraints.push(Constraint {
                subject: subject.clone(),
                package: Package::Dist { name, extra },
                range: range.clone(),
                force: Force::Requires,
                reason: reason.clone(),
            });
        }
        if requirement.url.is_none() && overridden.is_none() {
            // A pin on an NVIDIA library names a CUDA or a cuDNN: said here, the solver need not go through the library.
            for limit in rules::library::layer_of_requirement(name, &requirement.specifiers) {
                constraints.push(Constraint {
                    subject: subject.clone(),
                    package: limit.package,
                    range: limit.range,
                    force: Force::Requires,
                    reason: reason.clone(),
                });
            }
        }
        Ok(())
    }

    /// What an override allows. One that says where a distribution is from does not say that any version will do.
    fn overridden(&self, over: &Requirement, asked: &Requirement) -> Result<Range, CatalogError> {
        let range = self.range_of(over)?;
        let is_place = over.url.is_some() && asked.url.is_none();
        Ok(if is_place { range.intersection(asked.range()) } else { range })
    }

    fn range_of(&self, requirement: &Requirement) -> Result<Range, CatalogError> {
        match &requirement.url {
            Some(url) => self.url_range(requirement.name, url),
            None => Ok(requirement.range().clone()),
        }
    }

    fn build_constraints(
        &self,
        name: Name,
        build: &DistVersion,
    ) -> Result<Result<Vec<Constraint>, Unusable>, CatalogError> {
        if build.is_absent() {
            return Ok(Ok(Vec::new()));
        }
        let subject = (Package::dist(name), Version::Dist(build.clone()));
        let mut constraints = Vec::new();
        let Some(candidates) = self.candidates(name)? else { return Ok(Ok(constraints)) };
        let Some(candidate) = candidates.get(build) else { return Ok(Ok(constraints)) };
        let judge = self.judge();
        let release = candidate.release(&judge);
        let mut add = |package, range, reason| {
            constraints.push(Constraint {
                subject: subject.clone(),
                package,
                range,
                force: Force::Requires,
                reason,
            });
        };
        if !release.has_wheel() && release.fit.sdist.is_none() {
            // Nothing here fits: say for which Pythons and which glibc there is something.
            let why = release.why_not();
            if !release.fit.pythons.is_empty() {
                let text = format!("has wheels for Python {}", release.fit.pythons).into();
                add(Package::Python, release.fit.python_range(), Reason::WheelTag { text });
            }
            for (package, range, reason) in systems(&release.fit) {
                add(package, range, reason);
            }
            if constraints.iter().all(|c| self.facts().holds(c.package, &c.range) != Some(false)) {
                return Ok(Err(why.join("; ").into()));
            }
            return Ok(Ok(constraints));
        }
        let Some(file) = release.file() else { return Ok(Ok(constraints)) };
        if release.has_wheel() {
            for (package, range, reason) in systems(&release.fit) {
                add(package, range, reason);
            }
        }
        let mut python_stated = false;
        if let Some(specifiers) = &file.requires_python
            && let Some(range) = self.python_of(name, specifiers)
        {
            python_stated = true;
            let reason = Reason::RequiresPython { specifiers: Arc::clone(specifiers) };
            if self.facts().holds(Package::Python, &range) == Some(false) {
                add(Package::Python, range, reason);
                // Nothing else of this build matters for this Python, and its METADATA need not be fetched.
                return Ok(Ok(constraints));
            }
            add(Package::Python, range, reason);
        }
        if !release.has_wheel() {
            // Of a release that is known to be broken nobody is asked what it needs.
            let unread = self.unread_build(name, build, &file.filename);
            if let Some(broken) = rules::broken::unusable(&unread, self.problem.machine.platform) {
                return Ok(Err(broken.text.as_str().into()));
            }
        }
        let metadata = match self.metadata(name, build) {
            Ok(Some(metadata)) => metadata,
            Ok(None) => return Ok(Ok(constraints)),
            Err(CatalogError::Unavailable(why)) => return Ok(Err(Unusable::Because(why))),
            Err(CatalogError::Undeclared(found)) => {
                return Ok(Err(Unusable::Undeclared(found.why)));
            }
            Err(error) => return Err(error),
        };
        if let (false, Some(specifiers)) = (python_stated, &metadata.requires_python)
            && let Some(range) = self.python_of(name, specifiers)
        {
            let reason = Reason::RequiresPython { specifiers: Arc::clone(specifiers) };
            add(Package::Python, range, reason);
        }
        for text in &metadata.requires_dist {
            match self.requirement(text) {
                Ok(requirement) if self.applies(&requirement, None) => {
                    let reason = Reason::Metadata { requirement: Arc::clone(text) };
                    match self.require(&mut constraints, &subject, &requirement, &reason) {
                        Ok(()) => {}
                        // Another release may do without it.
                        Err(CatalogError::Reference(why)) => {
                            return Ok(Err(Unusable::Because(why)));
                        }
                        Err(error) => return Err(error),
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    return Ok(Err(format!("its METADATA cannot be read: {error}").into()));
                }
            }
        }
        let filename = Some(file.filename.as_str());
        let input = self.build_of(name, build, filename, &metadata);
        match rules::constraints(&input, &self.problem.machine, self.problem.model.as_ref()) {
            Ok(found) => constraints.extend(found),
            Err(broken) => return Ok(Err(broken.text.as_str().into())),
        }
        // What an earlier lock holds stays: it was chosen, and advice is no reason to move it.
        let kept = self.problem.policy.preferences.get(&name);
        if !self.problem.policy.ignore_advice
            && kept.is_none_or(|kept| build.version() != Some(kept))
        {
            constraints.extend(rules::advice::constraints(&input, self.problem.model.as_ref()));
        }
        Ok(Ok(constraints))
    }

    /// The extras that are asked for of a distribution, as its own edges: each has its version, or is not wanted. Without them
    /// an extra whose needs cannot be met would walk through all its releases before the distribution itself is given up.
    fn bound_extras(&self, package: Package, version: &Version) -> Vec<Constraint> {
        let Package::Dist { name, extra: None } = package else { return Vec::new() };
        let bound = |extra| Constraint {
            subject: (package, version.clone()),
            package: Package::Dist { name, extra: Some(extra) },
            range: if_present(&Range::singleton(version.clone())),
            force: Force::IfPresent,
            reason: Reason::Extra,
        };
        self.extras_of(name).into_iter().map(bound).collect()
    }

    /// The range of a `Requires-Python`; one that cannot be read is ignored, as installers do.
    ///
    /// An upper bound is a guess about Pythons that did not exist yet. It is respected, but whoever pins a release with
    /// `==` has decided for it, as uv sees it too; the answer then carries a warning.
    pub(super) fn python_of(&self, name: Name, specifiers: &str) -> Option<Range> {
        let specifiers: VersionSpecifiers = specifiers.parse().ok()?;
        let pinned = self.is_pinned(name);
        Some(if pinned { without_upper_bounds(&specifiers) } else { python_range(&specifiers) })
    }

    fn extra_constraints(
        &self,
        name: Name,
        extra: Name,
        build: &DistVersion,
    ) -> Result<Result<Vec<Constraint>, Unusable>, CatalogError> {
        if build.is_absent() {
            return Ok(Ok(Vec::new()));
        }
        let subject = (Package::Dist { name, extra: Some(extra) }, Version::Dist(build.clone()));
        let mut constraints = vec![Constraint {
            subject: subject.clone(),
            package: Package::dist(name),
            range: Range::singleton(Version::Dist(build.clone())),
            force: Force::Requires,
            reason: Reason::Extra,
        }];
        let metadata = match self.metadata(name, build) {
            Ok(Some(metadata)) => metadata,
            // The base distribution reports both.
            Ok(None) | Err(CatalogError::Unavailable(_) | CatalogError::Undeclared(_)) => {
                return Ok(Ok(constraints));
            }
            Err(error) => return Err(error),
        };
        if metadata.source.as_ref().is_some_and(|source| source.extras_open) {
            return Ok(Err(Unusable::Undeclared(Silence::Extras)));
        }
        for text in &metadata.requires_dist {
            let Ok(requirement) = self.requirement(text) else { continue };
            // What applies to the distribution itself on some patch releases only may be the extra's on the others.
            let own = || requirement.marker.as_ref().is_some_and(|marker| marker.names_patch());
            if self.applies(&requirement, Some(extra))
                && (!self.applies(&requirement, None) || own())
            {
                let reason = Reason::Metadata { requirement: Arc::clone(text) };
                match self.require(&mut constraints, &subject, &requirement, &reason) {
                    Ok(()) => {}
                    Err(CatalogError::Reference(why)) => return Ok(Err(Unusable::Because(why))),
                    Err(error) => return Err(error),
                }
            }
        }
        if let Some(newer) = self.newer_with_extra(name, extra, build, &metadata)? {
            let why = format!("it has no extra '{extra}', which {newer} has");
            return Ok(Err(Unusable::Because(why.into())));
        }
        Ok(Ok(constraints))
    }

    /// A newer release that has an extra which this one lacks. Without this law a search that goes back through releases
    /// would end at one from before the extra, which needs nothing and so fits everywhere.
    ///
    /// What is known of an extra comes from the releases that were tried, the newest first, and from the newest that could
    /// be; a release that is pinned stays, as it does when it is yanked.
    fn newer_with_extra(
        &self,
        name: Name,
        extra: Name,
        build: &DistVersion,
        metadata: &Metadata,
    ) -> Result<Option<DistVersion>, CatalogError> {
        if has_extra(metadata, extra) {
            self.remember_extra(name, extra, build);
            return Ok(None);
        }
        if self.is_pinned(name) {
            return Ok(None);
        }
        if self.newest_with_extra(name, extra).is_none()
            && let Some(newest) = self.newest_usable(name)?
            && newest != *build
        {
            match self.metadata(name, &newest) {
                Ok(Some(metadata)) if has_extra(&metadata, extra) => {
                    self.remember_extra(name, extra, &newest);
                }
                Ok(_) | Err(CatalogError::Unavailable(_) | CatalogError::Undeclared(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.newest_with_extra(name, extra).filter(|newer| newer > build))
    }
}

/// The glibc, or the macOS, that a release has wheels for.
fn systems(fit: &ReleaseFit) -> impl Iterator<Item = (Package, Range, Reason)> {
    let systems = [(Package::Glibc, &fit.glibc), (Package::Macos, &fit.macos)];
    systems.into_iter().filter_map(|(package, lowest)| {
        let lowest = lowest.as_ref()?;
        let text = format!("has wheels for {package} >= {lowest}").into();
        let range = Range::higher_than(Version::System(lowest.clone()));
        Some((package, range, Reason::WheelTag { text }))
    })
}

/// Whether METADATA knows an extra.
fn has_extra(metadata: &Metadata, extra: Name) -> bool {
    metadata.provides_extra.iter().any(|given| Name::new(given).is_ok_and(|given| given == extra))
}

impl DependencyProvider for Provider {
    type P = Package;
    type V = Version;
    type VS = Range;
    type Priority = Priority;
    type M = Unusable;
    type Err = Halt;

    fn prioritize(
        &self,
        package: &Package,
        range: &Range,
        statistics: &PackageResolutionStatistics,
    ) -> Priority {
        self.priority(*package, range, statistics.conflict_count())
    }

    fn choose_version(&self, package: &Package, range: &Range) -> Result<Option<Version>, Halt> {
        self.choose(*package, range)
    }

    fn get_dependencies(
        &self,
        package: &Package,
        version: &Version,
    ) -> Result<Dependencies<Package, Range, Unusable>, Halt> {
        let needs = match self.needs(*package, version)? {
            Ok(needs) => needs,
            Err(unusable) => {
                self.walks.borrow_mut().is_unfit(*package);
                return Ok(Dependencies::Unavailable(unusable));
            }
        };
        if needs.iter().any(|c| self.facts().holds(c.package, &c.range) == Some(false)) {
            self.walks.borrow_mut().is_unfit(*package);
        }
        let mut dependencies = Vec::with_capacity(needs.len());
        for constraint in &*needs {
            // What the machine satisfies anyway needs no edge; the root's own edges make the machine known.
            if *package != Package::Root
                && self.facts().holds(constraint.package, &constraint.range) == Some(true)
            {
                continue;
            }
            if constraint.package == *package {
                if constraint.range.contains(version) {
                    continue;
                }
                return Ok(Dependencies::Unavailable(
                    "it requires another version of itself".into(),
                ));
            }
            dependencies.push((constraint.package, constraint.range.clone()));
            self.remember(Rc::clone(constraint));
        }
        for constraint in self.bound_extras(*package, version) {
            dependencies.push((constraint.package, constraint.range.clone()));
            self.remember(Rc::new(constraint));
        }
        Ok(Dependencies::Available(dependencies.into_iter().collect()))
    }
}
