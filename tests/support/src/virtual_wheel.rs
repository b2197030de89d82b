//! A wheel of any size that exists only as the end of a zip archive.
//!
//! A reader that asks for ranges sees the true length, the central directory at the end and the `.dist-info` files that it
//! names. Everything before is zeros and is never held in memory.

use flate2::Crc;

/// The end of the archive and how many zeros stand before it.
#[derive(Clone, Debug)]
pub(crate) struct VirtualWheel {
    zeros: u64,
    tail: Vec<u8>,
}

/// Fixed parts of the three zip records, in bytes.
const LOCAL_HEADER: u64 = 30;
const CENTRAL_HEADER: u64 = 46;
const END_RECORD: u64 = 22;

impl VirtualWheel {
    /// The wheel called `filename` with this METADATA, at least `size` bytes long (zip archives of 4 GiB and more would
    /// need other records and are cut to less).
    pub(crate) fn new(filename: &str, metadata: &str, size: Option<u64>) -> Self {
        let mut parts = filename.trim_end_matches(".whl").split('-');
        let (name, version) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let tags: Vec<&str> = parts.collect();
        let tag = tags[tags.len().saturating_sub(3)..].join("-");
        let wheel =
            format!("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n");
        let files: Vec<(String, &str)> =
            [("METADATA", metadata), ("WHEEL", wheel.as_str()), ("RECORD", "")]
                .map(|(file, text)| (format!("{name}-{version}.dist-info/{file}"), text))
                .into();
        let length: u64 = files
            .iter()
            .map(|(path, text)| {
                LOCAL_HEADER + CENTRAL_HEADER + 2 * path.len() as u64 + text.len() as u64
            })
            .sum::<u64>()
            + END_RECORD;
        let size = size.unwrap_or(0).clamp(length, u64::from(u32::MAX) - 1);
        let zeros = size - length;
        Self { zeros, tail: archive_end(&files, zeros) }
    }

    /// The length of the whole wheel in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.zeros + self.tail.len() as u64
    }

    /// The bytes from `start` up to and without `end`.
    pub(crate) fn slice(&self, start: u64, end: u64) -> Vec<u8> {
        let end = end.min(self.len());
        let before = end.min(self.zeros).saturating_sub(start);
        let mut bytes = vec![0; usize::try_from(before).expect("a range fits into memory")];
        let from = usize::try_from(start.saturating_sub(self.zeros)).expect("a tail is small");
        let to = usize::try_from(end.saturating_sub(self.zeros)).expect("a tail is small");
        bytes.extend_from_slice(self.tail.get(from..to).unwrap_or_default());
        bytes
    }
}

/// Local headers with stored contents, the central directory and its end record, placed at `offset`.
fn archive_end(files: &[(String, &str)], offset: u64) -> Vec<u8> {
    let small = |n: usize| u16::try_from(n).expect("a short name").to_le_bytes();
    let word = |n: u64| u32::try_from(n).expect("below 4 GiB").to_le_bytes();
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (path, text) in files {
        let mut crc = Crc::new();
        crc.update(text.as_bytes());
        let at = offset + body.len() as u64;
        // Version 2.0, no flags, stored, 1980-01-01 00:00.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        common.extend(crc.sum().to_le_bytes());
        common.extend(word(text.len() as u64));
        common.extend(word(text.len() as u64));
        common.extend(small(path.len()));
        common.extend([0, 0]);
        body.extend(b"PK\x03\x04");
        body.extend(&common);
        body.extend(path.as_bytes());
        body.extend(text.as_bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        // No comment, disk 0, no attributes.
        directory.extend([0; 10]);
        directory.extend(word(at));
        directory.extend(path.as_bytes());
    }
    let start = offset + body.len() as u64;
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend(small(files.len()));
    end.extend(small(files.len()));
    end.extend(word(directory.len() as u64));
    end.extend(word(start));
    end.extend([0, 0]);
    body.extend(directory);
    body.extend(end);
    body
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::*;

    #[test]
    fn another_reader_opens_the_archive() {
        for size in [None, Some(100_000)] {
            let wheel =
                VirtualWheel::new("a-1.0-py3-none-any.whl", "Name: a\nVersion: 1.0\n", size);
            let bytes = wheel.slice(0, wheel.len());
            assert_eq!(bytes.len() as u64, wheel.len());
            assert_eq!(wheel.len(), size.unwrap_or(wheel.len()));
            let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
            let mut text = String::new();
            archive.by_name("a-1.0.dist-info/METADATA").unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "Name: a\nVersion: 1.0\n");
            assert_eq!(archive.len(), 3);
        }
    }

    #[test]
    fn slices_join_to_the_whole() {
        let wheel = VirtualWheel::new("a-1.0-py3-none-any.whl", "Name: a\n", Some(1000));
        let whole = wheel.slice(0, 1000);
        for cut in [0, 1, wheel.zeros - 1, wheel.zeros, wheel.zeros + 1, 999, 1000] {
            let joined = [wheel.slice(0, cut), wheel.slice(cut, 1000)].concat();
            assert!(joined == whole, "cut at {cut}");
        }
    }
}
