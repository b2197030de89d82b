//! `[options]`: how versions are chosen.

use std::collections::BTreeMap;

use cuda_lock_constraint::name::{InvalidName, Name};
use cuda_lock_constraint::solve::{Prerelease, Resolution};
use jiff::Timestamp;
use jiff::civil::Date;
use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::requirement::{name, requirements};
use crate::document::{Report, as_text, owned, table, text, texts};
use crate::schema::{Key, Kind};

/// The keys of `[options]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "resolution",
        Kind::Choice(&["highest", "lowest", "lowest-direct"]),
        "\"highest\"",
        "Which versions are preferred: the newest, the oldest, or the oldest of what env.toml names.",
    ),
    Key::new(
        "prerelease",
        Kind::Choice(&[
            "disallow",
            "allow",
            "if-necessary",
            "explicit",
            "if-necessary-or-explicit",
        ]),
        "\"disallow\"",
        "When pre-releases may be chosen.",
    ),
    Key::new(
        "exclude-newer",
        Kind::Date,
        "\"2026-11-01\"",
        "Ignore files uploaded after this day (to its end, in UTC) or from this timestamp on.",
    ),
    Key::new(
        "substitute",
        Kind::TextMap,
        "{ onnxruntime = \"onnxruntime-gpu\" }",
        "Packages that others stand in for, also where a dependency asks for them.",
    ),
    Key::new(
        "overrides",
        Kind::Texts,
        "[\"numpy<2\"]",
        "Requirements that replace every other requirement on the same package.",
    ),
    Key::new(
        "constraints",
        Kind::Texts,
        "[\"numpy<2\"]",
        "Requirements that hold if the package is installed at all.",
    ),
    Key::new(
        "only-indexes",
        Kind::Texts,
        "[\"pypi\"]",
        "Ask no other index, the known ones included.",
    ),
    Key::new(
        "trust-recorded",
        Kind::Texts,
        "[\"flash-attn\"]",
        "Packages whose source distribution is trusted in what it recorded when it was made, though a build may differ.",
    ),
    Key::new(
        "build",
        Kind::Texts,
        "[\"chumpy\"]",
        "Source distributions whose metadata may be built by uv or pip, which runs their code; \":all:\" for every one.",
    ),
    Key::new(
        "same",
        Kind::Texts,
        "[\"numpy\"]",
        "Packages that should have one version in all targets.",
    ),
];

/// `[options]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Which versions are preferred.
    pub resolution: Resolution,
    /// When pre-releases may be chosen.
    pub prerelease: Prerelease,
    /// Ignore what was uploaded later.
    pub exclude_newer: Option<Spanned<ExcludeNewer>>,
    /// Packages that others stand in for.
    pub substitute: BTreeMap<Name, Spanned<Name>>,
    /// Requirements that replace others, checked, as written.
    pub overrides: Vec<Spanned<String>>,
    /// Requirements that hold if the package is installed, checked, as written.
    pub constraints: Vec<Spanned<String>>,
    /// The only indexes to ask, by name; `None` when any may be asked.
    pub only_indexes: Option<Vec<Spanned<String>>>,
    /// Packages whose source distribution is trusted in what it recorded.
    pub trust_recorded: Vec<Spanned<Name>>,
    /// Source distributions whose metadata may be built.
    pub build: Vec<Spanned<BuildName>>,
    /// Packages with one version in all targets.
    pub same: Vec<Spanned<Name>>,
}

/// What may be built: a project, or everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuildName {
    /// `:all:`
    All,
    /// This project.
    One(Name),
}

impl std::str::FromStr for BuildName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        if text.trim() == ":all:" { Ok(Self::All) } else { Name::new(text).map(Self::One) }
    }
}

impl std::fmt::Display for BuildName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::All => f.write_str(":all:"),
            Self::One(name) => name.fmt(f),
        }
    }
}

/// A moment after which nothing was uploaded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludeNewer {
    /// As written.
    pub text: String,
    /// Files uploaded at this instant or later do not exist. A day ends at the next midnight, in UTC, whatever the time
    /// zone of this machine.
    pub before: Timestamp,
}

impl std::str::FromStr for ExcludeNewer {
    type Err = InvalidExcludeNewer;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidExcludeNewer(text.to_owned());
        let trimmed = text.trim();
        // A date must be all of the text: the parser of dates would take the first ten characters of a timestamp.
        let before = if trimmed.len() == 10 {
            let date: Date = trimmed.parse().map_err(|_| invalid())?;
            let next = date.tomorrow().map_err(|_| invalid())?;
            format!("{next}T00:00:00Z").parse().map_err(|_| invalid())?
        } else {
            trimmed.parse().map_err(|_| invalid())?
        };
        Ok(Self { text: trimmed.to_owned(), before })
    }
}

