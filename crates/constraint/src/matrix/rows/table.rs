//! Tables of a matrix: rows that are decoded when they are first asked for, and the releases that a row speaks of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use pep440_rs::Version;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::Name;

/// A row of a table.
pub trait Row: Serialize + DeserializeOwned + fmt::Debug + 'static {
    /// Whether every gap between rows has to be told. Derived rows speak of what was read, and leave gaps.
    const COMPLETE: bool = true;

    /// The releases that it speaks of, for rows with `from` and `to`.
    fn span(&self) -> Option<&Span> {
        None
    }

    /// What it speaks of besides releases. Of one release no two rows may say something about the same subject.
    fn subjects(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A row about one distribution.
pub trait OfName: Row {
    /// The distribution.
    fn name(&self) -> Name;
}

/// The releases that a row speaks of: those from `from` to `to`, both inclusive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// First release.
    pub from: Version,
    /// Last release known.
    pub to: Version,
    /// Why no row speaks of the releases right before the first one, where other rows speak of older ones.
    #[serde(default)]
    pub gap: Option<String>,
    /// The line of the file, for messages about the file.
    pub line: Box<str>,
}

impl Span {
    /// Whether `release` is among them.
    #[must_use]
    pub fn contains(&self, release: &Version) -> bool {
        self.from <= *release && *release <= self.to
    }
}

/// The rows of a table, in the order of the file.
///
/// They lie encoded in the binary, and are decoded together when the first one is asked for.
#[derive(Debug)]
pub struct Rows<R> {
    bytes: Box<[u8]>,
    rows: OnceLock<Box<[R]>>,
}

impl<R: Row> Deref for Rows<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        self.rows.get_or_init(|| {
            postcard::from_bytes(&self.bytes).expect("the build script wrote it from the same type")
        })
    }
}

impl<'a, R: Row> IntoIterator for &'a Rows<R> {
    type Item = &'a R;
    type IntoIter = std::slice::Iter<'a, R>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<R: Row> From<Vec<R>> for Rows<R> {
    fn from(rows: Vec<R>) -> Self {
        Self { bytes: Box::default(), rows: OnceLock::from(rows.into_boxed_slice()) }
    }
}

impl<R: Row> Serialize for Rows<R> {
    /// As the encoded rows in one piece, which can be passed over.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = postcard::to_stdvec(&**self).map_err(S::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de, R: Row> Deserialize<'de> for Rows<R> {
    /// From TOML, with all its checks, or from the encoded form, without a look at the rows.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Ok(checked(deserializer)?.into());
        }
        let bytes = deserializer.deserialize_bytes(Encoded)?;
        Ok(Self { bytes, rows: OnceLock::new() })
    }
}

struct Encoded;

impl Visitor<'_> for Encoded {
    type Value = Box<[u8]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("encoded rows")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.into())
    }
}

/// The rows of a table about distributions. Those about one distribution are found, and decoded, without the others.
#[derive(Debug)]
pub struct NamedRows<R> {
    /// Sorted by name.
    groups: Vec<(Box<str>, Rows<R>)>,
}

impl<R: OfName> NamedRows<R> {
    /// The rows about `name`, in the order of the file.
    #[must_use]
    pub fn of(&self, name: Name) -> &[R] {
        let found = self.groups.binary_search_by(|(known, _)| (**known).cmp(name.as_str()));
        found.ok().and_then(|at| self.groups.get(at)).map_or(&[], |(_, rows)| rows)
    }

    /// All rows, by name.
    pub fn iter(&self) -> impl Iterator<Item = &R> {
        self.groups.iter().flat_map(|(_, rows)| rows.iter())
    }

    /// The names that rows speak of, in order. No row is decoded for it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(|(name, _)| &**name)
    }
}

impl<R: OfName> Serialize for NamedRows<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.groups.serialize(serializer)
    }
}

impl<'de, R: OfName> Deserialize<'de> for NamedRows<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Ok(Self { groups: Vec::deserialize(deserializer)? });
        }
        let mut groups: BTreeMap<Box<str>, Vec<R>> = BTreeMap::new();
        for row in checked::<R, D>(deserializer)? {
            groups.entry(row.name().as_str().into()).or_default().push(row);
        }
        let groups = groups.into_iter().map(|(name, rows)| (name, rows.into())).collect();
        Ok(Self { groups })
    }
}

/// Reads rows and checks their spans.
fn checked<'de, R: Row, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<R>, D::Error> {
    let rows = Vec::<R>::deserialize(deserializer)?;
    check_spans(&rows).map_err(D::Error::custom)?;
    Ok(rows)
}

