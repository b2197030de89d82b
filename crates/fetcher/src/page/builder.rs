//! Gathers the files of a page into releases.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use cuda_lock_constraint::catalog::File;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::text::clean;
use pep440_rs::Version;
use rustc_hash::{FxHashMap, FxHashSet};

use super::parsed::{ParsedPage, Release};

/// Collects files in page order, groups them by version, and keeps what is skipped.
///
/// A page names each version many times, so every spelling is parsed once.
pub(super) struct Builder {
    name: Name,
    by_version: BTreeMap<Version, usize>,
    by_spelling: FxHashMap<String, usize>,
    files: Vec<Vec<File>>,
    skipped: Vec<(String, String)>,
    texts: FxHashSet<Arc<str>>,
}

/// Where the files of one version are gathered.
#[derive(Clone, Copy)]
pub(super) struct Slot(usize);

impl Builder {
    pub(super) fn new(name: Name) -> Self {
        Self {
            name,
            by_version: BTreeMap::new(),
            by_spelling: FxHashMap::default(),
            files: Vec::new(),
            skipped: Vec::new(),
            texts: FxHashSet::default(),
        }
    }

    pub(super) fn name(&self) -> Name {
        self.name
    }

    /// The slot of the release with this version.
    ///
    /// # Errors
    /// The reason for skipping the file, when this is no version by PEP 440.
    pub(super) fn slot(&mut self, spelling: &str) -> Result<Slot, String> {
        if let Some(&slot) = self.by_spelling.get(spelling) {
            return Ok(Slot(slot));
        }
        let version: Version = spelling
            .parse()
            .map_err(|_| format!("its version '{spelling}' is not valid by PEP 440"))?;
        let slot = match self.by_version.entry(version) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                self.files.push(Vec::new());
                *new.insert(self.files.len() - 1)
            }
        };
        self.by_spelling.insert(spelling.to_owned(), slot);
        Ok(Slot(slot))
    }

    pub(super) fn add(&mut self, slot: Slot, file: File) {
        if let Some(files) = self.files.get_mut(slot.0) {
            files.push(file);
        }
    }

    pub(super) fn skip(&mut self, filename: String, reason: String) {
        self.skipped.push((clean(&filename).into_owned(), clean(&reason).into_owned()));
    }

    /// One copy of a text that many files of a page repeat, fit to be shown.
    pub(super) fn share(&mut self, text: &str) -> Arc<str> {
        let text = clean(text);
        let text = text.as_ref();
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }

    /// The page. A version that got no file in the end is left out.
    pub(super) fn finish(mut self) -> ParsedPage {
        let releases = self
            .by_version
            .into_iter()
            .filter_map(|(version, slot)| {
                let files = std::mem::take(self.files.get_mut(slot)?);
                (!files.is_empty()).then_some(Release { version, files })
            })
            .collect();
        ParsedPage { name: self.name, releases, skipped: self.skipped }
    }
}
