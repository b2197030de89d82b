//! The difference for a terminal.

use std::fmt::Write as _;

use super::{Kind, Layer, LockDiff, Moved, bytes_text};

impl LockDiff {
    /// Plain text with a final line end.
    #[must_use]
    pub fn text(&self) -> String {
        if self.is_empty() {
            return "nothing moved\n".to_owned();
        }
        let mut out = format!("{}\n", self.headline());
        section(&mut out, "stack", &self.stack, moved);
        section(&mut out, "packages", &self.packages, moved);
        section(&mut out, "machine", &self.machine, Layer::text);
        section(&mut out, "asked for", &self.asked, |text| format!("+ {text}"));
        section(&mut out, "no longer asked for", &self.no_longer_asked, |text| format!("- {text}"));
        section(&mut out, "when the program starts", &self.loading, Clone::clone);
        if let Some(download) = self.download_text() {
            let _ = writeln!(out, "\ndownload {download}");
        }
        if self.other_facts {
            out.push_str("\nThe compatibility facts behind the two locks are not the same.\n");
        }
        section(&mut out, "regressions", &self.regressions, |regression| regression.text.clone());
        out
    }

    /// `2.4 GB → 2.6 GB`, when both are known and differ.
    pub(super) fn download_text(&self) -> Option<String> {
        let (old, new) = (bytes_text(self.download.old?), bytes_text(self.download.new?));
        (old != new).then(|| format!("{old} → {new}"))
    }
}

fn section<T>(out: &mut String, title: &str, items: &[T], line: impl Fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}");
    for item in items {
        let _ = writeln!(out, "  {}", line(item));
    }
}

fn moved(moved: &Moved) -> String {
    let Moved { name, kind, .. } = moved;
    let old = moved.version.old.as_deref().unwrap_or_default();
    let new = moved.version.new.as_deref().unwrap_or_default();
    let note = moved.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    match kind {
        Kind::Added => format!("+ {name} {new}"),
        Kind::Removed => format!("- {name} {old}"),
        Kind::Rebuilt if old == new => format!("  {name} {new}{note}"),
        Kind::Down => format!("  {name} {old} → {new} (older){note}"),
        Kind::Up | Kind::Rebuilt => format!("  {name} {old} → {new}{note}"),
    }
}
