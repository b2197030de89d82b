//! Reads the stored form.

use std::io;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{CoreMetadata, File, Versions};
use jiff::Timestamp;
use pep440_rs::Version;

use super::record::{
    CoreMetadataRecord, FORMAT, FRAME_LEN, FileRecord, Head, MAGIC, Place, TextRecord, checksum,
    in_url,
};
use super::storage::Storage;

/// Why stored bytes are not a page. The page has to be fetched again.
#[derive(Debug, thiserror::Error)]
pub enum Corrupt {
    /// It does not begin as a stored page does.
    #[error("not a stored page")]
    Foreign,
    /// It was written by another version of this program.
    #[error(
        "a stored page in format {0}, of which this program does not know; it writes format {FORMAT}"
    )]
    Format(u8),
    /// Its length is not the one it states.
    #[error("the stored page was cut off or added to")]
    Length,
    /// A checksum does not fit.
    #[error("the stored page is damaged: its checksum does not fit")]
    Checksum,
    /// The checksum fits and the contents cannot be read all the same.
    #[error("the stored page cannot be read: {0}")]
    Content(&'static str),
    /// The file cannot be read.
    #[error("the stored page cannot be read: {0}")]
    Io(#[from] io::Error),
}

/// A stored page of which only the head was read.
pub struct StoredPage<S> {
    storage: S,
    /// Where the blocks begin.
    start: u64,
    /// The places of the releases, and that of what was skipped.
    places: Box<[u8]>,
}

/// Opens a stored page: reads its head, and says which versions it has.
///
/// # Errors
/// When the bytes are not what [`encode`](super::encode) of this version wrote.
pub fn open<S: Storage>(storage: S) -> Result<(Versions, StoredPage<S>), Corrupt> {
    let length = storage.len();
    let frame = storage.read(0..length.min(FRAME_LEN as u64))?;
    let head_len = check_frame(&frame, length)?;
    let start = FRAME_LEN as u64 + u64::from(head_len);
    if start > length {
        return Err(Corrupt::Content("its head is longer than the page"));
    }
    let head = storage.read(FRAME_LEN as u64..start)?;
    let stated = frame.last_chunk::<4>().ok_or(Corrupt::Length)?;
    if u32::from_le_bytes(*stated) != checksum(&head) {
        return Err(Corrupt::Checksum);
    }
    let head: Head<'_> =
        postcard::from_bytes(&head).map_err(|_| Corrupt::Content("its head is malformed"))?;
    let count = (head.places.len() / Place::LEN).saturating_sub(1);
    let ends: Option<Box<[u32]>> =
        (0..count).map(|index| Some(Place::read(head.places, index)?.text_end)).collect();
    let ends = ends.ok_or(Corrupt::Content("its head is malformed"))?;
    let versions = Versions::from_text(head.versions.into(), ends);
    let places = head.places.into();
    Ok((versions, StoredPage { storage, start, places }))
}

/// Checks the frame, and gives the length of the head.
fn check_frame(frame: &[u8], length: u64) -> Result<u32, Corrupt> {
    let rest = frame.strip_prefix(MAGIC.as_slice()).ok_or(Corrupt::Foreign)?;
    let (format, rest) = rest.split_first().ok_or(Corrupt::Length)?;
    if *format != FORMAT {
        return Err(Corrupt::Format(*format));
    }
    let (stated, rest) = rest.split_first_chunk::<8>().ok_or(Corrupt::Length)?;
    let (head_len, rest) = rest.split_first_chunk::<4>().ok_or(Corrupt::Length)?;
    if u64::from_le_bytes(*stated) != length || rest.len() != 4 {
        return Err(Corrupt::Length);
    }
    Ok(u32::from_le_bytes(*head_len))
}

impl<S: Storage> StoredPage<S> {
    /// The files of a release; none for a release that there is not.
    ///
    /// # Errors
    /// When its block is damaged, or cannot be read.
    pub fn files(&self, index: usize) -> Result<Vec<File>, Corrupt> {
        if index >= self.releases() {
            return Ok(Vec::new());
        }
        let block = self.block(index)?;
        let (count, mut rest) =
            block.split_first_chunk::<4>().ok_or(Corrupt::Content("a release is malformed"))?;
        let count = usize::try_from(u32::from_le_bytes(*count)).unwrap_or(usize::MAX);
        // A record has more bytes than this, so a count that is not the writer's claims no memory.
        let mut files: Vec<File> = Vec::with_capacity(count.min(rest.len() / 16 + 1));
        while !rest.is_empty() {
            let (record, after) = postcard::take_from_bytes::<FileRecord<'_>>(rest)
                .map_err(|_| Corrupt::Content("a file is malformed"))?;
            let read = file(&record, files.last());
            files.push(read.ok_or(Corrupt::Content("a file is malformed"))?);
            rest = after;
        }
        Ok(files)
    }

    /// Files that belong to no release, with the reason.
    ///
    /// # Errors
    /// When their block is damaged, or cannot be read.
    pub fn skipped(&self) -> Result<Vec<(String, String)>, Corrupt> {
        let block = self.block(self.releases())?;
        if block.is_empty() {
            return Ok(Vec::new());
        }
        postcard::from_bytes(&block).map_err(|_| Corrupt::Content("what was skipped is malformed"))
    }

    /// The version of a release, read from the head once more.
    #[must_use]
    pub fn version(&self, index: usize) -> Option<Version> {
        let head = self.storage.read(FRAME_LEN as u64..self.start).ok()?;
        let head: Head<'_> = postcard::from_bytes(&head).ok()?;
        let end = |index| {
            let place = Place::read(head.places, index)?;
            usize::try_from(place.text_end).ok()
        };
        let from = index.checked_sub(1).map_or(Some(0), end)?;
        head.versions.get(from..end(index)?)?.parse().ok()
    }

    fn releases(&self) -> usize {
        (self.places.len() / Place::LEN).saturating_sub(1)
    }

    fn block(&self, index: usize) -> Result<std::borrow::Cow<'_, [u8]>, Corrupt> {
        let place = Place::read(&self.places, index).ok_or(Corrupt::Content("it has no places"))?;
        let start = self.start + u64::from(place.start);
        let block = self.storage.read(start..start + u64::from(place.length))?;
        if checksum(&block) != place.checksum {
            return Err(Corrupt::Checksum);
        }
        Ok(block)
    }
}

