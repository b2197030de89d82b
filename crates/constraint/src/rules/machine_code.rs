//! Machine code in binaries: cubins (`sm_86`), PTX (`compute_90`), and the GPUs that run them.
//!
//! A cubin runs on its own capability and on later minors of the same major; PTX is compiled by the driver for any later
//! capability; targets that end in `a` run on one capability, those that end in `f` on a listed family.

use std::fmt;
use std::str::FromStr;

use super::driver::ptx_driver;
use super::gpu::{is_tegra, known_capabilities};
use super::limit::{Limit, between, exactly, fact_with_symptom, from};
use super::rule::Rule;
use crate::machine::Platform;
use crate::matrix;
use crate::package::Package;
use crate::version::{Range, SystemVersion};

/// How far code for a target carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reach {
    /// To later capabilities.
    Forward,
    /// To the target's own capability alone (`90a`).
    Exact,
    /// To the capabilities of a family (`100f`).
    Family,
}

/// What a piece of GPU code was compiled for: the part of `sm_90a` or `compute_90a` after the prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    /// Its compute capability.
    pub capability: SystemVersion,
    /// How far it carries.
    pub reach: Reach,
}

/// A text that names no target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a GPU target: expected one such as sm_86, sm_90a or compute_120")]
pub struct InvalidTarget(pub String);

impl FromStr for Target {
    type Err = InvalidTarget;

    /// Reads `86`, `90a`, `120f`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidTarget(text.to_owned());
        let (digits, reach) = match text.strip_suffix('a') {
            Some(digits) => (digits, Reach::Exact),
            None => match text.strip_suffix('f') {
                Some(digits) => (digits, Reach::Family),
                None => (text, Reach::Forward),
            },
        };
        if !(2..=4).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(invalid());
        }
        let all: u64 = digits.parse().map_err(|_| invalid())?;
        Ok(Self { capability: SystemVersion::new(all / 10, all % 10), reach })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.reach {
            Reach::Forward => "",
            Reach::Exact => "a",
            Reach::Family => "f",
        };
        write!(f, "{}{}{suffix}", self.capability.major(), self.capability.minor())
    }
}

impl Target {
    /// The capabilities of the family, or the target's own one when the family is not known.
    fn family(&self) -> Range {
        let name = self.to_string();
        let row = matrix::gpus().family.iter().find(|row| row.target == name);
        row.map_or_else(
            || exactly(self.capability.clone()),
            |row| {
                row.capabilities.iter().fold(Range::empty(), |range, capability| {
                    range.union(&exactly(capability.clone()))
                })
            },
        )
    }

    /// True when a cubin for this target runs on `capability`.
    #[must_use]
    pub fn cubin_runs_on(&self, capability: &SystemVersion) -> bool {
        match self.reach {
            Reach::Forward if is_tegra(&self.capability) || is_tegra(capability) => {
                self.capability == *capability
            }
            Reach::Forward => {
                self.capability.major() == capability.major() && self.capability <= *capability
            }
            Reach::Exact => self.capability == *capability,
            Reach::Family => self.family().contains(&capability.clone().into()),
        }
    }

    /// True when PTX for this target can be compiled for `capability`.
    #[must_use]
    pub fn ptx_runs_on(&self, capability: &SystemVersion) -> bool {
        match self.reach {
            Reach::Forward => self.capability <= *capability,
            Reach::Exact => self.capability == *capability,
            Reach::Family => self.family().contains(&capability.clone().into()),
        }
    }

    /// The capabilities on which a cubin for this target runs.
    #[must_use]
    pub fn cubin_range(&self) -> Range {
        match self.reach {
            Reach::Forward if is_tegra(&self.capability) => exactly(self.capability.clone()),
            Reach::Forward => {
                let end = SystemVersion::new(self.capability.major() + 1, 0);
                tegra_of(&self.capability)
                    .fold(between(self.capability.clone(), end), |range, tegra| {
                        range.intersection(&exactly(tegra).complement())
                    })
            }
            Reach::Exact => exactly(self.capability.clone()),
            Reach::Family => self.family(),
        }
    }

    /// The capabilities for which PTX for this target can be compiled.
    #[must_use]
    pub fn ptx_range(&self) -> Range {
        match self.reach {
            Reach::Forward => from(self.capability.clone()),
            Reach::Exact => exactly(self.capability.clone()),
            Reach::Family => self.family(),
        }
    }
}

