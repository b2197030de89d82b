//! One page of one project on a simple index: from the cache, confirmed, or fetched.

use std::sync::Arc;

use cuda_lock_constraint::catalog::{CatalogError, Project};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::text::clean;
use cuda_lock_constraint::version::SourceId;
use http::header::{CONTENT_TYPE, ETAG, LAST_MODIFIED};
use url::Url;

use crate::body::{PAGE_LIMIT, unpack};
use crate::cache::{Body, Content, Entry, Header, Lifetime, lifetime, now};
use crate::config::Mode;
use crate::fetcher::Inner;
use crate::net::{Buffer, Head, NetworkError, Request, shown};
use crate::observer::{Event, Kind, add};
use crate::page::{compact, parse_page};
use crate::source::Source;
use crate::stored::Opened;

/// What questions for a project are answered with.
pub(crate) type ProjectResult = Result<Option<Arc<Project>>, CatalogError>;

/// JSON where the server has it, else HTML (PEP 691 asks for these names and weights).
pub(crate) const ACCEPT_PAGE: &str = "application/vnd.pypi.simple.v1+json, \
    application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/// Bodies from this size on are parsed apart from the threads that serve connections.
const LARGE: usize = 32 * 1024;

/// Where a question stands after looking at what this machine has.
pub(crate) enum Step<T> {
    /// Answered.
    Known(T),
    /// The network must be asked; with the copy at hand, if there is one.
    Ask(Option<Entry>),
}

/// What an index answers to the question for a page.
pub(crate) enum Answer<V> {
    /// The copy at hand still holds; this is what it says.
    Confirmed(V),
    /// A page.
    Page(Head, Vec<u8>),
    /// Some other status.
    Other(Head),
}

impl Inner {
    /// Answers without the network, if that can be done.
    pub(crate) fn project_at_hand(
        self: &Arc<Self>,
        source: &Source,
        id: SourceId,
        name: Name,
    ) -> Step<ProjectResult> {
        if let Some(folder) = &source.folder {
            return Step::Known(crate::local::project(folder, name));
        }
        let url = source.page_url(name);
        match self.page_at_hand(&url, name.as_str(), open) {
            Step::Known(Some(opened)) => Step::Known(Ok(self.project_of(id, name, opened))),
            Step::Known(None) => Step::Known(Err(not_cached(&source.name, &url))),
            Step::Ask(kept) => Step::Ask(kept),
        }
    }

    /// A page from the cache: `Known(None)` means that there is none and the network may not be asked. A copy that must
    /// be confirmed is not opened yet, so that the question is sent without delay.
    pub(crate) fn page_at_hand<V>(
        &self,
        url: &Url,
        label: &str,
        open: fn(Entry) -> Option<V>,
    ) -> Step<Option<V>> {
        let kept = self.cache.as_ref().and_then(|cache| cache.page(url, label));
        let usable = match self.mode {
            Mode::Offline => true,
            Mode::Online => kept.as_ref().is_some_and(Entry::is_fresh),
            Mode::Refresh => false,
        };
        if !usable {
            return Step::Ask(kept);
        }
        match (kept.and_then(open), self.mode) {
            (Some(value), _) => {
                add(&self.counters.cached_pages, 1);
                Step::Known(Some(value))
            }
            (None, Mode::Offline) => Step::Known(None),
            (None, Mode::Online | Mode::Refresh) => Step::Ask(None),
        }
    }

    /// Asks the index.
    pub(crate) async fn ask_project(
        self: &Arc<Self>,
        id: SourceId,
        name: Name,
        kept: Option<Entry>,
    ) -> ProjectResult {
        let Some(source) = self.sources.get(&id) else { return Ok(None) };
        let url = source.page_url(name);
        let stored = kept.as_ref().map(|entry| entry.header.stored);
        let answer = self.ask_page(&url, name.as_str(), kept, open).await;
        match answer.map_err(|error| failed(&error, stored))? {
            Answer::Confirmed(opened) => Ok(self.project_of(id, name, opened)),
            Answer::Page(head, bytes) => {
                let inner = Arc::clone(self);
                let opened =
                    apart(bytes.len(), move || inner.read_project(&url, name, &head, bytes))
                        .await?;
                Ok(self.project_of(id, name, opened))
            }
            Answer::Other(head) => match head.status.as_u16() {
                404 | 410 => Ok(self.absent(&url, name, &head)),
                403 if source.forbidden_means_absent => Ok(self.absent(&url, name, &head)),
                _ => Err(failed(&head.unexpected(), stored)),
            },
        }
    }

