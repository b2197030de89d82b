//! Files that are either old or new, never half.
//!
//! New content goes to a temporary file in the same folder, is flushed to the disk, and takes the place of the old file
//! by a rename, which is atomic on every file system that matters here. All temporary files are complete before the
//! first rename: a full disk or an unwritable folder is found while every old file is still in place. Between two
//! renames a crash can leave one file new and the next old, both complete.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use tempfile::NamedTempFile;

/// Held for reading while temporary files are there. Whoever ends the program from elsewhere, as for a signal, takes it
/// for writing first: then none is left behind, and of several files either all are new or none.
pub static WRITING: RwLock<()> = RwLock::new(());

/// A file to be written.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// Where.
    pub path: &'a Path,
    /// All of its content.
    pub content: &'a [u8],
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did not exist.
    Created,
    /// It had other content.
    Replaced,
    /// It had this content already and was not touched.
    Unchanged,
}

/// A file that could not be written. No file was left half-written.
#[derive(Debug)]
pub struct WriteError {
    /// Which.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.source.kind() {
            io::ErrorKind::NotFound => {
                write!(f, "cannot write {path}: its folder does not exist")
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                write!(f, "cannot write {path}: the folder is not writable ({})", self.source)
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                write!(f, "cannot write {path}: the disk is full")
            }
            io::ErrorKind::IsADirectory => write!(f, "cannot write {path}: it is a folder"),
            _ => write!(f, "cannot write {path}: {}", self.source),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Writes `outputs`; the answer has one outcome for each, in their order.
///
/// A file that has its content already is not touched, so its modification time stays and no build starts anew. The
/// permissions of a file that is replaced are kept, and a symbolic link stays a link: the file it leads to is replaced.
///
/// # Errors
/// When one cannot be written. Unless a rename fails, which the checks before make unlikely, no file has changed then.
pub fn write_all(outputs: &[Output<'_>]) -> Result<Vec<Outcome>, WriteError> {
    let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
    let mut outcomes = Vec::with_capacity(outputs.len());
    let mut ready = Vec::new();
    for output in outputs {
        let fail = |source| WriteError { path: output.path.to_owned(), source };
        let path = real_path(output.path).map_err(fail)?;
        let outcome = compare(&path, output.content).map_err(fail)?;
        if outcome != Outcome::Unchanged {
            let file = prepare(&path, output.content, outcome).map_err(fail)?;
            ready.push((output.path, path, file));
        }
        outcomes.push(outcome);
    }
    let fail = |name: &Path| {
        let path = name.to_owned();
        move |source| WriteError { path, source }
    };
    // Flushed together, after all are written: the first flush carries most of the others along.
    for (name, _, file) in &ready {
        file.as_file().sync_all().map_err(fail(name))?;
    }
    let mut folders = BTreeMap::new();
    for (name, path, file) in ready {
        file.persist(&path).map_err(|error| fail(name)(error.error))?;
        folders.insert(folder_of(&path).to_owned(), name);
    }
    for (folder, name) in folders {
        sync_folder(&folder).map_err(fail(name))?;
    }
    Ok(outcomes)
}

/// Follows symbolic links to an existing file.
///
/// # Errors
/// When a link leads nowhere: whether the link or what it names is to be made, nobody said.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Ok(real) => Ok(real),
        Err(error) if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => {
            let leads = std::fs::read_link(path)
                .map_or_else(|_| String::new(), |to| format!(", to {}", to.display()));
            let text = format!("it is a symbolic link that leads nowhere{leads} ({error})");
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
        Err(_) => Ok(path.to_owned()),
    }
}

fn compare(path: &Path, content: &[u8]) -> io::Result<Outcome> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Outcome::Created),
        Err(error) => Err(error),
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A pipe would keep the run waiting, and a device must not be replaced by a file.
        Ok(metadata) if !metadata.is_file() => {
            let text = "it is a device, a pipe or a socket, not a regular file";
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
        // A file of another length differs; a file that cannot be read is replaced.
        Ok(metadata) if metadata.len() != content.len() as u64 => Ok(Outcome::Replaced),
        Ok(_) => match std::fs::read(path) {
            Ok(old) if old == content => Ok(Outcome::Unchanged),
            _ => Ok(Outcome::Replaced),
        },
    }
}

