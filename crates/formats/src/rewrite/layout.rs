//! How requirements stand in a file.

use crate::input::{Entry, Kind, Origin};

/// How the requirements of a place are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One on a line: requirements.txt.
    Lines,
    /// Items of a YAML list, in the syntax of requirements.txt.
    Items,
    /// Strings of a TOML array.
    Array,
    /// Keys of a TOML table.
    Keys,
    /// Words of a command.
    Words,
}

impl Layout {
    pub(super) fn of(kind: Kind, entry: &Entry) -> Self {
        match (kind, entry.origin) {
            (_, Origin::Poetry) => Self::Keys,
            (Kind::Pyproject, _) => Self::Array,
            // A requirements file that a command includes is read as such.
            (Kind::Dockerfile | Kind::Ci | Kind::Shell, _) if entry.span.file > 0 => Self::Lines,
            (Kind::Dockerfile | Kind::Ci | Kind::Shell, _) => Self::Words,
            (Kind::CondaEnvironment, _) if entry.span.file == 0 => Self::Items,
            _ => Self::Lines,
        }
    }
}
