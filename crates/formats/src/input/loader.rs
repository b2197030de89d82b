//! Where included files come from.

use std::collections::BTreeMap;
use std::io;

use crate::regular::{self, TEXT_LIMIT};

/// Gives the files and variables that a file refers to.
///
/// A reader asks for each file once for each way it is used. Paths are made from the name of the including file and the
/// text of the reference, with `/` between, and `.` and `..` resolved.
pub trait FileLoader {
    /// The bytes of the file at `path`, which may be a URL.
    ///
    /// # Errors
    /// When it cannot be read; the text says why, in words that fit after "cannot read PATH: ".
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError>;

    /// The value of an environment variable; `None` when it is not set. By default no variable is.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

/// Reads from the file system. URLs are not followed.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskLoader;

impl FileLoader for DiskLoader {
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        if is_url(path) {
            return Err(LoadError("files at a URL are not read; download it first".to_owned()));
        }
        regular::read(path.as_ref(), TEXT_LIMIT).map_err(|error| {
            LoadError(match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                io::ErrorKind::InvalidInput => "it is not a regular file".to_owned(),
                io::ErrorKind::FileTooLarge => {
                    format!("it has more than {} MiB", TEXT_LIMIT >> 20)
                }
                _ => error.to_string(),
            })
        })
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// Files and variables in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    /// Files by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
}

impl FileLoader for MemoryLoader {
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.files.get(path).cloned().ok_or_else(|| LoadError("there is no such file".to_owned()))
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
}

/// Whether pip opens `path` over a URL scheme.
pub(super) fn is_url(path: &str) -> bool {
    path.split_once(':').is_some_and(|(scheme, _)| {
        ["http", "https", "file"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
    })
}

/// The path that `target` means in the file `from`.
pub(super) fn join(from: &str, target: &str) -> String {
    if is_url(from) {
        if let Ok(joined) = url::Url::parse(from).and_then(|base| base.join(target)) {
            return joined.into();
        }
    } else if is_url(target) {
        return target.to_owned();
    }
    let is_absolute = target.starts_with(['/', '\\'])
        || target.get(1..3).is_some_and(|t| t == ":\\" || t == ":/");
    let folder = from.rfind(['/', '\\']).and_then(|at| from.get(..=at)).unwrap_or_default();
    normalize(&if is_absolute { target.to_owned() } else { format!("{folder}{target}") })
}

/// Resolves `.` and `..` as far as the text allows.
fn normalize(path: &str) -> String {
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if !root.is_empty() => {}
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn paths_are_relative_to_the_including_file() {
        assert_eq!(join("requirements.txt", "base.txt"), "base.txt");
        assert_eq!(join("a/b/requirements.txt", "../c/./base.txt"), "a/c/base.txt");
        assert_eq!(join("a/r.txt", "/etc/base.txt"), "/etc/base.txt");
        assert_eq!(join("a/r.txt", "https://host.example/r.txt"), "https://host.example/r.txt");
        assert_eq!(join("https://host.example/a/r.txt", "b.txt"), "https://host.example/a/b.txt");
        assert_eq!(join("r.txt", "../../base.txt"), "../../base.txt");
    }
}
