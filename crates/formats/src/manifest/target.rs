//! `[target.NAME]`: more machines, and one machine with its overrides applied.

use std::collections::BTreeMap;
use std::ops::Range;

use cuda_lock_constraint::machine::Platform;
use serde_spanned::Spanned;
use toml::de::DeTable;

use super::environment::{DEPENDENCIES, PYTHON, python};
use super::machine::{
    CUDA, CUDNN, DRIVER, GLIBC, GPUS, IMAGE, LIBRARIES, MACOS, MUSL, MachineTable, PLATFORM,
};
use super::requirement::requirements;
use super::{Manifest, PythonRequest};
use crate::document::{Report, text, texts};
use crate::schema::Key;

/// The keys of `[target.NAME]`.
pub(super) const KEYS: &[Key] = &[
    PLATFORM,
    GLIBC,
    MUSL,
    MACOS,
    DRIVER,
    GPUS,
    CUDA,
    CUDNN,
    LIBRARIES,
    IMAGE,
    PYTHON,
    DEPENDENCIES,
];

/// `[target.NAME]`.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where its name stands.
    pub name: Spanned<String>,
    /// Keys that override `[machine]`.
    pub machine: MachineTable,
    /// Overrides `python` of `[environment]`.
    pub python: Option<Spanned<PythonRequest>>,
    /// Requirements on top of those of `[environment]`.
    pub dependencies: Vec<Spanned<String>>,
}

/// One machine to lock for: `[environment]` and `[machine]` with the keys of one target applied.
#[derive(Clone, Debug)]
pub struct TargetSpec {
    /// The target's name; `None` when env.toml has no `[target.NAME]`.
    pub name: Option<String>,
    /// Operating system and processor.
    pub platform: Spanned<Platform>,
    /// The machine's keys; `platform` is set.
    pub machine: MachineTable,
    /// The interpreter.
    pub python: Spanned<PythonRequest>,
    /// All requirements: those of `[environment]`, then those of the target.
    pub dependencies: Vec<Spanned<String>>,
}

/// A target that cannot be locked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// There is no such target.
    #[error("env.toml has no target '{name}'{}", known(.targets))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        targets: Vec<String>,
    },
    /// `[machine]` alone names no platform: only its targets can be locked.
    #[error("[machine] has no platform{}", known(.targets))]
    NoPlatform {
        /// What there is.
        targets: Vec<String>,
    },
}

fn known(targets: &[String]) -> String {
    if targets.is_empty() {
        String::new()
    } else {
        format!("; its targets: {}", targets.join(", "))
    }
}

impl Manifest {
    /// What is locked when nothing else is said: every `[target.NAME]`, or `[machine]` (as `None`) when there is none.
    #[must_use]
    pub fn target_names(&self) -> Vec<Option<&str>> {
        if self.targets.is_empty() {
            vec![None]
        } else {
            self.targets.keys().map(|name| Some(name.as_str())).collect()
        }
    }

    /// `[environment]` and `[machine]` with the keys of target `name` applied.
    ///
    /// A key of the target replaces that of `[machine]`; dependencies are added. A target on another operating system
    /// does not inherit what belongs to the old one: driver, glibc, musl, macos and image. A target that names an image does not
    /// inherit `cuda`, `cudnn` and libc, which the image gives.
    ///
    /// # Errors
    /// When there is no such target, or no platform.
    pub fn target(&self, name: Option<&str>) -> Result<TargetSpec, TargetError> {
        let targets = || self.targets.keys().cloned().collect();
        let target = match name {
            None => None,
            Some(name) => Some(self.targets.get(name).ok_or_else(|| TargetError::Unknown {
                name: name.to_owned(),
                targets: targets(),
            })?),
        };
        let machine = match target {
            Some(target) => target.machine.over(&self.machine),
            None => self.machine.clone(),
        };
        let platform = machine
            .platform
            .clone()
            .ok_or_else(|| TargetError::NoPlatform { targets: targets() })?;
        let own = target.map(|target| target.dependencies.as_slice()).unwrap_or_default();
        Ok(TargetSpec {
            name: name.map(str::to_owned),
            platform,
            machine,
            python: target
                .and_then(|target| target.python.clone())
                .unwrap_or_else(|| self.environment.python.clone()),
            dependencies: self.environment.dependencies.iter().chain(own).cloned().collect(),
        })
    }
}

