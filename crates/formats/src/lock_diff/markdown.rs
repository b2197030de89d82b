//! The difference for a pull request.

use std::fmt::Write as _;

use super::{Kind, Layer, LockDiff, Moved};

/// More rows than this are folded away.
const FOLD: usize = 12;

impl LockDiff {
    /// Markdown as GitHub and GitLab render it, with a final line end.
    #[must_use]
    pub fn markdown(&self) -> String {
        if self.is_empty() {
            return "Nothing moved.\n".to_owned();
        }
        let mut out = format!("**{}**\n", escaped(&self.headline()));
        for regression in &self.regressions {
            let _ = write!(out, "\n> ⚠️ {}\n", escaped(&regression.text));
        }
        let layers = self.layers.iter().chain(&self.machine).filter(|layer| layer.changed());
        let mut rows: Vec<[String; 3]> = layers.map(layer_row).collect();
        rows.extend(self.stack.iter().map(row));
        table(&mut out, "Stack", &rows);
        let rows: Vec<[String; 3]> = self.packages.iter().map(row).collect();
        table(&mut out, "Packages", &rows);
        list(&mut out, "Asked for", &self.asked);
        list(&mut out, "No longer asked for", &self.no_longer_asked);
        if !self.loading.is_empty() {
            out.push_str("\nWhen the program starts:\n\n");
            for step in &self.loading {
                let _ = writeln!(out, "- {}", escaped(step));
            }
        }
        if let Some(download) = self.download_text() {
            let _ = write!(out, "\nDownload: {download}\n");
        }
        if self.other_facts {
            out.push_str("\nThe compatibility facts behind the two locks are not the same.\n");
        }
        out
    }
}

fn table(out: &mut String, title: &str, rows: &[[String; 3]]) {
    if rows.is_empty() {
        return;
    }
    let folded = rows.len() > FOLD;
    if folded {
        let _ = write!(out, "\n<details><summary>{title}: {} moved</summary>\n", rows.len());
    }
    let _ = write!(out, "\n| {title} | before | after |\n| --- | --- | --- |\n");
    for [name, old, new] in rows {
        let _ = writeln!(out, "| {name} | {old} | {new} |");
    }
    if folded {
        out.push_str("\n</details>\n");
    }
}

fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let items: Vec<String> =
        items.iter().map(|item| format!("`{}`", item.replace('`', "'"))).collect();
    let _ = write!(out, "\n{title}: {}\n", items.join(", "));
}

fn layer_row(layer: &Layer) -> [String; 3] {
    let cell = |value: &Option<String>| value.as_deref().map_or("–".to_owned(), escaped);
    [layer.name.to_owned(), cell(&layer.value.old), cell(&layer.value.new)]
}

fn row(moved: &Moved) -> [String; 3] {
    let cell = |value: &Option<String>| value.as_deref().map_or("–".to_owned(), escaped);
    let mut new = cell(&moved.version.new);
    if moved.kind == Kind::Down {
        new.push_str(" (older)");
    }
    if let Some(note) = &moved.note {
        let _ = write!(new, " ({})", escaped(note));
    }
    [moved.name.clone(), cell(&moved.version.old), new]
}

/// Text in which Markdown sees no marks, and a table no cells. Versions and names keep their underscores: inside a word
/// they are no marks.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '`' | '<' | '>' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
