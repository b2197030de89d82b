//! Writes the stored form.

use cuda_lock_constraint::catalog::{CoreMetadata, File};

use super::record::{
    CoreMetadataRecord, FileRecord, Head, Place, TextRecord, checksum, frame, in_url,
};
use crate::page::parsed::ParsedPage;

/// The stored form of a page. The same page gives the same bytes.
#[must_use]
pub fn encode(page: &ParsedPage) -> Vec<u8> {
    let mut versions = String::new();
    let mut places = vec![[0; Place::LEN]; page.releases.len()];
    let ends: Vec<u32> = page
        .releases
        .iter()
        .map(|release| {
            versions.push_str(&release.version.to_string());
            index(versions.len())
        })
        .collect();
    let mut blocks = Vec::new();
    // The newest first: that is what is looked at first, and what lies right behind the head is read together with it.
    for ((release, text_end), place) in page.releases.iter().zip(ends).zip(&mut places).rev() {
        let start = blocks.len();
        blocks.extend_from_slice(&index(release.files.len()).to_le_bytes());
        let mut before = None;
        for file in &release.files {
            blocks = append(&record(file, before), blocks);
            before = Some(file);
        }
        *place = place_of(&blocks, start, text_end).to_bytes();
    }
    let start = blocks.len();
    if !page.skipped.is_empty() {
        blocks = append(&page.skipped, blocks);
    }
    places.push(place_of(&blocks, start, 0).to_bytes());
    let head = Head { versions: &versions, places: &places.concat() };
    frame(&append(&head, Vec::new()), &blocks)
}

/// The place of the block that begins at `start` and ends with what was written so far.
fn place_of(blocks: &[u8], start: usize, text_end: u32) -> Place {
    let block = blocks.get(start..).unwrap_or_default();
    Place { text_end, start: index(start), length: index(block.len()), checksum: checksum(block) }
}

/// Appends a value. Postcard can refuse values that hide their length, of which the records have none; if one ever got
/// there, what was written so far would be missing and opening would find the damage.
fn append(value: &impl serde::Serialize, bytes: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(value, bytes).unwrap_or_default()
}

/// Positions are stored in 32 bits. A page that needs more would be larger than 4 GiB, and reading it would fail.
fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

fn record<'a>(file: &'a File, before: Option<&File>) -> FileRecord<'a> {
    let (url, named) = match file.url.strip_suffix(in_url(&file.filename).as_ref()) {
        Some(url) => (url, true),
        None => (file.url.as_str(), false),
    };
    let name_shared = before.map_or(0, |before| shared_len(&before.filename, &file.filename));
    let url_shared = before.map_or(0, |before| shared_len(&before.url, url));
    FileRecord {
        name_shared: index(name_shared),
        name: file.filename.split_at(name_shared).1,
        url_shared: index(url_shared),
        url: url.split_at(url_shared).1,
        named,
        sha256: file.sha256.as_ref().map(<[u8; 32]>::as_slice),
        size: file.size,
        requires_python: text(
            file.requires_python.as_deref(),
            before.and_then(|before| before.requires_python.as_deref()),
        ),
        yanked: text(file.yanked.as_deref(), before.and_then(|before| before.yanked.as_deref())),
        upload_time: file.upload_time.map(|time| (time.as_second(), time.subsec_nanosecond())),
        core_metadata: match &file.core_metadata {
            CoreMetadata::No => CoreMetadataRecord::No,
            CoreMetadata::Yes => CoreMetadataRecord::Yes,
            CoreMetadata::Sha256(digest) => CoreMetadataRecord::Sha256(digest),
        },
    }
}

fn text<'a>(text: Option<&'a str>, before: Option<&str>) -> TextRecord<'a> {
    match text {
        None => TextRecord::None,
        Some(_) if text == before => TextRecord::Same,
        Some(text) => TextRecord::New(text),
    }
}

/// How many bytes two texts begin with alike, in whole characters.
fn shared_len(a: &str, b: &str) -> usize {
    let alike = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    (0..=alike).rev().find(|at| b.is_char_boundary(*at)).unwrap_or(0)
}
