//! The platforms that environments are solved for.

use serde::{Deserialize, Serialize};

/// Operating system and processor of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Linux on x86-64.
    #[serde(rename = "linux-x86_64")]
    LinuxX86_64,
    /// Linux on 64-bit Arm.
    #[serde(rename = "linux-aarch64")]
    LinuxAarch64,
    /// Windows on x86-64.
    #[serde(rename = "windows-x86_64")]
    WindowsX86_64,
    /// macOS on Apple silicon.
    #[serde(rename = "macos-arm64")]
    MacosArm64,
}

impl Platform {
    /// Every platform, in the order messages list them.
    pub const ALL: [Self; 4] =
        [Self::LinuxX86_64, Self::LinuxAarch64, Self::WindowsX86_64, Self::MacosArm64];

    /// As env.toml writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinuxX86_64 => "linux-x86_64",
            Self::LinuxAarch64 => "linux-aarch64",
            Self::WindowsX86_64 => "windows-x86_64",
            Self::MacosArm64 => "macos-arm64",
        }
    }

    /// True on Linux, whatever the processor.
    #[must_use]
    pub fn is_linux(self) -> bool {
        matches!(self, Self::LinuxX86_64 | Self::LinuxAarch64)
    }
}

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
