//! Reads requirements the way they are published.
//!
//! PEP 508 is the rule; beyond it, what pip or uv accept or repair is accepted: `foo (>=1.2)`, missing and spare commas,
//! quotes around versions, `>=1.0.*`, `!=3.0*`, `!=~5.0`, `>dev` and `>=1.0a1.0`. Anything else is an error that names
//! the text.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier, VersionSpecifiers};

use super::cursor::Cursor;
use super::error::{Fault, RequirementError};
use super::marker::Marker;
use crate::digest::parse_sha256;
use crate::name::Name;
use crate::version::{Range, dist_range, specifiers_mention_prerelease};

/// A PEP 508 requirement.
#[derive(Debug)]
pub struct Requirement {
    /// The project.
    pub name: Name,
    /// The extras of it that are asked for.
    pub extras: Box<[Name]>,
    /// Its versions; empty allows all.
    pub specifiers: VersionSpecifiers,
    /// A direct reference instead of versions.
    pub url: Option<UrlRequirement>,
    /// When the requirement applies; always, without one.
    pub marker: Option<Arc<Marker>>,
    text: Arc<str>,
    range: OnceLock<Range>,
}

/// A direct reference: `name @ URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRequirement {
    /// The URL, without its fragment.
    pub url: Box<str>,
    /// What follows `#`, such as `sha256=...` or `subdirectory=python`.
    pub fragment: Option<Box<str>>,
}

impl UrlRequirement {
    /// The value of one key of the fragment, such as `subdirectory`.
    #[must_use]
    pub fn fragment_value(&self, key: &str) -> Option<&str> {
        let pairs = self.fragment.as_deref()?.split('&');
        pairs.filter_map(|pair| pair.split_once('=')).find(|(k, _)| *k == key).map(|(_, v)| v)
    }

    /// The SHA-256 digest that the fragment names, when it is one.
    #[must_use]
    pub fn sha256(&self) -> Option<[u8; 32]> {
        parse_sha256(self.fragment_value("sha256")?)
    }
}

impl Requirement {
    /// The text as it was published.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The builds that will do. A direct reference allows all.
    pub fn range(&self) -> &Range {
        self.range.get_or_init(|| dist_range(&self.specifiers))
    }

    /// True when it opts in to pre-releases of its project by naming one.
    #[must_use]
    pub fn mentions_prerelease(&self) -> bool {
        specifiers_mention_prerelease(&self.specifiers)
    }

    /// True when it pins one version with `==`: that opts in to a release which its author withdrew.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.specifiers
            .iter()
            .any(|s| matches!(s.operator(), Operator::Equal | Operator::ExactEqual))
    }

    /// The local label that it pins: `cu118` of `torch==2.3.1+cu118`.
    #[must_use]
    pub fn local_label(&self) -> Option<String> {
        let pins =
            |s: &&VersionSpecifier| s.version().is_local() && *s.operator() != Operator::NotEqual;
        let local = self.specifiers.iter().find(pins)?.version().local();
        Some(local.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
    }

    /// Reads `text`, with `marker` reading what follows the semicolon.
    pub(super) fn parse_with(
        text: &Arc<str>,
        marker: impl FnOnce(&str) -> Result<Arc<Marker>, RequirementError>,
    ) -> Result<Self, RequirementError> {
        let mut cursor = Cursor::new(text);
        cursor.skip_space();
        let name = name(&mut cursor)?;
        cursor.skip_space();
        let extras = if cursor.eat("[") { extras(&mut cursor)? } else { Box::default() };
        cursor.skip_space();
        let (url, specifiers) = if cursor.eat("@") {
            (Some(url(&mut cursor)?), VersionSpecifiers::empty())
        } else {
            (None, specifiers(&mut cursor)?)
        };
        cursor.skip_space();
        let marker = if cursor.eat(";") {
            let start = cursor.offset();
            let read = marker(cursor.rest().trim_ascii_end());
            Some(read.map_err(|error| error.within(text, start))?)
        } else if cursor.peek().is_some() {
            return cursor.fail(Fault::NoOperator);
        } else {
            None
        };
        let range = OnceLock::new();
        Ok(Self { name, extras, specifiers, url, marker, text: Arc::clone(text), range })
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_with(&text.into(), |marker| marker.parse().map(Arc::new))
    }
}

/// Reads a list of specifiers by itself, such as a `Requires-Python`, with the same repairs.
///
/// # Errors
/// When it is not such a list.
pub fn parse_specifiers(text: &str) -> Result<VersionSpecifiers, RequirementError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_space();
    let read = specifiers(&mut cursor)?;
    match cursor.peek() {
        None => Ok(read),
        Some(_) => cursor.fail(Fault::NoOperator),
    }
}

fn name(cursor: &mut Cursor<'_>) -> Result<Name, RequirementError> {
    let start = cursor.offset();
    let raw = cursor
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.') || b > 127);
    if raw.is_empty() {
        return cursor.fail(Fault::NoName);
    }
    Name::new(raw).or_else(|invalid| cursor.fail_at(start, invalid.into()))
}

