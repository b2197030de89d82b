//! Versions of system layers: drivers, CUDA, cuDNN, glibc, compute capabilities, opsets.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A version of one to four numbers, compared by number and printed as it was written.
///
/// NVIDIA writes driver `580.65.06` (with a leading zero that no version standard keeps), cuDNN `9.1.0.70` (four
/// parts) and CUDA `12.4`. A missing part counts as zero: `12.4` equals `12.4.0`.
#[derive(Clone)]
pub struct SystemVersion(Arc<Parts>);

struct Parts {
    /// Major, minor and patch.
    number: semver::Version,
    /// The fourth part, which semantic versions do not have.
    fourth: u64,
    text: Box<str>,
}

/// A text that is not one to four numbers with dots between them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a version: expected one to four numbers separated by dots, such as 535.104.05 or 12.4"
)]
pub struct InvalidSystemVersion(pub String);

impl SystemVersion {
    /// `major.minor`, as CUDA and compute capabilities are written.
    #[must_use]
    pub fn new(major: u64, minor: u64) -> Self {
        Self(Arc::new(Parts {
            number: semver::Version::new(major, minor, 0),
            fourth: 0,
            text: format!("{major}.{minor}").into(),
        }))
    }

    /// The first number.
    #[must_use]
    pub fn major(&self) -> u64 {
        self.0.number.major
    }

    /// The second number, 0 when it is not written.
    #[must_use]
    pub fn minor(&self) -> u64 {
        self.0.number.minor
    }

    /// The text as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// `major.minor` of this version.
    #[must_use]
    pub fn major_minor(&self) -> Self {
        Self::new(self.major(), self.minor())
    }

    /// The smallest version that is above every version starting with these numbers: `12.4` gives `12.5`, `12` gives `13`.
    #[must_use]
    pub fn next_sibling(&self) -> Self {
        let mut parts: Vec<u64> =
            self.as_str().split('.').map(|part| part.parse().unwrap_or(0)).collect();
        if let Some(last) = parts.last_mut() {
            *last += 1;
        }
        let text = parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        Self::from_parts(&parts, text.into())
    }

    fn from_parts(parts: &[u64], text: Box<str>) -> Self {
        let at = |i: usize| parts.get(i).copied().unwrap_or(0);
        Self(Arc::new(Parts {
            number: semver::Version::new(at(0), at(1), at(2)),
            fourth: at(3),
            text,
        }))
    }
}

impl FromStr for SystemVersion {
    type Err = InvalidSystemVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidSystemVersion(text.to_owned());
        let mut parts = [0_u64; 4];
        let (mut part, mut digits) = (0, 0);
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9' if digits < 9 => {
                    let number = parts.get_mut(part).ok_or_else(invalid)?;
                    *number = *number * 10 + u64::from(byte - b'0');
                    digits += 1;
                }
                b'.' if digits > 0 => (part, digits) = (part + 1, 0),
                _ => return Err(invalid()),
            }
        }
        if digits == 0 {
            return Err(invalid());
        }
        Ok(Self::from_parts(&parts, text.into()))
    }
}

impl PartialEq for SystemVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SystemVersion {}

impl Hash for SystemVersion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.number.hash(state);
        self.0.fourth.hash(state);
    }
}

impl PartialOrd for SystemVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SystemVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.number.cmp(&other.0.number).then(self.0.fourth.cmp(&other.0.fourth))
    }
}

impl fmt::Display for SystemVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for SystemVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for SystemVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for SystemVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> SystemVersion {
        text.parse().expect("valid")
    }

    #[test]
    fn versions_compare_by_number_and_print_as_written() {
        assert!(v("580.65.06") < v("580.126.20"));
        assert!(v("470.103.01") > v("470.86"));
        assert!(v("9.1.0.70") < v("9.10.2.21"));
        assert_eq!(v("12.4"), v("12.4.0"));
        assert_eq!(v("580.65.06").to_string(), "580.65.06");
        assert_eq!(v("12.4").next_sibling(), v("12.5"));
        assert_eq!(v("12").next_sibling(), v("13"));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "12.", "12.4rc1", "1.2.3.4.5", "-1", "535.x", "99999999999"] {
            assert!(text.parse::<SystemVersion>().is_err(), "{text:?}");
        }
    }
}
