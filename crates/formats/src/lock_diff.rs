//! What moved between two locks, the CUDA stack first.
//!
//! [`LockDiff::new`] compares; [`LockDiff::text`] and [`LockDiff::markdown`] are for people; the type itself serialises for
//! programs, and [`LockDiff::regressions`] is what a pipeline may want to stop at.

mod compare;
mod markdown;
mod text;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::{companion, library, onnxruntime, owner};
use serde::Serialize;

/// Everything that is different between two locks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockDiff {
    /// Python, CUDA, cuDNN and the minimum driver, changed or not, where either lock has them.
    pub layers: Vec<Layer>,
    /// Compute capabilities that only the new lock covers.
    pub gained: Vec<String>,
    /// Compute capabilities that only the old lock covers.
    pub lost: Vec<String>,
    /// The distributions of the stack that moved, by name.
    pub stack: Vec<Moved>,
    /// All others that moved, by name.
    pub packages: Vec<Moved>,
    /// Keys of the machine that changed.
    pub machine: Vec<Layer>,
    /// Requirements of env.toml that only the new lock has.
    pub asked: Vec<String>,
    /// Requirements of env.toml that only the old lock has.
    pub no_longer_asked: Vec<String>,
    /// What a program must do to find its libraries, that only the new lock asks for.
    pub loading: Vec<String>,
    /// Bytes that an installer downloads, where every file states its size.
    pub download: Pair<u64>,
    /// The locks were made from different compatibility facts.
    pub other_facts: bool,
    /// What got worse.
    pub regressions: Vec<Regression>,
}

/// A value before and after; null where there was none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pair<T> {
    /// In the old lock.
    pub old: Option<T>,
    /// In the new lock.
    pub new: Option<T>,
}

/// One fact about the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// `CUDA`, `minimum driver`, `gpus` ...
    pub name: &'static str,
    /// Its value before and after.
    #[serde(flatten)]
    pub value: Pair<String>,
}

/// One distribution that moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// How it moved.
    pub kind: Kind,
    /// Its version before and after.
    #[serde(flatten)]
    pub version: Pair<String>,
    /// What else changed, in words.
    pub note: Option<String>,
}

/// How a distribution moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Only the new lock has it.
    Added,
    /// Only the old lock has it.
    Removed,
    /// To a newer version.
    Up,
    /// To an older version.
    Down,
    /// The same release as another build, from another index, or as another file.
    Rebuilt,
}

/// Something that got worse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Regression {
    /// `minimum-driver` or `gpu`.
    pub kind: &'static str,
    /// In words.
    pub text: String,
}

impl LockDiff {
    /// True when both locks are for the same machine and install the same files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let layers = self.layers.iter().chain(&self.machine);
        layers.into_iter().all(|layer| !layer.changed())
            && self.gained.is_empty()
            && self.lost.is_empty()
            && self.stack.is_empty()
            && self.packages.is_empty()
            && self.asked.is_empty()
            && self.no_longer_asked.is_empty()
            && self.loading.is_empty()
    }

    /// The stack in one line: `CUDA 12.1 → 12.4, minimum driver unchanged 525.60.13, sm_50 dropped`.
    #[must_use]
    pub fn headline(&self) -> String {
        let shown =
            |layer: &&Layer| layer.changed() || matches!(layer.name, "CUDA" | "minimum driver");
        let mut parts: Vec<String> = self.layers.iter().filter(shown).map(Layer::text).collect();
        if !self.lost.is_empty() {
            parts.push(format!("{} dropped", self.lost.join(", ")));
        }
        if !self.gained.is_empty() {
            parts.push(format!("{} added", self.gained.join(", ")));
        }
        match (parts.is_empty(), self.stack.is_empty()) {
            (false, _) => parts.join(", "),
            (true, true) => "the CUDA stack is the same".to_owned(),
            (true, false) => "neither lock needs a driver".to_owned(),
        }
    }
}

impl Layer {
    /// Whether it is different now.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.value.old != self.value.new
    }

    fn text(&self) -> String {
        let name = self.name;
        match (&self.value.old, &self.value.new) {
            (Some(old), Some(new)) if old == new => format!("{name} unchanged {new}"),
            (Some(old), Some(new)) => format!("{name} {old} → {new}"),
            (None, Some(new)) => format!("{name} {new} is new"),
            (Some(old), None) => format!("{name} {old} is gone"),
            (None, None) => name.to_owned(),
        }
    }
}

/// True for what stands between the driver and the program: the torch family, ONNX Runtime, NVIDIA's libraries.
#[must_use]
pub fn is_stack(name: Name) -> bool {
    companion::family(name).is_some()
        || library::is_library(name)
        || Name::new(onnxruntime::GPU).is_ok_and(|runtime| owner::rivals(runtime).contains(&name))
}

/// How many bytes, as people say it.
fn bytes_text(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
    match UNITS.iter().find(|(_, size)| bytes >= *size) {
        Some((unit, size)) => {
            let tenths = bytes.saturating_add(size / 20) / (size / 10);
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests;
