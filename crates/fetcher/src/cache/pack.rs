//! The METADATA of a project's files, in one file.
//!
//! 8 bytes of mark, a checksum of all that follows, then entries: a key of 16 bytes, the length, that many bytes.

use std::io;
use std::ops::Range;
use std::path::Path;

use super::{crc32, is_absent};

const MARK: [u8; 8] = *b"cudamd1\n";
const ENTRIES_FROM: usize = 12;
const ENTRY_HEAD: usize = 20;

/// A pack larger than this loses its oldest entries: reading it must stay cheaper than asking for what is needed.
const LARGEST: usize = 8 << 20;

/// A pack in memory.
#[derive(Default)]
pub(super) struct Pack {
    bytes: Vec<u8>,
    /// In the order of the file.
    entries: Vec<([u8; 16], Range<usize>)>,
}

impl Pack {
    /// Reads a pack; one that is not there, damaged, or something else is empty.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::decode(bytes).unwrap_or_default()),
            Err(error) if is_absent(&error) => Ok(Self::default()),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        }
    }

    fn decode(bytes: Vec<u8>) -> Option<Self> {
        if bytes.get(..8)? != MARK {
            return None;
        }
        let checksum = u32::from_le_bytes(bytes.get(8..ENTRIES_FROM)?.try_into().ok()?);
        if crc32(bytes.get(ENTRIES_FROM..)?) != checksum {
            return None;
        }
        let mut entries = Vec::new();
        let mut at = ENTRIES_FROM;
        while at < bytes.len() {
            let head = bytes.get(at..at.checked_add(ENTRY_HEAD)?)?;
            let (key, length) = head.split_at(16);
            let length = usize::try_from(u32::from_le_bytes(length.try_into().ok()?)).ok()?;
            let start = at + ENTRY_HEAD;
            let end = start.checked_add(length).filter(|end| *end <= bytes.len())?;
            entries.push((key.try_into().ok()?, start..end));
            at = end;
        }
        Some(Self { bytes, entries })
    }

    /// True without any entry.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry of a key.
    pub(super) fn get(&self, key: [u8; 16]) -> Option<&[u8]> {
        // Most packs have a handful of entries, and keys differ in their first bytes.
        let (_, range) = self.entries.iter().find(|(known, _)| *known == key)?;
        self.bytes.get(range.clone())
    }

    /// The bytes of a pack with these further entries; `None` when it has them all already.
    pub(super) fn with(&self, added: &[([u8; 16], Vec<u8>)]) -> Option<Vec<u8>> {
        let mut new: Vec<(&[u8; 16], &[u8])> = Vec::new();
        for (key, bytes) in added {
            if self.get(*key).is_none() && !new.iter().any(|(known, _)| *known == key) {
                new.push((key, bytes));
            }
        }
        if new.is_empty() {
            return None;
        }
        let old = self
            .entries
            .iter()
            .map(|(key, range)| (key, self.bytes.get(range.clone()).unwrap_or_default()));
        let all: Vec<_> = old.chain(new).collect();
        let mut size: usize = all.iter().map(|(_, bytes)| ENTRY_HEAD + bytes.len()).sum();
        let mut packed = Vec::with_capacity(ENTRIES_FROM + size.min(LARGEST));
        packed.extend_from_slice(&MARK);
        packed.extend_from_slice(&[0; 4]);
        for (key, bytes) in all {
            let Ok(length) = u32::try_from(bytes.len()) else { continue };
            if size > LARGEST {
                size -= ENTRY_HEAD + bytes.len();
                continue;
            }
            packed.extend_from_slice(key);
            packed.extend_from_slice(&length.to_le_bytes());
            packed.extend_from_slice(bytes);
        }
        let checksum = crc32(packed.get(ENTRIES_FROM..)?);
        packed.get_mut(8..ENTRIES_FROM)?.copy_from_slice(&checksum.to_le_bytes());
        Some(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(entries: &[([u8; 16], Vec<u8>)]) -> Vec<u8> {
        Pack::default().with(entries).expect("something to pack")
    }

    #[test]
    fn entries_are_added_once() {
        let first = Pack::decode(pack(&[([1; 16], b"one".to_vec())])).expect("valid");
        assert!(first.with(&[([1; 16], b"other".to_vec())]).is_none());
        let both = first.with(&[([2; 16], b"two".to_vec()), ([2; 16], b"again".to_vec())]);
        let both = Pack::decode(both.expect("one is new")).expect("valid");
        assert_eq!(both.get([1; 16]), Some(&b"one"[..]));
        assert_eq!(both.get([2; 16]), Some(&b"two"[..]));
        assert_eq!(both.get([3; 16]), None);
    }

    #[test]
    fn the_oldest_go_when_a_pack_grows_too_large() {
        let large = |n: u8| ([n; 16], vec![n; LARGEST / 2 - 100]);
        let pack = Pack::decode(pack(&[large(1), large(2)])).expect("valid");
        let next = Pack::decode(pack.with(&[large(3)]).expect("new")).expect("valid");
        assert!(
            next.get([1; 16]).is_none()
                && next.get([2; 16]).is_some()
                && next.get([3; 16]).is_some()
        );
    }

    #[test]
    fn any_damage_is_a_miss() {
        let bytes = pack(&[([1; 16], b"one".to_vec()), ([2; 16], b"two".to_vec())]);
        for length in 0..bytes.len() {
            assert!(Pack::decode(bytes[..length].to_vec()).is_none(), "cut at {length}");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(Pack::decode(bytes).is_none(), "changed at {at}");
        }
    }
}
