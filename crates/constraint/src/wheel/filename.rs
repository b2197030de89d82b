//! Wheel file names (PEP 427, 491).

use std::borrow::Cow;

use pep440_rs::Version as Pep440;

use super::tags::WheelTags;
use crate::name::{InvalidName, Name};

/// What a wheel's file name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WheelName {
    /// The project.
    pub name: Name,
    /// The version, with its local label.
    pub version: Pep440,
    /// The build tag: of two wheels that are otherwise alike, the higher is the newer build.
    pub build: Option<BuildTag>,
    /// What it runs on.
    pub tags: WheelTags,
}

/// The label of the variant that promises nothing beyond its tags.
const NO_PROPERTIES: &str = "null";

/// The build tag of a wheel: a number, then perhaps more. Orders as PEP 427 says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildTag {
    /// The digits it starts with.
    pub number: u64,
    /// What follows them.
    pub rest: Box<str>,
}

/// Why a file name is not that of a wheel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WheelNameError {
    /// It does not end in `.whl`.
    #[error("its name does not end in .whl")]
    Extension,
    /// It has too few or too many parts.
    #[error("its name does not have the five or six parts of a wheel's name (PEP 427)")]
    Parts,
    /// The first part is no project name.
    #[error("its name does not start with the name of a project: {0}")]
    Name(#[from] InvalidName),
    /// The second part is no version.
    #[error("'{0}' in its name is not a version (PEP 440)")]
    Version(String),
    /// The build tag does not start with a digit.
    #[error("'{0}' in its name is not a build tag (PEP 427)")]
    Build(String),
    /// A tag set is empty.
    #[error("its name has an empty tag (PEP 425)")]
    Tag,
    /// It is a variant wheel, which is a separate choice by properties that tags do not have.
    #[error("it is a variant wheel (PEP 825), for the variant '{0}'")]
    Variant(String),
}

impl WheelName {
    /// Reads a file name. A percent-encoded `+` is taken for one.
    ///
    /// # Errors
    /// When it is not the name of a wheel, or that of a variant wheel.
    pub fn parse(filename: &str) -> Result<Self, WheelNameError> {
        let parts = Parts::split(filename)?;
        let tags = parts.tags();
        parts.into_name(tags)
    }
}

/// The parts of a wheel's name, not yet read.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    name: &'a str,
    version: &'a str,
    build: Option<&'a str>,
    tags: [&'a str; 3],
}

impl<'a> Parts<'a> {
    pub(super) fn split(filename: &'a str) -> Result<Self, WheelNameError> {
        let stem = filename.strip_suffix(".whl").ok_or(WheelNameError::Extension)?;
        let mut parts = [""; 7];
        let mut count = 0;
        for part in pieces(stem, b'-') {
            *parts.get_mut(count).ok_or(WheelNameError::Parts)? = part;
            count += 1;
        }
        let [name, version, a, b, c, d, e] = parts;
        let (build, tags, variant) = match count {
            5 => (None, [a, b, c], None),
            6 if starts_with_digit(a) => (Some(a), [b, c, d], None),
            // No interpreter's name starts with a digit, and every build tag does.
            6 if is_python_tag(a) => (None, [a, b, c], Some(d)),
            7 if starts_with_digit(a) => (Some(a), [b, c, d], Some(e)),
            6 | 7 => return Err(WheelNameError::Build(a.to_owned())),
            _ => return Err(WheelNameError::Parts),
        };
        // The variant that has no properties fits wherever its tags do (PEP 825).
        if let Some(label) = variant.filter(|label| *label != NO_PROPERTIES) {
            return Err(WheelNameError::Variant(label.to_owned()));
        }
        if tags.iter().any(|set| pieces(set, b'.').any(str::is_empty)) {
            return Err(WheelNameError::Tag);
        }
        Ok(Self { name, version, build, tags })
    }

    pub(super) fn tags(&self) -> WheelTags {
        let [python, abi, platform] = self.tags;
        WheelTags::parse(python, abi, platform)
    }

    pub(super) fn build(&self) -> Option<BuildTag> {
        let text = self.build?;
        let length = text.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = text.split_at_checked(length)?;
        // A number past the largest that fits is as high as can be.
        Some(BuildTag { number: digits.parse().unwrap_or(u64::MAX), rest: rest.into() })
    }

    pub(super) fn into_name(self, tags: WheelTags) -> Result<WheelName, WheelNameError> {
        let name = Name::new(self.name)?;
        Ok(WheelName { name, version: self.version()?, build: self.build(), tags })
    }

