//! Product names as keys: two spellings of one product have the same key.

/// How much of a name counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// All but vendor words.
    Full,
    /// All but vendor and product-line words.
    Line,
    /// Memory sizes and form factors do not count either.
    Model,
}

impl Step {
    /// All steps, the strictest first.
    pub(super) const ALL: [Self; 3] = [Self::Full, Self::Line, Self::Model];

    /// The step at which a product's own name is read: a product keeps its memory size, only what people write is
    /// stripped of it.
    pub(super) fn own(self) -> Self {
        self.min(Self::Line)
    }
}

/// A name reduced to what counts, as lower-case letters and digits without spaces.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    /// The key of `name`.
    pub(super) fn of(name: &str, step: Step) -> Self {
        let mut key = Self::default();
        key.set(name, step);
        key
    }

    /// True when nothing of the name counts.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the key.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Replaces the key by that of `name`, keeping the memory.
    pub(super) fn set(&mut self, name: &str, step: Step) {
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
pub(super) const VENDOR_WORDS: [&str; 8] =
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
