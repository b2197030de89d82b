//! What is needed on some patch releases of a Python series only.
//!
//! `python = "3.11"` stands for every 3.11. A marker such as `python_full_version < "3.11.3"` holds on some of them, so what
//! it asks for is part of the answer, under a marker of its own: an installer takes it where it is needed.

use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use crate::constraint::{Constraint, Force, Reason};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::{MarkerEnvironment, Requirement};
use crate::solve::problem::Problem;
use crate::solve::solution::Solution;

/// The distributions that are not needed on every patch release, each with a marker that says where it is.
#[must_use]
pub fn partly_needed(problem: &Problem, solution: &Solution) -> BTreeMap<Name, String> {
    let edges: Vec<Edge> = solution.constraints.iter().filter_map(Edge::of).collect();
    if !problem.target.series || edges.iter().all(|edge| edge.patchy.is_none()) {
        return BTreeMap::new();
    }
    let patches = problem.target.patches();
    let needed: Vec<BTreeSet<Name>> = problem
        .target
        .marker_environments()
        .iter()
        .map(|environment| reached(&edges, environment))
        .collect();
    let on = |name: &Name| needed.iter().map(|names| names.contains(name)).collect::<Vec<bool>>();
    solution
        .builds
        .keys()
        .map(|name| (*name, on(name)))
        .filter(|(_, on)| on.contains(&false) && on.contains(&true))
        .map(|(name, on)| (name, marker(&on, &patches)))
        .collect()
}

/// The patch releases of a series that the answer is not for: a Requires-Python excludes them, and allows the newest.
#[must_use]
pub fn excluded(problem: &Problem, solution: &Solution) -> Vec<Pep440> {
    let target = &problem.target;
    let stated = solution.builds.values().filter_map(|chosen| {
        let stated =
            chosen.file.requires_python.as_ref().or(chosen.metadata.requires_python.as_ref())?;
        let specifiers: VersionSpecifiers = stated.parse().ok()?;
        let names_patch = specifiers.iter().any(|s| s.version().release().len() > 2);
        (names_patch && specifiers.contains(&target.python)).then_some(specifiers)
    });
    let stated: Vec<VersionSpecifiers> = if target.series { stated.collect() } else { Vec::new() };
    let mut patches = if stated.is_empty() { Vec::new() } else { target.patches() };
    patches.retain(|patch| stated.iter().any(|specifiers| !specifiers.contains(patch)));
    patches
}

/// Who asks for whom.
struct Edge {
    from: Package,
    to: Package,
    /// The requirement, when its marker can differ between patch releases.
    patchy: Option<Requirement>,
}

impl Edge {
    fn of(constraint: &Constraint) -> Option<Self> {
        let is_dist = matches!(constraint.package, Package::Dist { .. });
        if !is_dist || constraint.force != Force::Requires {
            return None;
        }
        let text = match &constraint.reason {
            Reason::Metadata { requirement } => Some(requirement),
            Reason::Manifest { text } => Some(text),
            _ => None,
        };
        let patchy = text
            .filter(|text| text.contains("full_version") || text.contains("implementation_version"))
            .and_then(|text| text.parse::<Requirement>().ok())
            .filter(|requirement| requirement.marker.as_ref().is_some_and(|m| m.names_patch()));
        Some(Self { from: constraint.subject.0, to: constraint.package, patchy })
    }

    fn holds(&self, environment: &MarkerEnvironment) -> bool {
        let extra = match self.from {
            Package::Dist { extra, .. } => extra,
            _ => None,
        };
        let marker = self.patchy.as_ref().and_then(|requirement| requirement.marker.as_ref());
        marker.is_none_or(|marker| marker.evaluate(environment, extra))
    }
}

/// The distributions that are reached from env.toml on one patch release.
fn reached(edges: &[Edge], environment: &MarkerEnvironment) -> BTreeSet<Name> {
    let mut from: BTreeMap<Package, Vec<Package>> = BTreeMap::new();
    for edge in edges.iter().filter(|edge| edge.holds(environment)) {
        from.entry(edge.from).or_default().push(edge.to);
    }
    let (mut seen, mut next) = (BTreeSet::new(), vec![Package::Root]);
    while let Some(package) = next.pop() {
        if seen.insert(package) {
            next.extend(from.get(&package).into_iter().flatten().copied());
        }
    }
    seen.iter().filter_map(Package::dist_name).collect()
}

/// A marker that holds on the patch releases for which `on` is true. What is known of the newest is said of all that follow.
fn marker(on: &[bool], patches: &[Pep440]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in on.iter().enumerate().filter(|(_, on)| **on) {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == at => *end = at,
            _ => runs.push((at, at)),
        }
    }
    let several = runs.len() > 1;
    let text = |(start, end): (usize, usize)| {
        let bound = |sign: &str, at: usize| {
            patches.get(at).map(|patch| format!("python_full_version {sign} \"{patch}\""))
        };
        let low = if start == 0 { None } else { bound(">=", start) };
        let bounds: Vec<String> = low.into_iter().chain(bound("<", end + 1)).collect();
        let both = bounds.len() > 1 && several;
        let bounds = bounds.join(" and ");
        if both { format!("({bounds})") } else { bounds }
    };
    runs.into_iter().map(text).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_say_where() {
        let patches: Vec<_> = (0..6).map(|patch| Pep440::new([3, 11, patch])).collect();
        let text = |on: [u8; 6]| marker(&on.map(|on| on == 1), &patches);
        assert_eq!(text([1, 1, 1, 0, 0, 0]), "python_full_version < \"3.11.3\"");
        assert_eq!(text([0, 0, 0, 0, 1, 1]), "python_full_version >= \"3.11.4\"");
        assert_eq!(
            text([0, 1, 1, 0, 0, 0]),
            "python_full_version >= \"3.11.1\" and python_full_version < \"3.11.3\""
        );
        assert_eq!(
            text([1, 0, 1, 1, 0, 1]),
            "python_full_version < \"3.11.1\" or (python_full_version >= \"3.11.2\" and \
             python_full_version < \"3.11.4\") or python_full_version >= \"3.11.5\""
        );
    }
}
