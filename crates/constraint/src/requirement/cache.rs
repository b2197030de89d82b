//! Requirements read once.

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::RequirementError;
use super::marker::{Expression, Marker, MarkerEnvironment};
use super::parse::Requirement;
use crate::name::Name;
use crate::target::Target;

/// The requirements of one solve, each text read once: the releases of a project repeat theirs hundreds of times.
///
/// Markers are reduced to what `extra` decides as soon as they are read, so [`applies`](Self::applies) costs a look-up.
/// For one thread; errors are kept like answers.
pub struct RequirementCache {
    environment: MarkerEnvironment,
    /// Those of the other patch releases of a series.
    others: Vec<MarkerEnvironment>,
    requirements: RefCell<FxHashMap<Arc<str>, Answer>>,
    markers: RefCell<FxHashMap<Box<str>, Arc<Marker>>>,
    /// By the address of a marker of `markers`, which live as long as this does.
    reduced: RefCell<FxHashMap<usize, Expression>>,
}

type Answer = Result<Arc<Requirement>, RequirementError>;

impl RequirementCache {
    /// An empty cache for one environment.
    #[must_use]
    pub fn new(environment: MarkerEnvironment) -> Self {
        Self {
            environment,
            others: Vec::new(),
            requirements: RefCell::default(),
            markers: RefCell::default(),
            reduced: RefCell::default(),
        }
    }

    /// An empty cache for a target. In a series of Pythons a requirement applies that applies on any patch release.
    #[must_use]
    pub fn for_target(target: &Target) -> Self {
        let mut others = target.marker_environments();
        let newest = others.pop().unwrap_or_else(|| target.marker_environment());
        Self { others, ..Self::new(newest) }
    }

    /// The environment that markers are evaluated on: that of the newest patch release, in a series.
    #[must_use]
    pub fn environment(&self) -> &MarkerEnvironment {
        &self.environment
    }

    /// The requirement that `text` stands for.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, text: &Arc<str>) -> Result<Arc<Requirement>, RequirementError> {
        if let Some(known) = self.requirements.borrow().get(text) {
            return known.clone();
        }
        let read = Requirement::parse_with(text, |marker| self.marker(marker)).map(Arc::new);
        self.requirements.borrow_mut().insert(Arc::clone(text), read.clone());
        read
    }

    /// Whether `requirement` applies to the distribution itself, or to one extra of it.
    ///
    /// Like pip: the distribution itself is evaluated with `extra` empty, `name[extra]` with that one.
    #[must_use]
    pub fn applies(&self, requirement: &Requirement, extra: Option<Name>) -> bool {
        let Some(marker) = &requirement.marker else { return true };
        match self.reduced.borrow().get(&address(marker)) {
            Some(reduced) => reduced.holds(None, extra),
            None => {
                let others = self.others.iter().filter(|_| marker.names_patch());
                let mut all = std::iter::once(&self.environment).chain(others);
                all.any(|environment| marker.evaluate(environment, extra))
            }
        }
    }

    fn marker(&self, text: &str) -> Result<Arc<Marker>, RequirementError> {
        if let Some(known) = self.markers.borrow().get(text) {
            return Ok(Arc::clone(known));
        }
        let marker: Arc<Marker> = Arc::new(text.parse()?);
        let mut reduced = marker.reduce(&self.environment);
        if !self.others.is_empty() && marker.names_patch() {
            let others = self.others.iter().map(|environment| marker.reduce(environment));
            reduced = Expression::any(others.chain([reduced]).collect());
        }
        self.reduced.borrow_mut().insert(address(&marker), reduced);
        self.markers.borrow_mut().insert(text.into(), Arc::clone(&marker));
        Ok(marker)
    }
}

fn address(marker: &Arc<Marker>) -> usize {
    Arc::as_ptr(marker).addr()
}

#[cfg(test)]
mod tests;
