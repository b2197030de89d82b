//! What lies on disk: the frame, the header, and the record of a file. Shared by the writer and the reader.

use std::borrow::Cow;

use flate2::Crc;
use serde::{Deserialize, Serialize};

/// The first seven bytes of a stored page; the eighth is the version of the format.
pub(super) const MAGIC: &[u8; 7] = b"cl-page";

/// Raised whenever [`Header`], [`FileRecord`] or the meaning of a field changes, so that older files are refused.
pub(super) const FORMAT: u8 = 1;

/// Magic, format, length and checksum.
pub(super) const FRAME_LEN: usize = 20;

/// What is decoded when a page is opened.
#[derive(Serialize, Deserialize)]
pub(super) struct Header<'a> {
    /// The versions, ascending, each with where its block ends, counted from the end of the header.
    #[serde(borrow)]
    pub(super) releases: Vec<(&'a str, u32)>,
    /// Beginnings of URLs.
    #[serde(borrow)]
    pub(super) prefixes: Vec<&'a str>,
    /// `Requires-Python` and reasons of yanks.
    #[serde(borrow)]
    pub(super) texts: Vec<&'a str>,
    /// File names and reasons.
    #[serde(borrow)]
    pub(super) skipped: Vec<(&'a str, &'a str)>,
}

/// One file. A block is these records, one after the other.
#[derive(Serialize, Deserialize)]
pub(super) struct FileRecord<'a> {
    /// How many bytes of the name are those of the file before in the same block.
    pub(super) shared: u32,
    /// The rest of the name.
    pub(super) name: &'a str,
    /// Index of the beginning of the URL.
    pub(super) prefix: u32,
    /// What follows it, less the file name where `named` is true.
    pub(super) path: &'a str,
    /// The URL ends in the file name, with `+` as `%2B`.
    pub(super) named: bool,
    pub(super) sha256: Option<[u8; 32]>,
    pub(super) size: Option<u64>,
    /// Index into the texts.
    pub(super) requires_python: Option<u32>,
    /// Index into the texts.
    pub(super) yanked: Option<u32>,
    /// Seconds since 1970 and nanoseconds of the same sign.
    pub(super) upload_time: Option<(i64, i32)>,
    pub(super) core_metadata: CoreMetadataRecord,
}

/// `catalog::CoreMetadata`, as stored.
#[derive(Serialize, Deserialize)]
pub(super) enum CoreMetadataRecord {
    No,
    Yes,
    Sha256([u8; 32]),
}

/// The file name as it stands in a URL that ends in it.
pub(super) fn in_url(filename: &str) -> Cow<'_, str> {
    if filename.contains('+') { filename.replace('+', "%2B").into() } else { filename.into() }
}

pub(super) fn checksum(payload: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(payload);
    crc.sum()
}

/// Puts the frame before a payload.
pub(super) fn frame(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FRAME_LEN + payload.len());
    bytes.extend_from_slice(MAGIC);
    bytes.push(FORMAT);
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&checksum(payload).to_le_bytes());
    bytes.extend_from_slice(payload);
    bytes
}
