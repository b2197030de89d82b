//! `cuda-lock cache`: where the cache is, how large, and how it moves to a machine without a network.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use cuda_lock_fetcher::cache::WRITING;
use cuda_lock_fetcher::cache::{CacheFolder, default_dir};
use jiff::{Span, SpanRelativeTo};

use crate::failure::Failure;

/// The cache in a folder, or that of this user.
///
/// # Errors
/// When none is named and this user has no home.
pub fn folder(dir: Option<PathBuf>) -> Result<CacheFolder, Failure> {
    dir.or_else(default_dir).map(CacheFolder::new).ok_or_else(|| {
        Failure::argument(
            "there is no home folder to keep a cache in; name a folder with --cache-dir",
        )
    })
}

/// An age as people write it. Days have 24 hours, and there is no calendar to count months by.
///
/// # Errors
/// When it is none.
pub fn age(text: &str) -> Result<Duration, Failure> {
    let wrong = |why: String| {
        Failure::argument(format!(
            "--older-than {text}: {why}; write an age in days, hours, minutes or seconds, as in 30d or 12h"
        ))
    };
    let span: Span = text.parse().map_err(|error: jiff::Error| wrong(error.to_string()))?;
    let age = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| wrong("months and years differ in length".to_owned()))?;
    Duration::try_from(age).map_err(|_| wrong("an age is not negative".to_owned()))
}

/// Writes all of a cache to an archive. Half an archive is of no use: it takes its name only when it is whole.
///
/// # Errors
/// When the archive cannot be written.
pub fn export(folder: &CacheFolder, archive: &Path) -> Result<(), Failure> {
    let parent = match archive.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = archive.display();
    let wrong = |error: io::Error| Failure::system(format!("cannot write {name}: {error}"));
    let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
    let file = tempfile::Builder::new().prefix(".cuda-lock-").tempfile_in(parent).map_err(wrong)?;
    export_to(folder, io::BufWriter::new(file.as_file()))?;
    file.persist(archive).map_err(|error| wrong(error.error))?;
    Ok(())
}

/// The same to a stream.
///
/// # Errors
/// When it cannot be written.
pub fn export_to(folder: &CacheFolder, out: impl Write) -> Result<(), Failure> {
    folder.export(out).map_err(Failure::system)
}

/// Adds what an archive holds. Returns the number of its entries.
///
/// # Errors
/// When the archive cannot be read.
pub fn import(folder: &CacheFolder, archive: &Path) -> Result<u64, Failure> {
    let file = fs_err::File::open(archive).map_err(Failure::system)?;
    import_from(folder, io::BufReader::new(file))
}

/// The same from a stream.
///
/// # Errors
/// When it cannot be read.
pub fn import_from(folder: &CacheFolder, archive: impl Read) -> Result<u64, Failure> {
    folder.import(archive).map_err(Failure::system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_as_people_write_them() {
        for (text, seconds) in
            [("30d", 2_592_000), ("12h", 43_200), ("90m", 5400), ("0s", 0), ("1 week", 604_800)]
        {
            assert_eq!(age(text).ok().map(|age| age.as_secs()), Some(seconds), "{text}");
        }
        for text in ["", "30", "soon", "-1d", "2 months"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
