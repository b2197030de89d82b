//! `[metadata.NAME]`: dependencies of packages that have only source releases, which would have to be built to be read.

use cuda_lock_constraint::name::Name;
use pep440_rs::Version;
use serde_spanned::Spanned;
use toml::de::DeTable;

use super::requirement::{name, requirements, specifiers};
use crate::document::{Report, owned, text, texts};
use crate::schema::{Key, Kind};

/// The keys of `[metadata.NAME]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "version",
        Kind::Text,
        "\"1.0\"",
        "The one version this is about; without it, every version.",
    ),
    Key::new("requires-dist", Kind::Texts, "[\"numpy\"]", "Its requirements (PEP 508)."),
    Key::new("requires-python", Kind::Text, "\">=3.9\"", "The Python versions it runs on."),
    Key::new("provides-extra", Kind::Texts, "[\"gpu\"]", "Its extras."),
];

/// `[metadata.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct StaticMetadata {
    /// The project.
    pub name: Spanned<Name>,
    /// The version this is about; `None`: all.
    pub version: Option<Spanned<Version>>,
    /// Its requirements, checked, as written.
    pub requires_dist: Vec<Spanned<String>>,
    /// The Python versions it runs on, checked, as written.
    pub requires_python: Option<Spanned<String>>,
    /// Its extras.
    pub provides_extra: Vec<Spanned<Name>>,
}

/// Reads every `[metadata.NAME]`, in the order of names.
pub(super) fn read_all(table: &DeTable<'_>, report: &mut Report) -> Vec<StaticMetadata> {
    let mut all: Vec<StaticMetadata> = Vec::new();
    for (key, value) in table {
        let Some(keys) = value.get_ref().as_table() else { continue };
        let key = Spanned::new(key.span(), key.get_ref().as_ref());
        let Some(project) = name(&key, report) else { continue };
        if all.iter().any(|other| *other.name.get_ref() == project) {
            report
                .error(key.span(), format!("{project} is described twice"))
                .help("keep one of the tables");
        }
        let version = text(keys, "version").and_then(|text| match text.get_ref().parse() {
            Ok(version) => Some(Spanned::new(text.span(), version)),
            Err(_) => {
                report.error(text.span(), format!("invalid version \"{}\"", text.get_ref()));
                None
            }
        });
        let requires_python = text(keys, "requires-python")
            .filter(|text| specifiers(text, "requires-python", report).is_some());
        let extras = texts(keys, "provides-extra").unwrap_or_default();
        all.push(StaticMetadata {
            name: Spanned::new(key.span(), project),
            version,
            requires_dist: requirements(texts(keys, "requires-dist").unwrap_or_default(), report),
            requires_python: requires_python.as_ref().map(owned),
            provides_extra: extras
                .iter()
                .filter_map(|text| Some(Spanned::new(text.span(), name(text, report)?)))
                .collect(),
        });
    }
    all
}
