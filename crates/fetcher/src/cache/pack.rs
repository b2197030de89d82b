//! The METADATA of a project's files, in one file.
//!
//! 8 bytes of mark, the number of entries, a checksum of that and of the index, the index (for each entry a key of 16
//! bytes, where it begins, its length and its checksum), the entries. What was added last stands first, so that what a
//! run is likely to ask for is read together with the index.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::body::Kept;
use super::{crc32, is_absent};
use crate::observer::Counters;

const MARK: [u8; 8] = *b"cudamd2\n";
const INDEX_FROM: usize = 16;
/// Key, start, length, checksum.
const ROW: usize = 28;

/// A pack larger than this loses its oldest entries.
const LARGEST: usize = 8 << 20;

/// A pack, of which the index was read.
#[derive(Default)]
pub(super) struct Pack(Option<Indexed>);

struct Indexed {
    kept: Kept,
    index: Box<[u8]>,
}

/// A row of the index.
struct Row<'a> {
    key: &'a [u8],
    start: u64,
    length: u32,
    checksum: u32,
}

impl<'a> Row<'a> {
    fn read(row: &'a [u8]) -> Option<Self> {
        let (key, rest) = row.split_at_checked(16)?;
        let number = |at: usize| {
            let bytes = rest.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_le_bytes)
        };
        Some(Self { key, start: number(0)?.into(), length: number(4)?, checksum: number(8)? })
    }
}

impl Pack {
    /// Opens a pack; one that is not there, damaged, or something else is empty.
    pub(super) fn read(path: &Path, counters: &Arc<Counters>) -> io::Result<Self> {
        match Kept::open(path, counters) {
            Ok(kept) => Ok(Self(Self::decode(kept))),
            Err(error) if is_absent(&error) => Ok(Self::default()),
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        }
    }

    fn decode(kept: Kept) -> Option<Indexed> {
        let front = kept.first();
        if front.get(..8)? != MARK {
            return None;
        }
        let checksum = u32::from_le_bytes(front.get(8..12)?.try_into().ok()?);
        let count = u32::from_le_bytes(front.get(12..INDEX_FROM)?.try_into().ok()?);
        let end = INDEX_FROM as u64 + u64::from(count) * ROW as u64;
        let checked = kept.read(12..end).ok()?;
        if crc32(&checked) != checksum {
            return None;
        }
        let index = checked.get(4..)?.into();
        drop(checked);
        Some(Indexed { kept, index })
    }

    /// The entry of a key.
    pub(super) fn get(&self, key: [u8; 16]) -> Option<Cow<'_, [u8]>> {
        let Indexed { kept, index } = self.0.as_ref()?;
        let row = index.chunks_exact(ROW).filter_map(Row::read).find(|row| row.key == key)?;
        entry(kept, &row)
    }

    /// The bytes of a pack with these further entries; `None` when it has them all already. An entry that is damaged is
    /// left out.
    pub(super) fn with(&self, added: &[([u8; 16], Vec<u8>)]) -> Option<Vec<u8>> {
        let mut all: Vec<([u8; 16], Cow<'_, [u8]>)> = Vec::new();
        for (key, bytes) in added {
            if self.get(*key).is_none() && !all.iter().any(|(known, _)| known == key) {
                all.push((*key, Cow::Borrowed(bytes)));
            }
        }
        if all.is_empty() {
            return None;
        }
        if let Some(Indexed { kept, index }) = &self.0 {
            let rows = index.chunks_exact(ROW).filter_map(Row::read);
            all.extend(rows.filter_map(|row| Some((row.key.try_into().ok()?, entry(kept, &row)?))));
        }
        let mut size = INDEX_FROM;
        let fits = |(_, bytes): &&([u8; 16], Cow<'_, [u8]>)| {
            size += ROW + bytes.len();
            size <= LARGEST
        };
        let fitting = all.iter().take_while(fits).count();
        all.truncate(fitting);
        Some(pack(&all))
    }
}

/// The bytes of an entry, when they are what was written.
fn entry<'a>(kept: &'a Kept, row: &Row<'_>) -> Option<Cow<'a, [u8]>> {
    let bytes = kept.read(row.start..row.start + u64::from(row.length)).ok()?;
    (crc32(&bytes) == row.checksum).then_some(bytes)
}

fn pack(entries: &[([u8; 16], Cow<'_, [u8]>)]) -> Vec<u8> {
    // Far below what 32 bits hold: a pack is bounded.
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    let mut checked = number(entries.len()).to_vec();
    let mut start = INDEX_FROM + entries.len() * ROW;
    for (key, bytes) in entries {
        checked.extend_from_slice(key);
        checked.extend_from_slice(&number(start));
        checked.extend_from_slice(&number(bytes.len()));
        checked.extend_from_slice(&crc32(bytes).to_le_bytes());
        start += bytes.len();
    }
    let mut packed = Vec::with_capacity(start);
    packed.extend_from_slice(&MARK);
    packed.extend_from_slice(&crc32(&checked).to_le_bytes());
    packed.extend_from_slice(&checked);
    entries.iter().for_each(|(_, bytes)| packed.extend_from_slice(bytes));
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pack that was read from a file; the file may be gone by now, the pack still reads it.
    fn decode(bytes: &[u8]) -> Pack {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("pack");
        std::fs::write(&path, bytes).expect("written");
        Pack::read(&path, &Arc::default()).expect("readable")
    }

    fn packed(entries: &[([u8; 16], Vec<u8>)]) -> Vec<u8> {
        Pack::default().with(entries).expect("something to pack")
    }

    #[test]
    fn entries_are_added_once_and_stand_first() {
        let first = decode(&packed(&[([1; 16], b"one".to_vec())]));
        assert!(first.with(&[([1; 16], b"other".to_vec())]).is_none());
        let both = first.with(&[([2; 16], b"two".to_vec()), ([2; 16], b"again".to_vec())]);
        let bytes = both.expect("one is new");
        let both = decode(&bytes);
        assert_eq!(both.get([1; 16]).as_deref(), Some(&b"one"[..]));
        assert_eq!(both.get([2; 16]).as_deref(), Some(&b"two"[..]));
        assert!(bytes.ends_with(b"twoone") && both.get([3; 16]).is_none());
    }

    #[test]
    fn the_oldest_go_when_a_pack_grows_too_large() {
        let large = |n: u8| ([n; 16], vec![n; LARGEST / 2 - 100]);
        let pack = decode(&packed(&[large(2), large(1)]));
        let next = decode(&pack.with(&[large(3)]).expect("new"));
        let has = |n: u8| next.get([n; 16]).is_some();
        assert!(!has(1) && has(2) && has(3));
    }

    #[test]
    fn any_damage_is_a_miss_and_never_another_answer() {
        let entries = [([1; 16], b"one".to_vec()), ([2; 16], vec![7; 20_000])];
        let bytes = packed(&entries);
        let check = |bytes: &[u8], what: &str, at: usize| {
            let pack = decode(bytes);
            let mut missing = 0;
            for (key, entry) in &entries {
                match pack.get(*key) {
                    Some(found) => assert_eq!(*found, **entry, "{what} at {at}"),
                    None => missing += 1,
                }
            }
            assert!(missing > 0, "{what} at {at}");
            // What was damaged is added anew.
            let repaired = decode(&pack.with(&entries).expect("something is new"));
            assert!(entries.iter().all(|(key, _)| repaired.get(*key).is_some()));
        };
        for at in (0..200).chain((200..bytes.len()).step_by(97)).chain([bytes.len() - 1]) {
            check(&bytes[..at], "cut", at);
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            check(&changed, "changed", at);
        }
    }
}
