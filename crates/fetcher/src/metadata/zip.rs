//! One member of a zip archive, read through as few ranges as possible.
//!
//! A general zip library wants the whole file behind `Read + Seek`, reads it in many small pieces, and reserves memory
//! for as many members as the archive claims. A wheel on an index is gigabytes of which one member of some kilobytes is
//! wanted, and each piece is a request to a server. So the directory is walked here, over whatever bytes are there, and
//! what is missing is named exactly. Tests hold the result against the `zip` crate.
//!
//! Not read, with words: encryption, archives in several disks, compression other than deflate.

use std::io::Read;
use std::ops::Range;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::sparse::Sparse;

/// Why an archive gives no METADATA. The caller knows which file, and names it before these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// It is not a zip archive, or a broken one; the text says where.
    #[error("it is not a valid zip archive: {0}")]
    Malformed(&'static str),
    /// It is valid, and made in a way that is not read here.
    #[error("its METADATA cannot be read: {0}")]
    Unsupported(&'static str),
    /// Something in it is larger than anything honest.
    #[error("{what} is {size} bytes large, more than the {limit} bytes that are read")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Bytes.
        size: u64,
        /// Bytes.
        limit: u64,
    },
    /// No member is the METADATA of the project; the text says what there is.
    #[error("{0}")]
    NotFound(String),
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Io(String),
}

/// Stops a step: bytes are missing, or the archive is no good.
#[derive(Debug)]
pub(super) enum Stop {
    Need(Range<u64>),
    Fail(ArchiveError),
}

impl From<Range<u64>> for Stop {
    fn from(missing: Range<u64>) -> Self {
        Self::Need(missing)
    }
}

impl From<ArchiveError> for Stop {
    fn from(error: ArchiveError) -> Self {
        Self::Fail(error)
    }
}

fn malformed(what: &'static str) -> Stop {
    Stop::Fail(ArchiveError::Malformed(what))
}

/// METADATA files are kilobytes, with a long README perhaps a megabyte.
pub(super) const MEMBER_LIMIT: u64 = 16 << 20;
/// 64 MiB are over half a million members.
const DIRECTORY_LIMIT: u64 = 64 << 20;
const END_LEN: u64 = 22;
const END64_LEN: u64 = 56;
const LOCATOR_LEN: u64 = 20;
const ENTRY_LEN: usize = 46;
const LOCAL_LEN: u64 = 30;
/// Room for the extra field of a local header, whose length the directory does not tell.
const EXTRA_ROOM: u64 = 512;

/// A member, as the directory describes it.
#[derive(Clone, Debug)]
pub(super) struct Member {
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u64,
    size: u64,
    /// Where its local header begins in the file.
    header: u64,
    name_len: u64,
}

/// The directory of an archive.
pub(super) struct Directory<'a> {
    bytes: &'a [u8],
    /// What was put before the archive, which its offsets do not count.
    prepended: u64,
    /// Where the directory begins in the file.
    start: u64,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}

impl<'a> Directory<'a> {
    /// Finds the directory from the end of the file, as Python's `zipfile` does.
    pub(super) fn find(file: &'a Sparse) -> Result<Self, Stop> {
        let (end_at, end) = end_record(file)?;
        let field =
            |at| u32_at(end, at).map(u64::from).ok_or(malformed("its end record is cut off"));
        let (mut size, mut offset, mut end_of_directory) = (field(12)?, field(16)?, end_at);
        let entries = u16_at(end, 10).ok_or(malformed("its end record is cut off"))?;
        let large = u64::from(u32::MAX);
        if (entries == u16::MAX || size == large || offset == large)
            && let Some(found) = end64(file, end_at)?
        {
            (size, offset, end_of_directory) = found;
        }
        if size > DIRECTORY_LIMIT {
            let what = "its directory";
            return Err(ArchiveError::TooLarge { what, size, limit: DIRECTORY_LIMIT }.into());
        }
        // The directory ends where the end records begin. Its stated offset differs when something was put before.
        let start = end_of_directory
            .checked_sub(size)
            .ok_or(malformed("its directory does not fit in the file"))?;
        let prepended = start
            .checked_sub(offset)
            .ok_or(malformed("its directory is not where its end record says"))?;
        let bytes = file.get(start..end_of_directory)?;
        Ok(Self { bytes, prepended, start })
    }

    /// Every member with its raw name.
    pub(super) fn members(&self) -> impl Iterator<Item = Result<(&'a [u8], Member), Stop>> {
        let mut rest = self.bytes;
        let prepended = self.prepended;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let Some((name, member, next)) = entry(rest, prepended) else {
                rest = &[];
                return Some(Err(malformed("an entry of its directory is broken")));
            };
            rest = next;
            Some(Ok((name, member)))
        })
    }

    /// The contents of a member.
    pub(super) fn read(&self, file: &Sparse, member: &Member) -> Result<Vec<u8>, Stop> {
        let what = "its METADATA";
        let size = member.compressed.max(member.size);
        if size > MEMBER_LIMIT {
            return Err(ArchiveError::TooLarge { what, size, limit: MEMBER_LIMIT }.into());
        }
        if member.flags & 1 != 0 {
            return Err(ArchiveError::Unsupported("it is encrypted").into());
        }
        let outside = || malformed("a member lies outside of the file");
        let local_end = member.header.checked_add(LOCAL_LEN).ok_or_else(outside)?;
        let names_end = local_end.checked_add(member.name_len).ok_or_else(outside)?;
        let guess = names_end
            .checked_add(EXTRA_ROOM + member.compressed)
            .ok_or_else(outside)?
            .min(self.start);
        if local_end > guess {
            return Err(outside());
        }
        let local = match file.get(member.header..local_end) {
            Ok(local) => local,
            // One request for the header and the data, rather than two.
            Err(_) => {
                return Err(file.get(member.header..guess).map_or_else(Stop::Need, |_| outside()));
            }
        };
        if !local.starts_with(b"PK\x03\x04") {
            return Err(malformed("a member is not where its directory says"));
        }
        let lengths = (u16_at(local, 26), u16_at(local, 28));
        let (Some(name_len), Some(extra_len)) = lengths else { return Err(outside()) };
        let data = local_end + u64::from(name_len) + u64::from(extra_len);
        let data_end = data + member.compressed;
        if data_end > self.start {
            return Err(outside());
        }
        unpack(file.get(data..data_end)?, member)
    }
}

