//! Files of this machine, read only when that comes to an end.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file that is read as text. The largest locks and lists that are known have a third of that; a
/// lock takes seventy times its size in memory while it is read.
pub const TEXT_LIMIT: u64 = 12 << 20;

/// The bytes of a file. A pipe could keep the run waiting for ever, a device has no end, and what is too large for
/// memory would end the run without a word.
///
/// # Errors
/// When it cannot be read, is no regular file, or has more than `limit` bytes. The words name the path.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !fs_err::metadata(path)?.is_file() {
        let text = format!("{} is not a regular file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    read_up_to(fs_err::File::open(path)?.into_parts().0, path, limit)
}

/// The same for a file that a person names on the command line, which may be a pipe that the shell made: `<(pip freeze)`.
///
/// # Errors
/// As [`read`].
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let of_shell = path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|folder| {
            folder == Path::new("/dev/fd") || folder == Path::new("/proc/self/fd")
        });
    if of_shell {
        return read_up_to(fs_err::File::open(path)?.into_parts().0, path, limit);
    }
    read(path, limit)
}

/// All bytes of `file`.
///
/// # Errors
/// When it has more than `limit`; `name` is what messages call it.
pub fn read_stream(stream: impl Read, name: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    if bytes.len() as u64 > limit {
        let text = format!("{name} has more than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

fn read_up_to(file: File, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_stream(file, &path.display().to_string(), limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x");
        std::fs::write(&path, "abc").expect("written");
        assert_eq!(read(&path, 3).expect("read"), b"abc");
        assert_eq!(read(&path, 2).expect_err("too large").kind(), io::ErrorKind::FileTooLarge);
        assert!(read(folder.path(), 3).expect_err("a folder").to_string().contains("regular"));
        let absent = read(&folder.path().join("y"), 3).expect_err("absent");
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
        #[cfg(unix)]
        for device in ["/dev/zero", "/dev/null"] {
            let error = read(Path::new(device), 3).expect_err("a device").to_string();
            assert!(error.contains("regular"), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_is_read_and_one_to_a_device_is_not() {
        let folder = tempfile::tempdir().expect("folder");
        let (path, link) = (folder.path().join("x"), folder.path().join("link"));
        std::fs::write(&path, "abc").expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("link");
        assert_eq!(read(&link, 3).expect("read"), b"abc");
        std::fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("link");
        assert!(read(&link, 3).is_err());
    }
}
