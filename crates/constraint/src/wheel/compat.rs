//! Whether a target can use a wheel, and how well it fits.
//!
//! The order is the one that pip takes from `packaging.tags` for CPython: the interpreter's own ABI, its stable ABI, no
//! ABI, the stable ABI of older Pythons, then pure Python, newest first; within each the newest platform tag. It is
//! computed from numbers, so no list of tags is ever made.

use super::filename::WheelName;
use super::platform::{Arch, PlatformTag};
use super::pythons::PythonSet;
use super::tags::{FIRST_STABLE_ABI, WheelTags};
use super::why::Why;
use crate::machine::{Libc, Platform};
use crate::target::Target;
use crate::version::SystemVersion;

/// The wheels that a target can use.
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    platform: TargetPlatform,
    /// The minor version of CPython 3; no wheel fits another major version.
    minor: Option<u64>,
    free_threaded: bool,
    plain_linux: bool,
}

#[derive(Clone, Copy, Debug)]
enum TargetPlatform {
    Linux { arch: Arch, libc: TargetLibc },
    Macos { arch: Arch, newest: Option<(u16, u16)> },
    Windows,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TargetLibc {
    Glibc((u16, u16)),
    /// Any glibc: the less a wheel needs, the better.
    AnyGlibc,
    Musl((u16, u16)),
}

/// How well a wheel fits: the highest is the one to take. Only meaningful between wheels of one release and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    modesty: u16,
    python: u16,
    platform: u16,
}

/// Whether a wheel fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compatibility {
    /// It does, this well.
    Compatible(Priority),
    /// It does not.
    Incompatible(Why),
}

/// What the tags of a wheel say about a target, question by question.
pub(super) struct Assessment {
    /// The Pythons that could load it, wherever its platform fits.
    pub(super) pythons: PythonSet,
    /// Whether the interpreter can load it.
    pub(super) python: Result<(), Why>,
    /// Whether the platform fits.
    pub(super) platform: Result<PlatformFit, Why>,
    pub(super) priority: Option<Priority>,
}

