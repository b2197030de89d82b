//! The form in which a page is kept on disk.
//!
//! Popular projects have thousands of files, of which a solve looks at a few releases. So the stored form begins with
//! what is always wanted (the versions, in order, and where the files of each release are), and has one block for each
//! release, the newest first, which is read when it is asked for. Within a block a file says only what differs from the
//! file before: names, URLs and `Requires-Python` repeat themselves.
//!
//! ```text
//! magic (8 bytes, ends in the version of the format) | length of everything (u64)
//! length of the head (u32) | CRC-32 of the head (u32) | head (postcard) | blocks (postcard)
//! ```
//! Numbers outside postcard are little-endian. The head has the length and the CRC-32 of each block. A file that is cut
//! off or of another kind, and a damaged head, are found when it is opened; a damaged block when it is read. Checksums
//! guard against accidents, not against a hand that writes into the cache.

mod read;
mod record;
mod storage;
mod write;

pub use read::{Corrupt, StoredPage, open};
pub use storage::Storage;
pub(crate) use storage::part;
pub use write::encode;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cuda_lock_constraint::catalog::{CoreMetadata, File};
    use cuda_lock_constraint::name::Name;
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::page::{ParsedPage, Release};

    fn assert_same(page: &ParsedPage, bytes: Vec<u8>) {
        let (versions, stored) = open(bytes).expect("just written");
        let spelled: Vec<_> = page.releases.iter().map(|r| r.version.to_string()).collect();
        assert_eq!(versions.iter().map(ToString::to_string).collect::<Vec<_>>(), spelled);
        for (index, release) in page.releases.iter().enumerate() {
            assert_eq!(stored.files(index).expect("whole"), release.files);
            assert_eq!(stored.version(index).as_ref(), Some(&release.version));
        }
        assert_eq!(stored.files(page.releases.len()).expect("whole"), []);
        assert_eq!(stored.skipped().expect("whole"), page.skipped);
    }

    /// Whether a page says all of what `page` says; what it says must be that in any case.
    fn is_whole(page: &ParsedPage, bytes: Vec<u8>) -> bool {
        let Ok((versions, stored)) = open(bytes) else { return false };
        let expected: Vec<_> = page.releases.iter().map(|r| r.version.clone()).collect();
        assert!(versions.iter().eq(&expected));
        let files = page.releases.iter().enumerate().map(|(index, release)| {
            stored.files(index).inspect(|files| assert_eq!(*files, release.files)).is_ok()
        });
        let whole = files.collect::<Vec<_>>().into_iter().all(|whole| whole);
        let skipped = stored.skipped().inspect(|skipped| assert_eq!(*skipped, page.skipped));
        whole && skipped.is_ok()
    }

    fn optional_text() -> impl Strategy<Value = Option<Arc<str>>> {
        proptest::option::of("|>=3\\.[0-9]|[a-zé]{1,4}".prop_map(Arc::from))
    }

    prop_compose! {
        fn file()(
            filename in "(foo-1-|é|a){0,3}[a-zéß+ %]{0,6}(\\.whl)?",
            url in "(https://[ab]\\.example)?(/[abé]{1,2}){0,3}/",
            tail in "|x|foo-1%2B",
            own_name: bool,
            sha256: Option<[u8; 32]>,
            size: Option<u64>,
            requires_python in optional_text(),
            yanked in optional_text(),
            time in proptest::option::of((-1_000_000_000_000_i64..1_000_000_000_000, 0..1_000_000_000_i32)),
            core in prop_oneof![
                Just(CoreMetadata::No),
                Just(CoreMetadata::Yes),
                any::<[u8; 32]>().prop_map(CoreMetadata::Sha256),
            ],
        ) -> File {
            let end = if own_name { filename.replace('+', "%2B") } else { tail };
            File {
                url: format!("{url}{end}"),
                filename,
                sha256,
                size,
                requires_python,
                yanked,
                upload_time: time.map(|(s, ns)| Timestamp::new(s / 10, ns).expect("in range")),
                core_metadata: core,
            }
        }
    }

    prop_compose! {
        fn page()(
            files in proptest::collection::vec(proptest::collection::vec(file(), 1..5), 0..6),
            skipped in proptest::collection::vec(("[a-é]{0,5}", "[a-é]{0,5}"), 0..3),
        ) -> ParsedPage {
            let releases = files.into_iter().enumerate().map(|(n, files)| {
                let version = format!("{n}.0rc1.post2+cu{n}.x").parse().expect("valid");
                Release { version, files }
            });
            ParsedPage { name: Name::new("foo").expect("valid"), releases: releases.collect(), skipped }
        }
    }

    proptest! {
        #[test]
        fn what_is_stored_comes_back(page in page()) {
            let bytes = encode(&page);
            prop_assert_eq!(&bytes, &encode(&page));
            assert_same(&page, bytes);
        }

        #[test]
        fn damage_is_found(page in page(), at: proptest::sample::Index, flip in 1..=255_u8) {
            let mut bytes = encode(&page);
            let at = at.index(bytes.len());
            prop_assert!(open(bytes[..at].to_vec()).is_err());
            bytes[at] ^= flip;
            prop_assert!(!is_whole(&page, bytes));
        }

        #[test]
        fn any_bytes_with_good_checksums_do_no_harm(
            page in page(), at: proptest::sample::Index, noise in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            // A valid checksum over contents that are none: the decoder itself must stand it.
            let bytes = encode(&page);
            let length = u32::from_le_bytes(bytes[16..20].try_into().expect("four bytes")) as usize;
            let (mut head, blocks) = (bytes[record::FRAME_LEN..].to_vec(), Vec::new());
            let blocks = [blocks, head.split_off(length)].concat();
            let at = at.index(head.len());
            let end = (at + noise.len()).min(head.len());
            head.splice(at..end, noise);
            if let Ok((versions, stored)) = open(record::frame(&head, &blocks)) {
                for index in 0..versions.len() {
                    let _ = (stored.files(index), versions.get(index));
                }
                let _ = stored.skipped();
            }
        }

        #[test]
        fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(open(bytes.clone()).is_err());
            let _ = open(record::frame(&bytes, &bytes));
        }
    }

    #[test]
    fn refusals_say_what_was_found() {
        let page = ParsedPage {
            name: Name::new("foo").expect("valid"),
            releases: vec![],
            skipped: vec![],
        };
        let error = |bytes: Vec<u8>| open(bytes).err().map(|e| e.to_string()).unwrap_or_default();
        let good = encode(&page);
        insta::assert_snapshot!(error(b"{}".to_vec()), @"not a stored page");
        let mut other = good.clone();
        other[7] = 0;
        insta::assert_snapshot!(error(other), @"a stored page in format 0, of which this program does not know; it writes format 2");
        insta::assert_snapshot!(error(good[..good.len() - 1].to_vec()), @"the stored page was cut off or added to");
        let mut damaged = good;
        *damaged.last_mut().expect("not empty") ^= 1;
        insta::assert_snapshot!(error(damaged), @"the stored page is damaged: its checksum does not fit");
    }
}
