//! The form in which a page is kept on disk.
//!
//! Popular projects have thousands of files, of which a solve looks at a few releases. So the stored form begins with
//! what is always wanted (the versions, in order) and where the files of each release are; those are decoded when
//! asked for. What files repeat is stored once: beginnings of URLs, `Requires-Python`, reasons of yanks, and the part
//! of a file name that it shares with the one before.
//!
//! ```text
//! magic (8 bytes, ends in the version of the format) | length of the payload (u64) | CRC-32 of the payload (u32)
//! payload: length of the header (u32) | header (postcard) | one block per release (postcard)
//! ```
//! Numbers outside postcard are little-endian. A file that is cut off, damaged or of another kind is found when it is
//! opened. The checksum guards against accidents, not against a hand that writes into the cache.

mod read;
mod record;
mod write;

pub use read::{Corrupt, open};
pub use write::encode;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cuda_lock_constraint::catalog::{CoreMetadata, File, Project};
    use cuda_lock_constraint::name::Name;
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::page::{ParsedPage, Release};

    fn assert_same(page: &ParsedPage, project: &Project) {
        let versions: Vec<_> = page.releases.iter().map(|r| r.version.clone()).collect();
        assert_eq!(project.versions, versions);
        let spelled = |versions: &[pep440_rs::Version]| {
            versions.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(spelled(&project.versions), spelled(&versions));
        for (index, release) in page.releases.iter().enumerate() {
            assert_eq!(project.files.files(index), release.files);
        }
        assert_eq!(project.files.files(page.releases.len()), []);
        assert_eq!(project.skipped, page.skipped);
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
            assert_same(&page, &open(bytes).expect("just written"));
        }

        #[test]
        fn damage_is_found(page in page(), at: proptest::sample::Index, flip in 1..=255_u8) {
            let mut bytes = encode(&page);
            let at = at.index(bytes.len());
            prop_assert!(open(bytes[..at].to_vec()).is_err());
            bytes[at] ^= flip;
            prop_assert!(open(bytes).is_err());
        }

        #[test]
        fn any_bytes_with_a_good_frame_do_no_harm(
            page in page(), at: proptest::sample::Index, noise in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            // A valid checksum over a payload that is not: the decoder itself must stand it.
            let bytes = encode(&page);
            let mut payload = bytes[record::FRAME_LEN..].to_vec();
            let at = at.index(payload.len());
            let end = (at + noise.len()).min(payload.len());
            payload.splice(at..end, noise);
            if let Ok(project) = open(record::frame(&payload)) {
                for index in 0..project.versions.len() {
                    let _ = project.files.files(index);
                }
            }
        }

        #[test]
        fn any_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(open(bytes.clone()).is_err());
            let _ = open(record::frame(&bytes));
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
        insta::assert_snapshot!(error(other), @"a stored page in format 0, of which this program does not know; it writes format 1");
        insta::assert_snapshot!(error(good[..good.len() - 1].to_vec()), @"the stored page was cut off or added to");
        let mut damaged = good;
        *damaged.last_mut().expect("not empty") ^= 1;
        insta::assert_snapshot!(error(damaged), @"the stored page is damaged: its checksum does not fit");
    }
}
