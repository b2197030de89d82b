//! The compressed tag sets of a wheel (PEP 425), as small sets of numbers.

use super::filename::pieces;
use super::platform::PlatformTag;
use super::pythons::PythonSet;

/// The Python, ABI and platform tags of a wheel. A wheel stands for every combination of them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct WheelTags {
    /// `cp3N`.
    pub(super) cpython: PythonSet,
    /// `py3N`.
    pub(super) generic: PythonSet,
    /// `py3`.
    pub(super) any_python3: bool,
    /// `py2`, `py27`, `cp27` ...
    pub(super) python2: bool,
    /// ABI `cp3N` (`cp3Nm` up to 3.7).
    pub(super) abi: PythonSet,
    /// ABI `cp3Nt`, of free-threaded builds.
    pub(super) abi_free_threaded: PythonSet,
    /// ABI `abi3`.
    pub(super) abi3: bool,
    /// ABI `abi3t` (PEP 803).
    pub(super) abi3t: bool,
    /// ABI `none`.
    pub(super) no_abi: bool,
    platforms: Platforms,
}

/// Platform tags; nearly all wheels have at most four.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Platforms {
    inline: [Option<PlatformTag>; 4],
    more: Vec<PlatformTag>,
}

/// The last CPython whose ABI tag ends in `m`.
const LAST_PYMALLOC_ABI: u64 = 7;

impl WheelTags {
    /// Reads the three tag sets of a file name. Tags that are not known are kept out: nothing here is compatible with them.
    #[must_use]
    pub fn parse(python: &str, abi: &str, platform: &str) -> Self {
        let mut tags = Self::default();
        pieces(python, b'.').for_each(|tag| tags.add_python(tag));
        pieces(abi, b'.').for_each(|tag| tags.add_abi(tag));
        for (i, tag) in pieces(platform, b'.').enumerate() {
            let tag = PlatformTag::parse(tag);
            match tags.platforms.inline.get_mut(i) {
                Some(slot) => *slot = Some(tag),
                None => tags.platforms.more.push(tag),
            }
        }
        tags
    }

    /// The platform tags, in the order of the file name.
    pub fn platforms(&self) -> impl Iterator<Item = PlatformTag> {
        self.platforms.inline.iter().flatten().chain(&self.platforms.more).copied()
    }

    fn add_python(&mut self, tag: &str) {
        if tag == "py3" {
            self.any_python3 = true;
        } else if let Some(minor) = tag.strip_prefix("py3").and_then(number) {
            self.generic = self.generic.union(PythonSet::one(minor));
        } else if let Some(minor) = tag.strip_prefix("cp3").and_then(number) {
            self.cpython = self.cpython.union(PythonSet::one(minor));
        } else if tag.starts_with("py2") || tag.starts_with("cp2") {
            self.python2 = true;
        }
    }

    fn add_abi(&mut self, tag: &str) {
        match tag {
            "none" => self.no_abi = true,
            "abi3" => self.abi3 = true,
            "abi3t" => self.abi3t = true,
            _ => {
                let Some(rest) = tag.strip_prefix("cp3") else { return };
                let digits = rest.trim_end_matches(|c: char| c.is_ascii_alphabetic());
                let Some(minor) = number(digits) else { return };
                match rest.get(digits.len()..).unwrap_or_default() {
                    "t" => {
                        self.abi_free_threaded =
                            self.abi_free_threaded.union(PythonSet::one(minor));
                    }
                    "m" if minor <= LAST_PYMALLOC_ABI => {
                        self.abi = self.abi.union(PythonSet::one(minor));
                    }
                    "" if minor > LAST_PYMALLOC_ABI => {
                        self.abi = self.abi.union(PythonSet::one(minor));
                    }
                    _ => {}
                }
            }
        }
    }

    /// The Pythons that the wheel can be loaded by, wherever its platform fits. `pure` asks for the platform `any`, which
    /// goes with no ABI only.
    pub(super) fn pythons(&self, free_threaded: bool, pure: bool) -> PythonSet {
        let mut pythons = PythonSet::EMPTY;
        if self.no_abi {
            pythons = self.cpython;
            if self.any_python3 {
                pythons = PythonSet::ALL;
            } else if let Some(lowest) = self.generic.lowest() {
                pythons = pythons.union(PythonSet::since(lowest));
            }
        }
        if pure {
            return pythons;
        }
        let (own, stable) = self.abis(free_threaded);
        pythons = pythons.union(self.cpython.intersection(own));
        match self.cpython.intersection(PythonSet::since(FIRST_STABLE_ABI)).lowest() {
            Some(lowest) if stable => pythons.union(PythonSet::since(lowest)),
            _ => pythons,
        }
    }

    /// The version-specific ABIs and whether the stable one is there, for builds with or without the GIL.
    pub(super) fn abis(&self, free_threaded: bool) -> (PythonSet, bool) {
        if free_threaded { (self.abi_free_threaded, self.abi3t) } else { (self.abi, self.abi3) }
    }
}

/// The minor version that brought the stable ABI (PEP 384).
pub(super) const FIRST_STABLE_ABI: u64 = 2;

/// A minor version; `py30` and `py3` differ.
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}
