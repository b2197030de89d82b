//! What a source distribution on a server says, read while it comes: as soon as everything that is asked for was seen, the
//! rest is not fetched.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};

use cuda_lock_constraint::catalog::{CatalogError, File, Metadata, Silence, Undeclared};
use cuda_lock_constraint::name::Name;
use http::StatusCode;
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;
use url::Url;

use crate::cache::Said;
use crate::fetcher::Inner;
use crate::metadata::{SdistKind, SdistName, read_sdist, read_tar};
use crate::net::{Head, NetworkError, Refusal, Request, Sink};
use crate::project::apart;
use crate::wheel::{about, unavailable, version, wrong_digest};

/// So many times as much as of a wheel may come of a source distribution: it is read while it comes, and not kept.
const PATIENCE: u64 = 8;

/// How messages and answers call a source distribution.
pub(crate) fn sdist_name(project: Name, file: &File) -> SdistName {
    let version = version(&file.filename, project).map(|version| version.to_string());
    let below = file.url.split_once("#subdirectory=").map(|(_, below)| below.to_owned());
    SdistName {
        project,
        version: version.unwrap_or_default(),
        filename: file.filename.clone(),
        subdirectory: below,
    }
}

impl Inner {
    /// What a source distribution says.
    pub(crate) async fn sdist(
        &self,
        url: &Url,
        name: Name,
        file: &File,
    ) -> Result<Said, CatalogError> {
        let of = sdist_name(name, file);
        let read = match SdistKind::of(&file.filename) {
            Some(SdistKind::TarGz) => self.stream(url, file, of).await?,
            Some(SdistKind::Zip) => {
                let sdist = self.whole_file(url, name, file).await?;
                let size = usize::try_from(file.size.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
                apart(size, move || Ok(read_sdist(&of, SdistKind::Zip, sdist))).await?
            }
            None => {
                let why = "it is neither a wheel nor a source distribution that is read";
                return Err(unavailable(name, file, why));
            }
        };
        match read {
            Ok(metadata) => about(name, file, metadata).map(Said::Metadata),
            // Another answer may bring an archive that can be read.
            Err(found) if found.why == Silence::Unreadable => {
                Err(CatalogError::Undeclared(found.into()))
            }
            // That only a build tells does not change, and finding out took a download.
            Err(found) => Ok(Said::Undeclared(found)),
        }
    }

    async fn stream(
        &self,
        url: &Url,
        file: &File,
        of: SdistName,
    ) -> Result<Result<Metadata, Undeclared>, CatalogError> {
        let limit = self.max_download.saturating_mul(PATIENCE);
        let mut pipe = Pipe { of, limit, length: 0, hash: Sha256::new(), sender: None, work: None };
        let network = |error: NetworkError| CatalogError::Network(error.to_string().into());
        let whole = match self.http.fetch(&Request::new(url), &mut pipe).await {
            Ok(head) if head.status == StatusCode::OK => true,
            Ok(head) => return Err(network(head.unexpected())),
            Err(error) => match error.refusal() {
                Some(Refusal::Enough) => false,
                Some(Refusal::TooLarge { .. }) => {
                    let detail = format!("it has more than {} MiB", limit >> 20);
                    return Ok(Err(Undeclared {
                        filename: file.filename.clone(),
                        why: Silence::Unreadable,
                        detail: Some(detail),
                        recorded: None,
                    }));
                }
                _ => return Err(network(error)),
            },
        };
        let (read, actual) = pipe.finish().await?;
        match file.sha256.filter(|expected| whole && *expected != actual) {
            Some(expected) => Err(wrong_digest("", file, (&expected, &actual))),
            None => Ok(read),
        }
    }
}

type Outcome = Result<Metadata, Undeclared>;

/// Hands a body to a reader on a thread of its own, until that has seen enough.
struct Pipe {
    of: SdistName,
    limit: u64,
    length: u64,
    hash: Sha256,
    sender: Option<Sender<Vec<u8>>>,
    work: Option<JoinHandle<Outcome>>,
}

impl Pipe {
    async fn finish(mut self) -> Result<(Outcome, [u8; 32]), CatalogError> {
        drop(self.sender.take());
        let lost = |why: String| CatalogError::Invalid(why.into());
        let work =
            self.work.take().ok_or_else(|| lost(format!("{} did not come", self.of.filename)))?;
        let read = work
            .await
            .map_err(|error| lost(format!("{} cannot be read: {error}", self.of.filename)))?;
        Ok((read, self.hash.finalize().into()))
    }
}

impl Sink for Pipe {
    fn begin(&mut self, _head: &Head, length: Option<u64>) -> Result<(), Refusal> {
        if let Some(length) = length.filter(|length| *length > self.limit) {
            return Err(Refusal::TooLarge { limit: self.limit, length: Some(length) });
        }
        let (sender, receiver) = channel();
        let of = self.of.clone();
        let stream = Pieces { receiver, piece: Vec::new(), at: 0 };
        self.hash = Sha256::new();
        self.length = 0;
        self.sender = Some(sender);
        self.work = Some(tokio::task::spawn_blocking(move || read_tar(&of, stream)));
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.length += bytes.len() as u64;
        if self.length > self.limit {
            return Err(Refusal::TooLarge { limit: self.limit, length: None });
        }
        self.hash.update(bytes);
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(bytes.to_vec()).is_ok());
        // The reader is gone: it has what it wants, or will never have it.
        if sent { Ok(()) } else { Err(Refusal::Enough) }
    }
}

/// The pieces of a body as one stream.
struct Pieces {
    receiver: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.piece.len() {
            match self.receiver.recv() {
                Ok(piece) => (self.piece, self.at) = (piece, 0),
                Err(_) => return Ok(0),
            }
        }
        let rest = self.piece.get(self.at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        Ok(count)
    }
}
