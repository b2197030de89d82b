//! GPUs by name: product names as people and `nvidia-smi` write them, compute capabilities, and cloud instances.
//!
//! A name is looked up in three steps, each more tolerant: without vendor words; without product-line words
//! (`GeForce`, `Tesla`, `Quadro`); without memory sizes and form factors. A step that finds products of one capability
//! answers; one that finds several refuses and lists them.

use super::gpu::known_capabilities;
use super::limit::{brand, number};
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

/// How much of a name counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// All but vendor words.
    Full,
    /// All but vendor and product-line words.
    Line,
    /// Memory sizes and form factors do not count either.
    Model,
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
    [Step::Full, Step::Line, Step::Model].into_iter().find_map(|step| {
        let wanted = Key::of(name, step);
        let mut key = Key::default();
        rows.iter().find(|row| {
            row.names.iter().any(|name| {
                key.set(name, step.min(Step::Line));
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

fn by_product(text: &str) -> Option<Result<Gpu, GpuError>> {
    let matrix = matrix::products();
    for step in [Step::Full, Step::Line, Step::Model] {
        let wanted = Key::of(text, step);
        if wanted.is_empty() {
            return None;
        }
        // A product keeps its memory size in its own name; only what people write is stripped of it.
        let own = step.min(Step::Line);
        let mut key = Key::default();
        let mut found: Vec<(&str, &str, Brand)> = Vec::new();
        for row in &matrix.product {
            for name in &row.names {
                key.set(name, own);
                if key == wanted {
                    found.push((name, &row.capability, brand(&row.brand)));
                }
            }
        }
        if step == Step::Full && found.is_empty() {
            // The full names of what an ambiguous name can mean need not be names of products.
            for row in &matrix.ambiguous {
                for choice in &row.choices {
                    key.set(&choice.name, own);
                    if key == wanted {
                        found.push((&choice.name, &choice.capability, brand(&row.brand)));
                    }
                }
            }
        }
        if found.is_empty() || step > Step::Full {
            let shared = matrix.ambiguous.iter().find(|row| {
                key.set(&row.name, own);
                key == wanted
            });
            if let Some(row) = shared {
                let choices = row.choices.iter();
                let choices =
                    choices.map(|choice| (choice.name.clone(), number(&choice.capability)));
                return Some(Err(GpuError::Ambiguous {
                    name: text.to_owned(),
                    choices: choices.collect(),
                }));
            }
        }
        let Some((_, capability, line)) = found.first().copied() else { continue };
        if found.iter().any(|(_, other, _)| *other != capability) {
            let choices =
                found.iter().map(|(name, capability, _)| ((*name).to_owned(), number(capability)));
            return Some(Err(GpuError::Ambiguous {
                name: text.to_owned(),
                choices: choices.collect(),
            }));
        }
        let one_line = found.iter().all(|(_, _, other)| *other == line);
        return Some(Ok(Gpu {
            name: text.to_owned(),
            capability: number(capability),
            brand: if one_line { line } else { Brand::Unknown },
        }));
    }
    None
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
            capability: number(&row.capability),
            brand: Brand::Unknown,
        })),
        rows => {
            let choices =
                rows.iter().map(|row| (row.architecture.clone(), number(&row.capability)));
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

/// The three product names most like `text`.
fn nearest(text: &str) -> Vec<String> {
    let wanted = Key::of(text, Step::Model);
    let mut scored: Vec<(f64, &str)> = Vec::new();
    let mut key = Key::default();
    for name in matrix::products().product.iter().flat_map(|row| &row.names) {
        key.set(name, Step::Line);
        let likeness = strsim::normalized_damerau_levenshtein(&wanted.0, &key.0);
        if likeness >= 0.6 {
            scored.push((likeness, name));
        }
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// A name reduced to what counts, as lower-case letters and digits without spaces.
#[derive(Default, PartialEq, Eq)]
struct Key(String);

impl Key {
    fn of(name: &str, step: Step) -> Self {
        let mut key = Self::default();
        key.set(name, step);
        key
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Replaces the key by that of `name`, keeping the memory.
    fn set(&mut self, name: &str, step: Step) {
        self.0.clear();
        let words =
            name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let is = |other: &str| word.eq_ignore_ascii_case(other);
            if is("mig") {
                // A slice of a GPU has the capability of the GPU.
                break;
            }
            if VENDOR_WORDS.iter().any(|other| is(other))
                || step >= Step::Line && LINE_WORDS.iter().any(|other| is(other))
                || step == Step::Model && (is_form(word) || is_memory(word))
            {
                continue;
            }
            if step == Step::Model
                && word.bytes().all(|b| b.is_ascii_digit())
                && words.peek().is_some_and(|next| {
                    next.eq_ignore_ascii_case("gb") || next.eq_ignore_ascii_case("gib")
                })
            {
                words.next();
                continue;
            }
            if is("mobile") || is("notebook") {
                self.0.push_str("laptop");
            } else {
                self.0.extend(word.chars().map(|c| c.to_ascii_lowercase()));
            }
        }
        self.trim_glued(step);
    }

    /// Takes the words that do not count off a name that is written without spaces (`GeForceRTX3090`).
    fn trim_glued(&mut self, step: Step) {
        let line: &[&str] = if step >= Step::Line { &LINE_WORDS } else { &[] };
        while let Some(word) =
            VENDOR_WORDS.iter().chain(line).find(|word| self.0.starts_with(**word))
        {
            self.0.drain(..word.len());
        }
        if self.0.ends_with("gpu") {
            self.0.truncate(self.0.len() - "gpu".len());
        }
    }
}

/// Words that no two products differ by.
const VENDOR_WORDS: [&str; 8] =
    ["nvidia", "gpu", "graphics", "card", "with", "design", "generation", "edition"];

/// Words that name a product line.
const LINE_WORDS: [&str; 4] = ["geforce", "tesla", "quadro", "jetson"];

/// Form factors, memory types, and what virtual GPUs put around the name of the card.
fn is_form(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let digits = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit());
    let profile = lower.strip_suffix(['q', 'c', 'a', 'b']);
    matches!(lower.as_str(), "pcie" | "pci" | "dgxs" | "fhhl" | "lc" | "grid")
        || lower.strip_prefix("sxm").is_some_and(digits)
        || lower.strip_prefix("nvl").is_some_and(digits)
        || lower
            .strip_prefix("hbm")
            .is_some_and(|rest| digits(rest.strip_suffix('e').unwrap_or(rest)))
        || profile.is_some_and(|rest| !rest.is_empty() && digits(rest))
}

/// `80GB`, `80G`, `80GiB`.
fn is_memory(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["gib", "gb", "g"].iter().any(|unit| {
        lower
            .strip_suffix(unit)
            .is_some_and(|size| !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests;
