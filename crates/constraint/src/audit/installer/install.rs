//! All builds that an installer takes: those of the lines, and what their METADATA brings along.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pep440_rs::Version as Pep440;

use super::backtrack;
use super::pick::{Missing, Pick, Picked, Picker, Wish};
use crate::catalog::{CatalogError, Metadata};
use crate::name::Name;
use crate::requirement::{Requirement, RequirementCache};
use crate::rules::cuda_bound;
use crate::rules::torch::TORCH;
use crate::version::{DistVersion, Range, SourceId, Version, any_build};

/// A build that is taken.
#[derive(Clone, Debug)]
pub(in crate::audit) struct Taken {
    pub(in crate::audit) build: Picked,
    /// `None` when its index was not read.
    pub(in crate::audit) metadata: Option<Arc<Metadata>>,
    pub(in crate::audit) extras: BTreeSet<Name>,
    /// The line that it comes from, directly or through others.
    pub(in crate::audit) line: Option<usize>,
    /// Whether a line names it.
    pub(in crate::audit) direct: bool,
    /// Whether a line pins it to one version.
    pub(in crate::audit) pinned: bool,
    /// Whether it can be installed, so that what it requires comes along. One that does not fit the target is judged by
    /// what it says itself.
    pub(in crate::audit) expands: bool,
}

/// What an installer takes, and what it does not find.
#[derive(Default)]
pub(in crate::audit) struct Installed {
    pub(in crate::audit) taken: BTreeMap<Name, Taken>,
    /// What is asked for and not there, with the line.
    pub(in crate::audit) missing: Vec<Lacking>,
}

/// A name that is asked for and not there, with its line.
pub(in crate::audit) type Lacking = (Name, Option<usize>, Missing);

/// Rounds of widening after which the set is taken as it is: each round makes at least one choice final, and real
/// sets need less than ten.
const ROUNDS: usize = 12;
/// So many older releases are tried for a distribution that is not pinned, as pip does when it backtracks.
pub(in crate::audit) const TRIES: usize = 60;

/// What is known of a name while the set grows.
#[derive(Clone, Default)]
pub(super) struct Need {
    pub(super) ranges: Vec<Range>,
    extras: BTreeSet<Name>,
    line: Option<usize>,
    direct: bool,
    pinned: bool,
    prerelease: bool,
    source: Option<SourceId>,
    /// The version of a pin.
    version: Option<Pep440>,
}

pub(in crate::audit) struct Installer<'a> {
    picker: &'a Picker<'a>,
    requirements: &'a RequirementCache,
    /// What was taken last for a name, and within which range: most names are settled after the first round.
    pub(super) settled: RefCell<BTreeMap<Name, (Range, Range, Pick)>>,
    /// What bounds each name in the last round.
    pub(super) needs: RefCell<BTreeMap<Name, (Need, Need)>>,
    /// Builds that were given up, because what they require clashes with what something else requires.
    pub(super) refused: RefCell<BTreeMap<Name, BTreeSet<DistVersion>>>,
}

impl<'a> Installer<'a> {
    pub(in crate::audit) fn new(
        picker: &'a Picker<'a>,
        requirements: &'a RequirementCache,
    ) -> Self {
        Self {
            picker,
            requirements,
            settled: RefCell::default(),
            needs: RefCell::default(),
            refused: RefCell::default(),
        }
    }

    /// Repeats "choose for every name, read METADATA" until nothing changes; then steps back from builds that only clash
    /// with others that nobody pinned, as an installer does, and repeats.
    pub(in crate::audit) fn run(&self) -> Installed {
        let mut result = self.settle(BTreeMap::new());
        let mut hopeless = BTreeSet::new();
        for _ in 0..backtrack::STEPS_BACK {
            if self.picker.question.closed || !self.step_back(&result.taken, &mut hopeless) {
                break;
            }
            result = self.settle(result.taken);
        }
        result
    }

    fn settle(&self, mut known: BTreeMap<Name, Taken>) -> Installed {
        let mut missing = Vec::new();
        for _ in 0..ROUNDS {
            let (next, lacking) = self.round(&known);
            let same = same_builds(&next, &known);
            known = next;
            missing = lacking;
            if same {
                break;
            }
        }
        Installed { taken: known, missing }
    }

    fn roots(&self) -> BTreeMap<Name, Need> {
        let mut needs: BTreeMap<Name, Need> = BTreeMap::new();
        for bound in [false, true] {
            for (place, line) in self.picker.question.lines.iter().enumerate() {
                let requirement = &line.requirement;
                if line.bound != bound
                    || requirement.url.is_some()
                    || line.wheel.is_some()
                    || line.channels.is_some()
                {
                    continue;
                }
                if bound && !needs.contains_key(&requirement.name) {
                    let mut need = Need::default();
                    add(&mut need, requirement, Some(place));
                    need.direct = false;
                    need.line = Some(place);
                    needs.insert(requirement.name, need);
                    continue;
                }
                let need = needs.entry(requirement.name).or_default();
                add(need, requirement, Some(place));
                need.direct |= !bound;
                need.source = need.source.or(line.source);
            }
        }
        needs
    }

