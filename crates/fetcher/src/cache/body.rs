//! The bytes behind the header of an entry: in memory, or in a file of which a run reads what it needs.
//!
//! Popular projects have pages of hundreds of kilobytes, of which a warm run needs the head and a block or two. So the
//! beginning of a file is read at once, and the rest in parts, from a file that stays open: what another process puts in
//! its place meanwhile is another file.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::observer::{Counters, add};
use crate::page::compact::{Storage, part};

/// The beginning of a file that is read at once. It holds all of a small project, and of a large one the head and the
/// newest releases.
const FIRST: usize = 8 << 10;

/// So many files stay open at most; processes may often have no more than 256. A file beyond that is read whole.
const OPEN_FILES: usize = 100;

static OPEN: AtomicUsize = AtomicUsize::new(0);

/// The bytes of a page, shared between those who read it and the thread that writes it.
#[derive(Clone)]
pub(crate) enum Body {
    /// All of them.
    Memory(Arc<Vec<u8>>),
    /// What follows the header in a file.
    Kept(Arc<Kept>, u64),
}

/// A file of the cache, of which the beginning was read.
pub(crate) struct Kept {
    first: Vec<u8>,
    length: u64,
    rest: Option<OpenFile>,
    counters: Arc<Counters>,
}

impl Body {
    /// All of `bytes`.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self::Memory(Arc::new(bytes))
    }
}

impl Storage for Body {
    fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.as_slice().len() as u64,
            Self::Kept(kept, from) => kept.length.saturating_sub(*from),
        }
    }

    fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => Storage::read(&**bytes, range),
            Self::Kept(kept, from) => {
                let at = |place: u64| from.checked_add(place).unwrap_or(u64::MAX);
                kept.read(at(range.start)..at(range.end))
            }
        }
    }
}

impl Kept {
    /// Opens a file and reads its beginning.
    pub(super) fn open(path: &Path, counters: &Arc<Counters>) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut first = vec![0; usize::try_from(length).unwrap_or(FIRST).min(FIRST)];
        let mut count = 0;
        while let Some(free) = first.get_mut(count..).filter(|free| !free.is_empty()) {
            match file.read(free) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        first.truncate(count);
        let mut rest = None;
        if (first.len() as u64) < length {
            match OpenFile::new(file) {
                Ok(file) => rest = Some(file),
                Err(mut file) => {
                    file.read_to_end(&mut first)?;
                }
            }
        }
        add(&counters.cache_bytes, first.len() as u64);
        Ok(Self { first, length, rest, counters: Arc::clone(counters) })
    }

    /// What was read at once.
    pub(super) fn first(&self) -> &[u8] {
        &self.first
    }

    /// The bytes of a range.
    pub(super) fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        if let Some(bytes) = part(&self.first, &range) {
            return Ok(Cow::Borrowed(bytes));
        }
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length);
        let (Some(length), Some(rest)) = (length, &self.rest) else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        rest.read(&mut bytes, range.start)?;
        add(&self.counters.cache_bytes, length);
        Ok(Cow::Owned(bytes))
    }
}

/// A file that counts among those that are open.
struct OpenFile(File);

impl OpenFile {
    /// Gives the file back when there are too many already.
    fn new(file: File) -> Result<Self, File> {
        if OPEN.fetch_add(1, Ordering::Relaxed) < OPEN_FILES {
            return Ok(Self(file));
        }
        OPEN.fetch_sub(1, Ordering::Relaxed);
        Err(file)
    }

    #[cfg(unix)]
    fn read(&self, bytes: &mut [u8], from: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, bytes, from)
    }

    #[cfg(windows)]
    fn read(&self, bytes: &mut [u8], from: u64) -> io::Result<()> {
        let mut count = 0;
        while let Some(free) = bytes.get_mut(count..).filter(|free| !free.is_empty()) {
            match std::os::windows::fs::FileExt::seek_read(&self.0, free, from + count as u64)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => count += more,
            }
        }
        Ok(())
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: &[u8]) -> (tempfile::TempDir, Kept, Arc<Counters>) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("file");
        std::fs::write(&path, bytes).expect("written");
        let counters = Arc::new(Counters::default());
        let kept = Kept::open(&path, &counters).expect("readable");
        (dir, kept, counters)
    }

    #[test]
    fn parts_are_read_when_they_are_needed() {
        let bytes: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
        let (dir, kept, counters) = kept(&bytes);
        let read = || counters.read().cache_bytes;
        assert_eq!((kept.first().len(), read()), (FIRST, FIRST as u64));
        std::fs::rename(dir.path().join("file"), dir.path().join("old")).expect("renamed");
        std::fs::write(dir.path().join("file"), b"another").expect("written");
        for range in [0..10, 8000..9000, 199_000..200_000, 0..200_000] {
            let expected = part(&bytes, &range).expect("inside");
            assert_eq!(kept.read(range).expect("whole"), expected);
        }
        assert_eq!(read(), FIRST as u64 + 1000 + 1000 + 200_000);
        assert!(kept.read(199_000..200_001).is_err());
        let backwards = Range { start: 9, end: 3 };
        assert!(kept.read(backwards).is_err());
    }

    #[test]
    fn a_small_file_is_read_once() {
        let (_dir, kept, _) = kept(b"small");
        assert!(kept.rest.is_none());
        assert_eq!(kept.read(1..5).expect("whole"), &b"mall"[..]);
        assert!(kept.read(1..6).is_err());
    }
}
