//! GPUs by name: product names as people and `nvidia-smi` write them, compute capabilities, and cloud instances.
//!
//! A name is looked up in three steps, each more tolerant: without vendor words; without product-line words
//! (`GeForce`, `Tesla`, `Quadro`); without memory sizes and form factors. A step that finds products of one capability
//! answers; one that finds several refuses and lists them.

mod key;

use std::sync::OnceLock;

use key::{Key, Step};

use super::gpu::known_capabilities;
use super::limit::brand;
use crate::machine::{Brand, Gpu};
use crate::matrix;
use crate::matrix::rows::products::FirstDriver;
use crate::version::SystemVersion;

/// Why a text names no GPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// No product has the name.
    #[error("no GPU is known as '{name}'{}", did_you_mean(nearest))]
    Unknown {
        /// What was written.
        name: String,
        /// The nearest product names, best first.
        nearest: Vec<String>,
    },
    /// Products of several capabilities have the name.
    #[error(
        "'{name}' can mean several GPUs: {}; write the full name, or the compute capability",
        listed(choices)
    )]
    Ambiguous {
        /// What was written.
        name: String,
        /// The products and their capabilities.
        choices: Vec<(String, SystemVersion)>,
    },
    /// No GPU has the compute capability.
    #[error("no GPU has compute capability {capability}{}", known_ones(nearest))]
    UnknownCapability {
        /// What was written.
        capability: String,
        /// Capabilities of the same major version.
        nearest: Vec<String>,
    },
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => {
            ": write the product's name, such as RTX 3090, or its compute capability, such as 8.6"
                .to_owned()
        }
        [one] => format!(": did you mean {one}? Its compute capability will do as well"),
        [others @ .., last] => format!(
            ": did you mean {} or {last}? A compute capability such as 8.6 will do as well",
            others.join(", ")
        ),
    }
}

fn known_ones(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; there are {}", nearest.join(", ")) }
}

fn listed(choices: &[(String, SystemVersion)]) -> String {
    let all: Vec<String> =
        choices.iter().map(|(name, capability)| format!("{name} ({capability})")).collect();
    all.join(", ")
}

/// Finds the GPU that `text` names: `RTX 3090`, `NVIDIA A100-SXM4-40GB MIG 1g.5gb`, `8.6`, `sm_90`, `g4dn.xlarge`.
///
/// # Errors
/// When nothing has that name, or GPUs of several capabilities do. Nothing is guessed.
pub fn find_gpu(text: &str) -> Result<Gpu, GpuError> {
    let text = text.trim();
    if let Some(capability) = capability_text(text) {
        return by_capability(text, &capability);
    }
    if let Some(found) = by_product(text) {
        return found;
    }
    if let Some(instance) = by_instance(text) {
        return instance;
    }
    if let Some(found) = by_architecture(text) {
        return found;
    }
    Err(GpuError::Unknown { name: text.to_owned(), nearest: nearest(text) })
}

/// The first driver branch of products that came out later than the first GPU of their capability.
pub(super) fn first_driver(name: &str) -> Option<&'static FirstDriver> {
    let rows = &matrix::products().first_driver;
    Step::ALL.into_iter().find_map(|step| {
        let wanted = Key::of(name, step);
        let mut key = Key::default();
        rows.iter().find(|row| {
            row.names.iter().any(|name| {
                key.set(name, step.own());
                !wanted.is_empty() && key == wanted
            })
        })
    })
}

/// `8.6`, `CC 8.6`, `compute capability 8.6`, `sm_86`, `sm86`, `compute_86` as a capability. A feature suffix (`sm_90a`) is
/// dropped: it belongs to code, not to a GPU.
fn capability_text(text: &str) -> Option<SystemVersion> {
    let lower = text.to_ascii_lowercase();
    for prefix in ["compute capability", "sm_", "compute_", "sm", "cc", ""] {
        let Some(rest) = lower.strip_prefix(prefix) else { continue };
        let rest = rest.trim();
        if let Some((major, minor)) = rest.split_once('.') {
            let digits =
                |s: &str| (1..=2).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
            if digits(major) && digits(minor) {
                return Some(SystemVersion::new(major.parse().ok()?, minor.parse().ok()?));
            }
        } else if matches!(prefix, "sm_" | "compute_" | "sm") {
            return rest
                .parse::<super::machine_code::Target>()
                .ok()
                .map(|target| target.capability);
        }
    }
    None
}

/// Capabilities above all known ones are taken as they are, so that a GPU of tomorrow can be named.
fn by_capability(text: &str, capability: &SystemVersion) -> Result<Gpu, GpuError> {
    let known = known_capabilities();
    if known.contains(capability) || known.last().is_some_and(|last| capability > last) {
        return Ok(Gpu {
            name: text.to_owned(),
            capability: capability.clone(),
            brand: Brand::Unknown,
        });
    }
    let same_major = known.iter().filter(|other| other.major() == capability.major());
    Err(GpuError::UnknownCapability {
        capability: capability.to_string(),
        nearest: same_major.map(ToString::to_string).collect(),
    })
}

