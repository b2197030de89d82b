//! Projects of one name on several indexes: taken from one place only, and said so.

use std::collections::BTreeMap;

use crate::name::Name;
use crate::solve::problem::{Problem, SourceKind};
use crate::solve::provider::Provider;
use crate::solve::reach::{Reach, has_own_index};
use crate::solve::solution::Chosen;
use crate::version::SourceId;

impl Provider {
    /// One sentence for each pair of indexes that both have a project of what env.toml names, or of what has an index of
    /// its own: the one it is taken from, and another one that was not asked for a version.
    ///
    /// Only these names are looked up: a whole mirror of PyPI beside PyPI would have every name twice. An index that cannot
    /// be read is no reason to fail here.
    pub(super) fn on_several_indexes(&self, builds: &BTreeMap<Name, Chosen>) -> Vec<String> {
        let problem = &self.problem;
        let general = problem.sources.iter().filter(|s| !s.explicit && s.only.is_none()).count();
        if general < 2 {
            return Vec::new();
        }
        let mut wanted: Vec<(Name, SourceId, SourceId)> = Vec::new();
        for (name, chosen) in builds {
            let named = problem.requirements.iter().any(|r| problem.substituted(r.name) == *name);
            if named || has_own_index(*name) {
                let from = chosen.version.source();
                let others = others(problem, *name, from);
                wanted.extend(others.into_iter().map(|other| (*name, from, other)));
            }
        }
        for (name, _, other) in &wanted {
            self.catalog().expect_project(*other, *name, Box::new(|_| ()));
        }
        let mut pairs: BTreeMap<(SourceId, SourceId), Vec<Name>> = BTreeMap::new();
        for (name, from, other) in wanted {
            if matches!(self.catalog().project(other, name), Ok(Some(_))) {
                pairs.entry((from, other)).or_default().push(name);
            }
        }
        pairs.into_iter().filter_map(|(pair, names)| sentence(problem, pair, &names)).collect()
    }
}

/// The general indexes that were not needed any more once `name` was found on `from`.
fn others(problem: &Problem, name: Name, from: SourceId) -> Vec<SourceId> {
    if problem.pinned_sources.contains_key(&name) || problem.source(from).is_none() {
        return Vec::new();
    }
    let places = problem.places(name, &Reach::General).general;
    match places.iter().position(|place| *place == from) {
        Some(place) => places.into_iter().skip(place + 1).collect(),
        // Taken from an index that exists for it: PyPI has its other builds, which is no news.
        None => places
            .into_iter()
            .filter(|id| problem.source(*id).is_some_and(|s| s.kind != SourceKind::PyPi))
            .collect(),
    }
}

fn sentence(
    problem: &Problem,
    (from, other): (SourceId, SourceId),
    names: &[Name],
) -> Option<String> {
    let (from, other) = (&problem.source(from)?.name, &problem.source(other)?.name);
    let first = names.first()?;
    let list: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    Some(format!(
        "{} {is} on {from} and on {other}; taken from {from} only. To take it from {other}, add to [sources]: {first} = {{ index = \"{other}\" }}",
        list.join(", ")
    ))
}
