//! What an environment is solved for, as wheels and markers see it: platform, C library and Python.

use pep440_rs::Version as Pep440;

use crate::machine::{Libc, Platform};
use crate::matrix;
use crate::requirement::MarkerEnvironment;
use crate::version::{DistVersion, SourceId, SystemVersion, Version};

/// A platform with one CPython on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Operating system and processor.
    pub platform: Platform,
    /// The C library, on Linux. Unset: every glibc will do, and the one that is needed becomes part of the answer.
    pub libc: Option<Libc>,
    /// The interpreter, with its patch number: the newest that is known where only a series is given, such as 3.11.
    pub python: Pep440,
    /// Whether any patch release of the series may be there, from the first on.
    pub series: bool,
    /// Whether it is the free-threaded build (PEP 703), such as `3.13t`.
    pub free_threaded: bool,
    /// The macOS version, on macOS. Unset: every version will do, and the one that is needed becomes part of the answer.
    pub macos: Option<SystemVersion>,
}

impl Target {
    /// A target with the GIL, of which only platform and Python are known. A Python of two numbers, such as `3.11`, is the
    /// whole series; `3.11.0` is that release.
    #[must_use]
    pub fn new(platform: Platform, python: &Pep440) -> Self {
        let mut release = python.release().to_vec();
        let series = release.len() < 3 && python.is_stable();
        release.resize(release.len().max(2), 0);
        let newest = series.then(|| newest_patch(&release)).flatten();
        release.resize(release.len().max(3), newest.unwrap_or(0));
        Self {
            platform,
            libc: None,
            python: python.clone().without_local().with_release(release),
            series,
            free_threaded: false,
            macos: None,
        }
    }

    /// Major and minor of the interpreter.
    #[must_use]
    pub fn python_minor(&self) -> (u64, u64) {
        let release = self.python.release();
        (release.first().copied().unwrap_or(0), release.get(1).copied().unwrap_or(0))
    }

    /// The interpreter as env.toml has it: `3.11` for the series.
    #[must_use]
    pub fn asked_python(&self) -> Pep440 {
        let (major, minor) = self.python_minor();
        if self.series { Pep440::new([major, minor]) } else { self.python.clone() }
    }

    /// The same target with another Python.
    #[must_use]
    pub fn with_python(&self, python: &Pep440) -> Self {
        Self {
            libc: self.libc.clone(),
            free_threaded: self.free_threaded,
            macos: self.macos.clone(),
            ..Self::new(self.platform, python)
        }
    }

    /// The patch releases that may be there, ascending; one where the Python is exact.
    #[must_use]
    pub fn patches(&self) -> Vec<Pep440> {
        let (major, minor) = self.python_minor();
        match self.python.release() {
            [_, _, newest] if self.series => {
                (0..=*newest).map(|patch| Pep440::new([major, minor, patch])).collect()
            }
            _ => vec![self.python.clone()],
        }
    }

    /// The marker environments of [`Target::patches`], in their order.
    #[must_use]
    pub fn marker_environments(&self) -> Vec<MarkerEnvironment> {
        let of =
            |python: &Pep440| Self { python: python.clone(), ..self.clone() }.marker_environment();
        self.patches().iter().map(of).collect()
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
            Platform::MacosX86_64 => ("posix", "darwin", "Darwin", "x86_64"),
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

/// The newest patch number of a minor version, where one is known.
fn newest_patch(release: &[u64]) -> Option<u64> {
    let of_row = |text: &str| text.parse::<Pep440>().ok();
    let row = matrix::python()
        .minor
        .iter()
        .find(|row| of_row(&row.version).is_some_and(|version| version.release() == release))?;
    of_row(&row.newest)?.release().get(2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(platform: Platform, python: &str) -> Target {
        Target::new(platform, &python.parse().expect("valid"))
    }

    #[test]
    fn the_environment_is_that_of_the_target() {
        let windows = target(Platform::WindowsX86_64, "3.11.0").marker_environment();
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
    fn two_numbers_are_a_series_and_three_are_a_release() {
        let series = target(Platform::LinuxX86_64, "3.9");
        assert_eq!((series.asked_python().to_string().as_str(), series.series), ("3.9", true));
        let patches = series.patches();
        assert_eq!(patches.first().map(ToString::to_string).as_deref(), Some("3.9.0"));
        assert_eq!(patches.last(), Some(&series.python));
        assert!(series.python >= "3.9.25".parse().expect("valid"));
        assert_eq!(series.marker_environments().len(), patches.len());
        for exact in ["3.9.0", "3.14.0rc2", "3.15rc1"] {
            let exact = target(Platform::LinuxX86_64, exact);
            assert!(!exact.series);
            assert_eq!(exact.patches().as_slice(), std::slice::from_ref(&exact.python));
            assert_eq!(exact.asked_python(), exact.python);
        }
        // A series that nobody knows yet.
        assert_eq!(target(Platform::LinuxX86_64, "3.99").python.to_string(), "3.99.0");
        assert_eq!(
            series.with_python(&"3.10.1".parse().expect("valid")).python.to_string(),
            "3.10.1"
        );
    }

    #[test]
    fn a_python_of_one_number_is_no_panic() {
        assert_eq!(target(Platform::LinuxX86_64, "3").python_minor(), (3, 0));
    }
}