    /// Asks for a page, on condition that it changed when there is a copy.
    pub(crate) async fn ask_page<V>(
        &self,
        url: &Url,
        label: &str,
        mut kept: Option<Entry>,
        open: fn(Entry) -> Option<V>,
    ) -> Result<Answer<V>, NetworkError> {
        loop {
            let header = kept.as_ref().map(|entry| &entry.header);
            let request = Request {
                accept: Some(ACCEPT_PAGE),
                gzip: true,
                etag: header.and_then(|header| header.etag.as_deref()),
                last_modified: header.and_then(|header| header.last_modified.as_deref()),
                ..Request::new(url)
            };
            let mut buffer = Buffer::new(PAGE_LIMIT);
            self.observer.event(Event::Started { kind: Kind::Page, name: label });
            let answer = self.http.fetch(&request, &mut buffer).await;
            self.observer.event(Event::Finished { kind: Kind::Page, name: label });
            let head = answer?;
            match (head.status.as_u16(), kept.take()) {
                (200, _) => return Ok(Answer::Page(head, buffer.bytes)),
                (304, Some(entry)) => {
                    let header = entry.header.clone();
                    if let Some(value) = open(entry) {
                        self.confirm(url, label, header, &head);
                        return Ok(Answer::Confirmed(value));
                    }
                    // The copy is damaged: without it the index sends the page.
                }
                _ => return Ok(Answer::Other(head)),
            }
        }
    }

    /// Notes that the server confirmed a copy.
    pub(crate) fn confirm(&self, url: &Url, label: &str, header: Header, head: &Head) {
        if let (Some(cache), Lifetime::Seconds(seconds)) =
            (&self.cache, lifetime(head.status, &head.headers))
        {
            cache.confirm_page(url, label, header, now() + seconds);
        }
    }

    /// Keeps what a page says, if that is allowed.
    pub(crate) fn keep(&self, url: &Url, label: &str, head: &Head, content: (Content, Body)) {
        let (Some(cache), Lifetime::Seconds(seconds)) =
            (&self.cache, lifetime(head.status, &head.headers))
        else {
            return;
        };
        let (content, body) = content;
        let stored = now();
        // Nothing confirms that a project is still not there, so an answer that says so has nothing to be asked with.
        let text = |name| match content {
            Content::Absent => None,
            _ => head.text(name).map(str::to_owned),
        };
        let header = Header {
            url: url.as_str().to_owned(),
            content,
            stored,
            etag: text(ETAG),
            last_modified: text(LAST_MODIFIED),
        };
        cache.keep_page(url, label, Entry { header, fresh_until: stored + seconds, body });
    }

    fn absent(&self, url: &Url, name: Name, head: &Head) -> Option<Arc<Project>> {
        self.keep(url, name.as_str(), head, (Content::Absent, Body::new(Vec::new())));
        None
    }

    fn read_project(
        &self,
        url: &Url,
        name: Name,
        head: &Head,
        bytes: Vec<u8>,
    ) -> Result<Opened, CatalogError> {
        let bytes = unpack(head, bytes, PAGE_LIMIT).map_err(|why| unusable(url, &why))?;
        let page = parse_page(head.text(CONTENT_TYPE), &bytes, &head.url, name)
            .map_err(|why| unusable(url, &why.to_string()))?;
        drop(bytes);
        let body = Body::new(compact::encode(&page));
        drop(page);
        self.keep(url, name.as_str(), head, (Content::Project, body.clone()));
        compact::open(body).map(Some).map_err(|why| unusable(url, &why.to_string()))
    }
}

/// Runs `work` on a thread for such work when there is much of it, else right here.
pub(crate) async fn apart<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> Result<T, CatalogError> + Send + 'static,
) -> Result<T, CatalogError> {
    if size < LARGE {
        return work();
    }
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(CatalogError::Invalid(format!("a page could not be read: {error}").into()))
    })
}

/// A page that cannot be used.
pub(crate) fn unusable(url: &Url, why: &str) -> CatalogError {
    CatalogError::Invalid(format!("cannot use {}: {}", shown(url), clean(why)).into())
}

/// What an entry says of a project.
fn open(entry: Entry) -> Option<Opened> {
    match entry.header.content {
        Content::Absent => Some(None),
        Content::Project => Some(Some(compact::open(entry.body).ok()?)),
        Content::Flat | Content::Digest(..) => None,
    }
}

/// The network did not help; a copy, from when it was stored, may.
pub(crate) fn failed(error: &NetworkError, stored: Option<u64>) -> CatalogError {
    let mut text = clean(&error.to_string()).into_owned();
    if let Some(stored) = stored {
        let minutes = now().saturating_sub(stored) / 60;
        text.push_str(&format!(
            ". A copy from {minutes} minutes ago is in the cache; --offline uses it"
        ));
    }
    CatalogError::Network(text.into())
}

/// Nothing is known of a page, and the network may not be asked.
pub(crate) fn not_cached(source: &str, url: &Url) -> CatalogError {
    let text = format!(
        "{} (index '{source}') is not in the cache, and --offline allows no request: run once without --offline to fill \
         the cache",
        shown(url)
    );
    CatalogError::Offline(text.into())
}
