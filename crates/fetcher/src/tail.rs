//! METADATA out of a wheel on a server, with as few bytes as the server allows.

use std::fs::File as DiskFile;
use std::io::{Seek, SeekFrom};

use cuda_lock_constraint::catalog::{CatalogError, File};
use cuda_lock_constraint::name::Name;
use http::StatusCode;
use url::Url;

use crate::fetcher::Inner;
use crate::hosts::Ranges;
use crate::metadata::{Step, WheelTail};
use crate::net::{ContentRange, NetworkError, Range, Refusal, Request, Spool, shown};
use crate::wheel::{unavailable, wrong_digest};

/// The tail that is fetched first has METADATA and the archive's directory in it for most wheels. The directory grows
/// with the wheel; beyond the largest tail a second request costs less than the bytes that would spare it.
const SMALLEST_TAIL: u64 = 16 << 10;
const USUAL_TAIL: u64 = 64 << 10;
const LARGEST_TAIL: u64 = 512 << 10;

/// A server may send a little more than it was asked for.
const SLACK: u64 = 64 << 10;

/// What was found.
pub(crate) enum Found {
    /// The bytes of METADATA.
    Metadata(Vec<u8>),
    /// The wheel, because parts of it are not to be had.
    Whole(DiskFile),
}

/// What a request for a part brought.
enum Part {
    Piece {
        at: ContentRange,
        bytes: Vec<u8>,
    },
    Whole(DiskFile),
    /// Nothing that can be used.
    Unfit,
}

impl Inner {
    /// Reads the end of a wheel, and from there on what else is needed.
    pub(crate) async fn wheel_tail(
        &self,
        url: &Url,
        name: Name,
        file: &File,
    ) -> Result<Found, CatalogError> {
        let (at, bytes) = match self.last_bytes(url, name, file).await? {
            Part::Piece { at, bytes } => (at, bytes),
            Part::Whole(wheel) => return Ok(Found::Whole(wheel)),
            Part::Unfit => {
                self.hosts.note_ranges(url, Ranges::Ignored);
                return self.whole_file(url, name, file).await.map(Found::Whole);
            }
        };
        let mut wheel = WheelTail::new(at.total, name);
        wheel.supply(at.start, &bytes);
        loop {
            let missing = match wheel.step() {
                Ok(Step::Done(metadata)) => return Ok(Found::Metadata(metadata)),
                Ok(Step::Need(missing)) => missing,
                // Either the wheel is broken or what was sent is not of it. The digest of the whole tells.
                Err(_) if file.sha256.is_some() => {
                    return self.whole_file(url, name, file).await.map(Found::Whole);
                }
                Err(why) => return Err(unavailable(name, file, &why.to_string())),
            };
            match self.part(url, (name, file), Range::From(missing.start, missing.end)).await? {
                Part::Piece { at: next, bytes } if next.total == at.total => {
                    wheel.supply(next.start, &bytes);
                }
                Part::Whole(wheel) => return Ok(Found::Whole(wheel)),
                // The file changed between two requests, or the server stopped to answer ranges.
                Part::Piece { .. } | Part::Unfit => {
                    return self.whole_file(url, name, file).await.map(Found::Whole);
                }
            }
        }
    }

    /// The last bytes, in whichever way of asking for them the server understands.
    async fn last_bytes(&self, url: &Url, name: Name, file: &File) -> Result<Part, CatalogError> {
        let ranges = self.hosts.ranges(url);
        if ranges == Ranges::Ignored {
            return Ok(Part::Unfit);
        }
        let named = (name, file);
        if let Some(size) = file.size.filter(|size| *size > 0) {
            let tail = (size / 128).clamp(SMALLEST_TAIL, LARGEST_TAIL);
            match self.part(url, named, Range::From(size.saturating_sub(tail), size)).await? {
                Part::Unfit => {}
                // The index states another size than the file has: what came may not be the end.
                Part::Piece { at, bytes } if at.start + (bytes.len() as u64) < at.total => {}
                found => return Ok(found),
            }
        }
        if ranges == Ranges::Work {
            match self.part(url, named, Range::Last(USUAL_TAIL)).await? {
                Part::Unfit => self.hosts.note_ranges(url, Ranges::NoSuffix),
                found => return Ok(found),
            }
        }
        // The first byte tells the length.
        match self.part(url, named, Range::From(0, 1)).await? {
            Part::Piece { at, .. } if at.total > 0 => {
                let range = Range::From(at.total.saturating_sub(USUAL_TAIL), at.total);
                self.part(url, named, range).await
            }
            found => Ok(found),
        }
    }

