//! Where the bytes of a stored page are: in memory, or in a file of which parts are read as they are needed.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

/// Bytes that are read in parts.
pub trait Storage: Send + Sync {
    /// How many there are.
    fn len(&self) -> u64;

    /// True without any.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// When they cannot be read, or when there are fewer.
    fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>>;
}

impl Storage for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        part(self, &range).map(Cow::Borrowed).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// A range of bytes in memory, when it is whole.
pub(crate) fn part<'a>(bytes: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}
