//! Stepping back, as pip does: a build that nobody pinned gives way when it requires what nothing that is taken can meet.

use std::collections::{BTreeMap, BTreeSet};

use super::install::{Installer, TRIES, Taken, meet};
use super::pick::Pick;
use crate::name::Name;
use crate::version::{Range, Version, any_build};

/// So many builds are stepped back from before a clash is taken for what it is.
pub(super) const STEPS_BACK: usize = 16;

impl Installer<'_> {
    /// Gives up the build of one distribution that nobody pinned, when it requires what nothing that is taken can meet and an
    /// older one does not. Tells whether there was one.
    pub(super) fn step_back(
        &self,
        taken: &BTreeMap<Name, Taken>,
        hopeless: &mut BTreeSet<(Name, Name)>,
    ) -> bool {
        let mut asked: BTreeMap<Name, Vec<(Name, Range)>> = BTreeMap::new();
        for (name, build) in taken.iter().filter(|(_, build)| build.expands) {
            for requirement in self.required(build) {
                asked
                    .entry(requirement.name)
                    .or_default()
                    .push((*name, requirement.range().clone()));
            }
        }
        for (name, mut requirers) in asked {
            let Some(build) = taken.get(&name) else { continue };
            let version = Version::Dist(build.build.version.clone());
            if requirers.iter().all(|(_, range)| range.contains(&version)) {
                continue;
            }
            let is_pinned = |name: &Name| taken.get(name).is_some_and(|taken| taken.pinned);
            requirers.sort_by_key(|(by, _)| {
                (!is_pinned(by), taken.get(by).is_none_or(|taken| !taken.direct), *by)
            });
            let mut held = if build.pinned {
                Range::singleton(version)
            } else {
                self.needs
                    .borrow()
                    .get(&name)
                    .map_or_else(any_build, |(need, _)| meet(&need.ranges))
            };
            let mut accepted: Vec<(Name, Range)> = Vec::new();
            let own = held.clone();
            for (by, range) in requirers {
                let next = held.intersection(&range);
                if !next.is_empty() {
                    held = next;
                    accepted.push((by, range));
                    continue;
                }
                // The later one gives way; when it cannot, one of those before it that exclude it.
                let mut steps = vec![(by, held.clone())];
                for (earlier, bound) in &accepted {
                    if bound.intersection(&range).is_empty() {
                        let others = accepted.iter().filter(|(name, _)| name != earlier);
                        let rest = others.fold(own.intersection(&range), |all, (_, range)| {
                            all.intersection(range)
                        });
                        steps.push((*earlier, rest));
                    }
                }
                for (culprit, held) in steps {
                    if is_pinned(&culprit) || held.is_empty() || hopeless.contains(&(culprit, name))
                    {
                        continue;
                    }
                    if self.give_up(culprit, taken, name, &held) {
                        return true;
                    }
                    hopeless.insert((culprit, name));
                }
            }
        }
        false
    }

    /// Refuses builds of `name` until one asks of `other` what `held` can meet. When none does, nothing is refused.
    fn give_up(
        &self,
        name: Name,
        taken: &BTreeMap<Name, Taken>,
        other: Name,
        held: &Range,
    ) -> bool {
        let Some(current) = taken.get(&name) else { return false };
        let Some((need, bound)) = self.needs.borrow().get(&name).cloned() else { return false };
        let mut refused = self.refused.borrow().get(&name).cloned().unwrap_or_default();
        refused.insert(current.build.version.clone());
        for _ in 0..TRIES {
            let Pick::Build(build) = self.choose(name, &need, &bound, &refused) else {
                return false;
            };
            let metadata = self.metadata(name, &build);
            let readable = metadata.is_some();
            let entry = Taken {
                build: *build,
                metadata,
                extras: current.extras.clone(),
                line: None,
                direct: false,
                pinned: false,
                expands: true,
            };
            let clashes = self
                .required(&entry)
                .iter()
                .any(|r| r.name == other && r.range().intersection(held).is_empty());
            if readable && !clashes {
                self.refused.borrow_mut().insert(name, refused);
                self.settled.borrow_mut().remove(&name);
                return true;
            }
            refused.insert(entry.build.version);
        }
        false
    }
}
