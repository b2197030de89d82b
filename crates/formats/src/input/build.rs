//! What all readers share: the result under construction, and requirements wherever they stand.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::{Marker, Mode, Parts};
use cuda_lock_constraint::secret::redact;

use super::decode::decode_as_pip;
use super::link::{self, Link};
use super::loader::FileLoader;
use super::model::{
    Entry, Environment, Hash, IndexOptions, Input, Level, Location, Origin, Problem, ProblemCode,
    SourceFile, Span,
};
use super::sniff::Kind;
use super::syntax_error::SyntaxError;
use super::text::{LineEnds, Mapped, line_starts};
use super::variables::Allowance;

/// An input under construction.
pub(super) struct Builder<'a> {
    pub input: Input,
    pub loader: &'a dyn FileLoader,
    /// The index options that the next entry gets.
    pub indexes: usize,
    /// The environment that the next entry gets.
    pub environment: usize,
    /// Files by resolved path.
    pub opened: BTreeMap<String, usize>,
    /// Files that were read, with whether as constraints.
    pub read: BTreeSet<(String, bool)>,
    /// Files that are being read, outermost first.
    pub stack: Vec<String>,
    /// How much text variables may still be replaced by.
    pub allowance: Allowance,
}

impl<'a> Builder<'a> {
    pub fn new(kind: Kind, loader: &'a dyn FileLoader) -> Self {
        Self {
            input: Input {
                kind,
                files: Vec::new(),
                entries: Vec::new(),
                constraints: Vec::new(),
                overrides: Vec::new(),
                indexes: vec![IndexOptions::default()],
                environments: vec![Environment::default()],
                includes: Vec::new(),
                python: None,
                group_includes: BTreeMap::new(),
                conflicts: Vec::new(),
                libraries: Vec::new(),
                damaged: Vec::new(),
                problems: Vec::new(),
            },
            loader,
            indexes: 0,
            environment: 0,
            opened: BTreeMap::new(),
            read: BTreeSet::new(),
            stack: Vec::new(),
            allowance: Allowance::default(),
        }
    }

    /// Decodes a file and gives its place.
    pub fn add_file(&mut self, name: &str, bytes: &[u8], ends: LineEnds) -> usize {
        let (text, encoding, problem) = decode_as_pip(bytes, None);
        let file = self.input.files.len();
        self.input.files.push(SourceFile {
            name: name.to_owned(),
            line_starts: line_starts(&text, ends),
            text: text.into(),
            encoding,
        });
        self.opened.insert(name.to_owned(), file);
        if let Some(problem) = problem {
            let at = Span { file, start: problem.at, end: problem.at };
            self.problem(
                at,
                ProblemCode::Encoding,
                Level::Error,
                problem.message,
                Some(problem.help),
            );
        }
        file
    }

    /// The text of a file.
    pub fn text(&self, file: usize) -> std::sync::Arc<str> {
        self.input.files.get(file).map_or_else(|| "".into(), |f| f.text.clone())
    }

    pub fn problem(
        &mut self,
        span: Span,
        code: ProblemCode,
        level: Level,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        // Messages quote the file, and indexes may have credentials in their address.
        let message = redact(&message.into());
        let help = help.map(|help| redact(&help));
        self.input.problems.push(Problem { span, code, level, message, help });
    }

    /// Reports a syntax error in `text`.
    pub fn syntax(&mut self, text: &Mapped, error: impl Into<SyntaxError>) {
        let error = error.into();
        let span = text.span(error.at.start, error.at.end);
        self.problem(span, ProblemCode::Syntax, Level::Error, error.message, error.help);
    }

    /// The index options in force.
    pub fn options(&mut self) -> &mut IndexOptions {
        let last = self.input.indexes.len().saturating_sub(1);
        let place = self.indexes.min(last);
        if self.input.indexes.is_empty() {
            self.input.indexes.push(IndexOptions::default());
        }
        &mut self.input.indexes[place]
    }

    /// The environment in force.
    pub fn target(&mut self) -> &mut Environment {
        let last = self.input.environments.len().saturating_sub(1);
        let place = self.environment.min(last);
        if self.input.environments.is_empty() {
            self.input.environments.push(Environment::default());
        }
        &mut self.input.environments[place]
    }

    /// An entry for what stands at `span`.
    pub fn entry(&self, raw_name: &str, origin: Origin, span: Span) -> Entry {
        let mut entry = Entry::new(raw_name, origin, span);
        entry.indexes = self.indexes;
        entry.environment = self.environment;
        entry
    }

