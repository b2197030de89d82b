//! Rows of `matrices/wheels.toml`, as they are written and compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use cuda_lock_constraint::matrix::rows;
use pep440_rs::Version;
use serde::Serialize;

use crate::error::Error;

/// What the wheels of some releases say of themselves, all alike.
pub use cuda_lock_constraint::matrix::rows::wheels::Wheel as Row;

/// The whole file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Rows, in the order of names, platforms and releases.
    pub wheel: Vec<Row>,
}

/// A row as the file has it: what says nothing is left out.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Written<'a> {
    name: &'a str,
    from: &'a str,
    to: &'a str,
    platform: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    torch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stable_abi: Option<bool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    lacks: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    needs: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    cubins: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    ptx: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    ptx_isa: Option<&'a str>,
    source: &'a [String],
}

impl<'a> From<&'a Row> for Written<'a> {
    fn from(row: &'a Row) -> Self {
        Self {
            name: &row.name,
            from: &row.from,
            to: &row.to,
            platform: &row.platform,
            torch: row.torch.as_deref(),
            stable_abi: row.stable_abi.then_some(true),
            lacks: &row.lacks,
            needs: &row.needs,
            cubins: &row.cubins,
            ptx: &row.ptx,
            ptx_isa: row.ptx_isa.as_deref(),
            source: &row.source,
        }
    }
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
                let read: Result<rows::wheels::File, _> = toml::from_str(&text);
                let bad = |error| Error::Malformed(format!("{}: {error}", path.display()));
                Ok(Self { wheel: read.map_err(bad)?.wheel })
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
            let body = toml::to_string(&Written::from(row))
                .map_err(|error| Error::Malformed(error.to_string()))?;
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
