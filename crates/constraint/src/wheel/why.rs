//! Why a file of a release cannot be used on a target.

use super::filename::WheelNameError;
use super::platform::PlatformTag;
use super::pythons::PythonSet;

/// Why a file does not fit. Later variants are nearer misses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It is neither a wheel nor an sdist (an egg, an installer ...).
    #[error("it is neither a wheel nor a source distribution")]
    Kind,
    /// It is called like a wheel, but the name cannot be read, or is that of a variant wheel.
    #[error("{0}")]
    Name(#[from] WheelNameError),
    /// It is for another operating system or processor.
    #[error("it is for {0}")]
    Platform(PlatformTag),
    /// It is for the other C library.
    #[error("it is for {0}, and the target has another C library")]
    Libc(PlatformTag),
    /// Its tag is a plain `linux_*`, which promises nothing about the C library; the source does not publish such wheels.
    #[error(
        "its platform tag names Linux without a C library, which only some indexes are trusted with"
    )]
    PlainLinux,
    /// It is for other implementations than CPython.
    #[error("it is not for CPython")]
    Implementation,
    /// It is for Python 2.
    #[error("it is for Python 2")]
    Python2,
    /// It is for other Pythons.
    #[error("it is for Python {0}")]
    Python(PythonSet),
    /// It needs the free-threaded build of Python.
    #[error("it is for free-threaded Python, and the target's has the GIL")]
    FreeThreaded,
    /// It needs the build of Python with the GIL.
    #[error("it is for Python with the GIL, and the target's is free-threaded")]
    Gil,
    /// It needs a newer glibc.
    #[error("it needs glibc {}.{} or later", .0.0, .0.1)]
    Glibc((u16, u16)),
    /// It needs a newer musl.
    #[error("it needs musl {}.{} or later", .0.0, .0.1)]
    Musl((u16, u16)),
    /// It needs a newer macOS.
    #[error("it needs macOS {}.{} or later", .0.0, .0.1)]
    Macos((u16, u16)),
}

impl Why {
    /// How near the miss is: of several files, the one with the highest value says most about the target.
    #[must_use]
    pub fn nearness(&self) -> u8 {
        match self {
            Self::Kind => 0,
            Self::Name(_) => 1,
            Self::Platform(_) => 2,
            Self::Libc(_) => 3,
            Self::PlainLinux => 4,
            Self::Implementation => 5,
            Self::Python2 => 6,
            Self::Python(_) => 7,
            Self::FreeThreaded | Self::Gil => 8,
            Self::Glibc(_) | Self::Musl(_) | Self::Macos(_) => 9,
        }
    }
}
