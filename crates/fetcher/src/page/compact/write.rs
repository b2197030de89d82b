//! Writes the stored form.

use cuda_lock_constraint::catalog::{CoreMetadata, File};
use rustc_hash::FxHashMap;

use super::record::{CoreMetadataRecord, FileRecord, Header, frame, in_url};
use crate::page::parsed::ParsedPage;

/// The stored form of a page. The same page gives the same bytes.
#[must_use]
pub fn encode(page: &ParsedPage) -> Vec<u8> {
    let mut prefixes = Table::default();
    let mut texts = Table::default();
    let mut blocks = Vec::new();
    let spellings: Vec<String> = page.releases.iter().map(|r| r.version.to_string()).collect();
    let mut releases = Vec::with_capacity(spellings.len());
    for (release, spelling) in page.releases.iter().zip(&spellings) {
        let mut before = "";
        for file in &release.files {
            blocks = append(&record(file, before, &mut prefixes, &mut texts), blocks);
            before = &file.filename;
        }
        releases.push((spelling.as_str(), index(blocks.len())));
    }
    let skipped = page.skipped.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
    let header = Header { releases, prefixes: prefixes.entries, texts: texts.entries, skipped };
    let header = append(&header, Vec::new());
    let mut payload = Vec::with_capacity(4 + header.len() + blocks.len());
    payload.extend_from_slice(&index(header.len()).to_le_bytes());
    payload.extend_from_slice(&header);
    payload.extend_from_slice(&blocks);
    frame(&payload)
}

/// Appends a value. Postcard can refuse values that hide their length, of which the records have none; if one ever got
/// there, what was written so far would be missing and opening would find the damage.
fn append(value: &impl serde::Serialize, bytes: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(value, bytes).unwrap_or_default()
}

/// Positions are stored in 32 bits. A page that needs more would be larger than 4 GiB, and opening it would fail.
fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Texts that are stored once, in the order in which they first came.
#[derive(Default)]
struct Table<'a> {
    entries: Vec<&'a str>,
    known: FxHashMap<&'a str, u32>,
}

impl<'a> Table<'a> {
    fn index_of(&mut self, text: &'a str) -> u32 {
        *self.known.entry(text).or_insert_with(|| {
            self.entries.push(text);
            index(self.entries.len() - 1)
        })
    }
}

fn record<'a>(
    file: &'a File,
    before: &str,
    prefixes: &mut Table<'a>,
    texts: &mut Table<'a>,
) -> FileRecord<'a> {
    let (prefix, rest) = file.url.split_at(prefix_len(&file.url));
    let (path, named) = match rest.strip_suffix(in_url(&file.filename).as_ref()) {
        Some(path) => (path, true),
        None => (rest, false),
    };
    let shared = shared_len(before, &file.filename);
    let (_, name) = file.filename.split_at(shared);
    FileRecord {
        shared: index(shared),
        name,
        prefix: prefixes.index_of(prefix),
        path,
        named,
        sha256: file.sha256,
        size: file.size,
        requires_python: file.requires_python.as_deref().map(|text| texts.index_of(text)),
        yanked: file.yanked.as_deref().map(|text| texts.index_of(text)),
        upload_time: file.upload_time.map(|time| (time.as_second(), time.subsec_nanosecond())),
        core_metadata: match file.core_metadata {
            CoreMetadata::No => CoreMetadataRecord::No,
            CoreMetadata::Yes => CoreMetadataRecord::Yes,
            CoreMetadata::Sha256(digest) => CoreMetadataRecord::Sha256(digest),
        },
    }
}

/// The part of a URL that most files of a page share: up to the slash after the first segment of the path.
fn prefix_len(url: &str) -> usize {
    let host = url.find("://").map_or(0, |at| at + 3);
    let slashes = url.char_indices().skip_while(|&(at, _)| at < host).filter(|&(_, c)| c == '/');
    slashes.take(2).last().map_or(0, |(at, _)| at + 1)
}

/// How many bytes two names begin with alike, in whole characters.
fn shared_len(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}
