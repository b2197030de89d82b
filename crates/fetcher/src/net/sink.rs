//! Where bodies go.

use std::io::{Seek, SeekFrom, Write};

use sha2::{Digest, Sha256};

use super::fetch::Head;

/// Takes the body of an answer, piece by piece. A repeated request begins anew.
pub(crate) trait Sink: Send {
    /// A body comes (again). `length` is its length when the server says so.
    ///
    /// # Errors
    /// When it is not wanted; the request is then over.
    fn begin(&mut self, head: &Head, length: Option<u64>) -> Result<(), Refusal>;

    /// The next piece.
    ///
    /// # Errors
    /// When no more is wanted; the request is then over.
    fn piece(&mut self, bytes: &[u8]) -> Result<(), Refusal>;
}

/// Why a body is not taken.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// More than so many bytes.
    TooLarge {
        /// The limit.
        limit: u64,
        /// The length that the server states, if it does.
        length: Option<u64>,
    },
    /// It cannot be written.
    Disk(std::io::Error),
    /// What came is all that is needed.
    Enough,
}

fn check(limit: u64, length: Option<u64>) -> Result<(), Refusal> {
    match length {
        Some(length) if length > limit => Err(Refusal::TooLarge { limit, length: Some(length) }),
        _ => Ok(()),
    }
}

/// Keeps the body in memory.
pub(crate) struct Buffer {
    pub(crate) bytes: Vec<u8>,
    limit: u64,
}

impl Buffer {
    /// An empty one that takes at most so many bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self { bytes: Vec::new(), limit }
    }
}

impl Sink for Buffer {
    fn begin(&mut self, _head: &Head, length: Option<u64>) -> Result<(), Refusal> {
        self.bytes.clear();
        check(self.limit, length)?;
        // A length is only a claim: memory beyond a few megabytes is taken when the bytes come.
        let expected = length.unwrap_or(0).min(16 << 20);
        self.bytes.reserve(usize::try_from(expected).unwrap_or(0));
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        if (self.bytes.len() + bytes.len()) as u64 > self.limit {
            return Err(Refusal::TooLarge { limit: self.limit, length: None });
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

/// Keeps a part of a file in memory, and a whole file, when the server sends that instead, on disk.
pub(crate) struct Spool {
    /// The part, when the answer is one.
    pub(crate) part: Buffer,
    /// The whole file, when the answer is that.
    pub(crate) file: Option<std::fs::File>,
    hash: Sha256,
    length: u64,
    limit: u64,
}

impl Spool {
    /// `limit` holds for the whole file; a part never has more than was asked for, plus what a careless server adds.
    pub(crate) fn new(part_limit: u64, limit: u64) -> Self {
        Self { part: Buffer::new(part_limit), file: None, hash: Sha256::new(), length: 0, limit }
    }

    /// The digest of the whole file.
    pub(crate) fn sha256(self) -> [u8; 32] {
        self.hash.finalize().into()
    }
}

impl Sink for Spool {
    fn begin(&mut self, head: &Head, length: Option<u64>) -> Result<(), Refusal> {
        if head.status == http::StatusCode::PARTIAL_CONTENT {
            self.file = None;
            return self.part.begin(head, length);
        }
        check(self.limit, length)?;
        self.hash = Sha256::new();
        self.length = 0;
        let file = match self.file.take() {
            Some(mut file) => {
                file.set_len(0)
                    .and_then(|()| file.seek(SeekFrom::Start(0)))
                    .map_err(Refusal::Disk)?;
                file
            }
            None => tempfile::tempfile().map_err(Refusal::Disk)?,
        };
        self.file = Some(file);
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let Some(file) = &mut self.file else { return self.part.piece(bytes) };
        self.length += bytes.len() as u64;
        if self.length > self.limit {
            return Err(Refusal::TooLarge { limit: self.limit, length: None });
        }
        self.hash.update(bytes);
        file.write_all(bytes).map_err(Refusal::Disk)
    }
}

/// Keeps nothing but the digest.
#[derive(Default)]
pub(crate) struct HashSink {
    hash: Sha256,
    length: u64,
    limit: u64,
}

impl HashSink {
    /// One that takes at most so many bytes.
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Digest and length.
    pub(crate) fn finish(self) -> ([u8; 32], u64) {
        (self.hash.finalize().into(), self.length)
    }
}

impl Sink for HashSink {
    fn begin(&mut self, _head: &Head, length: Option<u64>) -> Result<(), Refusal> {
        self.hash = Sha256::new();
        self.length = 0;
        check(self.limit, length)
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.length += bytes.len() as u64;
        if self.length > self.limit {
            return Err(Refusal::TooLarge { limit: self.limit, length: None });
        }
        self.hash.update(bytes);
        Ok(())
    }
}