    fn version(&self) -> Result<Pep440, WheelNameError> {
        let text = if self.version.contains('%') {
            Cow::Owned(self.version.replace("%2B", "+").replace("%2b", "+"))
        } else {
            Cow::Borrowed(self.version)
        };
        text.parse()
            // Old tools wrote a hyphen, as in 1.0-1, as an underscore.
            .or_else(|_| text.replace('_', "-").parse())
            .map_err(|_| WheelNameError::Version(self.version.to_owned()))
    }
}

/// The pieces of a text between separators. A page has thousands of short names: for these a plain loop over bytes takes
/// a third of the time of a search that is made for long texts.
pub(super) fn pieces(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let whole = rest?;
        // A separator is ASCII, so the text is cut between characters.
        let cut = whole.bytes().position(|byte| byte == separator);
        let (piece, after) = match cut.and_then(|at| Some((whole.get(..at)?, whole.get(at + 1..)?)))
        {
            Some((piece, after)) => (piece, Some(after)),
            None => (whole, None),
        };
        rest = after;
        Some(piece)
    })
}

fn starts_with_digit(text: &str) -> bool {
    text.bytes().next().is_some_and(|b| b.is_ascii_digit())
}

fn is_python_tag(text: &str) -> bool {
    let letters = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    letters.len() < text.len() && starts_with_digit(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_whole() {
        let wheel = WheelName::parse(
            "torch-2.10.0%2Bcu130-3_b-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        )
        .expect("valid");
        assert_eq!(wheel.name.as_str(), "torch");
        assert_eq!(wheel.version.to_string(), "2.10.0+cu130");
        assert_eq!(wheel.build, Some(BuildTag { number: 3, rest: "_b".into() }));
        assert_eq!(wheel.tags.platforms().count(), 2);
        let wheel = WheelName::parse("Foo.Bar_baz-1.0_1-py2.py3-none-any.whl").expect("valid");
        assert_eq!(wheel.name.as_str(), "foo-bar-baz");
        assert_eq!(wheel.version.to_string(), "1.0.post1");
    }

    #[test]
    fn pieces_are_those_of_split() {
        for text in ["", "-", "a", "a-b", "-a--é-", "a-b-c-"] {
            assert!(pieces(text, b'-').eq(text.split('-')), "{text}");
        }
    }

    #[test]
    fn builds_order_by_number_and_a_build_is_above_none() {
        let build = |text: &str| WheelName::parse(text).expect("valid").build;
        let (none, two, ten) = (
            build("a-1-py3-none-any.whl"),
            build("a-1-2-py3-none-any.whl"),
            build("a-1-10-py3-none-any.whl"),
        );
        assert!(none < two && two < ten);
        assert!(ten < build("a-1-10a-py3-none-any.whl"));
        assert!(build("a-1-99999999999999999999999-py3-none-any.whl") > ten);
    }

    #[test]
    fn the_variant_without_properties_is_a_plain_wheel() {
        let wheel =
            WheelName::parse("torch-2.9.0-1-cp313-cp313-win_amd64-null.whl").expect("plain");
        assert_eq!(wheel.tags.platforms().count(), 1);
    }

    #[test]
    fn variant_wheels_keep_their_label() {
        for name in [
            "torch-2.9.0-cp313-cp313-manylinux_2_28_x86_64-cu129.whl",
            "torch-2.9.0-1-cp313-cp313-manylinux_2_28_x86_64-cu129.whl",
        ] {
            assert_eq!(WheelName::parse(name), Err(WheelNameError::Variant("cu129".into())));
        }
    }

    #[test]
    fn other_names_are_refused_with_the_part_that_is_wrong() {
        let refused = |name: &str| WheelName::parse(name).expect_err("invalid").to_string();
        for (name, expected) in [
            ("a-1.tar.gz", "its name does not end in .whl"),
            (
                "a-1-py3-none.whl",
                "its name does not have the five or six parts of a wheel's name (PEP 427)",
            ),
            ("a-b-1-py3-none-any.whl", "'b' in its name is not a version (PEP 440)"),
            ("a-x.y-py3-none-any.whl", "'x.y' in its name is not a version (PEP 440)"),
            ("a-1-beta-py3-none-any.whl", "'beta' in its name is not a build tag (PEP 427)"),
            ("a-1-py3--any.whl", "its name has an empty tag (PEP 425)"),
        ] {
            assert_eq!(refused(name), expected, "{name}");
        }
        assert!(refused("-1-py3-none-any.whl").starts_with("its name does not start with"));
    }
}
