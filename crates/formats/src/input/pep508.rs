//! One requirement as pip reads it (PEP 508), with the place of each part and of the first error.
//!
//! The grammar is that of the `packaging` library that pip uses, which is narrower than PEP 440 in places people run
//! into (`>=2.1+cu118`, `>=1.9.*`) and wider in others (a comma at the end). Offsets are bytes of the requirement.

use std::ops::Range;

use super::marker;

/// The parts of a requirement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    pub name: Range<usize>,
    pub extras: Vec<Range<usize>>,
    pub specifiers: Vec<Clause>,
    /// What follows `@`.
    pub url: Option<Range<usize>>,
    /// What follows `;`.
    pub marker: Option<Range<usize>>,
}

/// One clause of a version specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    pub operator: Range<usize>,
    pub version: Range<usize>,
}

/// Why a text is not a requirement, or not a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub at: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

impl SyntaxError {
    pub fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), help: None }
    }

    /// The same error in a text in which this one starts at `offset`.
    pub fn shifted(mut self, offset: usize) -> Self {
        self.at = self.at.start + offset..self.at.end + offset;
        self
    }
}

/// Parses a requirement.
pub(super) fn parse(text: &str) -> Result<Parsed, SyntaxError> {
    let mut cursor = Cursor { text, at: 0 };
    let parsed = cursor.requirement().map_err(|error| explain(text, error))?;
    if let Some(marker) = &parsed.marker {
        let source = text.get(marker.clone()).unwrap_or_default();
        marker::parse(source).map_err(|error| error.shifted(marker.start))?;
    }
    Ok(parsed)
}

pub(super) struct Cursor<'a> {
    pub text: &'a str,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Blanks and tabs: no other white space is allowed between tokens.
    pub fn blanks(&mut self) -> bool {
        let before = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.at > before
    }

    /// The range of the character at the cursor; empty at the end.
    pub fn here(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    fn requirement(&mut self) -> Result<Parsed, SyntaxError> {
        let mut parsed = Parsed::default();
        self.blanks();
        parsed.name = self.identifier().ok_or_else(|| {
            SyntaxError::new(self.here(), "expected a package name at the start of the requirement")
        })?;
        self.blanks();
        if self.take(b'[') {
            parsed.extras = self.extras()?;
        }
        self.blanks();
        if self.take(b'@') {
            self.blanks();
            let start = self.at;
            while !self.at_end() && !matches!(self.peek(), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            if self.at == start {
                return Err(SyntaxError::new(self.here(), "expected a URL after '@'"));
            }
            parsed.url = Some(start..self.at);
            self.blanks();
            self.marker(
                &mut parsed,
                "expected a semicolon (after the URL and white space) or the end",
            )?;
        } else {
            let open = self.at;
            let parenthesised = self.take(b'(');
            self.blanks();
            self.specifiers(&mut parsed.specifiers)?;
            self.blanks();
            if parenthesised && !self.take(b')') {
                return Err(SyntaxError::new(open..self.here().end, "expected ')' to match '('"));
            }
            self.blanks();
            let expected = if parsed.specifiers.is_empty() {
                "expected a semicolon (after a name without a version specifier) or the end"
            } else {
                "expected a comma (within the version specifier), a semicolon (after it) or the end"
            };
            self.marker(&mut parsed, expected)?;
        }
        Ok(parsed)
    }

    fn marker(&mut self, parsed: &mut Parsed, expected: &str) -> Result<(), SyntaxError> {
        if self.at_end() {
            return Ok(());
        }
        if !self.take(b';') {
            return Err(SyntaxError::new(self.here(), expected));
        }
        parsed.marker = Some(self.at..self.text.len());
        self.at = self.text.len();
        Ok(())
    }

    /// A name: letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
    fn identifier(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if !self.peek().is_some_and(|b| b.is_ascii_alphanumeric()) {
            return None;
        }
        let bytes = self.text.as_bytes();
        let mut end = start;
        let mut last = start;
        while let Some(b) = bytes.get(end) {
            match b {
                b if b.is_ascii_alphanumeric() => last = end + 1,
                b'-' | b'_' | b'.' => {}
                _ => break,
            }
            end += 1;
        }
        self.at = last;
        Some(start..last)
    }

    fn extras(&mut self) -> Result<Vec<Range<usize>>, SyntaxError> {
        let mut extras = Vec::new();
        self.blanks();
        if let Some(first) = self.identifier() {
            extras.push(first);
            loop {
                self.blanks();
                if !self.take(b',') {
                    break;
                }
                self.blanks();
                extras.push(self.identifier().ok_or_else(|| {
                    SyntaxError::new(self.here(), "expected the name of an extra after the comma")
                })?);
            }
            if self.peek().is_some_and(|b| b.is_ascii_alphanumeric()) {
                return Err(SyntaxError::new(
                    self.here(),
                    "expected a comma between the names of extras",
                ));
            }
        }
        self.blanks();
        if !self.take(b']') {
            return Err(SyntaxError::new(self.here(), "expected ']' after the names of extras"));
        }
        Ok(extras)
    }

    fn specifiers(&mut self, clauses: &mut Vec<Clause>) -> Result<(), SyntaxError> {
        while let Some(clause) = self.clause() {
            let start = clause.operator.start;
            let operator = self.text.get(clause.operator.clone()).unwrap_or_default();
            let with_label = matches!(operator, "==" | "!=");
            clauses.push(clause);
            if self.rest().starts_with(".*") {
                let message = if with_label {
                    "'.*' cannot follow a pre-release, post-release, development or local version"
                } else {
                    "'.*' can only be used with '==' or '!='"
                };
                return Err(SyntaxError::new(start..self.at + 2, message));
            }
            let label = local_label(self.rest().as_bytes());
            if label > 0 {
                let end = self.at + label;
                return Err(SyntaxError::new(
                    start..end,
                    "a local version label can only be used with '==' or '!='",
                ));
            }
            self.blanks();
            if !self.take(b',') {
                break;
            }
            self.blanks();
        }
        Ok(())
    }

    /// One clause; the longest text that is one, as a regular expression would match it.
    fn clause(&mut self) -> Option<Clause> {
        let operator = operator(self.rest())?;
        let start = self.at;
        let operator_end = start + operator.len();
        let rest = self.text.get(operator_end..)?;
        let blanks = rest.len() - rest.trim_start_matches(super::text::is_space).len();
        let version = rest.get(blanks..)?;
        let length = if operator == "===" {
            version
                .find(|c: char| super::text::is_space(c) || matches!(c, ';' | ')'))
                .unwrap_or(version.len())
        } else {
            version_length(version.as_bytes(), operator)?
        };
        let version_start = operator_end + blanks;
        self.at = version_start + length;
        Some(Clause { operator: start..operator_end, version: version_start..self.at })
    }
}

fn operator(text: &str) -> Option<&'static str> {
    ["===", "==", "~=", "!=", "<=", ">=", "<", ">"].into_iter().find(|o| text.starts_with(o))
}