    /// Reads a requirement as pip does: PEP 508, a URL, an archive or a path. Reports what is wrong.
    pub fn requirement(&mut self, text: &Mapped, origin: Origin) -> Option<Entry> {
        let text = text.trim();
        let source = text.as_str();
        let separator = if link::is_url(source) { "; " } else { ";" };
        let (body, marker_at) = match source.find(separator) {
            Some(at) => (source.get(..at).unwrap_or(source), Some(at + separator.len())),
            None => (source, None),
        };
        let body = body.trim_end();
        let named = body
            .split_once('@')
            .is_some_and(|(name, _)| !link::is_path(name) && !name.contains('/'));
        let archive = link::is_archive(body) && !named;
        if link::is_url(body) || link::is_path(body) || archive {
            return self.link(&text, body, marker_at, origin);
        }
        // pip takes the marker off first, so a URL may touch its ';' and nothing need follow it.
        let marker =
            marker_at.map(|at| text.slice(at, source.len())).filter(|m| !m.trim().is_empty());
        if let Some(marker) = &marker
            && let Err(error) = Marker::read(marker.as_str(), Mode::Strict)
        {
            self.syntax(marker, error);
            return None;
        }
        match Parts::read(body, Mode::Strict) {
            Ok(parts) => {
                let mut entry = self.entry_of(&text, &parts, origin);
                if let Some(marker) = marker {
                    self.apply_marker(&mut entry, &marker);
                }
                Some(entry)
            }
            Err(_) if is_bare_folder(body) => self.link(&text, body, marker_at, origin),
            Err(error) => {
                let mut error = SyntaxError::from(error);
                if is_command(body) {
                    error.help = Some(
                        "this is a command, not a requirement: write one requirement per line, and options such as --extra-index-url on lines of their own".to_owned(),
                    );
                } else if error.help.is_none() && source.contains("${") {
                    error.help =
                        Some("the variable is not set, so pip keeps the text as it is".to_owned());
                }
                if let Some(clause) = second_requirement(source, &error) {
                    error.help = Some(clause);
                }
                // pip counts joined lines as the first of them; so does the place of the error.
                let error_at = text.span(error.at.start, error.at.end);
                let line = text.whole();
                let is_joined = self
                    .input
                    .files
                    .get(line.file)
                    .and_then(|f| f.text.get(line.start..error_at.start))
                    .is_some_and(|before| before.contains(['\n', '\r']));
                if is_joined {
                    error.at.start = 0;
                }
                self.syntax(&text, error);
                None
            }
        }
    }

    fn entry_of(&mut self, text: &Mapped, parts: &Parts, origin: Origin) -> Entry {
        let part = |at: &Range<usize>| text.as_str().get(at.clone()).unwrap_or_default();
        let (_, name) = &parts.name;
        let mut entry = self.entry(part(name), origin, text.whole());
        entry.name_span = text.span(name.start, name.end);
        entry.extras = parts.extras.iter().map(|(extra, _)| *extra).collect();
        entry.extras.sort_unstable();
        entry.extras.dedup();
        let clauses: Vec<String> = parts
            .clauses
            .iter()
            .map(|c| format!("{}{}", part(&c.operator), part(&c.version)))
            .collect();
        entry.specifier = clauses.join(",");
        if let (Some(first), Some(last)) = (parts.clauses.first(), parts.clauses.last()) {
            entry.specifier_span = Some(text.span(first.operator.start, last.version.end));
        }
        let mut exact = parts.clauses.iter().filter(|c| {
            matches!(part(&c.operator), "==" | "===") && !part(&c.version).ends_with(".*")
        });
        if let (Some(only), None) = (exact.next(), exact.next()) {
            entry.version_span = Some(text.span(only.version.start, only.version.end));
        }
        if let Some(url) = &parts.url {
            let link = link::read(part(url));
            let within = text.slice(url.start, url.end);
            self.apply_link(&mut entry, link, &within);
        }
        if let Some(at) = &parts.marker {
            self.apply_marker(&mut entry, &text.slice(at.start, at.end));
        }
        entry
    }

    /// A URL or path without a name before it.
    fn link(
        &mut self,
        text: &Mapped,
        body: &str,
        marker_at: Option<usize>,
        origin: Origin,
    ) -> Option<Entry> {
        let link = link::read(body);
        let within = text.slice(0, body.len());
        let raw_name = match (&link.wheel, &link.egg) {
            (Some((name, _)), _) => name.clone(),
            (None, Some(egg)) => {
                egg.split(['=', '<', '>', '~', '!']).next().unwrap_or_default().to_owned()
            }
            (None, None) => String::new(),
        };
        if link::file_name(body).ends_with(".whl") && link.wheel.is_none() {
            let error = SyntaxError::new(
                0..body.len(),
                "this is not the file name of a wheel: NAME-VERSION-PYTHON-ABI-PLATFORM.whl",
            );
            self.syntax(text, error);
        }
        let mut entry = self.entry(&raw_name, origin, text.whole());
        self.apply_link(&mut entry, link, &within);
        if let Some(at) = marker_at {
            self.apply_marker(&mut entry, &text.slice(at, text.as_str().len()));
        }
        Some(entry)
    }