fn prepare(path: &Path, content: &[u8], outcome: Outcome) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cuda-lock-");
    // A new file gets what the umask allows, as from any other program, not the 0600 of temporary files.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder_of(path))?;
    file.write_all(content)?;
    if outcome == Outcome::Replaced {
        file.as_file().set_permissions(std::fs::metadata(path)?.permissions())?;
    }
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes renames in a folder durable. Windows has no such call, and some network file systems refuse it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Ok(folder) = std::fs::File::open(folder) {
        match folder.sync_all() {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => return Err(error),
            _ => {}
        }
    }
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, content: &str) -> Result<Outcome, WriteError> {
        write_all(&[Output { path, content: content.as_bytes() }]).map(|list| list[0])
    }

    #[test]
    fn files_are_created_replaced_and_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("pylock.toml");
        assert_eq!(write(&path, "one").expect("write"), Outcome::Created);
        let before = std::fs::metadata(&path).expect("metadata").modified().expect("time");
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(write(&path, "one").expect("write"), Outcome::Unchanged);
        assert_eq!(std::fs::metadata(&path).expect("metadata").modified().expect("time"), before);
        assert_eq!(write(&path, "two").expect("write"), Outcome::Replaced);
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "two");
        assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 1, "no leftovers");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("folder");
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        write(&path, "one").expect("write");
        let mode =
            |path: &Path| std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
        assert_ne!(mode(&path), 0o600, "a new file is not private");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).expect("chmod");
        std::os::unix::fs::symlink(&path, &link).expect("link");
        write(&link, "two").expect("write");
        assert!(std::fs::symlink_metadata(&link).expect("link").is_symlink());
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "two");
        assert_eq!(mode(&path), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let lost = folder.path().join("lost");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &lost).expect("link");
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &device).expect("link");
        for (path, said) in [(&lost, "leads nowhere"), (&device, "not a regular file")] {
            let error = write(path, "new").expect_err("refused").to_string();
            assert!(error.contains(said), "{error}");
            assert!(std::fs::symlink_metadata(path).expect("there").is_symlink());
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 2, "no leftovers");
    }

    #[test]
    fn when_one_file_cannot_be_written_none_changes() {
        let folder = tempfile::tempdir().expect("folder");
        let first = folder.path().join("pylock.toml");
        write(&first, "old").expect("write");
        let lost = folder.path().join("missing/requirements.txt");
        for (second, said) in
            [(lost.as_path(), "its folder does not exist"), (folder.path(), "it is a folder")]
        {
            let outputs =
                [Output { path: &first, content: b"new" }, Output { path: second, content: b"x" }];
            let error = write_all(&outputs).expect_err("cannot be written");
            assert!(error.to_string().ends_with(said), "{error}");
            assert_eq!(error.path, second);
            assert_eq!(std::fs::read_to_string(&first).expect("read"), "old");
            assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 1, "no leftovers");
        }
    }

    #[test]
    fn messages_name_the_file_and_the_reason() {
        for (kind, said) in [
            (io::ErrorKind::StorageFull, "cannot write f: the disk is full"),
            (io::ErrorKind::NotFound, "cannot write f: its folder does not exist"),
        ] {
            let error = WriteError { path: "f".into(), source: kind.into() };
            assert_eq!(error.to_string(), said);
        }
        let error = WriteError { path: "f".into(), source: io::ErrorKind::PermissionDenied.into() };
        assert!(error.to_string().starts_with("cannot write f: the folder is not writable"));
    }
}
