//! A file of which only parts are known.

use std::ops::Range;

/// Parts of a file of known size. Parts that touch are joined.
#[derive(Debug)]
pub(super) struct Sparse {
    size: u64,
    /// Ascending, with gaps between them.
    parts: Vec<(u64, Vec<u8>)>,
}

impl Sparse {
    pub(super) fn new(size: u64) -> Self {
        Self { size, parts: Vec::new() }
    }

    /// The size of the whole file.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Adds bytes. What lies beyond the end of the file is cut off; what is known already stays as it is.
    pub(super) fn insert(&mut self, offset: u64, bytes: &[u8]) {
        let room = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = bytes.get(..room).unwrap_or(bytes);
        let mut offset = offset;
        while !bytes.is_empty() {
            let before = self.parts.iter().rposition(|(start, _)| *start <= offset);
            if let Some((start, part)) = before.and_then(|at| self.parts.get(at)) {
                let known = (start + part.len() as u64).saturating_sub(offset);
                let known = usize::try_from(known).unwrap_or(usize::MAX).min(bytes.len());
                if known > 0 {
                    offset += known as u64;
                    bytes = bytes.get(known..).unwrap_or_default();
                    continue;
                }
            }
            let at = before.map_or(0, |at| at + 1);
            let gap = self.parts.get(at).map_or(u64::MAX, |(next, _)| next - offset);
            let fits = usize::try_from(gap).unwrap_or(usize::MAX).min(bytes.len());
            let (new, rest) = bytes.split_at(fits);
            self.parts.insert(at, (offset, new.to_vec()));
            offset += fits as u64;
            bytes = rest;
        }
        self.join();
    }

    fn join(&mut self) {
        let mut joined: Vec<(u64, Vec<u8>)> = Vec::with_capacity(self.parts.len());
        for (start, part) in self.parts.drain(..) {
            match joined.last_mut() {
                Some((first, known)) if *first + known.len() as u64 == start => {
                    known.extend_from_slice(&part)
                }
                _ => joined.push((start, part)),
            }
        }
        self.parts = joined;
    }

    /// The bytes of `range`, or the part of it that is not known: from the first unknown byte to the next known one.
    /// The range must lie within the file; what lies outside is never known.
    pub(super) fn get(&self, range: Range<u64>) -> Result<&[u8], Range<u64>> {
        if range.is_empty() {
            return Ok(&[]);
        }
        let part = self.parts.iter().rev().find(|(start, _)| *start <= range.start);
        let missing_from = match part {
            Some((start, bytes)) => {
                let from = usize::try_from(range.start - start).unwrap_or(usize::MAX);
                let to = usize::try_from(range.end.saturating_sub(*start)).unwrap_or(usize::MAX);
                if let Some(found) = bytes.get(from..to) {
                    return Ok(found);
                }
                range.start.max(start + bytes.len() as u64)
            }
            None => range.start,
        };
        let next = self.parts.iter().map(|(start, _)| *start).find(|start| *start > missing_from);
        Err(missing_from..next.map_or(range.end, |next| next.min(range.end)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_in_any_order_give_the_file(
            pieces in proptest::collection::vec((0..40_u64, 0..12_usize), 0..12), from in 0..40_u64, len in 0..20_u64,
        ) {
            let file: Vec<u8> = (0..40).collect();
            let mut sparse = Sparse::new(40);
            let mut known = [false; 40];
            for (at, len) in pieces {
                let at_index = usize::try_from(at).expect("small");
                let end = (at_index + len).min(40);
                sparse.insert(at, &file[at_index..end]);
                known[at_index..end].fill(true);
            }
            let to = (from + len).min(40);
            let span = usize::try_from(from).expect("small")..usize::try_from(to).expect("small");
            match sparse.get(from..to) {
                Ok(bytes) => {
                    prop_assert!(known[span.clone()].iter().all(|k| *k));
                    prop_assert_eq!(bytes, &file[span]);
                }
                Err(missing) => {
                    prop_assert!(missing.start >= from && missing.end <= to && !missing.is_empty());
                    for at in missing {
                        prop_assert!(!known[usize::try_from(at).expect("small")]);
                    }
                }
            }
        }
    }
}