/// A product that a text can mean.
#[derive(Clone, Copy)]
struct Candidate {
    name: &'static str,
    capability: &'static SystemVersion,
    brand: Brand,
}

fn by_product(text: &str) -> Option<Result<Gpu, GpuError>> {
    Step::ALL.into_iter().find_map(|step| {
        let wanted = Key::of(text, step);
        let found = if wanted.is_empty() { Vec::new() } else { candidates(&wanted, step) };
        let first = *found.first()?;
        if found.iter().any(|other| other.capability != first.capability) {
            let choices =
                found.iter().map(|other| (other.name.to_owned(), other.capability.clone()));
            return Some(Err(GpuError::Ambiguous {
                name: text.to_owned(),
                choices: choices.collect(),
            }));
        }
        let one_line = found.iter().all(|other| other.brand == first.brand);
        Some(Ok(Gpu {
            name: text.to_owned(),
            capability: first.capability.clone(),
            brand: if one_line { first.brand } else { Brand::Unknown },
        }))
    })
}

/// A product with its keys, so that a name is compared with a thousand others without reading them anew.
struct Entry {
    product: Candidate,
    full: Key,
    line: Key,
}

impl Entry {
    fn key(&self, step: Step) -> &Key {
        if step.own() == Step::Full { &self.full } else { &self.line }
    }
}

/// Every product, in the order of the matrix.
fn table() -> &'static [Entry] {
    static TABLE: OnceLock<Vec<Entry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = matrix::products().product.iter();
        let products = rows.flat_map(|row| {
            row.names.iter().map(|name| Candidate {
                name,
                capability: &row.capability,
                brand: brand(&row.brand),
            })
        });
        products
            .map(|product| Entry {
                product,
                full: Key::of(product.name, Step::Full),
                line: Key::of(product.name, Step::Line),
            })
            .collect()
    })
}

/// Everything that has the key `wanted` at a step.
fn candidates(wanted: &Key, step: Step) -> Vec<Candidate> {
    let same = |entry: &&Entry| entry.key(step) == wanted;
    let found: Vec<Candidate> = table().iter().filter(same).map(|entry| entry.product).collect();
    // A full name that some product bears is that product, even when a shorter form of it is ambiguous.
    if step == Step::Full && !found.is_empty() {
        return found;
    }
    let mut key = Key::default();
    let mut matches = |name: &str| {
        key.set(name, step.own());
        key == *wanted
    };
    for row in &matrix::products().ambiguous {
        let all = matches(&row.name);
        let meant = row.choices.iter().filter(|choice| all || matches(&choice.name));
        let meant: Vec<Candidate> = meant
            .map(|choice| Candidate {
                name: &choice.name,
                capability: &choice.capability,
                brand: brand(&row.brand),
            })
            .collect();
        if !meant.is_empty() {
            // The row lists what the name can mean, with names that tell its meanings apart.
            return meant;
        }
    }
    found
}

fn by_instance(text: &str) -> Option<Result<Gpu, GpuError>> {
    let lower = text.to_ascii_lowercase();
    let name = lower.strip_prefix("standard_").unwrap_or(&lower);
    let row = matrix::products().instance.iter().find(|row| {
        row.instances.iter().any(|pattern| glob(&pattern.to_ascii_lowercase(), name))
    })?;
    let found = by_product(&row.gpu)?;
    Some(found.map(|gpu| Gpu { name: text.to_owned(), ..gpu }))
}

/// An architecture's name stands for a capability when it has just one.
fn by_architecture(text: &str) -> Option<Result<Gpu, GpuError>> {
    let rows = &matrix::gpus().capability;
    let of_name = |name: &str| {
        name.eq_ignore_ascii_case(text)
            || name.split(' ').next().is_some_and(|word| word.eq_ignore_ascii_case(text))
    };
    let named: Vec<_> = rows.iter().filter(|row| of_name(&row.architecture)).collect();
    match named.as_slice() {
        [] => None,
        [row] => Some(Ok(Gpu {
            name: text.to_owned(),
            capability: row.capability.clone(),
            brand: Brand::Unknown,
        })),
        rows => {
            let choices = rows.iter().map(|row| (row.architecture.clone(), row.capability.clone()));
            Some(Err(GpuError::Ambiguous { name: text.to_owned(), choices: choices.collect() }))
        }
    }
}

/// Matches `text` against a pattern in which `*` stands for any text.
fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// The three product names most like `text`, those that end with it (`3090`) first.
fn nearest(text: &str) -> Vec<String> {
    let wanted = Key::of(text, Step::Model);
    let wanted = wanted.as_str();
    let mut scored: Vec<(f64, &str)> = Vec::new();
    for entry in table() {
        let key = entry.key(Step::Model).as_str();
        let tail = wanted.len() >= 3 && key.ends_with(wanted);
        let likeness = if tail { 1.0 } else { strsim::normalized_damerau_levenshtein(wanted, key) };
        if likeness >= 0.6 {
            scored.push((likeness, entry.product.name));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests;
