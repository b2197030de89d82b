//! What the files of one release offer a target.

use std::cmp::Reverse;

use super::compat::{Priority, Tags};
use super::filename::{BuildTag, Parts, WheelName};
use super::pythons::PythonSet;
use super::tags::WheelTags;
use super::why::Why;
use crate::catalog::File;
use crate::version::{Range, SystemVersion};

/// The files of one release, seen from one target. Indices are those of the files given.
#[derive(Clone, Debug, Default)]
pub struct ReleaseFit {
    /// The wheel to take: best tags, then highest build tag, then lowest file name.
    pub best: Option<(usize, WheelName)>,
    /// The Pythons that have a wheel for the target's platform. Empty when no wheel fits the platform at all.
    pub pythons: PythonSet,
    /// The lowest glibc that the release has a wheel for the target's Python for. `None` when one needs no glibc, or none
    /// fits otherwise. When the target leaves its glibc open, this is what [`best`](Self::best) needs.
    pub glibc: Option<SystemVersion>,
    /// The same of macOS.
    pub macos: Option<SystemVersion>,
    /// The files that cannot be used, in the order given.
    pub rejected: Vec<(usize, Why)>,
    /// The source distribution.
    pub sdist: Option<usize>,
}

/// A wheel that fits, while a better one is sought.
struct Candidate<'a> {
    key: (Priority, Option<BuildTag>, Reverse<&'a str>),
    index: usize,
    parts: Parts<'a>,
    tags: WheelTags,
    system: Option<(u16, u16)>,
}

impl ReleaseFit {
    /// Judges the files of one release. Yanked files and `Requires-Python` are policy, and not looked at.
    #[must_use]
    pub fn of(files: &[File], tags: &Tags) -> Self {
        let mut fit = Self::default();
        let mut best: Option<Candidate<'_>> = None;
        // `Some(None)`: a wheel that needs no glibc, and no macOS of a certain age.
        let mut lowest: Option<Option<(u16, u16)>> = None;
        for (index, file) in files.iter().enumerate() {
            let filename = file.filename.as_str();
            if is_sdist(filename) {
                let better = |known: &File| !is_preferred_sdist(&known.filename);
                if fit.sdist.and_then(|at| files.get(at)).is_none_or(better) {
                    fit.sdist = Some(index);
                }
                continue;
            }
            if !filename.ends_with(".whl") {
                fit.rejected.push((index, Why::Kind));
                continue;
            }
            let parts = match Parts::split(filename) {
                Ok(parts) => parts,
                Err(error) => {
                    fit.rejected.push((index, error.into()));
                    continue;
                }
            };
            let wheel = parts.tags();
            let assessment = tags.assess(&wheel);
            let needed = match (&assessment.python, &assessment.platform) {
                (Ok(()), Ok(platform)) => Some(platform.system),
                (Ok(()), Err(Why::Glibc(needed) | Why::Macos(needed))) => Some(Some(*needed)),
                _ => None,
            };
            if let Some(needed) = needed {
                lowest = Some(lowest.map_or(needed, |known| known.min(needed)));
            }
            if assessment.platform.is_ok() {
                fit.pythons = fit.pythons.union(assessment.pythons);
            }
            match (assessment.priority, needed) {
                (Some(priority), Some(system)) => {
                    let key = (priority, parts.build(), Reverse(filename));
                    if best.as_ref().is_none_or(|known| known.key < key) {
                        best = Some(Candidate { key, index, parts, tags: wheel, system });
                    }
                }
                _ => fit.rejected.push((index, assessment.into_why())),
            }
        }
        if let Some(candidate) = best {
            if tags.takes_any_system() {
                lowest = Some(candidate.system);
            }
            match candidate.parts.into_name(candidate.tags) {
                Ok(name) => fit.best = Some((candidate.index, name)),
                Err(error) => fit.rejected.push((candidate.index, error.into())),
            }
        }
        let lowest =
            lowest.flatten().map(|(major, minor)| SystemVersion::new(major.into(), minor.into()));
        if tags.is_macos() {
            fit.macos = lowest;
        } else {
            fit.glibc = lowest;
        }
        fit
    }

    /// The Python versions that have a wheel for the target's platform.
    #[must_use]
    pub fn python_range(&self) -> Range {
        self.pythons.range()
    }

    /// The file that comes nearest to fitting, when none fits, and why it does not. Where that is the Python, the reason
    /// names the Pythons of all files that lack nothing else.
    #[must_use]
    pub fn nearest_miss(&self) -> Option<(usize, Why)> {
        if self.best.is_some() {
            return None;
        }
        let nearness = |(index, why): &&(usize, Why)| (why.nearness(), Reverse(*index));
        let (index, why) = self.rejected.iter().max_by_key(nearness)?;
        let Why::Python(first) = why else { return Some((*index, why.clone())) };
        let pythons = self.rejected.iter().filter_map(|(_, why)| match why {
            Why::Python(pythons) => Some(*pythons),
            _ => None,
        });
        Some((*index, Why::Python(pythons.fold(*first, |all, one| all.union(one)))))
    }
}

/// PEP 625 has `.tar.gz` only; the others are from before it.
fn is_sdist(filename: &str) -> bool {
    is_preferred_sdist(filename)
        || [".zip", ".tar.bz2", ".tgz", ".tar.xz"].iter().any(|end| filename.ends_with(end))
}

fn is_preferred_sdist(filename: &str) -> bool {
    filename.ends_with(".tar.gz")
}

#[cfg(test)]
mod tests;