fn extras(cursor: &mut Cursor<'_>) -> Result<Box<[Name]>, RequirementError> {
    let open = cursor.offset().saturating_sub(1);
    let mut extras = Vec::new();
    loop {
        cursor.take_while(|b| b.is_ascii_whitespace() || b == b',');
        if cursor.eat("]") {
            return Ok(extras.into());
        }
        if cursor.peek().is_none() {
            return cursor.fail_at(open, Fault::Unclosed('['));
        }
        let extra = name(cursor)?;
        if !extras.contains(&extra) {
            extras.push(extra);
        }
    }
}

fn url(cursor: &mut Cursor<'_>) -> Result<UrlRequirement, RequirementError> {
    cursor.skip_space();
    let whole = cursor.rest();
    // PEP 508 ends a URL at white space. A semicolon right before that is the one of the marker: no real URL ends so.
    let raw = whole.split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
    let raw = raw.strip_suffix(';').unwrap_or(raw);
    if raw.is_empty() {
        return cursor.fail(Fault::NoUrl);
    }
    cursor.eat(raw);
    Ok(match raw.split_once('#') {
        Some((url, fragment)) => {
            UrlRequirement { url: url.into(), fragment: Some(fragment.into()) }
        }
        None => UrlRequirement { url: raw.into(), fragment: None },
    })
}

fn specifiers(cursor: &mut Cursor<'_>) -> Result<VersionSpecifiers, RequirementError> {
    let open = cursor.offset();
    let parenthesised = cursor.eat("(");
    let mut read = Vec::new();
    loop {
        cursor.take_while(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'"' | b'\''));
        match cursor.peek() {
            Some(b')') if parenthesised => {
                cursor.eat(")");
                break;
            }
            None if parenthesised => return cursor.fail_at(open, Fault::Unclosed('(')),
            None | Some(b';') => break,
            Some(_) => read.push(clause(cursor)?),
        }
    }
    Ok(read.into_iter().collect())
}

fn clause(cursor: &mut Cursor<'_>) -> Result<VersionSpecifier, RequirementError> {
    const OPERATORS: [(&str, Operator); 8] = [
        (">=", Operator::GreaterThanEqual),
        ("===", Operator::ExactEqual),
        ("==", Operator::Equal),
        ("<=", Operator::LessThanEqual),
        ("~=", Operator::TildeEqual),
        ("!=", Operator::NotEqual),
        ("<", Operator::LessThan),
        (">", Operator::GreaterThan),
    ];
    let start = cursor.offset();
    let Some((sign, mut operator)) = OPERATORS.into_iter().find(|(sign, _)| cursor.eat(sign))
    else {
        return cursor.fail(Fault::NoOperator);
    };
    if operator == Operator::NotEqual && cursor.eat("~") {
        operator = Operator::NotEqualStar;
    }
    cursor.take_while(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''));
    let from = cursor.offset();
    let version = take_version(cursor);
    if version.is_empty() {
        return cursor.fail_at(from, Fault::NoVersion(sign.to_owned()));
    }
    specifier(operator, version).or_else(|reason| {
        cursor.fail_at(start, Fault::Specifier(format!("{sign}{version}"), reason))
    })
}

/// The text of a version: up to a comma, white space, or the next operator. The `!` of an epoch belongs to it.
fn take_version<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    let whole = cursor.rest();
    let mut length = 0;
    loop {
        length +=
            cursor.take_while(|b| !b.is_ascii_whitespace() && !b",;()<>=~!\"'".contains(&b)).len();
        if cursor.peek() != Some(b'!') || cursor.peek_second() == Some(b'=') {
            return whole.get(..length).unwrap_or_default();
        }
        cursor.eat("!");
        length += 1;
    }
}

/// The specifier, or why there is none.
fn specifier(operator: Operator, text: &str) -> Result<VersionSpecifier, &'static str> {
    const STAR: &str = "'.*' goes with == and != only, and follows plain numbers";
    // "3.0*" is a slip for "3.0.*".
    let (text, starred) = match text.strip_suffix('*') {
        Some(prefix) => (prefix.strip_suffix('.').unwrap_or(prefix), true),
        None => (text, false),
    };
    let operator = match operator {
        Operator::Equal if starred => Operator::EqualStar,
        Operator::NotEqual if starred => Operator::NotEqualStar,
        // A star says nothing more to an order.
        Operator::GreaterThanEqual
        | Operator::GreaterThan
        | Operator::LessThanEqual
        | Operator::LessThan => operator,
        _ if starred => return Err(STAR),
        _ => operator,
    };
    let version = version(text).ok_or("it has no version of PEP 440")?;
    let plain = !version.any_prerelease() && !version.is_post() && !version.is_local();
    if matches!(operator, Operator::EqualStar | Operator::NotEqualStar) && !plain {
        return Err(STAR);
    }
    let labelled = version.is_local();
    VersionSpecifier::from_version(operator, version).map_err(|_| {
        if labelled {
            "a local label (+...) goes with == and != only"
        } else {
            "~= needs at least two numbers, as in ~=1.0"
        }
    })
}

fn version(text: &str) -> Option<Pep440> {
    if text == "dev" {
        return Some(Pep440::new([0, 0, 0]).with_dev(Some(0)));
    }
    // "9.0.0a1.0" is a slip for "9.0.0a1".
    text.parse().ok().or_else(|| text.strip_suffix(".0")?.parse().ok())
}

#[cfg(test)]
mod tests;