    async fn part(
        &self,
        url: &Url,
        (name, file): (Name, &File),
        range: Range,
    ) -> Result<Part, CatalogError> {
        let asked = match range {
            Range::Last(count) => count,
            Range::From(start, end) => end.saturating_sub(start),
        };
        let mut spool = Spool::new(asked + SLACK, self.max_download);
        let request = Request { range: Some(range), ..Request::new(url) };
        let head = match self.http.fetch(&request, &mut spool).await {
            Ok(head) => head,
            Err(error) => match error.refusal() {
                Some(Refusal::TooLarge { limit, .. }) if *limit == asked + SLACK => {
                    return Ok(Part::Unfit);
                }
                _ => return Err(self.refused(name, file, &error)),
            },
        };
        match head.status {
            StatusCode::PARTIAL_CONTENT => {
                let bytes = spool.part.bytes;
                let at = ContentRange::read(&head.headers, bytes.len() as u64);
                Ok(at.map_or(Part::Unfit, |at| Part::Piece { at, bytes }))
            }
            StatusCode::OK => {
                self.hosts.note_ranges(url, Ranges::Ignored);
                checked(spool, file).map(Part::Whole)
            }
            // Not this range, not this way of asking, or no ranges at all.
            StatusCode::RANGE_NOT_SATISFIABLE
            | StatusCode::BAD_REQUEST
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_IMPLEMENTED => Ok(Part::Unfit),
            _ => Err(CatalogError::Network(head.unexpected().to_string().into())),
        }
    }

    /// Downloads a file, if it is not too large, and checks its digest.
    pub(crate) async fn whole_file(
        &self,
        url: &Url,
        name: Name,
        file: &File,
    ) -> Result<DiskFile, CatalogError> {
        if let Some(size) = file.size.filter(|size| *size > self.max_download) {
            return Err(self.too_large(name, file, Some(size)));
        }
        let mut spool = Spool::new(0, self.max_download);
        let head = self.http.fetch(&Request::new(url), &mut spool).await;
        let head = head.map_err(|error| self.refused(name, file, &error))?;
        if head.status != StatusCode::OK {
            return Err(CatalogError::Network(head.unexpected().to_string().into()));
        }
        checked(spool, file)
    }

    fn refused(&self, name: Name, file: &File, error: &NetworkError) -> CatalogError {
        match error.refusal() {
            Some(Refusal::TooLarge { length, .. }) => self.too_large(name, file, *length),
            _ => CatalogError::Network(error.to_string().into()),
        }
    }

    pub(crate) fn too_large(&self, name: Name, file: &File, size: Option<u64>) -> CatalogError {
        let url = Url::parse(&file.url).map_or_else(|_| file.url.clone(), |url| shown(&url));
        let size = match size {
            Some(size) => format!("its {} MiB are", size.div_ceil(1 << 20)),
            None => "it is".to_owned(),
        };
        let limit = self.max_download >> 20;
        let why = format!(
            "{url} is not to be had in parts, and {size} more than the {limit} MiB that are downloaded just for that"
        );
        unavailable(name, file, &why)
    }
}

/// The downloaded file, at its beginning, when it is the one that the index states.
fn checked(mut spool: Spool, file: &File) -> Result<DiskFile, CatalogError> {
    let kept = spool.file.take();
    let actual = spool.sha256();
    if let Some(expected) = file.sha256.filter(|expected| *expected != actual) {
        return Err(wrong_digest("", file, (&expected, &actual)));
    }
    let rewound =
        kept.ok_or_else(|| std::io::Error::other("it was not kept")).and_then(|mut kept| {
            kept.seek(SeekFrom::Start(0))?;
            Ok(kept)
        });
    rewound.map_err(|error| {
        CatalogError::Network(format!("{} cannot be read back: {error}", file.filename).into())
    })
}
