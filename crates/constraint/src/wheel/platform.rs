//! Platform tags.

use std::fmt;

/// A processor, as platform tags name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arch {
    /// `x86_64`, `amd64`.
    X86_64,
    /// `aarch64`, `arm64`.
    Aarch64,
    /// `i686`, `i386`, 32-bit Windows.
    I686,
    /// `armv6l`, `armv7l`.
    Arm32,
    /// `ppc64le`.
    Ppc64le,
    /// `s390x`.
    S390x,
    /// `riscv64`.
    Riscv64,
    /// Both processors of macOS.
    Universal2,
    /// x86-64 together with older processors, on macOS: `intel`, `fat64`, `fat3`, `universal`.
    Intel,
    /// Anything else.
    Other,
}

/// One platform tag of a wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformTag {
    /// `any`.
    Any,
    /// `manylinux_X_Y_*`: glibc X.Y or later (PEP 600).
    Manylinux {
        /// The glibc.
        glibc: (u16, u16),
        /// The processor.
        arch: Arch,
        /// Written as `manylinux1`, `manylinux2010` or `manylinux2014`.
        legacy: bool,
    },
    /// `musllinux_X_Y_*`: musl X.Y or later (PEP 656).
    Musllinux {
        /// The musl.
        musl: (u16, u16),
        /// The processor.
        arch: Arch,
    },
    /// `linux_*`: any Linux, as far as the tag says; it promises no C library.
    Linux {
        /// The processor.
        arch: Arch,
    },
    /// `macosx_X_Y_*`.
    Macos {
        /// The macOS release.
        macos: (u16, u16),
        /// The processor.
        arch: Arch,
    },
    /// `win_*` and `win32`.
    Windows {
        /// The processor.
        arch: Arch,
    },
    /// Android, iOS, Emscripten and what else there is.
    Other,
}

impl PlatformTag {
    /// Reads one tag, without the dots that join several.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "any" => return Self::Any,
            "win_amd64" => return Self::Windows { arch: Arch::X86_64 },
            "win32" => return Self::Windows { arch: Arch::I686 },
            "win_arm64" => return Self::Windows { arch: Arch::Aarch64 },
            _ => {}
        }
        if let Some(rest) = text.strip_prefix("manylinux") {
            return manylinux(rest).unwrap_or(Self::Other);
        }
        let versioned = |prefix| versioned(text.strip_prefix(prefix)?);
        if let Some((musl, arch)) = versioned("musllinux_") {
            return Self::Musllinux { musl, arch };
        }
        if let Some((macos, arch)) = versioned("macosx_") {
            return Self::Macos { macos, arch };
        }
        match text.strip_prefix("linux_") {
            Some(arch) => Self::Linux { arch: Arch::parse(arch) },
            None => Self::Other,
        }
    }
}

fn manylinux(rest: &str) -> Option<PlatformTag> {
    if let Some(perennial) = rest.strip_prefix('_') {
        let (glibc, arch) = versioned(perennial)?;
        return Some(PlatformTag::Manylinux { glibc, arch, legacy: false });
    }
    let (year, arch) = rest.split_once('_')?;
    // The aliases that PEP 600 defines.
    let glibc = match year {
        "1" => (2, 5),
        "2010" => (2, 12),
        "2014" => (2, 17),
        _ => return None,
    };
    Some(PlatformTag::Manylinux { glibc, arch: Arch::parse(arch), legacy: true })
}

/// Splits at the first underscore.
fn cut(text: &str) -> Option<(&str, &str)> {
    let at = text.bytes().position(|byte| byte == b'_')?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// Reads `X_Y_arch`.
fn versioned(text: &str) -> Option<((u16, u16), Arch)> {
    let (major, rest) = cut(text)?;
    let (minor, arch) = cut(rest)?;
    Some(((major.parse().ok()?, minor.parse().ok()?), Arch::parse(arch)))
}

impl Arch {
    fn parse(text: &str) -> Self {
        match text {
            "x86_64" | "amd64" => Self::X86_64,
            "aarch64" | "arm64" => Self::Aarch64,
            "i686" | "i386" => Self::I686,
            "armv7l" | "armv6l" => Self::Arm32,
            "ppc64le" => Self::Ppc64le,
            "s390x" => Self::S390x,
            "riscv64" => Self::Riscv64,
            "universal2" => Self::Universal2,
            "intel" | "fat64" | "fat3" | "universal" => Self::Intel,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86_64 => "x86-64",
            Self::Aarch64 => "64-bit Arm",
            Self::I686 => "32-bit x86",
            Self::Arm32 => "32-bit Arm",
            Self::Ppc64le => "ppc64le",
            Self::S390x => "s390x",
            Self::Riscv64 => "riscv64",
            Self::Universal2 => "x86-64 and 64-bit Arm",
            Self::Intel => "x86-64 and older processors",
            Self::Other => "another processor",
        })
    }
}

/// In words: `Linux on 64-bit Arm with glibc 2.17 or later`.
impl fmt::Display for PlatformTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any platform"),
            Self::Manylinux { glibc: (major, minor), arch, .. } => {
                write!(f, "Linux on {arch} with glibc {major}.{minor} or later")
            }
            Self::Musllinux { musl: (major, minor), arch } => {
                write!(f, "Linux on {arch} with musl {major}.{minor} or later")
            }
            Self::Linux { arch } => write!(f, "Linux on {arch}"),
            Self::Macos { macos: (major, minor), arch } => {
                write!(f, "macOS {major}.{minor} or later on {arch}")
            }
            Self::Windows { arch } => write!(f, "Windows on {arch}"),
            Self::Other => f.write_str("another platform"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read() {
        let x86 = Arch::X86_64;
        for (text, expected) in [
            (
                "manylinux_2_28_x86_64",
                PlatformTag::Manylinux { glibc: (2, 28), arch: x86, legacy: false },
            ),
            (
                "manylinux1_x86_64",
                PlatformTag::Manylinux { glibc: (2, 5), arch: x86, legacy: true },
            ),
            (
                "manylinux2014_aarch64",
                PlatformTag::Manylinux { glibc: (2, 17), arch: Arch::Aarch64, legacy: true },
            ),
            ("musllinux_1_2_x86_64", PlatformTag::Musllinux { musl: (1, 2), arch: x86 }),
            ("linux_x86_64", PlatformTag::Linux { arch: x86 }),
            ("macosx_11_0_arm64", PlatformTag::Macos { macos: (11, 0), arch: Arch::Aarch64 }),
            (
                "macosx_10_9_universal2",
                PlatformTag::Macos { macos: (10, 9), arch: Arch::Universal2 },
            ),
            ("win_amd64", PlatformTag::Windows { arch: x86 }),
            ("win32", PlatformTag::Windows { arch: Arch::I686 }),
            ("any", PlatformTag::Any),
            ("manylinux_2_x86_64", PlatformTag::Other),
            ("manylinux_2_99999_x86_64", PlatformTag::Other),
            ("manylinux2011_x86_64", PlatformTag::Other),
            ("android_21_arm64_v8a", PlatformTag::Other),
            ("", PlatformTag::Other),
        ] {
            assert_eq!(PlatformTag::parse(text), expected, "{text}");
        }
    }
}
