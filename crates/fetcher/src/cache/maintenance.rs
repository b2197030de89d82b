//! Care for the cache folder: its size, pruning, and moving it to a machine without a network.

use std::fs::Metadata;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

use super::{BUCKET, WRITING};

/// The cache folder, seen from outside a run.
#[derive(Clone, Debug)]
pub struct CacheFolder {
    dir: PathBuf,
}

/// What pruning removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

impl CacheFolder {
    /// A folder, which need not exist.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The bytes of all files in it; 0 when it does not exist.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn size(&self) -> io::Result<u64> {
        let mut size = 0;
        walk(&self.dir, &mut |_, metadata| {
            size += metadata.len();
            Ok(())
        })?;
        Ok(size)
    }

    /// Removes what was last written longer ago than `age`. An entry that is still used is then fetched again.
    ///
    /// # Errors
    /// When a file cannot be removed.
    pub fn prune(&self, age: Duration) -> io::Result<Pruned> {
        let mut pruned = Pruned::default();
        let now = SystemTime::now();
        walk(&self.dir, &mut |path, metadata| {
            let written = metadata.modified()?;
            let is_tag = path.file_name().is_some_and(|name| name == "CACHEDIR.TAG");
            if !is_tag && now.duration_since(written).is_ok_and(|passed| passed >= age) {
                match fs_err::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
                pruned.files += 1;
                pruned.bytes += metadata.len();
            }
            Ok(())
        })?;
        Ok(pruned)
    }

    /// Writes what this version of the program reads of the cache as a tar archive.
    ///
    /// # Errors
    /// When the cache cannot be read or the archive cannot be written.
    pub fn export(&self, archive: impl Write) -> io::Result<()> {
        let mut builder = tar::Builder::new(archive);
        let mut files = Vec::new();
        walk(&self.dir.join(BUCKET), &mut |path, metadata| {
            files.push((path.to_owned(), metadata.len()));
            Ok(())
        })?;
        files.sort();
        for (path, size) in files {
            let Ok(inside) = path.strip_prefix(&self.dir) else { continue };
            let file = match fs_err::File::open(&path) {
                // Another process may remove or replace files meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file?,
            };
            let mut header = tar::Header::new_gnu();
            header.set_size(size);
            header.set_mode(0o600);
            builder.append_data(&mut header, inside, file.take(size))?;
        }
        builder.into_inner()?.flush()
    }

    /// Adds the entries of an archive that [`export`](Self::export) wrote; those that exist are replaced.
    ///
    /// # Errors
    /// When the archive cannot be read, holds something else, or the cache cannot be written.
    pub fn import(&self, archive: impl Read) -> io::Result<u64> {
        let mut count = 0;
        let broken = |error: io::Error| {
            io::Error::new(error.kind(), format!("the archive cannot be read: {error}"))
        };
        for entry in tar::Archive::new(archive).entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let inside = entry.path()?.into_owned();
            if !is_entry(&inside) || !entry.header().entry_type().is_file() {
                let text = format!("'{}' is no entry of a cache of this version", inside.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
            let path = self.dir.join(&inside);
            let folder = path.parent().unwrap_or(&self.dir);
            fs_err::create_dir_all(folder)?;
            let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
            let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
            io::copy(&mut entry, file.as_file_mut())?;
            file.persist(&path).map_err(|error| error.error)?;
            count += 1;
        }
        Ok(count)
    }
}

/// `BUCKET/pages/x` or `BUCKET/metadata/x`: no archive may write anywhere else.
fn is_entry(path: &Path) -> bool {
    let parts: Vec<_> = path.components().collect();
    let [Component::Normal(bucket), Component::Normal(kind), Component::Normal(_)] = parts[..]
    else {
        return false;
    };
    bucket == BUCKET && (kind == "pages" || kind == "metadata")
}

fn walk(dir: &Path, visit: &mut impl FnMut(&Path, &Metadata) -> io::Result<()>) -> io::Result<()> {
    let entries = match fs_err::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        // Links are left alone: a cache has none.
        if metadata.is_dir() {
            walk(&entry.path(), visit)?;
        } else if metadata.is_file() {
            visit(&entry.path(), &metadata)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_moves_through_an_archive() {
        let from = tempfile::tempdir().expect("a folder");
        let pages = from.path().join(BUCKET).join("pages");
        std::fs::create_dir_all(&pages).expect("made");
        std::fs::write(pages.join("foo-0"), b"page").expect("written");
        let folder = CacheFolder::new(from.path().to_owned());
        let mut archive = Vec::new();
        folder.export(&mut archive).expect("written");
        let to = tempfile::tempdir().expect("a folder");
        let copy = CacheFolder::new(to.path().join("new"));
        assert_eq!(copy.import(&archive[..]).expect("read"), 1);
        assert_eq!(copy.size().expect("read"), 4);
        assert_eq!(copy.prune(Duration::from_secs(60)).expect("pruned"), Pruned::default());
        assert_eq!(copy.prune(Duration::ZERO).expect("pruned"), Pruned { files: 1, bytes: 4 });
    }

    #[test]
    fn an_archive_writes_nowhere_else() {
        for path in
            ["../x", "/etc/x", "v1/pages/x", "v3/x", "v3/other/x", "v3/pages/a/b", "v3/pages/../x"]
        {
            assert!(!is_entry(Path::new(path)), "{path}");
        }
        assert!(is_entry(Path::new("v3/pages/x")));
    }
}
