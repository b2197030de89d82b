//! What an installer leaves beside METADATA: RECORD, WHEEL, INSTALLER.

use std::path::Path;

use super::site_packages::is_library;
use crate::regular::{self, TEXT_LIMIT};

/// A shared library that RECORD lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    /// The path below site-packages, with `/`.
    pub path: String,
    /// Its size in bytes, where RECORD says it.
    pub size: Option<u64>,
}

/// The shared libraries in RECORD; `None` when there is none that can be read.
pub(super) fn recorded(folder: &Path) -> Option<Vec<Recorded>> {
    let bytes = regular::read(&folder.join("RECORD"), TEXT_LIMIT).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(text.lines().filter_map(row).collect())
}

/// `path,hash,size`, where a path with a comma stands in quotes. Anything but a shared library is passed over.
fn row(line: &str) -> Option<Recorded> {
    let mut fields = line.trim_end().rsplitn(3, ',');
    let (size, _, path) = (fields.next()?, fields.next()?, fields.next()?);
    let path = match path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => path.to_owned(),
    };
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or_default();
    if !is_library(name) || path.starts_with("..") || path.starts_with('/') {
        return None;
    }
    Some(Recorded { size: size.trim().parse().ok(), path })
}

/// The tags of the wheel that was installed, such as `cp311-cp311-manylinux_2_28_x86_64`; sorted, without repetitions.
pub(super) fn tags(folder: &Path) -> Vec<String> {
    let Ok(bytes) = regular::read(&folder.join("WHEEL"), TEXT_LIMIT) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let tags = text.lines().filter_map(|line| line.strip_prefix("Tag:"));
    let mut tags: Vec<String> = tags.map(|tag| tag.trim().to_owned()).collect();
    tags.sort();
    tags.dedup();
    tags
}

/// Who installed it: `pip`, `uv`, `conda`.
pub(super) fn installer(folder: &Path) -> Option<String> {
    let bytes = regular::read(&folder.join("INSTALLER"), TEXT_LIMIT).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The Python of `cp311-cp311-…`: a wheel for one Python only.
pub(super) fn python_of_tag(tag: &str) -> Option<String> {
    let mut parts = tag.split('-');
    let (python, abi) = (parts.next()?, parts.next()?);
    let digits = python.strip_prefix("cp").filter(|_| abi.trim_end_matches('t') == python)?;
    let (major, minor) = digits.split_at_checked(1)?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (number(major) && number(minor)).then(|| format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shared_libraries_of_the_folder_count() {
        let path = |line: &str| row(line).map(|found| (found.path, found.size));
        assert_eq!(
            path("torch/lib/libc10.so,sha256=x,12"),
            Some(("torch/lib/libc10.so".into(), Some(12)))
        );
        assert_eq!(path("\"a,b/x.so.1\",,"), Some(("a,b/x.so.1".into(), None)));
        assert_eq!(path("torch/__init__.py,sha256=x,12"), None);
        assert_eq!(path("../../bin/x.so,sha256=x,12"), None);
        assert_eq!(path("x.so"), None);
    }

    #[test]
    fn a_tag_for_one_python_names_it() {
        assert_eq!(python_of_tag("cp311-cp311-manylinux_2_28_x86_64").as_deref(), Some("3.11"));
        assert_eq!(python_of_tag("cp313-cp313t-win_amd64").as_deref(), Some("3.13"));
        assert_eq!(python_of_tag("cp38-abi3-linux_x86_64"), None);
        assert_eq!(python_of_tag("py3-none-any"), None);
        assert_eq!(python_of_tag("cp-cp-x"), None);
    }
}