/// How many bytes at the start of `text` are a version that `operator` may compare with.
fn version_length(text: &[u8], operator: &str) -> Option<usize> {
    let mut at = usize::from(matches!(text.first(), Some(b'v' | b'V')));
    let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let epoch = digits(at);
    if epoch > 0 && text.get(at + epoch) == Some(&b'!') {
        at += epoch + 1;
    }
    let first = digits(at);
    if first == 0 {
        return None;
    }
    at += first;
    let mut components = 1;
    while text.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
        components += 1;
    }
    if operator == "~=" && components < 2 {
        return None;
    }
    let exact = matches!(operator, "==" | "!=");
    if exact && text.get(at..).is_some_and(|rest| rest.starts_with(b".*")) {
        return Some(at + 2);
    }
    let after = |at: usize| text.get(at..).unwrap_or_default();
    at += labelled(after(at), &["alpha", "beta", "preview", "pre", "a", "b", "c", "rc"]);
    let implicit = if text.get(at) == Some(&b'-') { digits(at + 1) } else { 0 };
    at += if implicit > 0 { 1 + implicit } else { labelled(after(at), &["post", "rev", "r"]) };
    at += labelled(after(at), &["dev"]);
    if exact {
        at += local_label(after(at));
    }
    Some(at)
}

/// The length of `[-_.]? LABEL [-_.]? DIGITS?` at the start of `text`, or 0.
fn labelled(text: &[u8], labels: &[&str]) -> usize {
    let is_separator = |b: Option<&u8>| matches!(b, Some(b'-' | b'_' | b'.'));
    let mut at = usize::from(is_separator(text.first()));
    let Some(label) = labels.iter().find(|label| {
        text.get(at..at + label.len()).is_some_and(|t| t.eq_ignore_ascii_case(label.as_bytes()))
    }) else {
        return 0;
    };
    at += label.len();
    let digits = |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    if is_separator(text.get(at)) && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    } else if is_separator(text.get(at))
        && !matches!(text.get(at + 1), Some(b) if b.is_ascii_alphanumeric() || *b == b'*')
    {
        at += 1;
    } else {
        at += digits(at);
    }
    at
}

/// The length of `+LABEL` at the start of `text`, or 0.
fn local_label(text: &[u8]) -> usize {
    if text.first() != Some(&b'+') {
        return 0;
    }
    let word =
        |from: usize| text.iter().skip(from).take_while(|b| b.is_ascii_alphanumeric()).count();
    let mut at = 1 + word(1);
    if at == 1 {
        return 0;
    }
    while matches!(text.get(at), Some(b'-' | b'_' | b'.')) && word(at + 1) > 0 {
        at += 1 + word(at + 1);
    }
    at
}

