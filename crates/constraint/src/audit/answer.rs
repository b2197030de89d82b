//! An answer of the solver, judged as a file would be that pins it.
//!
//! What a solve did not go by, an audit may know: the two are written apart, and this is where they have to agree. Nothing is
//! fetched for it: the answer holds every build with its METADATA.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::finding::Verdict;
use super::question::{Line, Question, Surroundings};
use super::run::audit;
use crate::catalog::{Catalog, CatalogError, File, Metadata, OnMetadata, OnProject, Project};
use crate::name::Name;
use crate::requirement::Requirement;
use crate::rules::image::Image;
use crate::solve::{Chosen, Problem, Solution};
use crate::version::SourceId;

/// Judges what was chosen for `problem`, on its machine, in `image` when one is named.
#[must_use]
pub fn audit_answer(problem: &Problem, solution: &Solution, image: Option<Image>) -> Verdict {
    // An index that nothing is taken from plays no part for who installs the answer.
    let used: BTreeSet<SourceId> =
        solution.builds.values().map(|chosen| chosen.version.source()).collect();
    let question = Question {
        target: problem.target.clone(),
        python_known: true,
        machine: problem.machine.clone(),
        unknown_gpus: Vec::new(),
        model: problem.model,
        image,
        sources: problem.sources.clone(),
        indexes: used.into_iter().collect(),
        extra: BTreeSet::new(),
        unasked: BTreeSet::new(),
        local: BTreeSet::new(),
        lines: solution.builds.iter().filter_map(|(name, chosen)| line(*name, chosen)).collect(),
        closed: true,
        prereleases: true,
        surroundings: Surroundings::default(),
        folder: None,
    };
    audit(&question, &Answered { problem, solution })
}

/// A build as a line that pins it.
fn line(name: Name, chosen: &Chosen) -> Option<Line> {
    let extras: Vec<&str> = chosen.extras.iter().map(|extra| extra.as_str()).collect();
    let extras = if extras.is_empty() { String::new() } else { format!("[{}]", extras.join(",")) };
    let text = format!("{name}{extras}=={}", chosen.version.version()?);
    let requirement = Arc::new(text.parse::<Requirement>().ok()?);
    Some(Line { source: Some(chosen.version.source()), ..Line::new(requirement) })
}

/// The indexes as far as the answer holds them: each project with the one release that was chosen.
struct Answered<'a> {
    problem: &'a Problem,
    solution: &'a Solution,
}

impl Answered<'_> {
    fn chosen(&self, source: SourceId, name: Name) -> Option<&Chosen> {
        self.solution.builds.get(&name).filter(|chosen| chosen.version.source() == source)
    }

    /// Whether env.toml has the last word about what others require of `name`.
    fn is_overruled(&self, name: Name) -> bool {
        self.problem.substitute.contains_key(&name)
            || self.problem.overrides.iter().any(|requirement| requirement.name == name)
    }

    /// METADATA as env.toml wants it read: a requirement that it overrides is none that anybody breaks.
    fn as_asked(&self, metadata: &Arc<Metadata>) -> Arc<Metadata> {
        if self.problem.substitute.is_empty() && self.problem.overrides.is_empty() {
            return Arc::clone(metadata);
        }
        let stands = |line: &Arc<str>| {
            let requirement = line.parse::<Requirement>();
            requirement.map_or(true, |requirement| !self.is_overruled(requirement.name))
        };
        let mut metadata = Metadata::clone(metadata);
        metadata.requires_dist.retain(stands);
        Arc::new(metadata)
    }
}

impl Catalog for Answered<'_> {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        let Some(chosen) = self.chosen(source, name) else { return Ok(None) };
        let Some(version) = chosen.version.version() else { return Ok(None) };
        Ok(Some(Arc::new(Project {
            versions: vec![version.clone()].into(),
            files: Box::new(vec![vec![chosen.file.clone()]]),
        })))
    }

    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        _file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let unknown = || CatalogError::Unavailable("it is no part of the answer".into());
        self.chosen(source, name).map(|chosen| self.as_asked(&chosen.metadata)).ok_or_else(unknown)
    }

    // Everything is at hand.
    fn expect_project(&self, _source: SourceId, _name: Name, _then: OnProject) {}

    fn expect_metadata(&self, _source: SourceId, _name: Name, _file: &File, _then: OnMetadata) {}

    fn wants_hints(&self) -> bool {
        false
    }

    fn fault(&self) -> Option<CatalogError> {
        None
    }
}
