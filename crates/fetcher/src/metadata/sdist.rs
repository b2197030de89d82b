//! Static metadata in an sdist (PEP 643).
//!
//! An sdist is built to learn its requirements, unless its PKG-INFO follows version 2.2 of the core metadata and does
//! not name them as dynamic. Only then can it be used here, where nothing is ever built.

use std::io::{Read, Seek};

use cuda_lock_constraint::catalog::Metadata;
use flate2::read::MultiGzDecoder;

use super::headers::{MetadataError, parse};
use super::sparse::Sparse;
use super::wheel::drive;
use super::zip::{ArchiveError, Directory, MEMBER_LIMIT, Stop};

/// How much of an archive is unpacked in search of PKG-INFO. Real ones have it near one end of some megabytes.
const UNPACKED_LIMIT: u64 = 1 << 30;

/// The two kinds of sdist archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdistKind {
    /// `.tar.gz`
    TarGz,
    /// `.zip`
    Zip,
}

impl SdistKind {
    /// The kind by the end of the file name, `None` for other files.
    #[must_use]
    pub fn of(filename: &str) -> Option<Self> {
        if filename.ends_with(".tar.gz") {
            Some(Self::TarGz)
        } else if filename.ends_with(".zip") {
            Some(Self::Zip)
        } else {
            None
        }
    }
}

/// Why an sdist gives no metadata. The caller knows which file, and names it before these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SdistError {
    /// Only building it would tell.
    #[error("its requirements are known only after building it, because {0}")]
    NotStatic(String),
    /// The same: its PKG-INFO is of this version, in which nothing is promised.
    #[error(
        "its requirements are known only after building it, because its PKG-INFO promises that only from metadata \
         version 2.2 on, and states {0}"
    )]
    Old(String),
    /// It has no PKG-INFO at the top.
    #[error(
        "it has no PKG-INFO in its top folder, so its requirements are known only after building it"
    )]
    NoPkgInfo,
    /// PKG-INFO cannot be used.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The tar archive cannot be read.
    #[error("it is not a valid .tar.gz archive: {0}")]
    Tar(String),
}

/// The metadata of an sdist, when it is static.
///
/// # Errors
/// When only a build would tell the requirements, or the archive or its PKG-INFO cannot be read.
pub fn metadata_from_sdist(
    kind: SdistKind,
    sdist: impl Read + Seek,
) -> Result<Metadata, SdistError> {
    let pkg_info = match kind {
        SdistKind::TarGz => from_tar(sdist)?,
        SdistKind::Zip => drive(sdist, from_zip)?,
    };
    static_metadata(&pkg_info.ok_or(SdistError::NoPkgInfo)?)
}

