//! What lies on disk: the frame, the head, and the record of a file. Shared by the writer and the reader.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The first seven bytes of a stored page; the eighth is the version of the format.
pub(super) const MAGIC: &[u8; 7] = b"cl-page";

/// Raised whenever [`Head`], [`FileRecord`] or the meaning of a field changes, so that older files are refused.
pub(super) const FORMAT: u8 = 2;

/// Magic, format, length of everything, length of the head and its checksum.
pub(super) const FRAME_LEN: usize = 24;

/// What is read when a page is opened.
#[derive(Serialize, Deserialize)]
pub(super) struct Head<'a> {
    /// The texts of the versions, ascending, one behind the other.
    pub(super) versions: &'a str,
    /// One [`Place`] for each version in the same order, then one for what was skipped.
    pub(super) places: &'a [u8],
}

/// Where the block of a release is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Where the text of the version ends.
    pub(super) text_end: u32,
    /// Where the block begins, counted from the end of the head.
    pub(super) start: u32,
    /// Its length.
    pub(super) length: u32,
    /// Its CRC-32.
    pub(super) checksum: u32,
}

impl Place {
    /// Bytes of one place.
    pub(super) const LEN: usize = 16;

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let numbers = [self.text_end, self.start, self.length, self.checksum];
        for (slot, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The place with a number in a table of them.
    pub(super) fn read(table: &[u8], index: usize) -> Option<Self> {
        let from = index.checked_mul(Self::LEN)?;
        let bytes = table.get(from..from.checked_add(Self::LEN)?)?;
        let mut numbers = bytes.chunks_exact(4).filter_map(|number| number.try_into().ok());
        let mut next = || numbers.next().map(u32::from_le_bytes);
        Some(Self { text_end: next()?, start: next()?, length: next()?, checksum: next()? })
    }
}

/// One file. A block is the number of its files (u32) and these records, one after the other; each may repeat what the one before it says.
#[derive(Serialize, Deserialize)]
pub(super) struct FileRecord<'a> {
    /// How many bytes of the name are those of the file before.
    pub(super) name_shared: u32,
    /// The rest of the name.
    pub(super) name: &'a str,
    /// How many bytes of the URL are those of the file before.
    pub(super) url_shared: u32,
    /// What follows them, less the file name where `named` is true.
    pub(super) url: &'a str,
    /// The URL ends in the file name, with `+` as `%2B`.
    pub(super) named: bool,
    pub(super) sha256: Option<&'a [u8]>,
    pub(super) size: Option<u64>,
    #[serde(borrow)]
    pub(super) requires_python: TextRecord<'a>,
    #[serde(borrow)]
    pub(super) yanked: TextRecord<'a>,
    /// Seconds since 1970 and nanoseconds of the same sign.
    pub(super) upload_time: Option<(i64, i32)>,
    #[serde(borrow)]
    pub(super) core_metadata: CoreMetadataRecord<'a>,
}

/// A text that may be missing.
#[derive(Serialize, Deserialize)]
pub(super) enum TextRecord<'a> {
    /// There is none.
    None,
    /// That of the file before, which has one.
    Same,
    /// This one.
    New(&'a str),
}

/// `catalog::CoreMetadata`, as stored.
#[derive(Serialize, Deserialize)]
pub(super) enum CoreMetadataRecord<'a> {
    No,
    Yes,
    Sha256(&'a [u8]),
}

/// The file name as it stands in a URL that ends in it.
pub(super) fn in_url(filename: &str) -> Cow<'_, str> {
    if filename.contains('+') { filename.replace('+', "%2B").into() } else { filename.into() }
}

pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Puts the frame before a head and blocks.
pub(super) fn frame(head: &[u8], blocks: &[u8]) -> Vec<u8> {
    let length = FRAME_LEN + head.len() + blocks.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend_from_slice(MAGIC);
    bytes.push(FORMAT);
    bytes.extend_from_slice(&(length as u64).to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(head.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&checksum(head).to_le_bytes());
    bytes.extend_from_slice(head);
    bytes.extend_from_slice(blocks);
    bytes
}
