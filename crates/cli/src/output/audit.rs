//! What an audit prints, in five forms.

pub mod github;
pub mod json;
pub mod markdown;
pub mod sarif;
pub mod text;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

use cuda_lock_constraint::audit::{Code, FactText, Severity};
use cuda_lock_constraint::name::Name;
use serde::Serialize;

/// A finding with its place.
#[derive(Clone, Debug)]
pub struct Reported {
    /// Its code.
    pub code: Code,
    /// How much it counts, settings applied.
    pub severity: Severity,
    /// The distribution.
    pub package: Option<Name>,
    /// Others that have the same fault, because they come along with it.
    pub sharing: Vec<Name>,
    /// What is wrong.
    pub message: String,
    /// The file: a place in [`Report::sources`], and in the files of that input.
    pub source: (usize, usize),
    /// The bytes that are meant.
    pub span: Option<Range<usize>>,
    /// Line and column, from 1.
    pub position: Option<(usize, usize)>,
    /// The facts that collide.
    pub facts: Vec<FactText>,
    /// The message that people meet otherwise.
    pub symptom: Option<String>,
    /// What to do.
    pub fix: Option<Fix>,
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// In words.
    pub text: String,
    /// The edits of files. Findings that are mended together have the same ones.
    pub edits: Vec<PlacedEdit>,
    /// What to run, where a program writes the file.
    pub command: Option<String>,
    /// What a program then has to do before it finds its libraries.
    pub steps: Vec<String>,
    /// Whether it was solved for, and judged without an error.
    pub verified: bool,
}

impl Fix {
    /// Advice that was not tried.
    #[must_use]
    pub fn advice(text: String) -> Self {
        Self { text, edits: Vec::new(), command: None, steps: Vec::new(), verified: false }
    }
}

/// A change to the text of a file. Lines and columns count from 1, columns in characters; the end is the place after the
/// last character.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PlacedEdit {
    /// The file.
    pub file: String,
    /// Where the old text starts.
    pub line: usize,
    /// Where the old text starts.
    pub column: usize,
    /// Where the old text ends.
    pub end_line: usize,
    /// Where the old text ends.
    pub end_column: usize,
    /// What is replaced; empty to insert.
    pub old: String,
    /// By what.
    pub new: String,
    /// The same for people, with what stands around it.
    #[serde(skip)]
    pub words: String,
}

/// A build that was judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Checked {
    /// The file that asks for it.
    pub file: String,
    /// The environment of that file; empty when it has only one.
    pub environment: String,
    /// The distribution.
    pub package: Name,
    /// Its version.
    pub version: String,
    /// Where it comes from.
    pub index: Option<String>,
}

/// Everything that is printed.
#[derive(Debug, Default)]
pub struct Report {
    /// What was given of the machine.
    pub machine: Vec<(&'static str, String)>,
    /// For each input its files: name and text.
    pub sources: Vec<Vec<(String, Arc<str>)>>,
    /// The findings.
    pub findings: Vec<Reported>,
    /// What was judged.
    pub checked: BTreeSet<Checked>,
    /// What was not, and why.
    pub unchecked: BTreeSet<String>,
    /// The files that a fix changed, or would change.
    pub changes: Vec<String>,
    /// What a program has to do before it finds the libraries that are installed.
    pub steps: BTreeSet<String>,
    /// What is to be said about the search for fixes.
    pub remarks: BTreeSet<String>,
}

impl Report {
    /// The file of a finding: its name and text.
    #[must_use]
    pub fn file(&self, finding: &Reported) -> (&str, &str) {
        let (input, file) = finding.source;
        let found = self.sources.get(input).and_then(|files| files.get(file));
        found.map_or(("", ""), |(name, text)| (name, text))
    }

    /// Orders findings by file and line, the serious ones of a line first, and drops repetitions.
    pub fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            let key = |f: &Reported| {
                (f.source, f.position.unwrap_or_default(), std::cmp::Reverse(f.severity))
            };
            key(a).cmp(&key(b)).then_with(|| (&a.code, &a.message).cmp(&(&b.code, &b.message)))
        });
        self.findings.dedup_by(|a, b| {
            a.code == b.code && a.message == b.message && a.position == b.position
        });
    }

    /// How many findings have a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Writes a line to standard output. A closed pipe is nobody's concern here.
pub fn line(text: impl std::fmt::Display) {
    let _ = writeln!(crate::output::stdout(), "{text}");
}
