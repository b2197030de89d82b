//! Normalised project and extra names (PEP 503, PEP 685), interned for the life of the process.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A project or extra name in its normalised form: lower case, runs of `-`, `_` and `.` as one `-`.
///
/// Copying and comparing for equality cost one word; ordering and hashing follow the text, so that no result
/// depends on the order in which names were first seen.
#[derive(Clone, Copy)]
pub struct Name(&'static Entry);

struct Entry {
    text: Box<str>,
    hash: u64,
}

/// A name that PEP 508 does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends"
)]
pub struct InvalidName(pub String);

impl Name {
    /// Normalises and interns `raw`.
    ///
    /// # Errors
    /// When `raw` is not a name by PEP 508.
    pub fn new(raw: &str) -> Result<Self, InvalidName> {
        let bytes = raw.as_bytes();
        let ends_well = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
        if !ends_well(bytes.first())
            || !ends_well(bytes.last())
            || !bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        {
            return Err(InvalidName(raw.to_owned()));
        }
        Ok(Self::intern(&normalize(raw)))
    }

    /// The normalised text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        &self.0.text
    }

    fn intern(text: &str) -> Self {
        static TABLE: OnceLock<Mutex<HashMap<&'static str, Name, FxBuildHasher>>> = OnceLock::new();
        let mut table =
            TABLE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = table.get(text) {
            return *name;
        }
        let mut hasher = rustc_hash::FxHasher::default();
        text.hash(&mut hasher);
        // Names live as long as the process: there are a few thousand of them, and they are compared millions of times.
        let entry: &'static Entry =
            Box::leak(Box::new(Entry { text: text.into(), hash: hasher.finish() }));
        table.insert(&entry.text, Name(entry));
        Name(entry)
    }
}

/// Lower case, with every run of `-`, `_`, `.` as one `-` (PEP 503).
fn normalize(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '-' | '_' | '.' if text.ends_with('-') => {}
            '-' | '_' | '.' => text.push('-'),
            _ => text.push(c.to_ascii_lowercase()),
        }
    }
    text
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl std::str::FromStr for Name {
    type Err = InvalidName;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::new(s)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_normalised_and_compared_by_text() {
        let a = Name::new("Foo__Bar.-baz").expect("valid");
        assert_eq!(a.as_str(), "foo-bar-baz");
        assert_eq!(a, Name::new("foo-bar_baz").expect("valid"));
        assert!(Name::new("a").expect("valid") < Name::new("b").expect("valid"));
    }

    #[test]
    fn names_with_odd_ends_or_characters_are_refused() {
        for raw in ["", "-a", "a-", "a b", "a[b]", "ä", "a@b"] {
            assert!(Name::new(raw).is_err(), "{raw:?}");
        }
    }
}
