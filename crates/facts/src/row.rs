//! Rows of `matrices/wheels.toml`, as they are written and compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What the wheels of some releases say of themselves, all alike: as texts, which the product reads as versions, names and
/// platforms when it is built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Row {
    /// The distribution.
    pub name: String,
    /// The first release.
    pub from: String,
    /// The last release that was read and says the same; inclusive.
    pub to: String,
    /// As env.toml writes it.
    pub platform: String,
    /// The releases of torch that export every symbol it takes, as PEP 440 specifiers; absent when it takes none of torch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch: Option<String>,
    /// True when it takes torch's stable ABI alone, so that later releases of torch load it too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stable_abi: bool,
    /// What the nearest releases of torch outside that range lack: `2.9.1 SYMBOL`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Libraries of CUDA that it needs and does not bring.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Targets of machine code in any of its libraries: `sm_86`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cubins: Vec<String>,
    /// Targets of PTX: `compute_90`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ptx: Vec<String>,
    /// The newest version of the PTX ISA in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_isa: Option<String>,
    /// Each wheel that was read, with its digest.
    pub source: Vec<String>,
}

/// The whole file.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Rows, in the order of names, platforms and releases.
    #[serde(default)]
    pub wheel: Vec<Row>,
}

/// Whether two rows say the same of their releases.
#[must_use]
pub fn says_the_same(row: &Row, other: &Row) -> bool {
    let bare = |row: &Row| Row {
        from: String::new(),
        to: String::new(),
        source: Vec::new(),
        ..row.clone()
    };
    bare(row) == bare(other)
}

/// The wheels that a row rests on, each with its digest.
pub fn wheels(row: &Row) -> impl Iterator<Item = (&str, &str)> {
    row.source.iter().filter_map(|source| source.split_once(" sha256:"))
}

/// Rows for single releases, ascending, joined where neighbours say the same.
#[must_use]
pub fn join(rows: Vec<Row>) -> Vec<Row> {
    let mut joined: Vec<Row> = Vec::new();
    for row in rows {
        match joined.last_mut() {
            Some(last) if says_the_same(last, &row) => {
                last.to = row.to;
                last.source.extend(row.source);
            }
            _ => joined.push(row),
        }
    }
    joined
}

impl File {
    /// Reads the file; an absent one has no rows.
    ///
    /// # Errors
    /// When it cannot be read, or is not such a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        match fs_err::read_to_string(path) {
            Ok(text) => {
                let bad = |error| Error::Malformed(format!("{}: {error}", path.display()));
                toml::from_str(&text).map_err(bad)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts rows in the place of those of the same project, platform and releases.
    pub fn replace(&mut self, rows: Vec<Row>) {
        let mut single: BTreeMap<(String, String), Vec<Row>> = BTreeMap::new();
        for row in std::mem::take(&mut self.wheel) {
            single.entry((row.name.clone(), row.platform.clone())).or_default().push(row);
        }
        for row in rows {
            let there = single.entry((row.name.clone(), row.platform.clone())).or_default();
            let within = |old: &Row| within(&row.from, &row.to, old);
            there.retain(|old| !within(old));
            there.push(row);
        }
        for (_, mut rows) in single {
            rows.sort_by_cached_key(|row| row.from.parse::<Version>().ok());
            self.wheel.extend(join(rows));
        }
    }

    /// Writes the file, each row as a person would.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut text = String::from(HEADER);
        for row in &self.wheel {
            let body = toml::to_string(row).map_err(|error| Error::Malformed(error.to_string()))?;
            let _ = write!(text, "\n[[wheel]]\n{body}");
        }
        fs_err::write(path, text)?;
        Ok(())
    }
}

/// Whether the releases of `row` lie in `from..=to`.
fn within(from: &str, to: &str, row: &Row) -> bool {
    let parse = |text: &str| text.parse::<Version>().ok();
    match (parse(from), parse(to), parse(&row.from), parse(&row.to)) {
        (Some(from), Some(to), Some(first), Some(last)) => from <= first && last <= to,
        _ => false,
    }
}

const HEADER: &str = "\
# What wheels say of themselves: derived from their shared objects by crates/facts, never written by hand.
#
# `cargo run -p cuda-lock-facts -- derive NAME` makes rows, `check` derives them again and compares. Each source is a wheel
# with its digest. `torch` holds the releases that export every symbol of torch that the wheel takes.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn row(version: &str, cubins: &[&str]) -> Row {
        Row {
            name: "a".to_owned(),
            from: version.to_owned(),
            to: version.to_owned(),
            platform: "linux-x86_64".to_owned(),
            cubins: cubins.iter().map(|&c| c.to_owned()).collect(),
            source: vec![format!("a-{version}.whl sha256:00")],
            ..Row::default()
        }
    }

    fn spans(file: &File) -> Vec<(&str, &str, usize)> {
        file.wheel
            .iter()
            .map(|row| (row.from.as_str(), row.to.as_str(), row.source.len()))
            .collect()
    }

    #[test]
    fn neighbours_that_say_the_same_are_one_row_and_are_replaced_one_by_one() {
        let mut file = File::default();
        file.replace(vec![row("1.0", &["sm_80"]), row("1.10", &["sm_90"]), row("1.9", &["sm_80"])]);
        assert_eq!(spans(&file), [("1.0", "1.9", 2), ("1.10", "1.10", 1)]);
        file.replace(vec![row("1.10", &["sm_80"])]);
        assert_eq!(spans(&file), [("1.0", "1.10", 3)]);
    }

    #[test]
    fn what_is_saved_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wheels.toml");
        let mut file = File::default();
        file.replace(vec![row("1.0", &["sm_80", "sm_90a"])]);
        file.save(&path).expect("saved");
        assert_eq!(File::load(&path).expect("read"), file);
        let (name, digest) = wheels(&file.wheel[0]).next().expect("a source");
        assert_eq!((name, digest), ("a-1.0.whl", "00"));
    }
}