impl MachineTable {
    /// This table's keys, and those of `base` where it has none.
    fn over(&self, base: &Self) -> Self {
        let system = |table: &Self| table.platform.as_ref().map(|p| family(*p.get_ref()));
        let moved = match (system(self), system(base)) {
            (Some(new), Some(old)) => new != old,
            _ => false,
        };
        let bare = Self::default();
        let of_system = if moved { &bare } else { base };
        let of_image = if moved || self.image.is_some() { &bare } else { base };
        Self {
            platform: or(&self.platform, &base.platform),
            libc: or(&self.libc, &of_image.libc),
            macos: or(&self.macos, &of_system.macos),
            driver: or(&self.driver, &of_system.driver),
            gpus: or(&self.gpus, &base.gpus),
            cuda: or(&self.cuda, if self.image.is_some() { &bare.cuda } else { &base.cuda }),
            cudnn: or(&self.cudnn, if self.image.is_some() { &bare.cudnn } else { &base.cudnn }),
            libraries: or(&self.libraries, &base.libraries),
            image: or(&self.image, &of_system.image),
        }
    }
}

fn or<T: Clone>(own: &Option<T>, base: &Option<T>) -> Option<T> {
    own.as_ref().or(base.as_ref()).cloned()
}

/// The operating system of a platform.
fn family(platform: Platform) -> &'static str {
    match platform {
        Platform::LinuxX86_64 | Platform::LinuxAarch64 => "linux",
        Platform::WindowsX86_64 => "windows",
        Platform::MacosArm64 | Platform::MacosX86_64 => "macos",
    }
}

/// Reads every target. Its name becomes part of file names.
pub(super) fn read_all(table: &DeTable<'_>, report: &mut Report) -> BTreeMap<String, Target> {
    let mut targets = BTreeMap::new();
    for (name, value) in table {
        let Some(keys) = value.get_ref().as_table() else { continue };
        let text_of_name = name.get_ref();
        let fits = !text_of_name.is_empty()
            && text_of_name.len() <= 64
            && text_of_name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if !fits {
            report
                .error(name.span(), format!("'{text_of_name}' is not a target name"))
                .help("it becomes part of file names: use up to 64 letters, digits, '-' and '_'");
        }
        let target = Target {
            name: Spanned::new(name.span(), text_of_name.to_string()),
            machine: MachineTable::read(keys, report),
            python: text(keys, "python").and_then(|text| python(&text, report)),
            dependencies: requirements(texts(keys, "dependencies").unwrap_or_default(), report),
        };
        targets.insert(text_of_name.to_string(), target);
    }
    targets
}

/// Every target needs a platform and something to install, of its own or inherited.
pub(super) fn check_targets(
    manifest: &Manifest,
    machine: Option<Range<usize>>,
    report: &mut Report,
) {
    // Errors of single keys would only be repeated here.
    if report.len() > 0 {
        return;
    }
    let start = machine.unwrap_or(0..0);
    for name in manifest.target_names() {
        let place = name
            .and_then(|name| manifest.targets.get(name))
            .map_or(start.clone(), |target| target.name.span());
        let table =
            name.map_or("[machine]".to_owned(), |name| format!("[target.{name}] and [machine]"));
        match manifest.target(name) {
            Err(_) => {
                report
                    .error(place, format!("no `platform` in {table}"))
                    .help(format!("add platform = {}", PLATFORM.example));
            }
            Ok(spec) => {
                spec.machine.check_platform(report);
                if spec.dependencies.is_empty() {
                    report.error(place, "there is nothing to install: no `dependencies`").help(
                        format!("add dependencies = {} to [environment]", DEPENDENCIES.example),
                    );
                }
            }
        }
    }
}
