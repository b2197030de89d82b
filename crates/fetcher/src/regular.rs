//! Files of this machine, opened only when reading them comes to an end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a netrc file or of certificates; real ones have a hundredth of that.
pub(crate) const SETTINGS_LIMIT: u64 = 16 << 20;

/// Opens a file. A pipe could keep the run waiting for ever, and a device has no end.
///
/// # Errors
/// When it cannot be opened, or is no regular file. The words name the path.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !fs_err::metadata(path)?.is_file() {
        let text = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(fs_err::File::open(path)?.into_parts().0)
}

/// All bytes of a file.
///
/// # Errors
/// As [`open`], and when it has more than `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let wrong = |error| io::Error::other(format!("{}: {error}", path.display()));
    open(path)?.take(limit + 1).read_to_end(&mut bytes).map_err(wrong)?;
    if bytes.len() as u64 > limit {
        let text = format!("{} has more than {} MiB", path.display(), limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, b"abc").expect("written");
        assert_eq!(read(&path, 3).expect("read"), b"abc");
        assert_eq!(read(&path, 2).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        assert!(read(folder.path(), 3).expect_err("a folder").to_string().contains("regular"));
        assert_eq!(
            read(&folder.path().join("y"), 3).expect_err("absent").kind(),
            io::ErrorKind::NotFound
        );
        #[cfg(unix)]
        assert!(
            read(Path::new("/dev/zero"), 3).expect_err("a device").to_string().contains("regular")
        );
    }
}
