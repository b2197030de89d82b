//! What a direct reference (`name @ URL`) names: one build, from a file, a repository or a folder.

use std::sync::Arc;

use pep440_rs::Version;

use super::{File, Metadata, Undeclared};

/// The one build behind a direct reference.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Its version.
    pub version: Version,
    /// What is installed; its address is the reference without its fragment.
    pub file: File,
    /// What it needs, or why that is not known.
    pub metadata: Result<Arc<Metadata>, Arc<Undeclared>>,
    /// What kind of place it is.
    pub place: Place,
}

/// Where a direct reference leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A wheel or a source distribution.
    Archive {
        /// The folder in it that holds the project.
        subdirectory: Option<String>,
    },
    /// A repository at a commit.
    Repository {
        /// Its address, as git takes it; it may hold credentials.
        url: String,
        /// The branch, tag or commit that was asked for.
        requested: Option<String>,
        /// The commit.
        commit: String,
        /// The folder in it that holds the project.
        subdirectory: Option<String>,
    },
    /// A folder of this machine.
    Folder {
        /// Its absolute path.
        path: String,
    },
}