    /// Reads what follows `-e`.
    pub fn editable(&mut self, text: &Mapped, origin: Origin) -> Option<Entry> {
        let text = text.trim();
        let source = text.as_str();
        let named = Parts::read(source, Mode::Strict).ok().filter(|parts| parts.url.is_some());
        let mut entry = if let Some(parts) = named {
            self.entry_of(&text, &parts, origin)
        } else {
            let lower = source.to_ascii_lowercase();
            let prefixed = ["git:", "hg:", "svn:", "bzr:"].iter().find(|s| lower.starts_with(**s));
            let expanded =
                prefixed.map(|scheme| format!("{}+{source}", scheme.trim_end_matches(':')));
            let target = expanded.as_deref().unwrap_or(source);
            let is_vcs = link::is_vcs(target);
            let is_file = lower.starts_with("file:");
            let looks_named = !link::is_path(source)
                && ["==", ">=", "<=", "~=", "!="].iter().any(|o| source.contains(o));
            if (!is_vcs && !is_file && (link::is_url(target) || looks_named)) || source.is_empty() {
                let mut error = SyntaxError::new(
                    0..source.len(),
                    "not a valid editable requirement: neither the path of a project nor a VCS URL",
                );
                error.help = looks_named.then(|| {
                    "only a project whose source is here can be editable: remove '-e'".to_owned()
                });
                self.syntax(&text, error);
                return None;
            }
            let link = link::read(target);
            let raw_name = match &link.egg {
                Some(egg) => {
                    egg.split(['=', '<', '>', '~', '!']).next().unwrap_or_default().to_owned()
                }
                None => String::new(),
            };
            if is_vcs && raw_name.is_empty() {
                let mut error = SyntaxError::new(
                    0..source.len(),
                    "the name of the project cannot be told from this URL",
                );
                error.help = Some("write 'NAME @ URL'".to_owned());
                self.syntax(&text, error);
            }
            let mut entry = self.entry(&raw_name, origin, text.whole());
            self.apply_link(&mut entry, link, &text);
            entry
        };
        entry.editable = true;
        Some(entry)
    }

    fn apply_link(&mut self, entry: &mut Entry, link: Link, text: &Mapped) {
        if entry.extras.is_empty() {
            entry.extras = extras(link.extras.iter().map(String::as_str));
        }
        if let Some((_, version)) = link.wheel {
            entry.locked = Some(version);
            entry.version_span = link.version_at.map(|at| text.span(at.start, at.end));
        }
        if let Some(hash) = link.hash {
            entry.hashes.push(Hash { text: hash, span: text.whole() });
        }
        if entry.locked.is_none() {
            let what =
                if entry.raw_name.is_empty() { "neither name nor version" } else { "no version" };
            let place = match &link.location {
                Location::Url(url) if !url.to_ascii_lowercase().starts_with("file:") => {
                    "this address"
                }
                Location::Url(_) | Location::Path(_) => "a path on the machine that wrote it",
                Location::Vcs { .. } => "a repository",
            };
            let message = format!("{what} can be told from the text: it is {place}");
            self.problem(text.whole(), ProblemCode::Unknown, Level::Note, message, None);
        }
        entry.location = Some(link.location);
    }

    /// Sets the marker, or reports what is wrong with it.
    pub fn apply_marker(&mut self, entry: &mut Entry, text: &Mapped) {
        if text.trim().is_empty() {
            return;
        }
        let text = &text.trim();
        match Marker::read(text.as_str(), Mode::Strict) {
            Ok(marker) => {
                let canonical = marker.canonical();
                let extra = marker.needs_extra().filter(|_| entry.origin == Origin::Pip);
                if let Some(extra) = extra {
                    let span = text.span(extra.start, extra.end);
                    let message = format!(
                        "never installed: outside a package's own metadata no extra is active, so '{canonical}' is always false"
                    );
                    self.problem(span, ProblemCode::NeverTrue, Level::Warning, message, None);
                }
                entry.marker = Some(canonical);
            }
            Err(error) => self.syntax(text, error),
        }
    }
}

/// Normalised, sorted, each once. Extras that are no names are left out.
pub(super) fn extras<'t>(raw: impl Iterator<Item = &'t str>) -> Vec<Name> {
    let names: BTreeSet<Name> = raw.filter_map(|extra| Name::new(extra).ok()).collect();
    names.into_iter().collect()
}

/// Whether a line is one for a shell, and not a requirement.
fn is_command(text: &str) -> bool {
    let lower = text.trim_start().to_ascii_lowercase();
    ["pip ", "pip3 ", "python ", "python3 ", "conda ", "mamba ", "uv "]
        .iter()
        .any(|command| lower.starts_with(command))
}

/// A text with a slash that is nothing else: the path of a folder that pip would look up.
fn is_bare_folder(text: &str) -> bool {
    text.contains(['/', '\\'])
        && !text
            .contains([' ', '\t', '=', '<', '>', '~', '!', '@', ';', ',', '$', '*', ':', '"', '\''])
        && text.is_ascii()
}

/// Says how to write two requirements that stand on one line.
fn second_requirement(source: &str, error: &SyntaxError) -> Option<String> {
    let first = source.get(..error.at.start)?.trim_end();
    let second = source.get(error.at.start..)?.trim_start();
    let starts_name = second.starts_with(|c: char| c.is_ascii_alphabetic());
    if !starts_name
        || !first.contains("==")
        || first.len() + second.len() > 200
        || Parts::read(second, Mode::Strict).is_err()
    {
        return None;
    }
    Some(format!("write one requirement per line: '{first}' and '{second}'"))
}