/// Adds what most likely was meant.
fn explain(text: &str, mut error: SyntaxError) -> SyntaxError {
    let found = text.get(error.at.start..).unwrap_or_default();
    let first = found.chars().next();
    let lower = text.trim_start().to_ascii_lowercase();
    let is_command = ["pip ", "pip3 ", "python ", "python3 ", "conda ", "mamba ", "uv "]
        .iter()
        .any(|command| lower.starts_with(command));
    error.help = if is_command {
        Some("this is a command, not a requirement: write one requirement per line, and options such as --extra-index-url on lines of their own".to_owned())
    } else if error.message.starts_with("a local version label") {
        let clause = text.get(error.at.clone()).unwrap_or_default();
        let version = clause.trim_start_matches(['<', '>', '=', '~', '!', ' ']);
        let public = clause.split('+').next().unwrap_or_default();
        Some(format!(
            "write '=={version}' to pin the build, or '{public}' and name the index that has it"
        ))
    } else if error.message.starts_with("'.*' can only") {
        let clause = text.get(error.at.clone()).unwrap_or_default();
        clause.strip_suffix(".*").map(|plain| format!("write '{}'", plain.trim_end()))
    } else {
        match first {
            Some('=') if !found.starts_with("==") => {
                Some("'=' is the syntax of conda; pip wants '=='".to_owned())
            }
            Some(
                c @ ('\u{ff1d}' | '\u{ff1e}' | '\u{ff1c}' | '\u{ff5e}' | '\u{ff1b}' | '\u{ff0c}'),
            ) => Some(format!(
                "U+{:04X} is a full-width character; type it with an English keyboard layout",
                u32::from(c)
            )),
            Some(c) if !c.is_ascii() && super::text::is_space(c) => Some(format!(
                "U+{:04X} is white space that pip does not accept here; replace it by a blank",
                u32::from(c)
            )),
            Some('\u{2013}' | '\u{2014}' | '\u{2212}') => {
                Some("this is a dash, not the character '-'".to_owned())
            }
            Some('#') => Some("a comment starts with ' #': put white space before '#'".to_owned()),
            Some(c) if c.is_ascii_alphabetic() => Some("write one requirement per line".to_owned()),
            _ => None,
        }
    };
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let error = parse(text).expect_err(text);
        format!("{}..{}: {}", error.at.start, error.at.end, error.message)
    }

    #[test]
    fn parts_are_found_with_their_places() {
        let text = "onnxruntime-gpu [ cuda , cudnn ] >= 1.22 , < 1.27 ; python_version >= \"3.10\"";
        let parsed = parse(text).expect("valid");
        assert_eq!(&text[parsed.name], "onnxruntime-gpu");
        assert_eq!(
            parsed.extras.iter().map(|e| &text[e.clone()]).collect::<Vec<_>>(),
            ["cuda", "cudnn"]
        );
        let versions: Vec<&str> =
            parsed.specifiers.iter().map(|c| &text[c.version.clone()]).collect();
        assert_eq!(versions, ["1.22", "1.27"]);
        assert_eq!(&text[parsed.marker.expect("a marker")], " python_version >= \"3.10\"");
        for text in [
            "torch",
            "torch (>=2.3,<2.7)",
            "a==1.*",
            "a===what ever".split(' ').next().expect("a"),
            "a==1,",
            "a==2.3.1-1",
            "a==1!2.0.post3.dev4+cu118.x",
            "a~=1.26",
            "a==v1.0rc1",
            "a==1.0-alpha_2",
            "a @ git+https://host.example/x@v1 ; os_name == 'nt'",
            "a[]",
        ] {
            assert!(parse(text).is_ok(), "{text}: {:?}", parse(text));
        }
    }

    #[test]
    fn errors_point_at_the_character() {
        assert_eq!(
            error("torch>=2.1.0+cu118"),
            "5..18: a local version label can only be used with '==' or '!='"
        );
        assert_eq!(error("torch>=1.9.*"), "5..12: '.*' can only be used with '==' or '!='");
        assert_eq!(
            error("torch==2.3.1 torchvision==0.18.1"),
            "13..14: expected a comma (within the version specifier), a semicolon (after it) or the end"
        );
        assert_eq!(
            error("torch=2.3.1"),
            "5..6: expected a semicolon (after a name without a version specifier) or the end"
        );
        assert_eq!(
            error("torch\u{ff1d}2"),
            "5..8: expected a semicolon (after a name without a version specifier) or the end"
        );
        assert_eq!(
            error("a~=2"),
            "1..2: expected a semicolon (after a name without a version specifier) or the end"
        );
        assert_eq!(error("_x==1"), "0..1: expected a package name at the start of the requirement");
        assert_eq!(error("a[b c]"), "4..5: expected a comma between the names of extras");
        assert_eq!(
            error("a; os_name = 'x'"),
            "11..12: expected a comparison: <=, <, !=, ==, >=, >, ~=, ===, 'in' or 'not in'"
        );
    }
}