fn file(record: &FileRecord<'_>, before: Option<&File>) -> Option<File> {
    let (name, url) = match before {
        Some(before) => (before.filename.as_str(), before.url.as_str()),
        None => ("", ""),
    };
    let name = name.get(..usize::try_from(record.name_shared).ok()?)?;
    let filename = [name, record.name].concat();
    let url = url.get(..usize::try_from(record.url_shared).ok()?)?;
    let url = if record.named {
        [url, record.url, &in_url(&filename)].concat()
    } else {
        [url, record.url].concat()
    };
    let upload_time = match record.upload_time {
        None => None,
        Some((seconds, nanoseconds)) => Some(Timestamp::new(seconds, nanoseconds).ok()?),
    };
    Some(File {
        url,
        sha256: record.sha256.map(<[u8; 32]>::try_from).transpose().ok()?,
        size: record.size,
        requires_python: text(
            &record.requires_python,
            before.and_then(|before| before.requires_python.as_ref()),
        )?,
        yanked: text(&record.yanked, before.and_then(|before| before.yanked.as_ref()))?,
        upload_time,
        core_metadata: match record.core_metadata {
            CoreMetadataRecord::No => CoreMetadata::No,
            CoreMetadataRecord::Yes => CoreMetadata::Yes,
            CoreMetadataRecord::Sha256(digest) => {
                CoreMetadata::Sha256(<[u8; 32]>::try_from(digest).ok()?)
            }
        },
        filename,
    })
}

fn text(record: &TextRecord<'_>, before: Option<&Arc<str>>) -> Option<Option<Arc<str>>> {
    match record {
        TextRecord::None => Some(None),
        TextRecord::Same => before.map(|before| Some(Arc::clone(before))),
        TextRecord::New(text) => Some(Some((*text).into())),
    }
}
