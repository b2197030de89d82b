//! The few files of a source distribution that say what it needs, picked out while the archive is read.

use std::io::Read;
use std::path::Path;

use cuda_lock_constraint::name::Name;
use flate2::read::MultiGzDecoder;

use super::super::sparse::Sparse;
use super::super::zip::{ArchiveError, Directory, MEMBER_LIMIT, Stop};
use super::{SdistError, SdistName};

/// How much of an archive is unpacked in search of them. Real ones have them within some hundred megabytes.
const UNPACKED_LIMIT: u64 = 1 << 30;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) pkg_info: Option<Vec<u8>>,
    pub(super) pyproject: Option<Vec<u8>>,
    pub(super) setup_py: Option<Vec<u8>>,
    pub(super) requires_txt: Option<Vec<u8>>,
    /// There is an egg-info of the project.
    pub(super) egg_info: bool,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    PkgInfo,
    Pyproject,
    SetupPy,
    RequiresTxt,
    EggInfo,
}

/// What the member of this path is; `None` for those that nobody asks for.
fn role(path: &[u8], of: &SdistName) -> Option<Role> {
    let project = of.project;
    let path = std::str::from_utf8(path).ok()?;
    let path = path.strip_prefix("./").unwrap_or(path);
    // The folder of the project takes the place of the top one.
    let inner = match &of.subdirectory {
        None => path.to_owned(),
        Some(below) => {
            let (_, rest) = path.split_once('/')?;
            let rest = rest.strip_prefix(below.trim_matches('/'))?.strip_prefix('/')?;
            format!("top/{rest}")
        }
    };
    let path = inner.as_str();
    let mut parts = path.rsplit('/');
    let (last, folder) = (parts.next()?, parts.next());
    let is_egg_info = |folder: &str| {
        folder.strip_suffix(".egg-info").is_some_and(|stem| Name::new(stem) == Ok(project))
    };
    if folder.is_some_and(is_egg_info) {
        return Some(if last == "requires.txt" { Role::RequiresTxt } else { Role::EggInfo });
    }
    // Some archives have no top folder.
    if parts.next().is_some() || folder == Some("") {
        return None;
    }
    match last {
        "PKG-INFO" => Some(Role::PkgInfo),
        "pyproject.toml" => Some(Role::Pyproject),
        "setup.py" => Some(Role::SetupPy),
        _ => None,
    }
}

impl Members {
    fn wants(&self, role: Role) -> bool {
        match role {
            Role::PkgInfo => self.pkg_info.is_none(),
            Role::Pyproject => self.pyproject.is_none(),
            Role::SetupPy => self.setup_py.is_none(),
            Role::RequiresTxt => self.requires_txt.is_none(),
            Role::EggInfo => false,
        }
    }

    fn put(&mut self, role: Role, contents: Vec<u8>) {
        match role {
            Role::PkgInfo => self.pkg_info = Some(contents),
            Role::Pyproject => self.pyproject = Some(contents),
            Role::SetupPy => self.setup_py = Some(contents),
            Role::RequiresTxt => self.requires_txt = Some(contents),
            Role::EggInfo => {}
        }
    }

    /// Whether the rest of the archive can tell nothing more.
    fn is_complete(&self) -> bool {
        let built_by_setup_py = self.setup_py.is_some();
        let (Some(pkg_info), Some(pyproject)) = (&self.pkg_info, &self.pyproject) else {
            return self.pkg_info.is_some()
                && self.requires_txt.is_some()
                && built_by_setup_py
                && self.pyproject.is_some();
        };
        let settled = super::judge::is_promised(pkg_info) || self.requires_txt.is_some();
        settled && (built_by_setup_py || super::judge::names_other_backend(pyproject))
    }

    /// Reads a `.tar.gz`, no further than needed.
    pub(super) fn of_tar(sdist: impl Read, of: &SdistName) -> Result<Self, SdistError> {
        let tar = |error: std::io::Error| SdistError::Tar(error.to_string());
        let mut found = Self::default();
        let unpacked = Counted { inner: MultiGzDecoder::new(sdist), left: UNPACKED_LIMIT };
        let mut archive = tar::Archive::new(unpacked);
        // Raw entries: a long name (which the paths looked for never are) would be read into memory, however long it is.
        for entry in archive.entries().map_err(tar)?.raw(true) {
            let entry = entry.map_err(tar)?;
            let Some(role) = role(&entry.path_bytes(), of) else { continue };
            found.egg_info |= matches!(role, Role::EggInfo | Role::RequiresTxt);
            if !entry.header().entry_type().is_file() || !found.wants(role) {
                continue;
            }
            let size = entry.size();
            if size > MEMBER_LIMIT {
                return Err(too_large(size));
            }
            let mut contents = Vec::new();
            entry.take(MEMBER_LIMIT).read_to_end(&mut contents).map_err(tar)?;
            found.put(role, contents);
            if found.is_complete() {
                break;
            }
        }
        Ok(found)
    }

    /// Reads a folder with sources.
    pub(super) fn of_folder(folder: &Path) -> Self {
        let read = |name: &str| {
            let file = std::fs::File::open(folder.join(name)).ok()?;
            let mut contents = Vec::new();
            file.take(MEMBER_LIMIT).read_to_end(&mut contents).ok()?;
            Some(contents)
        };
        Self { pyproject: read("pyproject.toml"), setup_py: read("setup.py"), ..Self::default() }
    }

    /// Reads a `.zip`, of which the parts that are missing are asked for.
    pub(super) fn of_zip(file: &Sparse, of: &SdistName) -> Result<Self, Stop> {
        let directory = Directory::find(file)?;
        let mut found = Self::default();
        for member in directory.members() {
            let (name, member) = member?;
            let Some(role) = role(name, of) else { continue };
            found.egg_info |= matches!(role, Role::EggInfo | Role::RequiresTxt);
            if found.wants(role) {
                let contents = directory.read(file, &member)?;
                found.put(role, contents);
            }
        }
        Ok(found)
    }
}

fn too_large(size: u64) -> SdistError {
    let what = "a file in it";
    ArchiveError::TooLarge { what, size, limit: MEMBER_LIMIT }.into()
}

/// A reader that ends with an error, not with an end, where an archive unpacks to more than anybody reads.
struct Counted<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            let text = format!("it unpacks to more than {} MiB", UNPACKED_LIMIT >> 20);
            return Err(std::io::Error::other(text));
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.inner.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_never_ends_is_an_error_and_no_end() {
        let mut endless = Counted { inner: std::io::repeat(0), left: 1 << 20 };
        let mut bytes = Vec::new();
        let error = endless.read_to_end(&mut bytes).expect_err("no end");
        assert_eq!((bytes.len(), error.kind()), (1 << 20, std::io::ErrorKind::Other));
        assert!(endless.read(&mut [0; 8]).is_err());
    }
}
