//! Why a command has no report.

use std::io;
use std::path::Path;

use cuda_lock_constraint::catalog::CatalogError;
use cuda_lock_formats::diagnostic::Diagnostics;
use cuda_lock_formats::regular::{self, TEXT_LIMIT};

/// What stopped a command. It is something that a person can change: their files, their flags, their network.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file that people write cannot be used; each problem has its place.
    #[error("{0}")]
    Input(Diagnostics),
    /// A flag or an argument cannot be used.
    #[error("{text}")]
    Argument {
        /// What is wrong, naming the flag.
        text: String,
        /// What to do instead.
        help: Option<String>,
    },
    /// A file cannot be read or written, or a program cannot be started.
    #[error("{text}")]
    System {
        /// What the operating system says, naming the file.
        text: String,
        /// What to do instead.
        help: Option<String>,
    },
    /// An index could not be read.
    #[error(transparent)]
    Index(#[from] CatalogError),
    /// There is an answer, and no file in which it can be written.
    #[error("{0}")]
    Unwritable(String),
    /// There is an answer, and it takes a project from an index that nobody chose.
    #[error("{text}")]
    Strayed {
        /// Which, and from where.
        text: String,
        /// How to say that it is meant.
        help: String,
    },
}

impl Failure {
    /// A flag or an argument that cannot be used.
    #[must_use]
    pub fn argument(text: impl Into<String>) -> Self {
        Self::Argument { text: text.into(), help: None }
    }

    /// Something that the operating system refuses.
    #[must_use]
    pub fn system(why: impl ToString) -> Self {
        Self::System { text: why.to_string(), help: None }
    }

    /// The same with an advice. Those that carry their own are left as they are.
    #[must_use]
    pub fn with_help(mut self, advice: impl Into<String>) -> Self {
        if let Self::Argument { help, .. } | Self::System { help, .. } = &mut self {
            *help = Some(advice.into());
        }
        self
    }

    /// One word for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Argument { .. } => "argument",
            Self::System { .. } => "system",
            Self::Index(_) => "index",
            Self::Unwritable(_) => "unwritable",
            Self::Strayed { .. } => "strayed",
        }
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Input(diagnostics)
    }
}

/// The bytes of a file that a command cannot do without.
///
/// # Errors
/// [`Failure::System`], with the path.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    regular::read(path, TEXT_LIMIT).map_err(Failure::system)
}

/// Like [`read_file`], with `advice` for a file that does not exist.
pub(crate) fn read_named(path: &Path, advice: &str) -> Result<Vec<u8>, Failure> {
    regular::read(path, TEXT_LIMIT).map_err(|error| {
        let missing = error.kind() == io::ErrorKind::NotFound;
        let failure = Failure::system(error);
        if missing { failure.with_help(advice) } else { failure }
    })
}
