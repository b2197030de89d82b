//! Ways for one path of the server to misbehave.

use std::time::Duration;

/// What a path answers instead of the truth.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(crate) kind: Kind,
    /// How many answers are left to spoil; without it, all of them.
    pub(crate) left: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Status(u16),
    Truncate(usize),
    Body(Vec<u8>),
    Delay(Duration),
    Redirect(String),
    Drop,
}

impl Fault {
    fn new(kind: Kind) -> Self {
        Self { kind, left: None }
    }

    /// An answer with this status and no body.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Self::new(Kind::Status(code))
    }

    /// The headers of the right answer, then only the first `bytes` of its body, then the end of the connection.
    #[must_use]
    pub fn truncate(bytes: usize) -> Self {
        Self::new(Kind::Truncate(bytes))
    }

    /// Another body than the index has.
    #[must_use]
    pub fn body(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Kind::Body(bytes.into()))
    }

    /// The right answer, later.
    #[must_use]
    pub fn delay(time: Duration) -> Self {
        Self::new(Kind::Delay(time))
    }

    /// `302 Found` with this location.
    #[must_use]
    pub fn redirect(location: &str) -> Self {
        Self::new(Kind::Redirect(location.to_owned()))
    }

    /// The connection is closed without an answer.
    #[must_use]
    pub fn drop_connection() -> Self {
        Self::new(Kind::Drop)
    }

    /// Only the first `count` answers are spoilt.
    #[must_use]
    pub fn times(mut self, count: usize) -> Self {
        self.left = Some(count);
        self
    }
}
