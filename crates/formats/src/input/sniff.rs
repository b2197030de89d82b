//! What kind of file it is.

/// A kind of file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// requirements.txt, constraints.txt, `pip freeze`.
    Requirements,
}

/// Tells the kind of a file by its content; its name decides only between kinds that look the same.
#[must_use]
pub fn sniff(_bytes: &[u8], _name: &str) -> Kind {
    Kind::Requirements
}
