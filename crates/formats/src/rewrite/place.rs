//! Where in a text a change goes.

use super::TextEdit;
use super::layout::Layout;
use crate::input::{Entry, Span};

/// An entry in the text of its file.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) text: &'a str,
    pub(super) entry: &'a Entry,
    pub(super) layout: Layout,
}

/// The line end that a text uses.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find(['\n', '\r']) {
        Some(at) if text.get(at..at + 2) == Some("\r\n") => "\r\n",
        Some(at) if text.get(at..at + 1) == Some("\r") => "\r",
        _ => "\n",
    }
}

impl<'a> Surroundings<'a> {
    fn edit(&self, start: usize, end: usize, new: impl Into<String>) -> TextEdit {
        TextEdit { span: Span { file: self.entry.span.file, start, end }, new: new.into() }
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Other versions for the entry.
    pub(super) fn versions(&self, now: &str) -> Result<Vec<TextEdit>, String> {
        let entry = self.entry;
        if entry.location.is_some() {
            return Err("the line names a file or a repository, and not a version".to_owned());
        }
        let only = now.strip_prefix("==").filter(|version| !version.contains(','));
        let exact = entry.specifier.starts_with("==") && !entry.specifier.contains(',');
        if let (Some(version), Some(span), true) = (only, entry.version_span, exact) {
            // A wildcard or `===` is part of what is replaced only where the span covers it.
            return Ok(vec![self.edit(span.start, span.end, version)]);
        }
        let mut edits = match entry.specifier_span {
            Some(span) => vec![self.edit(span.start, span.end, now)],
            None => {
                let at = self.after_extras();
                vec![self.edit(at, at, now)]
            }
        };
        let bare = self.layout == Layout::Words && self.quote().is_none();
        if bare && now.contains(['<', '>']) {
            edits.insert(0, self.edit(entry.span.start, entry.span.start, "'"));
            edits.push(self.edit(entry.span.end, entry.span.end, "'"));
        }
        Ok(edits)
    }

    /// Other extras for the entry.
    pub(super) fn extras(&self, now: &str) -> Result<Vec<TextEdit>, String> {
        if self.layout == Layout::Keys {
            return Err(format!("Poetry writes extras in a table; add extras = \"{now}\" by hand"));
        }
        let name = self.entry.name_span.end;
        let mut edits = vec![self.edit(name, self.after_extras(), format!("[{now}]"))];
        if self.layout == Layout::Words && self.quote().is_none() {
            let (start, end) = (self.entry.span.start, self.entry.span.end);
            edits.insert(0, self.edit(start, start, "'"));
            edits.push(self.edit(end, end, "'"));
        }
        Ok(edits)
    }

    /// The end of the name with its extras.
    fn after_extras(&self) -> usize {
        let at = self.entry.name_span.end;
        let rest = self.slice(at, self.entry.span.end);
        let extras = rest.trim_start_matches([' ', '\t']).starts_with('[');
        match rest.find(']').filter(|_| extras) {
            Some(end) => at + end + 1,
            None => at,
        }
    }

    /// The quote around the entry.
    fn quote(&self) -> Option<char> {
        let before = self.slice(0, self.entry.span.start).chars().next_back();
        before.filter(|c| matches!(c, '"' | '\''))
    }

    /// The end of the entry with its closing quote.
    fn end(&self) -> usize {
        let end = self.entry.span.end;
        match self.quote() {
            Some(quote) if self.slice(end, self.text.len()).starts_with(quote) => end + 1,
            _ => end,
        }
    }

    /// New hashes in the place of the old ones.
    pub(super) fn hashes(&self, hashes: &[String]) -> Result<TextEdit, String> {
        let (first, last) = match self.entry.hashes.as_slice() {
            [] => return Err("the line has no hashes".to_owned()),
            [only] => (only, only),
            [first, .., last] => (first, last),
        };
        let between = match self.entry.hashes.get(1) {
            Some(second) => self.slice(first.span.end, second.span.start).to_owned(),
            None => {
                let before = self.slice(self.entry.span.start, first.span.start);
                let flag = before.rfind("--hash").unwrap_or(before.len());
                let content = before.get(..flag).unwrap_or_default();
                let content = content.trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
                before.get(content.len()..).unwrap_or_default().to_owned()
            }
        };
        Ok(self.edit(first.span.start, last.span.end, hashes.join(&between)))
    }

    /// Hashes for an entry that has none.
    pub(super) fn new_hashes(&self, hashes: &[String], lead: &str) -> TextEdit {
        let text: String = hashes.iter().map(|hash| format!("{lead}{hash}")).collect();
        self.edit(self.entry.span.end, self.entry.span.end, text)
    }

    /// The start of the line that holds `at`.
    fn line_start(&self, at: usize) -> usize {
        self.slice(0, at).rfind(['\n', '\r']).map_or(0, |end| end + 1)
    }

    /// The end of the line that holds `at`, its line end included.
    fn line_stop(&self, at: usize) -> usize {
        let rest = self.slice(at, self.text.len());
        match rest.find(['\n', '\r']) {
            Some(end) if rest.get(end..end + 2) == Some("\r\n") => at + end + 2,
            Some(end) => at + end + 1,
            None => self.text.len(),
        }
    }

    /// The end of the lines of the entry: its own, and indented comments below it, which are about it.
    fn block_stop(&self) -> usize {
        let mut stop = self.line_stop(self.entry.span.end);
        if self.layout != Layout::Lines {
            return stop;
        }
        loop {
            let next = self.line_stop(stop);
            let line = self.slice(stop, next);
            if !(line.starts_with([' ', '\t']) && line.trim_start().starts_with('#')) {
                return stop;
            }
            stop = next;
        }
    }

    /// What stands before the entry on its line.
    fn lead(&self) -> &'a str {
        self.slice(self.line_start(self.entry.span.start), self.entry.span.start)
    }