    /// One pass from the lines through METADATA, bounded by what the builds of the pass before require.
    fn round(&self, before: &BTreeMap<Name, Taken>) -> (BTreeMap<Name, Taken>, Vec<Lacking>) {
        let roots = self.roots();
        let mut needs: BTreeMap<Name, Need> = BTreeMap::new();
        let mut bounds = roots.clone();
        for taken in before.values().filter(|taken| taken.expands) {
            for requirement in self.required(taken) {
                let need = bounds.entry(requirement.name).or_default();
                add(need, &requirement, None);
            }
        }
        let mut open: Vec<Name> = Vec::new();
        for line in self.picker.question.lines.iter().filter(|line| !line.bound) {
            let name = line.requirement.name;
            if let Some(need) = roots.get(&name) {
                if !needs.contains_key(&name) {
                    open.push(name);
                }
                needs.insert(name, need.clone());
            }
        }
        let mut taken: BTreeMap<Name, Taken> = BTreeMap::new();
        let mut missing = Vec::new();
        let mut at = 0;
        while let Some(name) = open.get(at).copied() {
            at += 1;
            let Some(need) = needs.get(&name).cloned() else { continue };
            let bound = bounds.get(&name).unwrap_or(&need);
            let found = self.agreeing(name, &need, bound, &roots);
            self.needs.borrow_mut().insert(name, (need.clone(), bound.clone()));
            let (build, metadata) = match found {
                Pick::Build(build) => {
                    let metadata = self.metadata(name, &build);
                    (*build, metadata)
                }
                Pick::None(why) => {
                    // The rules that go by name and version are judged all the same.
                    let written = match &why {
                        Missing::Unfit(build) if need.pinned && build.runs_elsewhere() => {
                            Some((**build).clone())
                        }
                        _ => as_written(name, &need),
                    };
                    missing.push((name, need.line, why));
                    let Some(build) = written else { continue };
                    let metadata = self.metadata(name, &build);
                    (build, metadata)
                }
                Pick::Unknown(why) => {
                    self.picker.not_read(name, why);
                    let Some(build) = as_written(name, &need) else { continue };
                    (build, None)
                }
            };
            let expands = build.unfit.is_none();
            let entry = Taken {
                build,
                metadata,
                extras: need.extras.clone(),
                line: need.line,
                direct: need.direct,
                pinned: need.pinned,
                expands,
            };
            if !self.picker.question.closed && expands {
                for requirement in self.required(&entry) {
                    let known = needs.contains_key(&requirement.name);
                    let extras_before = needs.get(&requirement.name).map_or(0, |n| n.extras.len());
                    let inherited = needs.entry(requirement.name).or_insert_with(|| {
                        roots.get(&requirement.name).cloned().unwrap_or_default()
                    });
                    inherited.line = inherited.line.or(entry.line);
                    inherited.extras.extend(requirement.extras.iter().copied());
                    if !known || inherited.extras.len() > extras_before {
                        self.picker.expect(requirement.name);
                        open.push(requirement.name);
                    }
                }
            }
            taken.insert(name, entry);
            if open.len() > 5000 {
                break;
            }
        }
        (taken, missing)
    }

    /// Within everything that bounds the name; when that leaves nothing, within what the lines say alone, so that the
    /// clash is reported between real builds.
    pub(super) fn choose(
        &self,
        name: Name,
        need: &Need,
        bound: &Need,
        not: &BTreeSet<DistVersion>,
    ) -> Pick {
        let own = meet(&need.ranges);
        let all = own.intersection(&meet(&bound.ranges));
        let wish = |range, exact| Wish {
            name,
            range,
            exact,
            prerelease: need.prerelease || bound.prerelease,
            source: need.source,
            not,
        };
        // What an image already holds is kept where it will do.
        if let Some(there) = self.held(name, need)
            && all.contains(&Version::Dist(there.version.clone()))
        {
            return Pick::Build(Box::new(there));
        }
        if !all.is_empty() {
            let pick = self.picker.pick(&wish(&all, need.pinned || bound.pinned));
            if !matches!(pick, Pick::None(_)) || all == own {
                return pick;
            }
        }
        if own == any_build() && !need.direct {
            // Only METADATA asks for it: whichever range comes first.
            let first = bound.ranges.first().cloned().unwrap_or_else(any_build);
            return self.picker.pick(&wish(&first, bound.pinned));
        }
        self.picker.pick(&wish(&own, need.pinned))
    }

