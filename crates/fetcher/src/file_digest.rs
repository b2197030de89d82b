//! Digests of files of which the index states none: learned by download, and kept.

use cuda_lock_constraint::catalog::CatalogError;
use http::StatusCode;
use http::header::{ETAG, LAST_MODIFIED};
use url::Url;

use crate::cache::{Body, Content, Entry, Header, now};
use crate::fetcher::Inner;
use crate::net::{HashSink, Request, shown, without_secrets};
use crate::observer::{Event, Kind};
use crate::project::{Step, failed};

/// SHA-256 and length in bytes.
pub(crate) type FileDigest = ([u8; 32], u64);

impl Inner {
    /// Answers without the network, if that can be done.
    pub(crate) fn digest_at_hand(&self, url: &Url) -> Step<Result<FileDigest, CatalogError>> {
        let url = without_secrets(url);
        match self.page_at_hand(&url, label(&url), open) {
            Step::Known(Some(digest)) => Step::Known(Ok(digest)),
            Step::Known(None) => {
                let url = shown(&url);
                let text =
                    format!("the digest of {url} is not known, and --offline allows no download");
                Step::Known(Err(CatalogError::Offline(text.into())))
            }
            Step::Ask(kept) => Step::Ask(kept),
        }
    }

    /// Has the server confirm the digest at hand, or downloads the file.
    pub(crate) async fn ask_digest(
        &self,
        url: &Url,
        limit: u64,
        kept: Option<Entry>,
    ) -> Result<FileDigest, CatalogError> {
        let url = without_secrets(url);
        let label = label(&url);
        // An entry that cannot be read is of no use as a condition either.
        let kept = kept.and_then(|entry| Some((entry.header.clone(), open(entry)?)));
        let header = kept.as_ref().map(|(header, _)| header);
        let request = Request {
            etag: header.and_then(|header| header.etag.as_deref()),
            last_modified: header.and_then(|header| header.last_modified.as_deref()),
            ..Request::new(&url)
        };
        let stored = header.map(|header| header.stored);
        let mut sink = HashSink::new(limit);
        self.observer.event(Event::Started { kind: Kind::File, name: label });
        let answer = self.http.fetch(&request, &mut sink).await;
        self.observer.event(Event::Finished { kind: Kind::File, name: label });
        let head = answer.map_err(|error| failed(&error, stored))?;
        match (head.status, kept) {
            (StatusCode::OK, _) => {}
            (StatusCode::NOT_MODIFIED, Some((_, digest))) => return Ok(digest),
            _ => return Err(failed(&head.unexpected(), stored)),
        }
        let (digest, length) = sink.finish();
        if let Some(cache) = &self.cache {
            let header = Header {
                url: url.as_str().to_owned(),
                content: Content::Digest(digest, length),
                stored: now(),
                etag: head.text(ETAG).map(str::to_owned),
                last_modified: head.text(LAST_MODIFIED).map(str::to_owned),
            };
            // Files are sent as if they never changed; here a change must be seen, so the server is always asked.
            let entry = Entry { header, fresh_until: 0, body: Body::new(Vec::new()) };
            cache.keep_page(&url, label, entry);
        }
        Ok((digest, length))
    }
}

fn label(url: &Url) -> &str {
    url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default()
}

fn open(entry: Entry) -> Option<FileDigest> {
    match entry.header.content {
        Content::Digest(digest, length) => Some((digest, length)),
        Content::Absent | Content::Project | Content::Flat => None,
    }
}
