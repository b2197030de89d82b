//! Fetching ahead of the solver.
//!
//! The solver asks for one thing at a time and cannot go on without it. Most of what it will ask for is foreseeable: the
//! page of every requirement, the METADATA of the newest fitting wheel on it, the pages that this METADATA names, and so
//! on down the graph. Each arrival here starts the next fetches, so that a cold run takes about two round trips for each
//! level of the graph, whatever order the solver decides in. Guesses that turn out wrong cost a request and change
//! nothing: all decisions are the solver's.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use crate::catalog::{Catalog, File, Metadata, Project};
use crate::name::Name;
use crate::requirement::{Requirement, RequirementCache};
use crate::solve::problem::Problem;
use crate::solve::reach::{Places, Reach};
use crate::version::{DistVersion, Range, SourceId, Version};
use crate::wheel::{ReleaseFit, Tags, Why};

/// How many releases of a page a guess looks at before it gives up.
const LOOK_AT: usize = 8;

/// Starts fetching what the requirements of a problem and their graph are likely to need from the general indexes. Returns
/// at once; whoever asks the catalog afterwards waits for less.
pub fn look_ahead(problem: &Arc<Problem>, catalog: &Arc<dyn Catalog>) {
    let tags = Arc::new(Tags::for_target(&problem.target));
    let ahead = Speculator::new(Arc::clone(catalog), Arc::clone(problem), tags, Reach::General);
    for requirement in &problem.requirements {
        ahead.follow(requirement);
    }
}

/// Walks the likely graph ahead of the solver. Cheap to clone; shared with the fetching threads.
#[derive(Clone)]
pub(super) struct Speculator(Arc<Shared>);

struct Shared {
    catalog: Arc<dyn Catalog>,
    problem: Arc<Problem>,
    tags: Arc<Tags>,
    reach: Reach,
    /// Apart from the solver's own, which is not shared between threads.
    requirements: Mutex<RequirementCache>,
    seen: Mutex<FxHashSet<Name>>,
}

impl Speculator {
    pub(super) fn new(
        catalog: Arc<dyn Catalog>,
        problem: Arc<Problem>,
        tags: Arc<Tags>,
        reach: Reach,
    ) -> Self {
        let requirements = Mutex::new(RequirementCache::new(problem.target.marker_environment()));
        Self(Arc::new(Shared {
            catalog,
            problem,
            tags,
            reach,
            requirements,
            seen: Mutex::default(),
        }))
    }

    /// Expects `name` with a version in `range` from the source it is likely taken from, and its pages on all special ones.
    pub(super) fn expect(&self, name: Name, range: &Range, extras: Vec<Name>, places: &Places) {
        let likely = match self.0.reach {
            Reach::Cpu => places.special.first().or(places.general.first()),
            _ => places.general.first(),
        };
        let Some(source) = likely.copied() else { return };
        {
            let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !seen.insert(name) {
                return;
            }
        }
        for special in places.special.iter().filter(|special| **special != source) {
            self.0.catalog.expect_project(*special, name, Box::new(|_| ()));
        }
        let (this, range) = (self.clone(), range.clone());
        self.0.catalog.expect_project(
            source,
            name,
            Box::new(move |project| this.arrived(source, name, &project, &range, extras)),
        );
    }

    /// Expects the METADATA of one file, and nothing beyond it.
    pub(super) fn expect_metadata(&self, source: SourceId, name: Name, file: &File) {
        self.0.catalog.expect_metadata(source, name, file, Box::new(|_| ()));
    }

    fn arrived(
        &self,
        source: SourceId,
        name: Name,
        project: &Project,
        range: &Range,
        extras: Vec<Name>,
    ) {
        let Some(file) = self.likely(source, project, range) else { return };
        let this = self.clone();
        self.0.catalog.expect_metadata(
            source,
            name,
            &file,
            Box::new(move |metadata| this.read(&metadata, &extras)),
        );
    }

    fn read(&self, metadata: &Metadata, extras: &[Name]) {
        let wanted: Vec<Arc<Requirement>> = {
            let cache = self.0.requirements.lock().unwrap_or_else(PoisonError::into_inner);
            metadata
                .requires_dist
                .iter()
                .filter_map(|text| cache.get(text).ok())
                .filter(|requirement| {
                    cache.applies(requirement, None)
                        || extras.iter().any(|extra| cache.applies(requirement, Some(*extra)))
                })
                .collect()
        };
        for requirement in wanted {
            self.follow(&requirement);
        }
    }

    fn follow(&self, requirement: &Requirement) {
        if requirement.url.is_some() {
            return;
        }
        let name = self.0.problem.substituted(requirement.name);
        let places = self.0.problem.places(name, &self.0.reach);
        self.expect(name, requirement.range(), requirement.extras.to_vec(), &places);
    }

    /// The file that the solver is likely to choose: the wheel of the newest release in the range that fits, or the source
    /// distribution of one that was never anything else.
    fn likely(&self, source: SourceId, project: &Project, range: &Range) -> Option<File> {
        let plain_linux = self.0.problem.source(source).is_some_and(|source| source.plain_linux);
        let tags = self.0.tags.with_plain_linux(plain_linux);
        let cutoff = self.0.problem.policy.exclude_newer;
        project
            .versions
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, version)| {
                version.is_stable()
                    && self.0.problem.takes(source, version)
                    && range.contains(&Version::Dist(DistVersion::new((*version).clone(), source)))
            })
            .take(LOOK_AT)
            .find_map(|(index, _)| {
                let mut files = project.files.files(index);
                files.retain(|file| {
                    file.yanked.is_none()
                        && cutoff.is_none_or(|cutoff| file.upload_time.is_some_and(|t| t < cutoff))
                });
                let fit = ReleaseFit::of(&files, &tags);
                let alone = fit.rejected.iter().all(|(_, why)| *why == Why::Kind);
                let sdist = fit.sdist.filter(|_| alone);
                let best = fit.best.map(|(best, _)| best).or(sdist)?;
                (best < files.len()).then(|| files.swap_remove(best))
            })
    }
}
