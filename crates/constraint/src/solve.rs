//! From a problem to an answer: PubGrub over distributions and system layers together.
//!
//! [`solve`] runs on the calling thread and blocks on the catalog; all fetching ahead is done by the catalog on threads of
//! its own. The modules: [`problem`] is what is asked; `candidates` which builds a project has for the target; `edges`
//! turns facts into what PubGrub calls dependencies; `layers` decides driver, CUDA and cuDNN; `order` says what is decided
//! first, `walks` who turned out to have been decided too late, and `pick` which version is taken; `speculate` fetches ahead;
//! `reach` and `attempts` draw in the indexes; [`solution`] is the answer, [`conflict`] the proof that there is none.

mod attempts;
mod candidates;
pub mod conflict;
mod edges;
mod elsewhere;
mod layers;
mod order;
pub mod patches;
mod pick;
pub mod problem;
mod provider;
mod reach;
mod sdists;
pub mod solution;
mod speculate;
pub mod stack;
mod urls;
mod walks;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pubgrub::PubGrubError;

pub use attempts::solve;
pub use candidates::{Misses, PassedOver, Rejection};
pub use conflict::{
    CollidingFact, Conflict, Report, Statement, nearest_name, nearest_of, range_text, versions_text,
};
pub use problem::{
    Builds, LayerBound, Policy, Prerelease, Problem, Resolution, Source, SourceKind,
};
pub use provider::Unusable;
pub use sdists::{PassedRelease, PassedWhy};
pub use solution::{Chosen, Solution};
pub use speculate::look_ahead;
pub use stack::SystemStack;
pub use urls::is_url_source;

use crate::catalog::{Catalog, CatalogError, FromSdist, Grade};
use crate::constraint::Force;
use crate::name::Name;
use crate::package::Package;
use crate::solve::provider::{Halt, Provider};
use crate::solve::reach::Reach;
use crate::solve::walks::Ranks;
use crate::version::{DistVersion, Version};
use crate::wheel::Tags;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// No set of builds satisfies every constraint.
    #[error("no environment satisfies env.toml on this machine")]
    Conflict(Box<Conflict>),
    /// An index could not be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

/// One solve with a fixed reach. `ranks` is what earlier ones found out about the order.
fn attempt(
    problem: &Arc<Problem>,
    catalog: &Arc<dyn Catalog>,
    reach: &Reach,
    ranks: &RefCell<Ranks>,
) -> Result<Solution, SolveError> {
    let tags = Arc::new(Tags::for_target(&problem.target));
    let provider = Provider::new(
        Arc::clone(problem),
        Arc::clone(catalog),
        tags,
        reach.clone(),
        ranks.borrow().clone(),
    );
    loop {
        let outcome = pubgrub::resolve(&provider, Package::Root, layers::root_version());
        if let Some(fault) = catalog.fault() {
            return Err(SolveError::Catalog(fault));
        }
        match outcome {
            Ok(selected) => {
                let selected: BTreeMap<Package, Version> = selected.into_iter().collect();
                return Ok(answer(&provider, &selected)?);
            }
            Err(PubGrubError::NoSolution(tree)) => {
                return Err(SolveError::Conflict(Box::new(Conflict::new(&provider, &tree))));
            }
            Err(
                PubGrubError::ErrorRetrievingDependencies { source, .. }
                | PubGrubError::ErrorChoosingVersion { source, .. }
                | PubGrubError::ErrorInShouldCancel(source),
            ) => match source {
                Halt::Catalog(error) => return Err(SolveError::Catalog(error)),
                Halt::Walking => {
                    provider.start_again();
                    ranks.replace(provider.walks.borrow().ranks().clone());
                }
            },
        }
    }
}

/// Gathers what was chosen, with every constraint that holds it.
fn answer(
    provider: &Provider,
    selected: &BTreeMap<Package, Version>,
) -> Result<Solution, CatalogError> {
    let mut builds: BTreeMap<Name, Chosen> = BTreeMap::new();
    let mut layers = BTreeMap::new();
    let mut warnings = Vec::new();
    for (package, version) in selected {
        match (package, version) {
            (Package::Dist { name, extra: None }, Version::Dist(build)) if !build.is_absent() => {
                if let Some(chosen) = provider.chosen_build(*name, build)? {
                    builds.insert(*name, chosen);
                }
            }
            (Package::Root | Package::Dist { .. }, _) => {}
            _ => {
                layers.insert(*package, version.clone());
            }
        }
    }
    let mut constraints = Vec::new();
    for (package, version) in selected {
        let Ok(found) = provider.needs(*package, version)? else { continue };
        let subject = package.dist_name();
        for constraint in &*found {
            let (Some(name), Force::Requires) = (constraint.package.dist_name(), constraint.force)
            else {
                continue;
            };
            if subject == Some(name) {
                continue;
            }
            if let Some(required) = builds.get_mut(&name) {
                required.required_by.insert(subject);
            }
            if let Some(chosen) = subject.and_then(|subject| builds.get_mut(&subject)) {
                chosen.requires.insert(name);
            }
        }
        constraints.extend(found.iter().map(|constraint| (**constraint).clone()));
    }
    for (package, version) in selected {
        let (Package::Dist { name, extra: Some(extra) }, Version::Dist(_)) = (package, version)
        else {
            continue;
        };
        if let Some(chosen) = builds.get_mut(name) {
            chosen.extras.insert(*extra);
            let provided = chosen
                .metadata
                .provides_extra
                .iter()
                .any(|given| Name::new(given).is_ok_and(|given| given == *extra));
            if !provided {
                let near = near_extras(extra.as_str(), &chosen.metadata.provides_extra);
                warnings.push(format!("{name} {} has no extra '{extra}'{near}", chosen.version));
            }
        }
    }
    warnings.extend(provider.on_several_indexes(&builds));
    warnings.extend(provider.failed_builds());
    let passed_over = provider.passed_releases(&builds, &constraints);
    let decisions = provider.decisions();
    Ok(Solution { builds, layers, constraints, warnings, passed_over, decisions })
}

/// Which extras there are instead of one that there is not.
fn near_extras(extra: &str, provided: &[String]) -> String {
    match (nearest_of(extra, provided.iter().map(String::as_str)), provided) {
        (Some(meant), _) => format!("; did you mean '{meant}'?"),
        (None, []) => "; it has none".to_owned(),
        (None, some) => format!("; it has {}", some.join(", ")),
    }
}

impl Provider {
    fn chosen_build(
        &self,
        name: Name,
        build: &DistVersion,
    ) -> Result<Option<Chosen>, CatalogError> {
        let Some(candidates) = self.candidates(name)? else { return Ok(None) };
        let Some(candidate) = candidates.get(build) else { return Ok(None) };
        let judge = self.judge();
        let release = candidate.release(&judge);
        let (Some(file), Some(mut metadata)) = (release.file(), self.metadata(name, build)?) else {
            return Ok(None);
        };
        if !release.has_wheel() && metadata.source.is_none() {
            // What the file itself says would have said how it is known.
            let stated =
                FromSdist { grade: Grade::Stated, extras_open: false, needs: BTreeSet::default() };
            Arc::make_mut(&mut metadata).source = Some(Box::new(stated));
        }
        Ok(Some(Chosen {
            version: build.clone(),
            file: file.clone(),
            extras: BTreeSet::new(),
            place: self.reference(build.source()).map(|reference| reference.place.clone()),
            metadata,
            requires: BTreeSet::new(),
            required_by: BTreeSet::new(),
            yanked: release.yanked.clone(),
        }))
    }
}

#[cfg(test)]
mod tests;
