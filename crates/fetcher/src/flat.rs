//! Flat sources: one page, or one local folder, with the files of many projects.

use std::sync::Arc;

use cuda_lock_constraint::catalog::CatalogError;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use rustc_hash::FxHashMap;
use url::Url;

use crate::body::{PAGE_LIMIT, unpack};
use crate::cache::{Body, Content, Entry};
use crate::fetcher::Inner;
use crate::net::{Buffer, Head};
use crate::page::{compact, parse_flat};
use crate::project::{Copy, Step, apart, failed, not_cached, unusable};
use crate::source::Source;

/// Every project of a flat source.
pub(crate) type FlatProjects = Arc<FxHashMap<Name, Arc<cuda_lock_constraint::catalog::Project>>>;

/// What questions for a flat source are answered with.
pub(crate) type FlatResult = Result<FlatProjects, CatalogError>;

impl Inner {
    /// Answers without the network, if that can be done.
    pub(crate) fn flat_at_hand(&self, source: &Source) -> Step<FlatResult, Copy<FlatProjects>> {
        if let Some(folder) = &source.folder {
            return Step::Known(crate::local::flat(folder, &source.url));
        }
        let read = |entry: Entry| {
            let value = match entry.header.content {
                Content::Flat => open(entry.body.as_ref())?,
                Content::Project | Content::Absent => return None,
            };
            Some(Copy { header: entry.header, value })
        };
        match self.page_at_hand(&source.url, &source.name, read) {
            Step::Known(Some(value)) => Step::Known(Ok(value)),
            Step::Known(None) => Step::Known(Err(not_cached(&source.name, &source.url))),
            Step::Ask(copy) => Step::Ask(copy),
        }
    }

    /// Asks the server.
    pub(crate) async fn ask_flat(
        self: &Arc<Self>,
        id: SourceId,
        copy: Option<Copy<FlatProjects>>,
    ) -> FlatResult {
        let Some(source) = self.sources.get(&id) else { return Ok(FlatProjects::default()) };
        let (url, label) = (source.url.clone(), source.name.clone());
        let mut buffer = Buffer::new(PAGE_LIMIT);
        let asked =
            self.ask_page(&url, &label, copy.as_ref().map(|copy| &copy.header), &mut buffer);
        let head = asked.await.map_err(|error| failed(&error, copy.as_ref()))?;
        match (head.status.as_u16(), copy) {
            (200, _) => {
                let inner = Arc::clone(self);
                let bytes = buffer.bytes;
                apart(bytes.len(), move || inner.read_flat(&url, &label, &head, bytes)).await
            }
            (304, Some(copy)) => {
                self.confirm(&url, &label, copy.header, &head);
                Ok(copy.value)
            }
            (_, copy) => Err(failed(&head.unexpected(), copy.as_ref())),
        }
    }

    fn read_flat(&self, url: &Url, label: &str, head: &Head, bytes: Vec<u8>) -> FlatResult {
        let bytes = unpack(head, bytes, PAGE_LIMIT).map_err(|why| unusable(url, &why))?;
        let pages = parse_flat(&bytes, &head.url).map_err(|why| unusable(url, &why.to_string()))?;
        let packed: Vec<(Name, Vec<u8>)> =
            pages.iter().map(|page| (page.name, compact::encode(page))).collect();
        if let Ok(body) = postcard::to_stdvec(&packed) {
            self.keep(url, label, head, (Content::Flat, Body::new(body)));
        }
        let projects = pages.into_iter().map(|page| (page.name, Arc::new(page.into_project())));
        Ok(Arc::new(projects.collect()))
    }
}

fn open(body: &[u8]) -> Option<FlatProjects> {
    let packed: Vec<(Name, Vec<u8>)> = postcard::from_bytes(body).ok()?;
    let mut projects = FxHashMap::default();
    for (name, bytes) in packed {
        projects.insert(name, Arc::new(compact::open(bytes).ok()?));
    }
    Some(Arc::new(projects))
}