/// A text that is neither a day nor a timestamp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid date \"{0}\": write a day, such as 2026-11-01, or a timestamp with its offset, such as 2026-11-01T12:00:00Z"
)]
pub struct InvalidExcludeNewer(pub String);

impl Options {
    pub(super) fn read(keys: &DeTable<'_>, report: &mut Report) -> Self {
        let choice = |key| text(keys, key).map(Spanned::into_inner);
        let resolution = match choice("resolution") {
            Some("lowest") => Resolution::Lowest,
            Some("lowest-direct") => Resolution::LowestDirect,
            _ => Resolution::Highest,
        };
        let prerelease = match choice("prerelease") {
            Some("disallow") => Prerelease::Disallow,
            Some("allow") => Prerelease::Allow,
            Some("if-necessary") => Prerelease::IfNecessary,
            Some("explicit") => Prerelease::Explicit,
            _ => Prerelease::IfNecessaryOrExplicit,
        };
        let mut required = |key| requirements(texts(keys, key).unwrap_or_default(), report);
        let overrides = required("overrides");
        let constraints = required("constraints");
        let only_indexes: Option<Vec<_>> =
            texts(keys, "only-indexes").map(|names| names.iter().map(owned).collect());
        if let (Some([]), Some(value)) = (only_indexes.as_deref(), keys.get("only-indexes")) {
            report
                .error(value.span(), "`only-indexes` is empty: nothing could be fetched")
                .help("name an index, or remove the key");
        }
        let same = texts(keys, "same").unwrap_or_default();
        let trusted = texts(keys, "trust-recorded").unwrap_or_default();
        let builds = texts(keys, "build").unwrap_or_default();
        let build = |text: &Spanned<&str>, report: &mut Report| match text.get_ref().parse() {
            Ok(name) => Some(Spanned::new(text.span(), name)),
            Err(error) => {
                let error: InvalidName = error;
                report.error(text.span(), error.to_string()).done();
                None
            }
        };
        Self {
            resolution,
            prerelease,
            exclude_newer: exclude_newer(keys, report),
            substitute: substitute(keys, report),
            overrides,
            constraints,
            only_indexes,
            trust_recorded: trusted
                .iter()
                .filter_map(|text| Some(Spanned::new(text.span(), name(text, report)?)))
                .collect(),
            build: builds.iter().filter_map(|text| build(text, report)).collect(),
            same: same
                .iter()
                .filter_map(|text| Some(Spanned::new(text.span(), name(text, report)?)))
                .collect(),
        }
    }
}

fn exclude_newer(keys: &DeTable<'_>, report: &mut Report) -> Option<Spanned<ExcludeNewer>> {
    let value = keys.get("exclude-newer")?;
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        _ => return None,
    };
    match text.parse() {
        Ok(moment) => Some(Spanned::new(value.span(), moment)),
        Err(error) => {
            let error: InvalidExcludeNewer = error;
            let reported = report.error(value.span(), error.to_string());
            if text.trim_start().starts_with(['P', 'p']) || text.contains(' ') {
                reported.help(
                    "a span of time would mean another day at every run, so it is not accepted",
                );
            }
            None
        }
    }
}

fn substitute(keys: &DeTable<'_>, report: &mut Report) -> BTreeMap<Name, Spanned<Name>> {
    let mut map = BTreeMap::new();
    for (key, value) in table(keys, "substitute").into_iter().flatten() {
        let key = Spanned::new(key.span(), key.get_ref().as_ref());
        let (Some(from), Some(text)) = (name(&key, report), as_text(value)) else { continue };
        let Some(to) = name(&text, report) else { continue };
        if from == to {
            report.error(text.span(), format!("{from} cannot stand in for itself"));
        } else if map.insert(from, Spanned::new(text.span(), to)).is_some() {
            report
                .error(key.span(), format!("{from} has two substitutes"))
                .help("keep one of them");
        }
    }
    // A chain (a by b, b by c) has no end to rely on when it is a circle, and says nothing that a by c does not.
    for (from, to) in &map {
        if map.contains_key(to.get_ref()) {
            report
                .error(to.span(), format!("{to} stands in for {from}, but is itself substituted"))
                .help("name the package that is installed in the end");
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_midnight_utc() {
        for (text, before) in [
            ("2026-11-01", "2026-11-02T00:00:00Z"),
            ("2024-02-28", "2024-02-29T00:00:00Z"),
            ("2026-11-01T12:00:00Z", "2026-11-01T12:00:00Z"),
            ("2026-11-01T12:00:00+02:00", "2026-11-01T10:00:00Z"),
        ] {
            let moment: ExcludeNewer = text.parse().expect(text);
            assert_eq!(moment.before.to_string(), before, "{text}");
        }
        for text in
            ["", "2026-02-30", "2026-11-01T12:00:00", "yesterday", "7 days", "P7D", "9999-12-31"]
        {
            assert!(text.parse::<ExcludeNewer>().is_err(), "{text:?}");
        }
    }
}