    /// Without the entry.
    pub(super) fn removal(&self) -> TextEdit {
        let (start, end) = (self.entry.span.start, self.end());
        let start = start - usize::from(self.quote().is_some());
        let after = self.slice(end, self.line_stop(end)).trim_start_matches(',').trim_start();
        let lead = self.slice(self.line_start(start), start).trim();
        let alone =
            lead.trim_start_matches('-').is_empty() && (after.is_empty() || after.starts_with('#'));
        match self.layout {
            Layout::Lines | Layout::Keys => {
                self.edit(self.line_start(start), self.block_stop(), "")
            }
            Layout::Items | Layout::Array if alone => {
                self.edit(self.line_start(start), self.line_stop(end), "")
            }
            Layout::Array => {
                let rest = self.slice(end, self.text.len());
                let comma = rest.trim_start().starts_with(',');
                let gap = rest.find(',').map_or(0, |at| at + 1);
                let blanks =
                    rest.get(gap..).map_or(0, |r| r.len() - r.trim_start_matches(' ').len());
                self.edit(start, if comma { end + gap + blanks } else { end }, "")
            }
            _ => {
                let before = self.slice(0, start);
                let gap = before.len() - before.trim_end_matches([' ', '\t']).len();
                self.edit(start - gap, end, "")
            }
        }
    }

    /// Another requirement beside the entry.
    pub(super) fn addition(&self, text: &str) -> Result<TextEdit, String> {
        match self.layout {
            Layout::Lines | Layout::Items => Ok(self.line_after(text)),
            Layout::Words => {
                let quoted = if text.contains(['<', '>', '!', '*', '[', ';']) {
                    format!(" '{text}'")
                } else {
                    format!(" {text}")
                };
                Ok(self.edit(self.end(), self.end(), quoted))
            }
            Layout::Array => {
                let quote = self.quote().ok_or("the list is not written as strings")?;
                let lead = self.lead();
                let indent = lead.get(..lead.len() - quote.len_utf8()).unwrap_or_default();
                let alone = indent.trim().is_empty();
                let gap =
                    if alone { format!("{}{indent}", line_end(self.text)) } else { " ".to_owned() };
                Ok(self.edit(self.end(), self.end(), format!(",{gap}{quote}{text}{quote}")))
            }
            Layout::Keys => {
                let at = text.find(['=', '<', '>', '!', '~']).unwrap_or(text.len());
                let (name, versions) = text.split_at(at);
                let line = format!("{name} = \"{versions}\"");
                let stop = self.block_stop();
                Ok(self.insert_line(stop, "", &line))
            }
        }
    }

    /// An index beside those of the entry. `after` is the end of the last option of its kind in the file.
    pub(super) fn index(&self, url: &str, after: Option<usize>) -> Result<TextEdit, String> {
        let option = format!("--extra-index-url {url}");
        match self.layout {
            Layout::Lines | Layout::Items => {
                let indent = self.indent();
                let at = match after {
                    Some(end) => self.line_stop(end),
                    None => self.line_start(self.entry.span.start),
                };
                Ok(self.insert_line(at, &indent, &option))
            }
            Layout::Words => Ok(self.edit(self.end(), self.end(), format!(" {option}"))),
            Layout::Array | Layout::Keys => {
                Err(format!("a pyproject.toml names no index for pip; install with {option}"))
            }
        }
    }

    fn line_after(&self, text: &str) -> TextEdit {
        self.insert_line(self.block_stop(), &self.indent(), text)
    }

    /// The lead of the entry's line for a line of its own.
    fn indent(&self) -> String {
        match self.layout {
            Layout::Items => self.lead().trim_end_matches(['"', '\'']).to_owned(),
            _ => String::new(),
        }
    }

    fn insert_line(&self, at: usize, indent: &str, text: &str) -> TextEdit {
        let end = line_end(self.text);
        let before = self.slice(0, at);
        let line = if before.is_empty() || before.ends_with(['\n', '\r']) {
            format!("{indent}{text}{end}")
        } else {
            // The last line has no line end, and gets none.
            format!("{end}{indent}{text}")
        };
        self.edit(at, at, line)
    }
}
