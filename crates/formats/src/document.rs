//! Reading TOML with positions: the parsed file, the report of what is wrong with it, and access to its values.

use std::ops::Range;
use std::sync::Arc;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Source};

/// What was found wrong so far.
pub(crate) struct Report {
    source: Arc<Source>,
    list: Vec<Diagnostic>,
}

/// A diagnostic that was just reported, to be given more words.
pub(crate) struct Reported<'a>(&'a mut Vec<Diagnostic>);

impl Reported<'_> {
    /// Nothing more to say.
    pub(crate) fn done(self) {}

    pub(crate) fn help(self, text: impl AsRef<str>) -> Self {
        if let Some(last) = self.0.pop() {
            self.0.push(last.help(text));
        }
        self
    }
}

impl Report {
    pub(crate) fn new(source: &Arc<Source>) -> Self {
        Self { source: Arc::clone(source), list: Vec::new() }
    }

    pub(crate) fn error(&mut self, span: Range<usize>, message: impl AsRef<str>) -> Reported<'_> {
        let diagnostic = Diagnostic::new(Severity::Error, &self.source, message).at(span);
        self.list.push(diagnostic);
        Reported(&mut self.list)
    }

    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The text of the file at `span`.
    pub(crate) fn text(&self, span: Range<usize>) -> &str {
        self.source.text().get(span).unwrap_or_default()
    }

    /// `value` when nothing was wrong.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Diagnostics> {
        match value {
            Some(value) if self.list.is_empty() => Ok(value),
            _ => Err(Diagnostics::new(self.list)),
        }
    }

    /// Where the bytes `inner` of a string value stand in the file. A string with escapes is meant as a whole.
    pub(crate) fn inside(&self, value: &Spanned<&str>, inner: Range<usize>) -> Range<usize> {
        let span = value.span();
        let raw = self.text(span.clone());
        match raw.find(*value.get_ref()) {
            Some(at) if !value.get_ref().is_empty() => {
                let start = span.start + at;
                let length = value.get_ref().len();
                start + inner.start.min(length)..start + inner.end.min(length)
            }
            _ => span,
        }
    }
}

/// Parses TOML. Syntax errors are reported, all of them.
pub(crate) fn parse<'s>(source: &'s Source, report: &mut Report) -> DeTable<'s> {
    let (table, errors) = DeTable::parse_recoverable(source.text());
    for error in errors {
        let message = error.message().trim();
        let message = message.lines().collect::<Vec<_>>().join(": ");
        let end = source.text().len();
        report.error(error.span().unwrap_or(end..end), format!("invalid TOML: {message}"));
    }
    table.into_inner()
}

/// A string at `key`.
pub(crate) fn text<'t>(table: &'t DeTable<'_>, key: &str) -> Option<Spanned<&'t str>> {
    table.get(key).and_then(as_text)
}

/// A value that is a string.
pub(crate) fn as_text<'t>(value: &'t Spanned<DeValue<'_>>) -> Option<Spanned<&'t str>> {
    value.get_ref().as_str().map(|text| Spanned::new(value.span(), text))
}

/// The strings of a list at `key`, or the one string there.
pub(crate) fn texts<'t>(table: &'t DeTable<'_>, key: &str) -> Option<Vec<Spanned<&'t str>>> {
    let value = table.get(key)?;
    match value.get_ref() {
        DeValue::Array(items) => Some(items.iter().filter_map(as_text).collect()),
        DeValue::String(_) => as_text(value).map(|text| vec![text]),
        _ => None,
    }
}

/// A table at `key`.
pub(crate) fn table<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    table.get(key)?.get_ref().as_table()
}

/// The tables of a list at `key`, each with its position.
pub(crate) fn tables<'t, 'i>(
    table: &'t DeTable<'i>,
    key: &str,
) -> impl Iterator<Item = (Range<usize>, &'t DeTable<'i>)> {
    let items = table.get(key).and_then(|value| value.get_ref().as_array());
    items
        .into_iter()
        .flat_map(|items| items.iter())
        .filter_map(|item| item.get_ref().as_table().map(|table| (item.span(), table)))
}

/// An integer that fits.
pub(crate) fn integer(value: &Spanned<DeValue<'_>>) -> Option<i64> {
    let number = value.get_ref().as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A value of its own, with the same position.
pub(crate) fn owned(value: &Spanned<&str>) -> Spanned<String> {
    Spanned::new(value.span(), (*value.get_ref()).to_owned())
}
