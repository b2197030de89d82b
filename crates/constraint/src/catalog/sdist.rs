//! What a source distribution says of itself, and how far that can be relied on.
//!
//! The requirements of a wheel stand in its METADATA. Those of a source distribution are, in general, known only after
//! building it; but most say them somewhere. [`Grade`] says where they were found, [`Silence`] why what was found is not
//! enough. Of 141 source distributions that were built and compared, what an older PKG-INFO, a `requires.txt` or an
//! egg-info without one record was right wherever setup.py is plain; it was wrong where setup.py decides while it runs,
//! and where nothing is recorded.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Metadata;

/// Metadata that does not come from a wheel of the release for this target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromSdist {
    /// How it is known.
    pub grade: Grade,
    /// The requirements of its extras are known only after building it.
    pub extras_open: bool,
    /// What building it needs, as far as its files show.
    pub needs: BTreeSet<BuildNeed>,
}

/// How the metadata of a source distribution is known, the surest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Grade {
    /// Promised: PKG-INFO of version 2.2 or later (PEP 643), or `[project]` of its pyproject.toml (PEP 621).
    Promised,
    /// METADATA of this wheel of the same release, which is for another target.
    Sibling(Arc<str>),
    /// `[metadata.NAME]` of env.toml.
    Stated,
    /// Recorded when the source distribution was made, by a setup.py that decides nothing while it runs.
    Recorded,
    /// Recorded, with a reason for doubt, and trusted because env.toml says so.
    Trusted(Silence),
    /// Its metadata was built here.
    Built,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Promised => f.write_str("promised by the source distribution"),
            Self::Sibling(wheel) => write!(f, "as {wheel} of the same release says"),
            Self::Stated => f.write_str("stated in [metadata] of env.toml"),
            Self::Recorded => f.write_str("recorded when it was made, not promised"),
            Self::Trusted(why) => {
                write!(f, "recorded when it was made and trusted by env.toml, though {why}")
            }
            Self::Built => f.write_str("built here"),
        }
    }
}

/// Why a source distribution does not say what it needs, in words that follow "though".
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    thiserror::Error,
)]
pub enum Silence {
    /// No requirements stand anywhere in it: that is no statement that it has none.
    #[error("nothing in it says what it needs")]
    NothingRecorded,
    /// setup.py decides while it runs.
    #[error("its setup.py decides what it needs while it runs")]
    Computed,
    /// PKG-INFO says that a build may find other requirements.
    #[error("its PKG-INFO says that a build may find other requirements")]
    Dynamic,
    /// What it records depends on the CUDA of the machine that it was made on.
    #[error("what it records is for the CUDA of the machine that it was made on")]
    CudaOfMaker,
    /// setup.py ends with an error, unless it is called in a way that no installer does.
    #[error("it is a placeholder whose setup.py ends with an error")]
    Placeholder,
    /// setup.py installs other packages while it is installed, which nothing records.
    #[error("its setup.py installs other packages by itself")]
    Installs,
    /// Its build fetches a wheel from the vendor's own index.
    #[error("it is a stub that fetches a wheel from its vendor's own index")]
    Stub,
    /// The requirements of the extras that are asked for depend on the build.
    #[error("the requirements of its extras are known only after building it")]
    Extras,
    /// Its build failed.
    #[error("its build failed")]
    Unbuilt,
    /// An archive that is not read: too large, of another kind, or damaged.
    #[error("its archive cannot be read")]
    Unreadable,
}

impl Silence {
    /// Whether `trust-recorded` can allow it.
    #[must_use]
    pub fn can_be_trusted(self) -> bool {
        matches!(self, Self::Computed | Self::Dynamic | Self::CudaOfMaker)
    }

    /// Whether a build of the metadata would tell.
    #[must_use]
    pub fn can_be_built(self) -> bool {
        !matches!(self, Self::Installs | Self::Unbuilt | Self::Unreadable)
    }
}

/// A file that does not say what it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undeclared {
    /// The file.
    pub filename: String,
    /// Why not.
    pub why: Silence,
    /// More about it: what is wrong with an archive, what a build printed.
    pub detail: Option<String>,
    /// What it records all the same.
    pub recorded: Option<Arc<Metadata>>,
}

impl Undeclared {
    /// What it records, as metadata that env.toml trusts; `None` when it records nothing that could be.
    #[must_use]
    pub fn trusted(&self) -> Option<Metadata> {
        let recorded = self.recorded.as_deref().filter(|_| self.why.can_be_trusted())?;
        let mut metadata = recorded.clone();
        if let Some(source) = &mut metadata.source {
            source.grade = Grade::Trusted(self.why);
        }
        Some(metadata)
    }
}

impl fmt::Display for Undeclared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not say what it needs: {}", self.filename, self.why)?;
        match &self.detail {
            Some(detail) => write!(f, " ({detail})"),
            None => Ok(()),
        }
    }
}

/// What building a source distribution needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildNeed {
    /// A compiler for C and C++, and the headers of Python.
    Compiler,
    /// NVIDIA's compiler, of the CUDA that torch is built for.
    Nvcc,
    /// torch, installed before, in the same environment.
    Torch,
    /// A compiler for Rust.
    Rust,
}