fn static_metadata(pkg_info: &[u8]) -> Result<Metadata, SdistError> {
    let core = parse(pkg_info)?;
    let mut numbers = core.version.split('.').map(|part| part.trim().parse::<u64>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < (2, 2) {
        let stated = if core.version.is_empty() { "none" } else { &core.version };
        return Err(SdistError::Old(stated.to_owned()));
    }
    let wanted = ["Requires-Dist", "Requires-Python", "Provides-Extra"];
    let dynamic = wanted
        .into_iter()
        .find(|wanted| core.dynamic.iter().any(|d| d.eq_ignore_ascii_case(wanted)));
    match dynamic {
        Some(field) => Err(SdistError::NotStatic(format!("its PKG-INFO lists {field} as dynamic"))),
        None => Ok(core.metadata),
    }
}

/// True for `folder/PKG-INFO`.
fn is_pkg_info(path: &[u8]) -> bool {
    let path = path.strip_prefix(b"./").unwrap_or(path);
    path.strip_suffix(b"/PKG-INFO")
        .is_some_and(|folder| !folder.is_empty() && !folder.contains(&b'/'))
}

fn from_tar(sdist: impl Read) -> Result<Option<Vec<u8>>, SdistError> {
    let tar = |error: std::io::Error| SdistError::Tar(error.to_string());
    let mut archive = tar::Archive::new(MultiGzDecoder::new(sdist).take(UNPACKED_LIMIT));
    // Raw entries: a long name (which the path looked for never is) would be read into memory, however long it is.
    for entry in archive.entries().map_err(tar)?.raw(true) {
        let entry = entry.map_err(tar)?;
        if !entry.header().entry_type().is_file() || !is_pkg_info(&entry.path_bytes()) {
            continue;
        }
        let size = entry.size();
        if size > MEMBER_LIMIT {
            let what = "its PKG-INFO";
            return Err(ArchiveError::TooLarge { what, size, limit: MEMBER_LIMIT }.into());
        }
        let mut contents = Vec::new();
        entry.take(MEMBER_LIMIT).read_to_end(&mut contents).map_err(tar)?;
        return Ok(Some(contents));
    }
    Ok(None)
}

fn from_zip(file: &Sparse) -> Result<Option<Vec<u8>>, Stop> {
    let directory = Directory::find(file)?;
    for member in directory.members() {
        let (name, member) = member?;
        if is_pkg_info(name) {
            return directory.read(file, &member).map(Some);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn tar_gz(files: &[(&str, &str)]) -> Cursor<Vec<u8>> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, contents) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(contents.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, path, contents.as_bytes()).expect("in memory");
        }
        Cursor::new(builder.into_inner().expect("in memory").finish().expect("in memory"))
    }

    fn zip(files: &[(&str, &str)]) -> Cursor<Vec<u8>> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (path, contents) in files {
            writer.start_file(*path, zip::write::SimpleFileOptions::default()).expect("in memory");
            writer.write_all(contents.as_bytes()).expect("in memory");
        }
        let bytes = writer.finish().expect("in memory");
        Cursor::new(bytes.into_inner())
    }

    const GOOD: &str =
        "Metadata-Version: 2.2\nName: foo\nVersion: 1.0\nRequires-Dist: bar\nDynamic: Classifier\n";

    #[test]
    fn both_archives_give_the_pkg_info_of_their_top_folder() {
        let long = format!("foo-1.0/{}", "x".repeat(150));
        let files = [
            ("foo-1.0/src/PKG-INFO", "nonsense"),
            (long.as_str(), "x"),
            ("foo-1.0/PKG-INFO", GOOD),
            ("foo-1.0/foo.egg-info/PKG-INFO", "nonsense"),
        ];
        for (kind, archive) in [(SdistKind::TarGz, tar_gz(&files)), (SdistKind::Zip, zip(&files))] {
            let metadata = metadata_from_sdist(kind, archive).expect("static");
            assert_eq!(metadata.requires_dist.len(), 1, "{kind:?}");
        }
    }

    #[test]
    fn what_is_not_static_says_why() {
        let error = |text: &str| {
            let archive = tar_gz(&[("foo-1.0/PKG-INFO", text)]);
            metadata_from_sdist(SdistKind::TarGz, archive).expect_err(text).to_string()
        };
        insta::assert_snapshot!(error(&GOOD.replace("2.2", "2.1")), @"its requirements are known only after building it, because its PKG-INFO promises that only from metadata version 2.2 on, and states 2.1");
        insta::assert_snapshot!(error(&GOOD.replace("Classifier", "requires-dist")), @"its requirements are known only after building it, because its PKG-INFO lists Requires-Dist as dynamic");
        insta::assert_snapshot!(error("Metadata-Version: 2.2\nName: foo\n"), @"its METADATA has no Version");
        insta::assert_snapshot!(metadata_from_sdist(SdistKind::Zip, zip(&[("PKG-INFO", GOOD)])).expect_err("not in a folder"), @"it has no PKG-INFO in its top folder, so its requirements are known only after building it");
        insta::assert_snapshot!(metadata_from_sdist(SdistKind::TarGz, Cursor::new(b"no archive")).expect_err("no gzip"), @"it is not a valid .tar.gz archive: invalid gzip header");
        assert!(
            error(&GOOD.replace("2.2", "2.10").replace("Classifier", "Provides-Extra"))
                .contains("Provides-Extra")
        );
    }

    #[test]
    fn a_member_that_claims_too_much_is_not_read() {
        let mut header = tar::Header::new_gnu();
        header.set_path("foo-1.0/PKG-INFO").expect("short");
        header.set_size(1 << 40);
        header.set_cksum();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(header.as_bytes()).expect("in memory");
        let archive = Cursor::new(encoder.finish().expect("in memory"));
        let error = metadata_from_sdist(SdistKind::TarGz, archive).expect_err("too large");
        insta::assert_snapshot!(error, @"its PKG-INFO is 1099511627776 bytes large, more than the 16777216 bytes that are read");
    }

    proptest! {
        #[test]
        fn any_bytes_do_no_harm(
            at: proptest::sample::Index, noise in proptest::collection::vec(any::<u8>(), 0..60), zipped: bool,
        ) {
            let files = [("foo-1.0/a", "xyz"), ("foo-1.0/PKG-INFO", GOOD)];
            let (kind, archive) = if zipped { (SdistKind::Zip, zip(&files)) } else { (SdistKind::TarGz, tar_gz(&files)) };
            let mut bytes = archive.into_inner();
            let at = at.index(bytes.len());
            let end = (at + noise.len()).min(bytes.len());
            bytes.splice(at..end, noise.clone());
            let _ = metadata_from_sdist(kind, Cursor::new(bytes));
            let _ = metadata_from_sdist(kind, Cursor::new(noise));
        }
    }
}