/// The last end record, and where it is. Nothing but a comment of at most 65,535 bytes may follow it.
fn end_record(file: &Sparse) -> Result<(u64, &[u8]), Stop> {
    let furthest = file.size().saturating_sub(END_LEN + u64::from(u16::MAX));
    // Nearly every archive ends in a record without a comment: look there before asking for more.
    let near = file.size().saturating_sub(END_LEN);
    for from in [near, furthest] {
        let tail = file.get(from..file.size())?;
        let found = tail.windows(4).rposition(|four| four == b"PK\x05\x06").and_then(|at| {
            let record = tail.get(at..)?;
            let comment = u64::from(u16_at(record, 20)?);
            (END_LEN + comment <= record.len() as u64).then_some((from + at as u64, record))
        });
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(malformed("it has no end record"))
}

/// Size and offset of the directory in a zip64 archive, and where the directory ends. `None` when there is no zip64
/// record: then the large numbers are meant as they stand.
fn end64(file: &Sparse, end_at: u64) -> Result<Option<(u64, u64, u64)>, Stop> {
    let Some(locator_at) = end_at.checked_sub(LOCATOR_LEN) else { return Ok(None) };
    let Some(record_at) = locator_at.checked_sub(END64_LEN) else { return Ok(None) };
    let records = file.get(record_at..end_at)?;
    let locator = records.get(56..).unwrap_or_default();
    if !locator.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    if !records.starts_with(b"PK\x06\x06") {
        return Err(malformed("its zip64 record is not before its locator"));
    }
    match (u64_at(records, 40), u64_at(records, 48)) {
        (Some(size), Some(offset)) => Ok(Some((size, offset, record_at))),
        _ => Ok(None),
    }
}

/// The first entry of what is left of a directory: its name, the member, and what follows.
fn entry(bytes: &[u8], prepended: u64) -> Option<(&[u8], Member, &[u8])> {
    if !bytes.starts_with(b"PK\x01\x02") {
        return None;
    }
    let (fixed, rest) = bytes.split_at_checked(ENTRY_LEN)?;
    let (name, rest) = rest.split_at_checked(u16_at(fixed, 28)?.into())?;
    let (extra, rest) = rest.split_at_checked(u16_at(fixed, 30)?.into())?;
    let (_comment, rest) = rest.split_at_checked(u16_at(fixed, 32)?.into())?;
    let numbers = [u32_at(fixed, 24)?, u32_at(fixed, 20)?, u32_at(fixed, 42)?];
    let [size, compressed, header] = widen(numbers, extra)?;
    let member = Member {
        flags: u16_at(fixed, 8)?,
        method: u16_at(fixed, 10)?,
        crc: u32_at(fixed, 16)?,
        compressed,
        size,
        header: header.checked_add(prepended)?,
        name_len: name.len() as u64,
    };
    Some((name, member, rest))
}

/// Takes numbers that do not fit in 32 bits from the zip64 extra field, where they stand in this order.
fn widen(numbers: [u32; 3], mut extra: &[u8]) -> Option<[u64; 3]> {
    let mut wide = numbers.map(u64::from);
    if !numbers.contains(&u32::MAX) {
        return Some(wide);
    }
    while let (Some(id), Some(len)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let (field, rest) = extra.get(4..)?.split_at_checked(len.into())?;
        if id == 1 {
            let large = wide.iter_mut().filter(|number| **number == u64::from(u32::MAX));
            for (index, number) in large.enumerate() {
                *number = u64_at(field, index * 8)?;
            }
            return Some(wide);
        }
        extra = rest;
    }
    Some(wide)
}

fn unpack(data: &[u8], member: &Member) -> Result<Vec<u8>, Stop> {
    let mut contents = Vec::new();
    match member.method {
        0 => contents.extend_from_slice(data),
        8 => {
            // The stated size was checked against the limit, and no more than that is unpacked.
            DeflateDecoder::new(data)
                .take(member.size + 1)
                .read_to_end(&mut contents)
                .map_err(|_| malformed("its METADATA does not decompress"))?;
        }
        _ => {
            return Err(ArchiveError::Unsupported(
                "it is compressed with something else than deflate",
            )
            .into());
        }
    }
    let mut crc = Crc::new();
    crc.update(&contents);
    if contents.len() as u64 != member.size || crc.sum() != member.crc {
        return Err(malformed("its METADATA does not have the stated checksum"));
    }
    Ok(contents)
}