impl Assessment {
    /// Why the wheel does not fit: of two reasons the one further off. A wheel for another system is that first; one for a
    /// newer glibc and another Python is for another Python first.
    pub(super) fn into_why(self) -> Why {
        match (self.platform, self.python) {
            (Err(platform), Err(python)) if platform.nearness() > python.nearness() => python,
            (Err(why), _) | (Ok(_), Err(why)) => why,
            (Ok(_), Ok(())) => Why::Implementation,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlatformFit {
    rank: u16,
    /// The lowest glibc, or macOS, that it can do with; `None`: it says nothing of one.
    pub(super) system: Option<(u16, u16)>,
    /// By the tag `any`.
    pure: bool,
}

impl Tags {
    /// What `target` can use. Plain `linux_*` tags are left out.
    #[must_use]
    pub fn for_target(target: &Target) -> Self {
        let libc = match &target.libc {
            None => TargetLibc::AnyGlibc,
            Some(Libc::Glibc(version)) => TargetLibc::Glibc(pair(version)),
            Some(Libc::Musl(version)) => TargetLibc::Musl(pair(version)),
        };
        let platform = match target.platform {
            Platform::LinuxX86_64 => TargetPlatform::Linux { arch: Arch::X86_64, libc },
            Platform::LinuxAarch64 => TargetPlatform::Linux { arch: Arch::Aarch64, libc },
            Platform::WindowsX86_64 => TargetPlatform::Windows,
            Platform::MacosArm64 => TargetPlatform::Macos {
                arch: Arch::Aarch64,
                newest: target.macos.as_ref().map(pair),
            },
            Platform::MacosX86_64 => TargetPlatform::Macos {
                arch: Arch::X86_64,
                newest: target.macos.as_ref().map(pair),
            },
        };
        let (major, minor) = target.python_minor();
        Self {
            platform,
            minor: (major == 3).then_some(minor),
            free_threaded: target.free_threaded,
            plain_linux: false,
        }
    }

    /// The same, with plain `linux_*` tags accepted or not. They promise nothing about the C library, so only a source
    /// that is known to mean a common one (PyTorch's index is) should have them accepted.
    #[must_use]
    pub fn with_plain_linux(self, accepted: bool) -> Self {
        Self { plain_linux: accepted, ..self }
    }

    /// Whether `wheel` fits.
    #[must_use]
    pub fn compatibility(&self, wheel: &WheelName) -> Compatibility {
        self.compatibility_of(&wheel.tags)
    }

    /// Whether a wheel with these tags fits.
    #[must_use]
    pub fn compatibility_of(&self, tags: &WheelTags) -> Compatibility {
        let assessment = self.assess(tags);
        match assessment.priority {
            Some(priority) => Compatibility::Compatible(priority),
            None => Compatibility::Incompatible(assessment.into_why()),
        }
    }

    pub(super) fn assess(&self, tags: &WheelTags) -> Assessment {
        let platform = self.platform_fit(tags);
        // With a platform that does not fit, the Python is judged as if the other tags were there.
        let pure = match &platform {
            Ok(fit) => fit.pure,
            Err(_) => tags.platforms().all(|tag| tag == PlatformTag::Any),
        };
        let pythons = tags.pythons(self.free_threaded, pure);
        let python = match self.minor {
            Some(minor) if pythons.contains(minor) => Ok(()),
            _ => Err(self.python_miss(tags, pythons, pure)),
        };
        let priority = match (&platform, &python, self.minor) {
            (Ok(fit), Ok(()), Some(minor)) => {
                let modesty = match fit.system {
                    Some(needed) if self.takes_any_system() => u16::MAX - version_rank(needed, 0),
                    // A plain tag does not say what it needs.
                    None if !fit.pure && self.takes_any_system() => 1,
                    _ => 0,
                };
                let python = self.python_rank(tags, minor, fit.pure);
                Some(Priority { modesty, python, platform: fit.rank })
            }
            _ => None,
        };
        Assessment { pythons, python, platform, priority }
    }

    /// Whether the target leaves its glibc, or its macOS, open.
    pub(super) fn takes_any_system(&self) -> bool {
        matches!(
            self.platform,
            TargetPlatform::Linux { libc: TargetLibc::AnyGlibc, .. }
                | TargetPlatform::Macos { newest: None, .. }
        )
    }

    pub(super) fn is_macos(&self) -> bool {
        matches!(self.platform, TargetPlatform::Macos { .. })
    }

    fn python_miss(&self, tags: &WheelTags, pythons: PythonSet, pure: bool) -> Why {
        if !pythons.is_empty() {
            return Why::Python(pythons);
        }
        let other_build = tags.pythons(!self.free_threaded, pure);
        match self.minor {
            Some(minor) if other_build.contains(minor) && self.free_threaded => Why::Gil,
            Some(minor) if other_build.contains(minor) => Why::FreeThreaded,
            _ if !other_build.is_empty() => Why::Python(other_build),
            _ if tags.python2 => Why::Python2,
            _ => Why::Implementation,
        }
    }

    /// The place of the best Python and ABI tags, for a wheel that fits. A kind of fit is worth 256, the closeness of the
    /// version within it the rest.
    fn python_rank(&self, tags: &WheelTags, minor: u64, pure: bool) -> u16 {
        let own = tags.cpython.contains(minor);
        if !pure {
            let (abi, stable) = tags.abis(self.free_threaded);
            if own && abi.contains(minor) {
                return 7 << 8;
            }
            if own && stable {
                return 6 << 8;
            }
            if own && tags.no_abi {
                return 5 << 8;
            }
            let older = tags.cpython.intersection(PythonSet::since(FIRST_STABLE_ABI));
            if let (true, Some(at)) = (stable, older.highest_up_to(minor)) {
                return (4 << 8) + low_byte(at);
            }
        }
        let kind = match (pure, own) {
            (false, _) => 3 << 8,
            (true, true) => return 2 << 8,
            (true, false) => 1 << 8,
        };
        // Newest first is py3N, then py3, then the older ones.
        let at = match tags.generic.highest_up_to(minor) {
            Some(at) if at == minor => 255,
            _ if tags.any_python3 => 254,
            Some(at) => low_byte(at),
            None => 0,
        };
        kind + at
    }

    fn platform_fit(&self, tags: &WheelTags) -> Result<PlatformFit, Why> {
        let mut best: Option<PlatformFit> = None;
        let mut nearest: Option<Why> = None;
        for tag in tags.platforms() {
            match self.platform_tag(tag) {
                Ok(fit) => {
                    best = Some(match best {
                        None => fit,
                        Some(known) => PlatformFit {
                            rank: known.rank.max(fit.rank),
                            system: known.system.min(fit.system),
                            pure: known.pure && fit.pure,
                        },
                    });
                }
                Err(why) => {
                    if nearest.as_ref().is_none_or(|known| nearer(&why, known)) {
                        nearest = Some(why);
                    }
                }
            }
        }
        best.ok_or_else(|| nearest.unwrap_or(Why::Platform(PlatformTag::Other)))
    }

    fn platform_tag(&self, tag: PlatformTag) -> Result<PlatformFit, Why> {
        let fit = |rank| Ok(PlatformFit { rank, system: None, pure: false });
        match (self.platform, tag) {
            (_, PlatformTag::Any) => Ok(PlatformFit { rank: 0, system: None, pure: true }),
            (TargetPlatform::Windows, PlatformTag::Windows { arch: Arch::X86_64 }) => fit(1),
            (TargetPlatform::Linux { arch, libc }, tag) => {
                self.linux_tag(arch, libc, tag).unwrap_or(Err(Why::Platform(tag)))
            }
            (TargetPlatform::Macos { arch: own, newest }, PlatformTag::Macos { macos, arch }) => {
                macos_tag(own, newest, macos, arch).unwrap_or(Err(Why::Platform(tag)))
            }
            _ => Err(Why::Platform(tag)),
        }
    }

    /// `None`: it is for another system altogether.
    fn linux_tag(
        &self,
        arch: Arch,
        libc: TargetLibc,
        tag: PlatformTag,
    ) -> Option<Result<PlatformFit, Why>> {
        match tag {
            PlatformTag::Manylinux { glibc, arch: of, legacy } if of == arch => Some(match libc {
                TargetLibc::Musl(_) => Err(Why::Libc(tag)),
                TargetLibc::Glibc(has) if glibc > has => Err(Why::Glibc(glibc)),
                TargetLibc::Glibc(_) | TargetLibc::AnyGlibc => Ok(PlatformFit {
                    rank: version_rank(glibc, u16::from(!legacy)),
                    system: Some(glibc),
                    pure: false,
                }),
            }),
            PlatformTag::Musllinux { musl, arch: of } if of == arch => Some(match libc {
                TargetLibc::Musl(has) if musl > has => Err(Why::Musl(musl)),
                TargetLibc::Musl(_) => {
                    Ok(PlatformFit { rank: version_rank(musl, 0), system: None, pure: false })
                }
                TargetLibc::Glibc(_) | TargetLibc::AnyGlibc => Err(Why::Libc(tag)),
            }),
            PlatformTag::Linux { arch: of } if of == arch => Some(if self.plain_linux {
                Ok(PlatformFit { rank: 1, system: None, pure: false })
            } else {
                Err(Why::PlainLinux)
            }),
            _ => None,
        }
    }
}

/// From macOS 11 on a release is its major number, and installers know no tag with another minor number. The formats for
/// several processors may name a 10.x that their x86-64 half runs on; Apple silicon began with 11.
fn macos_tag(
    own: Arch,
    newest: Option<(u16, u16)>,
    tag: (u16, u16),
    arch: Arch,
) -> Option<Result<PlatformFit, Why>> {
    if tag.0 < 10 || tag.0 >= FIRST_ARM_MACOS.0 && tag.1 != 0 {
        return None;
    }
    let native = match (own, arch) {
        (Arch::Aarch64, Arch::Aarch64) if tag >= FIRST_ARM_MACOS => true,
        (Arch::X86_64, Arch::X86_64) => true,
        (_, Arch::Universal2) | (Arch::X86_64, Arch::Intel) => false,
        _ => return None,
    };
    let needs = if own == Arch::Aarch64 { tag.max(FIRST_ARM_MACOS) } else { tag };
    if newest.is_some_and(|newest| needs > newest) {
        return Some(Err(Why::Macos(needs)));
    }
    let rank = version_rank(tag, u16::from(native));
    Some(Ok(PlatformFit { rank, system: Some(needs), pure: false }))
}

/// The first macOS for Apple silicon.
const FIRST_ARM_MACOS: (u16, u16) = (11, 0);

/// Rises with the version, then with `tie` (0 or 1). Above the ranks of tags without a version.
fn version_rank((major, minor): (u16, u16), tie: u16) -> u16 {
    2 + (major.min(127) << 8 | minor.min(127) << 1 | tie)
}

fn low_byte(minor: u64) -> u16 {
    u16::try_from(minor.min(253)).unwrap_or(253)
}

/// Whether `why` is a nearer miss, or one that asks less.
fn nearer(why: &Why, known: &Why) -> bool {
    match (why, known) {
        (Why::Glibc(a), Why::Glibc(b))
        | (Why::Musl(a), Why::Musl(b))
        | (Why::Macos(a), Why::Macos(b)) => a < b,
        _ => why.nearness() > known.nearness(),
    }
}

fn pair(version: &SystemVersion) -> (u16, u16) {
    let part = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
    (part(version.major()), part(version.minor()))
}

#[cfg(test)]
mod tests;
