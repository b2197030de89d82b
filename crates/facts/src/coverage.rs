//! Which projects are covered by rows, and which are not, with the reason: the table in docs/facts.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::row::{self, File, Row};

/// `crates/facts/data/uncovered.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncovered {
    /// Projects with GPU code that have no rows.
    #[serde(default)]
    pub project: Vec<Project>,
}

/// Projects that cannot be read, for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Their names.
    pub names: Vec<String>,
    /// Why there are no rows.
    pub reason: String,
}

impl Uncovered {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read, or is not such a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = fs_err::read_to_string(path)?;
        toml::from_str(&text)
            .map_err(|error| Error::Malformed(format!("{}: {error}", path.display())))
    }
}

/// What is covered, as Markdown.
#[must_use]
pub fn markdown(file: &File, uncovered: &Uncovered) -> String {
    let mut by_name: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &file.wheel {
        by_name.entry(&row.name).or_default().push(row);
    }
    let wheels: usize = file.wheel.iter().map(|row| row::wheels(row).count()).sum();
    let mut text = format!(
        "{} projects, {wheels} wheels, {} rows.\n\n| project | wheels | releases | torch by symbols | GPU code | CUDA libraries |\n| --- | --- | --- | --- | --- | --- |\n",
        by_name.len(),
        file.wheel.len()
    );
    for (name, rows) in &by_name {
        let count: usize = rows.iter().map(|row| row::wheels(row).count()).sum();
        let (first, last) =
            (rows.first().map_or("", |row| &row.from), rows.last().map_or("", |row| &row.to));
        let newest =
            |say: &dyn Fn(&Row) -> String| rows.last().map_or_else(String::new, |row| say(row));
        let torch = newest(&|row| row.torch.clone().unwrap_or_default());
        let code = newest(&|row| {
            let lowest = row.cubins.first().cloned().unwrap_or_default();
            let ptx = row.ptx.first().map_or_else(String::new, |ptx| format!(", {ptx}"));
            if row.cubins.len() > 1 {
                format!("from {lowest}{ptx}")
            } else {
                format!("{lowest}{ptx}")
            }
        });
        let needs = newest(&|row| row.needs.first().cloned().unwrap_or_default());
        let _ =
            writeln!(text, "| {name} | {count} | {first} to {last} | {torch} | {code} | {needs} |");
    }
    text.push_str("\nThe last three columns are those of the newest release that was read.\n");
    if !uncovered.project.is_empty() {
        text.push_str("\n| no rows | why |\n| --- | --- |\n");
        for project in &uncovered.project {
            let _ = writeln!(text, "| {} | {} |", project.names.join(", "), project.reason);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/facts.md holds this table; `cuda-lock-facts coverage` prints it.
    #[test]
    fn the_page_holds_the_table() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let rows = File::load(&root.join("../../matrices/wheels.toml")).expect("the rows");
        let uncovered = Uncovered::load(&root.join("data/uncovered.toml")).expect("the list");
        let page = fs_err::read_to_string(root.join("../../docs/facts.md")).expect("the page");
        assert!(
            page.contains(&markdown(&rows, &uncovered)),
            "run `cargo run -p cuda-lock-facts -- coverage` and paste it"
        );
        for project in &uncovered.project {
            for name in &project.names {
                assert!(rows.wheel.iter().all(|row| row.name != *name), "{name} has rows");
            }
        }
    }
}
