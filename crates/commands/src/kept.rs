//! Which pins of the lock that is there are kept, and how far the others may move.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::solve::Problem;
use cuda_lock_formats::lock_diff::is_stack;
use cuda_lock_formats::pylock::Pylock;
use pep440_rs::Version;

use crate::plan::Plan;
use crate::request::{Upgrade, Within};

/// What the upgrade flags say. Without any of them every pin is kept while it holds.
pub struct Kept {
    all_move: bool,
    stack_moves: bool,
    named: BTreeMap<Name, Arc<Requirement>>,
    within: Option<Within>,
}

impl Kept {
    /// Reads the flags.
    ///
    /// # Errors
    /// What is wrong with an `--upgrade-package`.
    pub fn new(flags: &Upgrade) -> Result<Self, String> {
        let named = flags.packages.iter().map(|text| {
            let requirement: Requirement =
                text.parse().map_err(|error| format!("--upgrade-package {text}: {error}"))?;
            let plain = requirement.extras.is_empty()
                && requirement.url.is_none()
                && requirement.marker.is_none();
            if plain {
                Ok((requirement.name, Arc::new(requirement)))
            } else {
                Err(format!(
                    "--upgrade-package {text}: give a name, or a name with versions as in torch==2.4.1"
                ))
            }
        });
        Ok(Self {
            all_move: flags.all,
            stack_moves: flags.stack,
            named: named.collect::<Result<_, _>>()?,
            within: flags.within,
        })
    }

    /// Whether the pin of `name` may move.
    #[must_use]
    pub fn moves(&self, name: Name) -> bool {
        self.all_move || self.named.contains_key(&name) || self.stack_moves && is_stack(name)
    }

    /// Tells a problem which versions to prefer, and which bounds the flags set.
    pub fn apply(&self, lock: Option<&Pylock>, problem: &mut Problem) {
        let packages = lock.map(|lock| lock.packages.as_slice()).unwrap_or_default();
        for package in packages {
            let Some(version) = &package.version else { continue };
            if !self.moves(package.name) {
                problem.policy.preferences.insert(package.name, version.clone());
            } else if let Some(bound) =
                self.within.and_then(|within| series(package.name, version, within))
            {
                problem.constraints.push(Arc::new(bound));
            }
        }
        let stated = self.named.values().filter(|requirement| !requirement.specifiers.is_empty());
        problem.constraints.extend(stated.cloned());
    }

    /// The Pythons of a plan in the order they are tried: that of the lock first, while it is allowed and nothing asks for
    /// everything to move.
    #[must_use]
    pub fn pythons<'p>(&self, lock: Option<&Pylock>, plan: &'p Plan) -> Vec<&'p Version> {
        let mut pythons: Vec<&Version> = plan.pythons.iter().collect();
        let tool = lock.and_then(|lock| lock.tool.as_ref()).filter(|_| !self.all_move);
        let locked = tool.and_then(|tool| tool.python.parse::<Version>().ok());
        if let Some(place) = pythons.iter().position(|python| Some(*python) == locked.as_ref()) {
            let python = pythons.remove(place);
            pythons.insert(0, python);
        }
        pythons
    }

    /// The distributions that are to move and that neither the lock nor the answer has: most likely misspelt.
    pub fn unknown<'a>(
        &'a self,
        known: impl Fn(Name) -> bool + 'a,
    ) -> impl Iterator<Item = Name> + 'a {
        self.named.keys().copied().filter(move |name| !known(*name))
    }

    /// What to say beside a conflict that the flags may have caused.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let series = match self.within {
            Some(Within::Minor) => Some("--within minor holds every pin in its minor series"),
            Some(Within::Major) => Some("--within major holds every pin in its major series"),
            None => None,
        };
        let named = self.named.values().find(|requirement| !requirement.specifiers.is_empty());
        let named =
            named.map(|requirement| format!("--upgrade-package asks for {}", requirement.text()));
        series.map(str::to_owned).or(named).map(|text| format!("{text}; try without it"))
    }
}

/// `name==1.2.*` for a pin at 1.2.3.
fn series(name: Name, version: &Version, within: Within) -> Option<Requirement> {
    let release = version.release();
    let major = release.first()?;
    let epoch = if version.epoch() == 0 { String::new() } else { format!("{}!", version.epoch()) };
    let prefix = match within {
        Within::Major => format!("{epoch}{major}"),
        Within::Minor => format!("{epoch}{major}.{}", release.get(1).unwrap_or(&0)),
    };
    format!("{name}=={prefix}.*").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(version: &str, within: Within) -> String {
        let version = version.parse().expect("a version");
        series(Name::new("a").expect("a name"), &version, within)
            .expect("a bound")
            .text()
            .to_string()
    }

    #[test]
    fn a_series_keeps_epoch_and_first_numbers() {
        assert_eq!(bound("2.4.1+cu124", Within::Minor), "a==2.4.*");
        assert_eq!(bound("2.4.1", Within::Major), "a==2.*");
        assert_eq!(bound("1!2024", Within::Minor), "a==1!2024.0.*");
    }
}
