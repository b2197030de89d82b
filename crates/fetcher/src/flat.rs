//! Flat sources: one page, or one local folder, with the files of many projects.

use std::sync::Arc;

use cuda_lock_constraint::catalog::{CatalogError, File, Project, ReleaseFiles};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use rustc_hash::FxHashMap;
use url::Url;

use crate::body::{PAGE_LIMIT, unpack};
use crate::cache::{Body, Content, Entry, crc32};
use crate::fetcher::Inner;
use crate::net::Head;
use crate::page::compact::{self, Storage as _, StoredPage};
use crate::page::parse_flat;
use crate::project::{Answer, Step, apart, failed, not_cached, unusable};
use crate::source::Source;

/// Every project of a flat source.
pub(crate) type FlatProjects = Arc<FxHashMap<Name, Arc<Project>>>;

/// What questions for a flat source are answered with.
pub(crate) type FlatResult = Result<FlatProjects, CatalogError>;

impl Inner {
    /// Answers without the network, if that can be done.
    pub(crate) fn flat_at_hand(&self, source: &Source) -> Step<FlatResult> {
        if let Some(folder) = &source.folder {
            return Step::Known(crate::local::flat(folder, &source.url));
        }
        match self.page_at_hand(&source.url, &source.name, open) {
            Step::Known(Some(value)) => Step::Known(Ok(value)),
            Step::Known(None) => Step::Known(Err(not_cached(&source.name, &source.url))),
            Step::Ask(kept) => Step::Ask(kept),
        }
    }

    /// Asks the server.
    pub(crate) async fn ask_flat(
        self: &Arc<Self>,
        id: SourceId,
        kept: Option<Entry>,
    ) -> FlatResult {
        let Some(source) = self.sources.get(&id) else { return Ok(FlatProjects::default()) };
        let (url, label) = (source.url.clone(), source.name.clone());
        let stored = kept.as_ref().map(|entry| entry.header.stored);
        let answer = self.ask_page(&url, &label, kept, open).await;
        match answer.map_err(|error| failed(&error, stored))? {
            Answer::Confirmed(value) => Ok(value),
            Answer::Page(head, bytes) => {
                let inner = Arc::clone(self);
                apart(bytes.len(), move || inner.read_flat(&url, &label, &head, bytes)).await
            }
            Answer::Other(head) => Err(failed(&head.unexpected(), stored)),
        }
    }

    fn read_flat(&self, url: &Url, label: &str, head: &Head, bytes: Vec<u8>) -> FlatResult {
        let bytes = unpack(head, bytes, PAGE_LIMIT).map_err(|why| unusable(url, &why))?;
        let pages = parse_flat(&bytes, &head.url).map_err(|why| unusable(url, &why.to_string()))?;
        let packed: Vec<(Name, Vec<u8>)> =
            pages.iter().map(|page| (page.name, compact::encode(page))).collect();
        if let Ok(packed) = postcard::to_stdvec(&packed) {
            let body = [&crc32(&packed).to_le_bytes(), packed.as_slice()].concat();
            self.keep(url, label, head, (Content::Flat, Body::new(body)));
        }
        let projects = pages.into_iter().map(|page| (page.name, Arc::new(page.into_project())));
        Ok(Arc::new(projects.collect()))
    }
}

/// What an entry says of all projects.
fn open(entry: Entry) -> Option<FlatProjects> {
    if entry.header.content != Content::Flat {
        return None;
    }
    let bytes = entry.body.read(0..entry.body.len()).ok()?;
    let (checksum, bytes) = bytes.split_first_chunk::<4>()?;
    if crc32(bytes) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let packed: Vec<(Name, Vec<u8>)> = postcard::from_bytes(bytes).ok()?;
    let mut projects = FxHashMap::default();
    for (name, bytes) in packed {
        let (versions, page) = compact::open(bytes).ok()?;
        let files = Box::new(InMemory(page));
        projects.insert(name, Arc::new(Project { versions, files }));
    }
    Some(Arc::new(projects))
}

/// A page of a flat source. All of these were checked together.
struct InMemory(StoredPage<Vec<u8>>);

impl ReleaseFiles for InMemory {
    fn files(&self, index: usize) -> Vec<File> {
        self.0.files(index).unwrap_or_default()
    }

    fn skipped(&self) -> Vec<(String, String)> {
        self.0.skipped().unwrap_or_default()
    }
}
