//! One page in the cache: what HTTP needs to know about it, then the page in its compact form.
//!
//! A file is: 8 bytes of mark, the second until which it is fresh, a checksum of the header with its length, the length
//! of the header, the header, the body (which has a checksum of its own). The second stands in front, at a fixed place
//! and outside the checksum, so that an answer "not modified" costs one small write instead of a copy of the page.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use url::Url;

use super::body::{Body, Kept};
use super::policy::LONGEST;
use super::{crc32, is_absent};
use crate::observer::Counters;
use crate::page::compact::Storage as _;

const MARK: [u8; 8] = *b"cudapg2\n";
const FRESH_AT: u64 = 8;
const CHECKED_FROM: usize = 20;
const HEADER_FROM: usize = 24;

/// A page as kept.
pub(crate) struct Entry {
    pub(crate) header: Header,
    /// Unix seconds.
    pub(crate) fresh_until: u64,
    /// The page in its compact form; empty when the project is not there.
    pub(crate) body: Body,
}

/// What must be known to use an entry, or to have it confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The URL that was asked, without credentials.
    pub(crate) url: String,
    /// What the body is.
    pub(crate) content: Content,
    /// When it was fetched, Unix seconds.
    pub(crate) stored: u64,
    /// `ETag` of the answer.
    pub(crate) etag: Option<String>,
    /// `Last-Modified` of the answer.
    pub(crate) last_modified: Option<String>,
}

/// What the body of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Content {
    /// The index does not have the project; the body is empty.
    Absent,
    /// A page of one project.
    Project,
    /// A flat page.
    Flat,
    /// No page, but the SHA-256 and the length of a file; the body is empty.
    Digest([u8; 32], u64),
}

/// Unix seconds of now.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

impl Entry {
    /// Whether it may be used without asking the server.
    pub(crate) fn is_fresh(&self) -> bool {
        let now = now();
        // A time further off than any that is written is damage, or a clock that was set back.
        self.fresh_until > now && self.fresh_until <= now + LONGEST
    }

    /// Reads the entry of `url`; `None` when there is none, or what lies there is damaged or something else. Of the body
    /// only the beginning is read.
    pub(super) fn read(
        path: &Path,
        url: &Url,
        counters: &Arc<Counters>,
    ) -> io::Result<Option<Self>> {
        match Kept::open(path, counters) {
            Ok(kept) => Ok(Self::decode(kept).filter(|entry| entry.header.url == url.as_str())),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        }
    }

    fn decode(kept: Kept) -> Option<Self> {
        let front = kept.first();
        if front.get(..8)? != MARK {
            return None;
        }
        let fresh_until = u64::from_le_bytes(front.get(8..16)?.try_into().ok()?);
        let checksum = u32::from_le_bytes(front.get(16..CHECKED_FROM)?.try_into().ok()?);
        let length = u32::from_le_bytes(front.get(CHECKED_FROM..HEADER_FROM)?.try_into().ok()?);
        let end = HEADER_FROM as u64 + u64::from(length);
        let checked = kept.read(CHECKED_FROM as u64..end).ok()?;
        if crc32(&checked) != checksum {
            return None;
        }
        let header = postcard::from_bytes(checked.get(HEADER_FROM - CHECKED_FROM..)?).ok()?;
        drop(checked);
        Some(Self { header, fresh_until, body: Body::Kept(Arc::new(kept), end) })
    }

    /// Writes it. The file must be new and become visible by rename.
    pub(super) fn write(&self, file: &mut impl Write) -> io::Result<()> {
        let header = postcard::to_stdvec(&self.header).map_err(io::Error::other)?;
        let length = u32::try_from(header.len()).map_err(io::Error::other)?.to_le_bytes();
        let checked = [&length[..], &header].concat();
        let mut front = Vec::with_capacity(CHECKED_FROM + checked.len());
        front.extend_from_slice(&MARK);
        front.extend_from_slice(&self.fresh_until.to_le_bytes());
        front.extend_from_slice(&crc32(&checked).to_le_bytes());
        front.extend_from_slice(&checked);
        file.write_all(&front)?;
        file.write_all(&self.body.read(0..self.body.len())?)
    }

    /// Lets the entry at `path` be fresh until later, if it still is the one with this header.
    pub(super) fn confirm(path: &Path, header: &Header, fresh_until: u64) -> io::Result<()> {
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if read_header(&mut file).as_ref() == Some(header) {
            file.seek(SeekFrom::Start(FRESH_AT))?;
            file.write_all(&fresh_until.to_le_bytes())?;
        }
        Ok(())
    }
}

fn read_header(file: &mut File) -> Option<Header> {
    let mut front = [0; HEADER_FROM];
    file.read_exact(&mut front).ok()?;
    let length = u32::from_le_bytes(front.get(CHECKED_FROM..)?.try_into().ok()?);
    // Headers have a few hundred bytes.
    let mut header = vec![0; usize::try_from(length).ok().filter(|length| *length < 1 << 16)?];
    file.read_exact(&mut header).ok()?;
    postcard::from_bytes(&header).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            header: Header {
                url: "https://index.example/simple/foo/".into(),
                content: Content::Project,
                stored: 5,
                etag: Some("\"a\"".into()),
                last_modified: None,
            },
            fresh_until: 17,
            body: Body::new(b"body".to_vec()),
        }
    }

    fn encoded() -> Vec<u8> {
        let mut bytes = Vec::new();
        entry().write(&mut bytes).expect("a vector takes everything");
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Entry> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("page");
        std::fs::write(&path, bytes).expect("written");
        Entry::decode(Kept::open(&path, &Arc::default()).expect("readable"))
    }

    #[test]
    fn what_is_written_is_read() {
        let read = decode(&encoded()).expect("valid");
        assert_eq!(read.header, entry().header);
        let body = read.body.read(0..read.body.len()).expect("whole");
        assert_eq!((read.fresh_until, &*body), (17, &b"body"[..]));
    }

    #[test]
    fn any_damage_before_the_body_is_a_miss() {
        let bytes = encoded();
        let bytes = bytes.strip_suffix(b"body").expect("the body is last");
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_none(), "cut at {length}");
        }
        for at in (0..bytes.len()).filter(|at| !(8..16).contains(at)) {
            let mut bytes = bytes.to_vec();
            bytes[at] ^= 0x10;
            assert!(decode(&bytes).is_none(), "changed at {at}");
        }
        assert!(decode(b"some other file that is long enough to be one").is_none());
    }

    #[test]
    fn a_confirmed_entry_is_fresh_for_longer() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("page");
        std::fs::write(&path, encoded()).expect("written");
        let url = Url::parse(&entry().header.url).expect("valid");
        let counters = Arc::default();
        let read =
            || Entry::read(&path, &url, &counters).expect("readable").expect("there").fresh_until;
        Entry::confirm(&path, &entry().header, 99).expect("writable");
        assert_eq!(read(), 99);
        let other = Header { etag: None, ..entry().header };
        Entry::confirm(&path, &other, 100).expect("writable");
        assert_eq!(read(), 99, "another page took its place meanwhile");
        let elsewhere = Url::parse("https://other.example/").expect("valid");
        assert!(Entry::read(&path, &elsewhere, &counters).expect("readable").is_none());
    }
}
