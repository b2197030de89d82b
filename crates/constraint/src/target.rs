//! What an environment is solved for, as wheels and markers see it: platform, C library and Python.

use pep440_rs::Version as Pep440;

use crate::machine::{Libc, Platform};
use crate::requirement::MarkerEnvironment;
use crate::version::{DistVersion, SourceId, SystemVersion, Version};

/// A platform with one CPython on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Operating system and processor.
    pub platform: Platform,
    /// The C library, on Linux. Unset: every glibc will do, and the one that is needed becomes part of the answer.
    pub libc: Option<Libc>,
    /// The interpreter, with its patch number: `3.11.0` where only `3.11` is known.
    pub python: Pep440,
    /// Whether it is the free-threaded build (PEP 703), such as `3.13t`.
    pub free_threaded: bool,
    /// The macOS version, on macOS. Unset: every version will do.
    pub macos: Option<SystemVersion>,
}

impl Target {
    /// A target with the GIL, of which only platform and Python are known. A Python of one or two numbers gets zeros:
    /// `3.11` means 3.11.0.
    #[must_use]
    pub fn new(platform: Platform, python: &Pep440) -> Self {
        let mut release = python.release().to_vec();
        release.resize(release.len().max(3), 0);
        Self {
            platform,
            libc: None,
            python: python.clone().without_local().with_release(release),
            free_threaded: false,
            macos: None,
        }
    }

    /// The same machine with another Python of the same kind.
    #[must_use]
    pub fn with_python(&self, python: &Pep440) -> Self {
        let Self { platform, libc, free_threaded, macos, python: _ } = self.clone();
        Self { libc, free_threaded, macos, ..Self::new(platform, python) }
    }

    /// Major and minor of the interpreter.
    #[must_use]
    pub fn python_minor(&self) -> (u64, u64) {
        let release = self.python.release();
        (release.first().copied().unwrap_or(0), release.get(1).copied().unwrap_or(0))
    }

    /// The interpreter as a version of the package Python.
    #[must_use]
    pub fn python_version(&self) -> Version {
        DistVersion::new(self.python.clone(), SourceId(0)).into()
    }

    /// The values of the marker variables on this target. Nothing is asked of the running machine: kernel release and
    /// kernel version are empty, as for any machine that is only described.
    #[must_use]
    pub fn marker_environment(&self) -> MarkerEnvironment {
        let (os_name, sys_platform, system, machine) = match self.platform {
            Platform::LinuxX86_64 => ("posix", "linux", "Linux", "x86_64"),
            Platform::LinuxAarch64 => ("posix", "linux", "Linux", "aarch64"),
            Platform::WindowsX86_64 => ("nt", "win32", "Windows", "AMD64"),
            Platform::MacosArm64 => ("posix", "darwin", "Darwin", "arm64"),
        };
        let (major, minor) = self.python_minor();
        let full = self.python.to_string();
        MarkerEnvironment {
            os_name: os_name.into(),
            sys_platform: sys_platform.into(),
            platform_machine: machine.into(),
            platform_python_implementation: "CPython".into(),
            platform_release: String::new(),
            platform_system: system.into(),
            platform_version: String::new(),
            python_version: format!("{major}.{minor}"),
            python_full_version: full.clone(),
            implementation_name: "cpython".into(),
            implementation_version: full,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(platform: Platform, python: &str) -> Target {
        Target::new(platform, &python.parse().expect("valid"))
    }

    #[test]
    fn the_environment_is_that_of_the_target() {
        let windows = target(Platform::WindowsX86_64, "3.11").marker_environment();
        assert_eq!(
            (&*windows.sys_platform, &*windows.platform_machine, &*windows.os_name),
            ("win32", "AMD64", "nt")
        );
        assert_eq!((&*windows.python_version, &*windows.python_full_version), ("3.11", "3.11.0"));
        let mac = target(Platform::MacosArm64, "3.14.0rc2").marker_environment();
        assert_eq!((&*mac.sys_platform, &*mac.platform_machine), ("darwin", "arm64"));
        assert_eq!((&*mac.python_version, &*mac.python_full_version), ("3.14", "3.14.0rc2"));
        assert_eq!(mac.platform_release, "");
    }

    #[test]
    fn a_python_of_one_number_is_no_panic() {
        assert_eq!(target(Platform::LinuxX86_64, "3").python_minor(), (3, 0));
    }
}
