//! Changes to the text of files that [`crate::input`] read: only what must change, everything else byte for byte.
//!
//! A [`Rewriter`] turns changes to entries ([`Amendment`]) into [`TextEdit`]s; [`apply`] makes them. Comments, order, markers,
//! extras, line ends, continuation lines and the encoding stay as they are. Where a file has hashes, a changed pin gets new
//! ones in the layout of the old, and no pin is written without.

mod layout;
mod place;

use std::collections::BTreeMap;

use crate::input::{Entry, Input, Kind, Origin, Span};
use layout::Layout;
use place::Surroundings;

/// A change to what an entry asks for.
#[derive(Clone, Copy, Debug)]
pub enum Amendment<'a> {
    /// Other versions.
    Versions {
        /// The specifiers, such as `==2.3.1+cu118`.
        now: &'a str,
    },
    /// Other extras.
    Extras {
        /// All of them, with commas between.
        now: &'a str,
    },
    /// The entry goes.
    Remove,
    /// Another requirement beside the entry, such as `numpy<2`.
    Add {
        /// The requirement.
        text: &'a str,
    },
    /// An index is asked beside those of the entry.
    Index {
        /// Its address.
        url: &'a str,
    },
}

/// Text in place of a range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// By what.
    pub new: String,
}

/// Makes edits for one input.
pub struct Rewriter<'a> {
    input: &'a Input,
}

/// Whether the pins of such a file are written by people, and may be rewritten in place.
#[must_use]
pub fn is_editable(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Requirements
            | Kind::CondaEnvironment
            | Kind::Pyproject
            | Kind::Dockerfile
            | Kind::Ci
            | Kind::Shell
    )
}

impl<'a> Rewriter<'a> {
    /// For the files of one input.
    #[must_use]
    pub fn new(input: &'a Input) -> Self {
        Self { input }
    }

    /// The edits for a change at `entry`. `hashes` are those of the release that is pinned then (`sha256:…`).
    ///
    /// # Errors
    /// Why it cannot be written there, in words for the person who reads the report.
    pub fn edits(
        &self,
        entry: &Entry,
        amendment: Amendment<'_>,
        hashes: &[String],
    ) -> Result<Vec<TextEdit>, String> {
        let text = self.input.files.get(entry.span.file).map(|file| &*file.text);
        let text = text.ok_or("the text of the line is not at hand")?;
        if !is_editable(self.input.kind) {
            return Err("a file of this kind is written by a program".to_owned());
        }
        if !matches!(entry.origin, Origin::Pip | Origin::Project | Origin::Poetry) {
            return Err("only requirements of pip are rewritten".to_owned());
        }
        let layout = Layout::of(self.input.kind, entry);
        let place = Surroundings { text, entry, layout };
        let hashed = self.input.indexes_of(entry).is_some_and(|options| options.require_hashes);
        if hashed
            && hashes.is_empty()
            && !matches!(
                amendment,
                Amendment::Index { .. } | Amendment::Remove | Amendment::Extras { .. }
            )
        {
            return Err(
                "the file has hashes, and the index publishes none for this release".to_owned()
            );
        }
        match amendment {
            Amendment::Versions { now } => {
                let mut edits = place.versions(now)?;
                if !entry.hashes.is_empty() {
                    edits.push(place.hashes(hashes)?);
                } else if hashed {
                    edits.push(place.new_hashes(hashes, &self.hash_lead(entry)));
                }
                Ok(edits)
            }
            Amendment::Extras { now } => place.extras(now),
            Amendment::Remove => Ok(vec![place.removal()]),
            Amendment::Add { text } if hashed => {
                let lead = self.hash_lead(entry);
                let hashes: String = hashes.iter().map(|hash| format!("{lead}{hash}")).collect();
                place.addition(&format!("{text}{hashes}")).map(|edit| vec![edit])
            }
            Amendment::Add { text } => place.addition(text).map(|edit| vec![edit]),
            Amendment::Index { url } => {
                let options = self.input.indexes_of(entry);
                let spans = options.into_iter().flat_map(|options| options.spans.values());
                let last = spans.filter(|span| span.file == entry.span.file).max_by_key(|s| s.end);
                let first = self.first_in_file(entry);
                let place = match layout {
                    Layout::Lines => Surroundings { entry: first, ..place },
                    _ => place,
                };
                place.index(url, last.map(|span| span.end)).map(|edit| vec![edit])
            }
        }
    }

    /// What stands before a hash in the file of `entry`: `\`, a line end, and the option.
    fn hash_lead(&self, entry: &Entry) -> String {
        let file = entry.span.file;
        let text = self.input.files.get(file).map(|file| &*file.text).unwrap_or_default();
        let all = self.input.entries.iter().chain(&self.input.constraints);
        let mut hashed = all.filter(|e| e.span.file == file && !e.hashes.is_empty());
        let found = hashed.find_map(|known| {
            let start = known.hashes.first()?.span.start;
            let before = text.get(known.span.start..start)?;
            let flag = before.rfind("--hash")?;
            let content =
                before.get(..flag)?.trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
            before.get(content.len()..).map(str::to_owned)
        });
        found.unwrap_or_else(|| format!(" \\{}    --hash=", place::line_end(text)))
    }

    /// The first entry of the file that `entry` stands in.
    fn first_in_file(&self, entry: &'a Entry) -> &'a Entry {
        let all = self.input.entries.iter().filter(|e| e.span.file == entry.span.file);
        all.min_by_key(|e| e.span.start).unwrap_or(entry)
    }
}

/// The texts of the files that edits change, by their place in [`Input::files`]. Edits that are there twice are made once.
///
/// # Errors
/// When two edits overlap.
pub fn apply(input: &Input, edits: &[TextEdit]) -> Result<BTreeMap<usize, String>, String> {
    let mut by_file: BTreeMap<usize, Vec<&TextEdit>> = BTreeMap::new();
    for edit in edits {
        let edits = by_file.entry(edit.span.file).or_default();
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    let mut texts = BTreeMap::new();
    for (file, mut edits) in by_file {
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        let text = input.files.get(file).map(|file| &*file.text).unwrap_or_default();
        let mut out = String::with_capacity(text.len() + 64);
        let mut done = 0;
        for edit in edits {
            let before = text.get(done..edit.span.start);
            let (Some(before), true) = (before, edit.span.end >= edit.span.start) else {
                return Err("two changes are about the same text".to_owned());
            };
            out.push_str(before);
            out.push_str(&edit.new);
            done = edit.span.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        texts.insert(file, out);
    }
    Ok(texts)
}

#[cfg(test)]
mod tests;
