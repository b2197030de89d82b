//! What a file says of itself, as a pack keeps it.
//!
//! A file is known by its URL and the digests that the index states: an index that replaces a file under the same name
//! states another digest. The key of an entry only finds it; the entry itself has all of these, and is none for a file of
//! which one differs.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use cuda_lock_constraint::catalog::{CoreMetadata, File, Metadata, Undeclared};
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

/// What a file says of itself.
pub(crate) enum Said {
    /// Its METADATA.
    Metadata(Metadata),
    /// It is a source distribution that does not say what it needs.
    Undeclared(Undeclared),
    /// It was read, and cannot be used for this reason: it never changes, so it need not be read again.
    Unusable(String),
}

/// An entry.
#[derive(Serialize, Deserialize)]
struct Record<'a> {
    url: &'a str,
    /// The digest of the file, then that of its METADATA; shorter without one of them.
    digests: &'a [u8],
    #[serde(borrow)]
    said: SaidRecord<'a>,
}

#[derive(Serialize, Deserialize)]
enum SaidRecord<'a> {
    #[serde(borrow)]
    Metadata(MetadataRecord<'a>),
    /// As JSON: there are few of these.
    Undeclared(&'a str),
    Unusable(&'a str),
}

#[derive(Serialize, Deserialize)]
struct MetadataRecord<'a> {
    name: &'a str,
    version: &'a str,
    #[serde(borrow)]
    requires_dist: Vec<&'a str>,
    requires_python: Option<&'a str>,
    #[serde(borrow)]
    provides_extra: Vec<&'a str>,
    /// How it is known, as JSON; `None` for a wheel.
    #[serde(borrow)]
    source: Option<Cow<'a, str>>,
}

/// The key of a file's entry. Two files may have the same by chance, of which one is then not kept.
pub(super) fn key(file: &File) -> [u8; 16] {
    let mut key = [0; 16];
    let (low, high) = key.split_at_mut(8);
    for (seed, half) in [(1_u8, low), (2, high)] {
        let mut hasher = FxHasher::default();
        seed.hash(&mut hasher);
        file.url.hash(&mut hasher);
        digests(file).hash(&mut hasher);
        half.copy_from_slice(&hasher.finish().to_le_bytes());
    }
    key
}

fn digests(file: &File) -> Vec<u8> {
    let mut digests = Vec::with_capacity(66);
    if let Some(digest) = &file.sha256 {
        digests.push(0);
        digests.extend_from_slice(digest);
    }
    if let CoreMetadata::Sha256(digest) = &file.core_metadata {
        digests.push(1);
        digests.extend_from_slice(digest);
    }
    digests
}

/// The bytes of an entry.
pub(super) fn encode(said: &Said, file: &File) -> Option<Vec<u8>> {
    let json;
    let said = match said {
        Said::Metadata(metadata) => SaidRecord::Metadata(MetadataRecord {
            name: &metadata.name,
            version: &metadata.version,
            requires_dist: metadata.requires_dist.iter().map(|text| &**text).collect(),
            requires_python: metadata.requires_python.as_deref(),
            provides_extra: metadata.provides_extra.iter().map(String::as_str).collect(),
            source: match &metadata.source {
                Some(source) => Some(serde_json::to_string(source).ok()?.into()),
                None => None,
            },
        }),
        Said::Undeclared(found) => {
            json = serde_json::to_string(found).ok()?;
            SaidRecord::Undeclared(&json)
        }
        Said::Unusable(why) => SaidRecord::Unusable(why),
    };
    let digests = digests(file);
    postcard::to_stdvec(&Record { url: &file.url, digests: &digests, said }).ok()
}

/// What an entry says; `None` when it is of another file.
pub(super) fn decode(bytes: &[u8], file: &File) -> Option<Said> {
    let record: Record<'_> = postcard::from_bytes(bytes).ok()?;
    if record.url != file.url || record.digests != digests(file) {
        return None;
    }
    Some(match record.said {
        SaidRecord::Metadata(metadata) => Said::Metadata(Metadata {
            name: metadata.name.to_owned(),
            version: metadata.version.to_owned(),
            requires_dist: metadata.requires_dist.into_iter().map(Arc::from).collect(),
            requires_python: metadata.requires_python.map(Arc::from),
            provides_extra: metadata.provides_extra.into_iter().map(str::to_owned).collect(),
            source: match metadata.source {
                Some(source) => Some(serde_json::from_str(&source).ok()?),
                None => None,
            },
        }),
        SaidRecord::Undeclared(json) => Said::Undeclared(serde_json::from_str(json).ok()?),
        SaidRecord::Unusable(why) => Said::Unusable(why.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use cuda_lock_constraint::catalog::{BuildNeed, FromSdist, Grade, Silence};

    use super::*;

    fn file() -> File {
        File {
            filename: "foo-1.0.zip".to_owned(),
            url: "https://index.example/foo-1.0.zip".to_owned(),
            sha256: Some([7; 32]),
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
            core_metadata: CoreMetadata::Sha256([8; 32]),
        }
    }

    #[test]
    fn what_is_kept_comes_back_for_that_file_alone() {
        let metadata = Metadata {
            name: "foo".to_owned(),
            version: "1.0".to_owned(),
            requires_dist: vec!["bar>=2".into(), "baz".into()],
            requires_python: Some(">=3.8".into()),
            provides_extra: vec!["x".to_owned()],
            source: Some(Box::new(FromSdist {
                grade: Grade::Recorded,
                extras_open: false,
                needs: [BuildNeed::Compiler].into(),
            })),
        };
        let bytes = encode(&Said::Metadata(metadata.clone()), &file()).expect("encoded");
        let Some(Said::Metadata(read)) = decode(&bytes, &file()) else { panic!("METADATA") };
        assert_eq!(read, metadata);
        let found = Undeclared {
            filename: "foo-1.0.zip".to_owned(),
            why: Silence::Computed,
            detail: None,
            recorded: Some(Arc::new(metadata)),
        };
        let bytes = encode(&Said::Undeclared(found.clone()), &file()).expect("encoded");
        assert!(matches!(decode(&bytes, &file()), Some(Said::Undeclared(read)) if read == found));
        for other in [
            File { url: "https://other.example/foo-1.0.zip".to_owned(), ..file() },
            File { sha256: None, ..file() },
            File { sha256: Some([9; 32]), ..file() },
            File { core_metadata: CoreMetadata::Yes, ..file() },
            File { sha256: None, core_metadata: CoreMetadata::Sha256([7; 32]), ..file() },
        ] {
            assert_ne!(key(&other), key(&file()));
            assert!(decode(&bytes, &other).is_none());
        }
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length], &file()).is_none());
        }
    }
}
