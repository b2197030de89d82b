//! A requirement, made from its parts.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier, VersionSpecifiers};

use super::Mode;
use super::cursor::Cursor;
use super::error::{Fault, RequirementError};
use super::grammar::{self, Clause};
use super::marker::Marker;
use crate::digest::parse_sha256;
use crate::name::Name;
use crate::version::{Range, dist_range, local_label, specifiers_mention_prerelease};

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
    fn new(text: &str) -> Self {
        match text.split_once('#') {
            Some((url, fragment)) => Self { url: url.into(), fragment: Some(fragment.into()) },
            None => Self { url: text.into(), fragment: None },
        }
    }

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

    /// The one version that it pins, with `==` and without `.*`.
    #[must_use]
    pub fn pinned(&self) -> Option<&Pep440> {
        let exact =
            |s: &&VersionSpecifier| matches!(s.operator(), Operator::Equal | Operator::ExactEqual);
        self.specifiers.iter().find(exact).map(VersionSpecifier::version)
    }

    /// Whether its marker looks at the version of Python.
    #[must_use]
    pub fn hangs_on_python(&self) -> bool {
        self.marker.as_ref().is_some_and(|marker| marker.names_python())
    }

    /// True when it pins one version: that opts in to a release which its author withdrew.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.pinned().is_some()
    }

    /// The local label that it pins: `cu118` of `torch==2.3.1+cu118`.
    #[must_use]
    pub fn local_label(&self) -> Option<String> {
        let pins =
            |s: &&VersionSpecifier| s.version().is_local() && *s.operator() != Operator::NotEqual;
        local_label(self.specifiers.iter().find(pins)?.version())
    }

    /// Reads `text` with repairs, with `marker` reading what follows the semicolon.
    pub(super) fn parse_with(
        text: &Arc<str>,
        marker: impl FnOnce(&str) -> Result<Arc<Marker>, RequirementError>,
    ) -> Result<Self, RequirementError> {
        let mut cursor = Cursor::new(text, Mode::Repair);
        let parts = grammar::requirement(&mut cursor)?;
        let marker = match parts.marker {
            Some(at) => {
                let read = marker(cursor.part(at.clone()).trim_ascii_end());
                Some(read.map_err(|error| error.within(text, at.start))?)
            }
            None => None,
        };
        let mut extras: Vec<Name> = Vec::with_capacity(parts.extras.len());
        for (extra, _) in parts.extras {
            if !extras.contains(&extra) {
                extras.push(extra);
            }
        }
        Ok(Self {
            name: parts.name.0,
            extras: extras.into(),
            specifiers: specifiers(parts.clauses),
            url: parts.url.map(|at| UrlRequirement::new(cursor.part(at))),
            marker,
            text: Arc::clone(text),
            range: OnceLock::new(),
        })
    }
}

impl FromStr for Requirement {
    type Err = RequirementError;

    /// Reads it with repairs.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse_with(&text.into(), |marker| marker.parse().map(Arc::new))
    }
}

/// Reads a list of specifiers by itself, such as a `Requires-Python`, with the same repairs.
///
/// # Errors
/// When it is not such a list.
pub fn parse_specifiers(text: &str) -> Result<VersionSpecifiers, RequirementError> {
    let mut cursor = Cursor::new(text, Mode::Repair);
    cursor.skip_space();
    let mut clauses = Vec::new();
    grammar::specifiers(&mut cursor, &mut clauses)?;
    match cursor.peek() {
        None => Ok(specifiers(clauses)),
        Some(_) => cursor.fail(Fault::NoOperator),
    }
}

fn specifiers(clauses: Vec<Clause>) -> VersionSpecifiers {
    clauses.into_iter().filter_map(|clause| clause.specifier).collect()
}

#[cfg(test)]
mod tests;
