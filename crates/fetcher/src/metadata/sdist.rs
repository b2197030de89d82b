//! What a source distribution says it needs, without building it.
//!
//! Only a few of its files are read: PKG-INFO, pyproject.toml, setup.py and what setuptools recorded in an egg-info.
//! [`read_sdist`] judges them: promised (PEP 643, PEP 621), recorded when it was made, recorded with a doubt, or not said.
//! `members` picks the files out of the archive, `judge` weighs them, `setup_py` reads a setup.py without running it.

mod judge;
mod members;
mod python;
mod requires_txt;
mod setup_py;

use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{Metadata, Silence, Undeclared};
use cuda_lock_constraint::name::Name;

use super::wheel::drive;
use super::zip::ArchiveError;
use members::Members;

/// The two kinds of sdist archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdistKind {
    /// `.tar.gz`, `.tgz`
    TarGz,
    /// `.zip`
    Zip,
}

impl SdistKind {
    /// The kind by the end of the file name, `None` for other files.
    #[must_use]
    pub fn of(filename: &str) -> Option<Self> {
        if filename.ends_with(".tar.gz") || filename.ends_with(".tgz") {
            Some(Self::TarGz)
        } else if filename.ends_with(".zip") {
            Some(Self::Zip)
        } else {
            None
        }
    }
}

/// Why an archive cannot be read. The caller knows which file, and names it before these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SdistError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The tar archive cannot be read.
    #[error("it is not a valid .tar.gz archive: {0}")]
    Tar(String),
}

/// Which source distribution is read.
#[derive(Clone, Debug)]
pub struct SdistName {
    /// The project.
    pub project: Name,
    /// The version, as the file name has it.
    pub version: String,
    /// The file name.
    pub filename: String,
    /// The folder in it that holds the project, where it is not the top one.
    pub subdirectory: Option<String>,
}

/// What a `.tar.gz` says, read no further than needed.
///
/// # Errors
/// Why it does not say what it needs; with what it records, if it records anything.
pub fn read_tar(of: &SdistName, sdist: impl Read) -> Result<Metadata, Undeclared> {
    judged(of, Members::of_tar(sdist, of))
}

/// What a source distribution says.
///
/// # Errors
/// As for [`read_tar`].
pub fn read_sdist(
    of: &SdistName,
    kind: SdistKind,
    sdist: impl Read + Seek,
) -> Result<Metadata, Undeclared> {
    match kind {
        SdistKind::TarGz => read_tar(of, sdist),
        SdistKind::Zip => {
            let members = drive(sdist, |file| Members::of_zip(file, of));
            judged(of, members.map_err(SdistError::from))
        }
    }
}

/// What a folder with sources says. An egg-info in it is of some earlier build, and says nothing.
///
/// # Errors
/// As for [`read_tar`].
pub fn read_folder(of: &SdistName, folder: &Path) -> Result<Metadata, Undeclared> {
    judged(of, Ok(Members::of_folder(folder)))
}

fn judged(of: &SdistName, members: Result<Members, SdistError>) -> Result<Metadata, Undeclared> {
    let undeclared = |why, detail, recorded: Option<Metadata>| Undeclared {
        filename: of.filename.clone(),
        why,
        detail,
        recorded: recorded.map(Arc::new),
    };
    let members =
        members.map_err(|error| undeclared(Silence::Unreadable, Some(error.to_string()), None))?;
    let verdict = judge::judge(of.project, &of.version, &members);
    match (verdict.doubt, verdict.metadata) {
        (None, Some(metadata)) => Ok(metadata),
        (doubt, recorded) => {
            Err(undeclared(doubt.unwrap_or(Silence::NothingRecorded), verdict.detail, recorded))
        }
    }
}

#[cfg(test)]
mod tests;