/// Finds rows that speak of the same release of the same subject, and releases between two rows of which none speaks.
fn check_spans<R: Row>(rows: &[R]) -> Result<(), String> {
    let mut subjects: BTreeMap<String, Vec<&Span>> = BTreeMap::new();
    for row in rows {
        let Some(span) = row.span() else { continue };
        if span.from > span.to {
            return Err(format!("line {}: {} is after {}", span.line, span.from, span.to));
        }
        for subject in row.subjects() {
            subjects.entry(subject).or_default().push(span);
        }
    }
    let mut gaps = BTreeSet::new();
    for (subject, spans) in &mut subjects {
        spans.sort_by(|a, b| a.from.cmp(&b.from));
        for pair in spans.windows(2) {
            let [before, after] = pair else { continue };
            if after.from <= before.to {
                return Err(format!(
                    "line {}: the row from {} overlaps with that of line {} to {}: {subject}",
                    after.line, after.from, before.line, before.to
                ));
            }
            let follows = follows(&before.to, &after.from);
            if R::COMPLETE && !follows && after.gap.is_none() {
                return Err(format!(
                    "line {}: no row speaks of what lies between {} and {}: {subject}; write one, or say why in `gap`",
                    after.line, before.to, after.from
                ));
            }
            if !follows {
                gaps.insert(&*after.line);
            }
        }
    }
    let spans = subjects.values().flatten();
    match spans.into_iter().find(|span| span.gap.is_some() && !gaps.contains(&*span.line)) {
        Some(span) => Err(format!("line {}: there is no gap before {}", span.line, span.from)),
        None => Ok(()),
    }
}

/// Whether `next` may be the release after `last`: one number is one higher, and those after it are zero.
fn follows(last: &Version, next: &Version) -> bool {
    let length = last.release().len().max(next.release().len());
    let numbers = |version: &Version| -> Vec<u64> {
        version.release().iter().copied().chain(std::iter::repeat(0)).take(length).collect()
    };
    let (last, next) = (numbers(last), numbers(next));
    let Some(at) = last.iter().zip(&next).position(|(a, b)| a != b) else { return false };
    next.get(at).copied() == last.get(at).map(|number| number + 1)
        && next.iter().skip(at + 1).all(|number| *number == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Plain {
        span: Span,
    }

    impl Row for Plain {
        fn span(&self) -> Option<&Span> {
            Some(&self.span)
        }

        fn subjects(&self) -> Vec<String> {
            vec!["plain".to_owned()]
        }
    }

    fn checked(spans: &[(&str, &str, Option<&str>)]) -> String {
        let version = |text: &str| text.parse().expect("valid");
        let row = |(line, (from, to, gap)): (usize, &(&str, &str, Option<&str>))| Plain {
            span: Span {
                from: version(from),
                to: version(to),
                gap: gap.map(str::to_owned),
                line: (line + 1).to_string().into(),
            },
        };
        let rows: Vec<Plain> = spans.iter().enumerate().map(row).collect();
        check_spans(&rows).err().unwrap_or_default()
    }

    #[test]
    fn no_gap_and_no_overlap_goes_unnoticed() {
        assert_eq!(
            checked(&[("1.0", "1.4.2", None), ("1.5.0", "2.1", None), ("3", "3", None)]),
            ""
        );
        assert_eq!(checked(&[("1.5", "2.1", None), ("1.0", "1.4.2", None)]), "");
        insta::assert_snapshot!(checked(&[("2.0", "1.0", None)]), @"line 1: 2.0 is after 1.0");
        insta::assert_snapshot!(
            checked(&[("1.0", "1.4", None), ("1.4", "1.5", None)]),
            @"line 2: the row from 1.4 overlaps with that of line 1 to 1.4: plain"
        );
        insta::assert_snapshot!(
            checked(&[("1.0", "1.4", None), ("1.6", "1.7", None)]),
            @"line 2: no row speaks of what lies between 1.4 and 1.6: plain; write one, or say why in `gap`"
        );
        assert_eq!(checked(&[("1.0", "1.4", None), ("1.6", "1.7", Some("1.5 was withdrawn"))]), "");
        insta::assert_snapshot!(
            checked(&[("1.0", "1.4", None), ("1.5", "1.7", Some("none"))]),
            @"line 2: there is no gap before 1.5"
        );
    }

    #[test]
    fn rows_survive_the_encoded_form() {
        let span = || Span {
            from: "1.0".parse().expect("valid"),
            to: "1.4+cu118".parse().expect("valid"),
            gap: None,
            line: "7".into(),
        };
        let rows = Rows::from(vec![Plain { span: span() }, Plain { span: span() }]);
        let bytes = postcard::to_stdvec(&rows).expect("plain data");
        let read: Rows<Plain> = postcard::from_bytes(&bytes).expect("the same type");
        assert!(read.rows.get().is_none(), "nothing is decoded before it is asked for");
        assert_eq!(read.len(), 2);
        assert_eq!(read[1].span.to, span().to);
    }
}