/// The Tegra capabilities of the same major version.
fn tegra_of(capability: &SystemVersion) -> impl Iterator<Item = SystemVersion> {
    let major = capability.major();
    known_capabilities().into_iter().filter(move |other| other.major() == major && is_tegra(other))
}

/// The GPU code that a binary carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineCode {
    /// Targets with machine code, ascending.
    pub cubins: Vec<Target>,
    /// Targets with PTX, ascending.
    pub ptx: Vec<Target>,
}

/// Whether a GPU runs a binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has machine code for it.
    Native,
    /// The driver compiles its PTX; the first run takes longer. Needs a driver in the range.
    Jit {
        /// The drivers that can.
        driver: Range,
    },
    /// It has PTX, but the given driver is older than the PTX (error 222).
    PtxTooNew {
        /// The drivers that can compile it.
        driver: Range,
    },
    /// It has nothing for this GPU (error 209).
    NoKernel,
}

/// The capabilities that a binary serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// With machine code.
    pub native: Range,
    /// Only by compiling PTX in the driver.
    pub jit: Range,
}

impl MachineCode {
    /// Reads targets such as `sm_86`, `sm_90a` and `compute_90`.
    ///
    /// # Errors
    /// On the first text that is none.
    pub fn parse<S: AsRef<str>>(
        targets: impl IntoIterator<Item = S>,
    ) -> Result<Self, InvalidTarget> {
        let mut code = Self::default();
        for text in targets {
            let text = text.as_ref().trim();
            let invalid = |_| InvalidTarget(text.to_owned());
            if let Some(target) = text.strip_prefix("sm_") {
                code.cubins.push(target.parse().map_err(invalid)?);
            } else if let Some(target) = text.strip_prefix("compute_") {
                code.ptx.push(target.parse().map_err(invalid)?);
            } else {
                return Err(InvalidTarget(text.to_owned()));
            }
        }
        code.cubins.sort();
        code.ptx.sort();
        code.cubins.dedup();
        code.ptx.dedup();
        Ok(code)
    }

    /// Whether a GPU of `capability` runs this code. `toolkit` is the CUDA version that wrote the PTX; without a
    /// `driver` the verdict says which one it takes.
    #[must_use]
    pub fn runs_on(
        &self,
        capability: &SystemVersion,
        toolkit: &SystemVersion,
        driver: Option<&SystemVersion>,
        platform: Platform,
    ) -> Verdict {
        if self.cubins.iter().any(|target| target.cubin_runs_on(capability)) {
            return Verdict::Native;
        }
        if !self.ptx.iter().any(|target| target.ptx_runs_on(capability)) {
            return Verdict::NoKernel;
        }
        let needed = ptx_driver(toolkit, platform).map_or_else(Range::full, |limit| limit.range);
        match driver {
            Some(driver) if !needed.contains(&driver.clone().into()) => {
                Verdict::PtxTooNew { driver: needed }
            }
            _ => Verdict::Jit { driver: needed },
        }
    }

    /// All capabilities that this code serves, known ones and ones to come.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        let union = |ranges: &mut dyn Iterator<Item = Range>| {
            ranges.fold(Range::empty(), |all, range| all.union(&range))
        };
        let native = union(&mut self.cubins.iter().map(Target::cubin_range));
        let ptx = union(&mut self.ptx.iter().map(Target::ptx_range));
        let jit = ptx.intersection(&native.complement());
        Coverage { native, jit }
    }

    /// The GPUs that run this code, natively or with `jit` also through PTX, as a limit on the first GPU. `who` names
    /// the binary in the fact ("torch 2.4.1"), `sources` say where its targets are from.
    #[must_use]
    pub fn gpu_limit(&self, who: &str, sources: &[String], jit: bool) -> Limit {
        let coverage = self.coverage();
        let range = if jit { coverage.native.union(&coverage.jit) } else { coverage.native };
        let text = format!("{who} has GPU code for {self}");
        let symptom = "CUDA error: no kernel image is available for execution on the device";
        Limit {
            package: Package::Gpu(0),
            range,
            fact: fact_with_symptom(Rule::NoKernelImage, text, sources, symptom.to_owned()),
        }
    }
}

impl fmt::Display for MachineCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cubins = self.cubins.iter().map(|target| format!("sm_{target}"));
        let ptx = self.ptx.iter().map(|target| format!("compute_{target} (PTX)"));
        let all: Vec<String> = cubins.chain(ptx).collect();
        if all.is_empty() { f.write_str("no GPU") } else { f.write_str(&all.join(", ")) }
    }
}

#[cfg(test)]
mod tests;
