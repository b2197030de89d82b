//! What is wrong with a file, where, and what to do about it.
//!
//! Every reader of this crate answers with [`Diagnostics`]: all the errors of a file in the order of the file, each
//! with its position. A [`Diagnostic`] prints as one line for tools ([`Diagnostic::one_line`]) or as a snippet with a
//! caret for people ([`Diagnostic::render`]). Credentials in URLs are masked in both.

mod mask;
mod render;
mod source;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cuda_lock_constraint::text::is_obeyed;

pub use mask::mask_credentials;
pub use render::Style;
pub use source::{Position, Source};

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something to know.
    Note,
    /// The file can be used, but probably does not say what was meant.
    Warning,
    /// The file cannot be used.
    Error,
}

impl Severity {
    /// The word that messages start with.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One message about a file.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    severity: Severity,
    message: String,
    source: Arc<Source>,
    span: Option<Range<usize>>,
    label: Option<String>,
    help: Vec<String>,
}

impl Diagnostic {
    /// A message about `source` as a whole. Credentials in the message are masked, control characters escaped.
    #[must_use]
    pub fn new(severity: Severity, source: &Arc<Source>, message: impl AsRef<str>) -> Self {
        Self {
            severity,
            message: clean(message.as_ref()),
            source: Arc::clone(source),
            span: None,
            label: None,
            help: Vec::new(),
        }
    }

    /// An error about `source` as a whole.
    #[must_use]
    pub fn error(source: &Arc<Source>, message: impl AsRef<str>) -> Self {
        Self::new(Severity::Error, source, message)
    }

    /// Points at the bytes `span` of the text. A span outside the text is moved to its end.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(self.source.clamp(span));
        self
    }

    /// Words beside the caret.
    #[must_use]
    pub fn label(mut self, text: impl AsRef<str>) -> Self {
        self.label = Some(clean(text.as_ref()));
        self
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub fn help(mut self, text: impl AsRef<str>) -> Self {
        self.help.push(clean(text.as_ref()));
        self
    }

    /// How serious it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// What is wrong, without position and help.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do, line by line.
    #[must_use]
    pub fn helps(&self) -> &[String] {
        &self.help
    }

    /// The file's name as it was given.
    #[must_use]
    pub fn file(&self) -> &str {
        self.source.name()
    }

    /// The bytes of the text that are meant.
    #[must_use]
    pub fn span(&self) -> Option<Range<usize>> {
        self.span.clone()
    }

    /// Line and column where it starts.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.span.as_ref().map(|span| self.source.position(span.start))
    }

    /// `file:line:column: error: message`, the form that editors and CI systems read.
    #[must_use]
    pub fn one_line(&self) -> String {
        let (file, severity, message) = (self.file(), self.severity, &self.message);
        match self.position() {
            Some(Position { line, column }) => {
                format!("{file}:{line}:{column}: {severity}: {message}")
            }
            None => format!("{file}: {severity}: {message}"),
        }
    }

    /// The message with the line of the file, a caret, and the help.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        render::render(self, style)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.one_line())
    }
}

impl std::error::Error for Diagnostic {}

/// All that is wrong with a file, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Orders `list` by position.
    #[must_use]
    pub fn new(mut list: Vec<Diagnostic>) -> Self {
        list.sort_by_key(|d| d.span.as_ref().map_or((0, 0), |span| (span.start, span.end)));
        Self(list)
    }

    /// The messages, first to last.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them rendered, with an empty line between two.
    #[must_use]
    pub fn render(&self, style: Style) -> String {
        self.0.iter().map(|d| d.render(style)).collect::<Vec<_>>().join("\n\n")
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Masks credentials, and escapes what a terminal would obey: text of a stranger's file is quoted in messages.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in mask_credentials(text).chars() {
        if is_obeyed(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests;
