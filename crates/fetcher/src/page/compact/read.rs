//! Reads the stored form.

use std::sync::Arc;

use cuda_lock_constraint::catalog::{CoreMetadata, File, Project, ReleaseFiles};
use jiff::Timestamp;
use pep440_rs::Version;

use super::record::{
    CoreMetadataRecord, FORMAT, FRAME_LEN, FileRecord, Header, MAGIC, checksum, in_url,
};

/// Why stored bytes are not a page. The page has to be fetched again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// The checksum does not fit.
    #[error("the stored page is damaged: its checksum does not fit")]
    Checksum,
    /// The checksum fits and the contents cannot be read all the same.
    #[error("the stored page cannot be read: {0}")]
    Content(&'static str),
}

/// Opens a stored page. `bytes` is kept (a `Vec<u8>`, an `Arc<[u8]>` …); of its contents only the versions and the
/// shared texts are decoded here.
///
/// # Errors
/// When the bytes are not what [`encode`](super::encode) of this version wrote.
pub fn open<B>(bytes: B) -> Result<Project, Corrupt>
where
    B: AsRef<[u8]> + Send + Sync + 'static,
{
    let payload = unframe(bytes.as_ref())?;
    let (length, rest) =
        payload.split_first_chunk::<4>().ok_or(Corrupt::Content("it has no header"))?;
    let header_len = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let header =
        rest.get(..header_len).ok_or(Corrupt::Content("its header is longer than the page"))?;
    let header: Header<'_> =
        postcard::from_bytes(header).map_err(|_| Corrupt::Content("its header is malformed"))?;
    let mut versions = Vec::with_capacity(header.releases.len());
    let mut ends = Vec::with_capacity(header.releases.len());
    for (version, end) in header.releases {
        let version: Version =
            version.parse().map_err(|_| Corrupt::Content("a version is malformed"))?;
        versions.push(version);
        ends.push(end);
    }
    let prefixes = header.prefixes.into_iter().map(Box::from).collect();
    let texts = header.texts.into_iter().map(Arc::from).collect();
    let skipped =
        header.skipped.into_iter().map(|(name, why)| (name.to_owned(), why.to_owned())).collect();
    let start = FRAME_LEN + 4 + header_len;
    let files = Box::new(Stored { bytes, start, ends, prefixes, texts });
    Ok(Project { versions, files, skipped })
}

/// Checks the frame, and gives what is in it.
fn unframe(bytes: &[u8]) -> Result<&[u8], Corrupt> {
    let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or(Corrupt::Foreign)?;
    let (format, rest) = rest.split_first().ok_or(Corrupt::Length)?;
    if *format != FORMAT {
        return Err(Corrupt::Format(*format));
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(Corrupt::Length)?;
    let (sum, payload) = rest.split_first_chunk::<4>().ok_or(Corrupt::Length)?;
    if u64::from_le_bytes(*length) != payload.len() as u64 {
        return Err(Corrupt::Length);
    }
    if u32::from_le_bytes(*sum) != checksum(payload) {
        return Err(Corrupt::Checksum);
    }
    Ok(payload)
}

/// The files of a stored page.
struct Stored<B> {
    bytes: B,
    /// Where the first block begins.
    start: usize,
    /// Where each block ends, counted from `start`.
    ends: Vec<u32>,
    prefixes: Vec<Box<str>>,
    texts: Vec<Arc<str>>,
}

impl<B: AsRef<[u8]> + Send + Sync> ReleaseFiles for Stored<B> {
    fn files(&self, index: usize) -> Vec<File> {
        // The checksum has held, so a block that cannot be read was never written by this program.
        self.decode(index).unwrap_or_default()
    }
}

impl<B: AsRef<[u8]>> Stored<B> {
    fn decode(&self, index: usize) -> Option<Vec<File>> {
        let end = self.position(*self.ends.get(index)?)?;
        let begin = match index.checked_sub(1) {
            Some(before) => self.position(*self.ends.get(before)?)?,
            None => self.start,
        };
        let mut block = self.bytes.as_ref().get(begin..end)?;
        let mut files: Vec<File> = Vec::new();
        while !block.is_empty() {
            let (record, rest) = postcard::take_from_bytes::<FileRecord<'_>>(block).ok()?;
            let file = self.file(&record, files.last().map_or("", |file| &file.filename))?;
            files.push(file);
            block = rest;
        }
        Some(files)
    }

    fn position(&self, end: u32) -> Option<usize> {
        self.start.checked_add(usize::try_from(end).ok()?)
    }

    fn text(&self, index: Option<u32>) -> Option<Option<Arc<str>>> {
        match index {
            None => Some(None),
            Some(index) => self.texts.get(usize::try_from(index).ok()?).cloned().map(Some),
        }
    }

    fn file(&self, record: &FileRecord<'_>, before: &str) -> Option<File> {
        let shared = before.get(..usize::try_from(record.shared).ok()?)?;
        let filename = [shared, record.name].concat();
        let prefix = self.prefixes.get(usize::try_from(record.prefix).ok()?)?;
        let end = if record.named { in_url(&filename) } else { "".into() };
        let upload_time = match record.upload_time {
            None => None,
            Some((seconds, nanoseconds)) => Some(Timestamp::new(seconds, nanoseconds).ok()?),
        };
        Some(File {
            url: [prefix, record.path, &end].concat(),
            sha256: record.sha256,
            size: record.size,
            requires_python: self.text(record.requires_python)?,
            yanked: self.text(record.yanked)?,
            upload_time,
            core_metadata: match record.core_metadata {
                CoreMetadataRecord::No => CoreMetadata::No,
                CoreMetadataRecord::Yes => CoreMetadata::Yes,
                CoreMetadataRecord::Sha256(digest) => CoreMetadata::Sha256(digest),
            },
            filename,
        })
    }
}
