//! TOML with the way back to the file. What cannot be parsed is reported and the rest is read.

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::build::Builder;
use super::model::{Level, ProblemCode, Span};
use super::text::Mapped;

/// A value with its place.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// A parsed file.
pub(super) struct Doc<'i> {
    text: &'i str,
    file: usize,
    root: Value<'i>,
}

impl<'i> Doc<'i> {
    /// Parses `text`, the text of `file`, and reports its errors.
    pub fn parse(builder: &mut Builder<'_>, text: &'i str, file: usize) -> Self {
        let (root, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let at = error.span().unwrap_or(0..0);
            let span = Span { file, start: at.start.min(text.len()), end: at.end.min(text.len()) };
            builder.problem(
                span,
                ProblemCode::Syntax,
                Level::Error,
                error.message().to_owned(),
                None,
            );
        }
        let span = root.span();
        Self { text, file, root: Spanned::new(span, DeValue::Table(root.into_inner())) }
    }

    /// The table of the whole file.
    pub fn root(&self) -> &Value<'i> {
        &self.root
    }

    /// Where a value stands.
    pub fn span(&self, value: &Value<'_>) -> Span {
        self.range(value.span())
    }

    fn range(&self, at: std::ops::Range<usize>) -> Span {
        Span { file: self.file, start: at.start, end: at.end }
    }

    /// A string with its place, without the quotes where the text between them is the string.
    pub fn string(&self, value: &Value<'_>) -> Option<Mapped> {
        let text = value.get_ref().as_str()?;
        Some(self.mapped(text, value.span()))
    }

    fn mapped(&self, text: &str, at: std::ops::Range<usize>) -> Mapped {
        let raw = self.text.get(at.clone()).unwrap_or_default();
        for quote in ["\"\"\"", "'''", "\"", "'", ""] {
            let inner = raw.strip_prefix(quote).and_then(|r| r.strip_suffix(quote));
            if inner == Some(text) {
                return Mapped::copied(text, self.file, at.start + quote.len());
            }
        }
        Mapped::replaced(text, self.range(at))
    }

    /// The keys of a table with their places and values, in the order of the file.
    pub fn entries<'v>(&self, value: &'v Value<'i>) -> Vec<(Mapped, &'v Value<'i>)> {
        let Some(table) = value.get_ref().as_table() else { return Vec::new() };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| (self.mapped(key.get_ref(), key.span()), value))
            .collect()
    }
}

/// The value at a path of keys.
pub(super) fn get<'v, 'i>(value: &'v Value<'i>, path: &[&str]) -> Option<&'v Value<'i>> {
    path.iter().try_fold(value, |value, key| value.get_ref().as_table()?.get(*key))
}

/// The string at a path of keys.
pub(super) fn get_str<'v>(value: &'v Value<'_>, path: &[&str]) -> Option<&'v str> {
    get(value, path)?.get_ref().as_str()
}

/// Whether there is `true` at a path of keys.
pub(super) fn is_true(value: &Value<'_>, path: &[&str]) -> bool {
    get(value, path).and_then(|v| v.get_ref().as_bool()).unwrap_or(false)
}

/// The items of the array at a path of keys; one value that is no array counts as one item.
pub(super) fn items<'v, 'i>(value: &'v Value<'i>, path: &[&str]) -> Vec<&'v Value<'i>> {
    match get(value, path) {
        None => Vec::new(),
        Some(found) => match found.get_ref().as_array() {
            Some(array) => array.iter().collect(),
            None => vec![found],
        },
    }
}