    /// The build of a distribution that the image holds, when no line asks for another.
    fn held(&self, name: Name, need: &Need) -> Option<Picked> {
        let image = self.picker.question.surroundings.vendor_image.as_ref()?;
        if name.as_str() != TORCH || need.direct {
            return None;
        }
        let version = DistVersion::new(image.torch.clone()?, SourceId::MAX);
        Some(Picked { version, file: None, yanked: None, unfit: None })
    }

    pub(super) fn metadata(&self, name: Name, build: &Picked) -> Option<Arc<Metadata>> {
        let file = build.file.as_ref()?;
        match self.picker.catalog().metadata(build.version.source(), name, file) {
            Ok(metadata) => Some(metadata),
            Err(CatalogError::Unavailable(_) | CatalogError::Undeclared(_)) => {
                let text = format!(
                    "dependencies of {name} {}: only a build of its source says them",
                    build.version
                );
                self.picker.not_read(name, text);
                None
            }
            Err(error) => {
                let text = format!("METADATA of {name} {}: {error}", build.version);
                self.picker.not_read(name, text);
                None
            }
        }
    }

    /// What a build requires here, its extras included.
    pub(in crate::audit) fn required(&self, taken: &Taken) -> Vec<Arc<Requirement>> {
        let Some(metadata) = &taken.metadata else { return Vec::new() };
        let applies = |requirement: &Requirement| {
            self.requirements.applies(requirement, None)
                || taken
                    .extras
                    .iter()
                    .any(|extra| self.requirements.applies(requirement, Some(*extra)))
        };
        let lines =
            metadata.requires_dist.iter().filter_map(|line| self.requirements.get(line).ok());
        lines.filter(|requirement| applies(requirement) && requirement.url.is_none()).collect()
    }

    /// The newest build whose METADATA agrees with the pins of the lines: pip tries older ones until it does. When none
    /// does, the newest, so that the clash is reported.
    fn agreeing(
        &self,
        name: Name,
        need: &Need,
        bound: &Need,
        roots: &BTreeMap<Name, Need>,
    ) -> Pick {
        let key = (meet(&need.ranges), meet(&bound.ranges));
        if let Some((own, all, pick)) = self.settled.borrow().get(&name)
            && (own, all) == (&key.0, &key.1)
        {
            return pick.clone();
        }
        let pick = self.tried(name, need, bound, roots);
        self.settled.borrow_mut().insert(name, (key.0, key.1, pick.clone()));
        pick
    }

    fn tried(&self, name: Name, need: &Need, bound: &Need, roots: &BTreeMap<Name, Need>) -> Pick {
        let mut refused = self.refused.borrow().get(&name).cloned().unwrap_or_default();
        let first = self.choose(name, need, bound, &refused);
        if need.pinned {
            return first;
        }
        let mut pick = first.clone();
        for _ in 0..TRIES {
            let Pick::Build(build) = &pick else { return first };
            let entry = Taken {
                build: (**build).clone(),
                metadata: self.metadata(name, build),
                extras: need.extras.clone(),
                line: None,
                direct: false,
                pinned: false,
                expands: true,
            };
            let against = self.required(&entry).into_iter().any(|requirement| {
                roots.get(&requirement.name).is_some_and(|root| {
                    root.pinned
                        && root
                            .ranges
                            .iter()
                            .any(|range| range.intersection(requirement.range()).is_empty())
                })
            });
            if !against {
                return pick;
            }
            refused.insert(build.version.clone());
            pick = self.choose(name, need, bound, &refused);
        }
        first
    }
}

/// The build that a pin names, when no index that was read has it. A name that facts know without a version (a nightly
/// build under its own name) stands for the newest release they speak of.
fn as_written(name: Name, need: &Need) -> Option<Picked> {
    let version = need.version.clone().or_else(|| cuda_bound::nightly(name))?;
    let source = need.source.unwrap_or(SourceId::MAX);
    Some(Picked {
        version: DistVersion::new(version, source),
        file: None,
        yanked: None,
        unfit: None,
    })
}

pub(super) fn meet(ranges: &[Range]) -> Range {
    ranges.iter().fold(any_build(), |all: Range, range| all.intersection(range))
}

fn add(need: &mut Need, requirement: &Requirement, line: Option<usize>) {
    need.ranges.push(requirement.range().clone());
    need.extras.extend(requirement.extras.iter().copied());
    need.line = need.line.or(line);
    need.pinned |= requirement.is_exact();
    need.prerelease |= requirement.mentions_prerelease();
    need.version = need.version.take().or_else(|| requirement.pinned().cloned());
}

fn same_builds(a: &BTreeMap<Name, Taken>, b: &BTreeMap<Name, Taken>) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((name, x), (other, y))| {
            name == other && x.build.version == y.build.version && x.extras == y.extras
        })
}
