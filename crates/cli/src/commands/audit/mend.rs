//! A fix for the findings of one environment: found by solving, written as edits of its files, and judged again.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_lock_constraint::audit::{Code, Finding, Severity, Verdict, audit};
use cuda_lock_constraint::digest::sha256_hex;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::repair::{Edit, Limit, Outcome, Repair, Wanted, repair};
use cuda_lock_constraint::rules::owner::rivals;
use cuda_lock_constraint::version::DistVersion;
use cuda_lock_formats::input::{Entry, Input, Kind, encode};
use cuda_lock_formats::rewrite::{Amendment, Rewriter, TextEdit, apply, is_editable};

use super::Auditor;
use super::ask::{Asked, ask};
use super::subject::{Overlay, Subject};
use crate::output::audit::{Fix, PlacedEdit};

/// A fix, and what it would make of the files.
pub struct Mended {
    /// For each finding of the verdict, its fix.
    pub fixes: Vec<Option<Fix>>,
    /// The texts with the fix made; empty when nothing can be written.
    pub texts: Texts,
    /// What is to be said about a search without success, or one that was cut short.
    pub remarks: Vec<String>,
}

/// One environment with what was found about it.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// What is judged.
    pub subject: &'a Subject,
    /// Texts in the place of its files.
    pub overlay: &'a Overlay,
    /// What it reads as.
    pub input: &'a Input,
    /// The environment.
    pub asked: &'a Asked,
    /// What was found.
    pub verdict: &'a Verdict,
}

/// The texts of files: name, bytes before, bytes after.
pub type Texts = Vec<(String, Vec<u8>, Vec<u8>)>;

impl Auditor<'_> {
    /// Looks for a fix.
    pub fn mend(&mut self, case: Case<'_>) -> Mended {
        let Case { input, asked, verdict, .. } = case;
        let sources = self.indexes.for_solving(&asked.question.indexes);
        let catalog = Arc::clone(&self.catalog);
        let levels = &self.levels;
        let counts = |finding: &Finding| levels.is_error(finding);
        let wanted = Wanted { limit: Limit::default(), counts: &counts };
        let outcome = repair(&asked.question, verdict, &sources, &catalog, wanted);
        let mut mended = Mended {
            fixes: vec![None; verdict.findings.len()],
            texts: Vec::new(),
            remarks: remarks(&outcome, asked, verdict, &counts),
        };
        let Some(found) = outcome.repair else { return mended };
        let mut fix = Fix {
            verified: true,
            steps: found.steps.clone(),
            ..Fix::advice(self.summary(asked, &found))
        };
        if is_editable(input.kind) {
            match self.text_edits(input, asked, &found) {
                Ok(written) => {
                    fix.edits =
                        written.iter().map(|(edit, words)| placed(input, edit, words)).collect();
                    let edits: Vec<TextEdit> = written.into_iter().map(|(edit, _)| edit).collect();
                    match self.written(case, &edits, &found) {
                        Ok(texts) => mended.texts = texts,
                        Err(why) => {
                            fix.verified = false;
                            mended.remarks.push(why);
                        }
                    }
                }
                Err(why) => {
                    fix.text = format!("{} ({why})", fix.text);
                    mended.remarks.push(format!("the fix cannot be written: {why}"));
                }
            }
        } else {
            fix.command = command(input.kind, &self.words(asked, &found));
        }
        let unpinned = verdict.findings.iter().zip(&mut mended.fixes);
        for (finding, slot) in unpinned.filter(|(finding, _)| finding.code == Code::Unpinned) {
            let Some(name) = finding.package else { continue };
            let moved = found.edits.iter().any(|edit| edited(edit, asked) == Some(name));
            if let Some(build) = found.builds.get(&name).filter(|_| moved) {
                let text = format!("{name}=={build}; what is taken today is part of an error");
                *slot = Some(Fix { verified: fix.verified, ..Fix::advice(text) });
            }
        }
        for place in &found.cured {
            if let Some(slot) = mended.fixes.get_mut(*place) {
                *slot = Some(fix.clone());
            }
        }
        mended
    }

    /// The edits of the files, with words for people.
    fn text_edits(
        &self,
        input: &Input,
        asked: &Asked,
        found: &Repair,
    ) -> Result<Vec<(TextEdit, String)>, String> {
        let rewriter = Rewriter::new(input);
        let mut edits = Vec::new();
        for edit in &found.edits {
            let (line, amendment, name) = match edit {
                Edit::Versions { line, now } => {
                    let line_of = asked.question.lines.get(*line);
                    (*line, Amended::Versions(now), line_of.map(|line| line.requirement.name))
                }
                Edit::Extras { line, now } => (*line, Amended::Extras(listed(now)), None),
                Edit::Remove { line } => (*line, Amended::Remove, None),
                Edit::Add { name, versions, near } => {
                    (*near, Amended::Add(format!("{name}{versions}")), Some(*name))
                }
                Edit::AskIndex { source, near } => {
                    let url = self.indexes.address(*source).unwrap_or_default();
                    (*near, Amended::Index(url), None)
                }
            };
            let entry = entry(input, asked, line).ok_or("the line is not in the file")?;
            let hashed = input.indexes_of(entry).is_some_and(|options| options.require_hashes);
            let build = name.and_then(|name| Some((name, found.builds.get(&name)?)));
            let hashes = match build {
                Some((name, build)) if hashed => self.hashes(name, build),
                _ => Vec::new(),
            };
            let amendment = match &amendment {
                Amended::Versions(now) => Amendment::Versions { now },
                Amended::Extras(now) => Amendment::Extras { now },
                Amended::Remove => Amendment::Remove,
                Amended::Add(text) => Amendment::Add { text },
                Amended::Index(url) => Amendment::Index { url },
            };
            let made = rewriter.edits(entry, amendment, &hashes)?;
            // Quotes and hashes go with the first edit that has words of its own.
            let mut words = words_of(input, entry, amendment);
            edits.extend(made.into_iter().map(|edit| {
                let shown = edit.new != "'";
                (edit, if shown { std::mem::take(&mut words) } else { String::new() })
            }));
        }
        Ok(edits)
    }

    /// The hashes of all files of a release; none when its index does not publish all of them.
    fn hashes(&self, name: Name, build: &DistVersion) -> Vec<String> {
        let Ok(Some(project)) = self.catalog.project(build.source(), name) else {
            return Vec::new();
        };
        let place = build.version().and_then(|v| project.versions.binary_search(v).ok());
        let Some(place) = place else { return Vec::new() };
        let files = project.files.files(place);
        let digests: BTreeSet<String> = files
            .iter()
            .filter_map(|file| Some(format!("sha256:{}", sha256_hex(file.sha256.as_ref()?))))
            .collect();
        let complete = files.iter().all(|file| file.sha256.is_some());
        if complete { digests.into_iter().collect() } else { Vec::new() }
    }

    /// The files with the edits made, when an audit of them finds nothing any more of what the fix is for, and nothing new.
    fn written(
        &mut self,
        case: Case<'_>,
        edits: &[TextEdit],
        found: &Repair,
    ) -> Result<Texts, String> {
        let Case { subject, overlay, input, asked, verdict: before } = case;
        let mut texts = Vec::new();
        let mut then = Overlay { files: overlay.files.clone() };
        for (file, text) in apply(input, edits)? {
            let Some(source) = input.files.get(file) else { continue };
            let bytes = |text: &str| encode(text, &source.encoding);
            let (Some(old), Some(new)) = (bytes(&source.text), bytes(&text)) else {
                return Err(format!(
                    "{} is written in an encoding that cannot be written back; save it as UTF-8",
                    source.name
                ));
            };
            let first = then.files.get(&source.name).map_or_else(|| old.clone(), |f| f.0.clone());
            then.files.insert(source.name.clone(), (first, new.clone()));
            texts.push((source.name.clone(), old, new));
        }
        let again = subject.read(&then);
        let known = self.indexes.sources.len();
        let mut all = ask(&again, self.given, &mut self.indexes);
        if self.indexes.sources.len() != known {
            return Err("the fix names an index that cannot be asked".to_owned());
        }
        let same = all.iter_mut().find(|other| other.environment == asked.environment);
        let Some(other) = same else { return Err("the fix takes everything away".to_owned()) };
        self.complete(other);
        let after = audit(&other.question, &*self.catalog);
        let errors = |verdict: &Verdict| -> BTreeSet<(Code, Option<Name>)> {
            verdict
                .findings
                .iter()
                .filter(|f| self.levels.is_error(f))
                .flat_map(Finding::keys)
                .collect()
        };
        let (old, new) = (errors(before), errors(&after));
        let cured = found
            .cured
            .iter()
            .filter_map(|place| before.findings.get(*place))
            .flat_map(Finding::keys);
        // What was an error must be gone, and not be called a warning instead.
        let still = after.findings.iter().filter(|finding| finding.severity > Severity::Note);
        let still: BTreeSet<_> = still.flat_map(Finding::keys).collect();
        let left: Vec<_> =
            cured.filter(|key| still.contains(key)).chain(new.difference(&old).copied()).collect();
        match left.first() {
            None => Ok(texts),
            Some((code, name)) => {
                let about = name.map(|name| format!(" of {name}")).unwrap_or_default();
                Err(format!("a fix was found, but the files read again still have {code}{about}"))
            }
        }
    }

    /// The edits in words.
    fn summary(&self, asked: &Asked, found: &Repair) -> String {
        let mut texts: Vec<String> = Vec::new();
        for edit in &found.edits {
            let line = |line: usize| asked.question.lines.get(line).map(|l| &l.requirement);
            let text = match edit {
                Edit::Versions { line: at, now } => match line(*at) {
                    Some(requirement) => format!("{}{now}", requirement.name),
                    None => continue,
                },
                Edit::Extras { line: at, now } => match line(*at) {
                    Some(requirement) => format!("{}[{}]", requirement.name, listed(now)),
                    None => continue,
                },
                Edit::Remove { line: at } => match line(*at) {
                    Some(requirement) => format!("remove {}", requirement.name),
                    None => continue,
                },
                Edit::Add { name, versions, .. } => format!("add {name}{versions}"),
                Edit::AskIndex { source, .. } => {
                    let address = self.indexes.address(*source).unwrap_or_default();
                    format!("add --extra-index-url {address}")
                }
            };
            texts.push(text);
        }
        texts.join(", ")
    }

    /// The edits as words of an installer's command.
    fn words(&self, asked: &Asked, found: &Repair) -> Words {
        let mut words = Words::default();
        for edit in &found.edits {
            match edit {
                Edit::Versions { line, now } => {
                    let requirement = asked.question.lines.get(*line).map(|l| &l.requirement);
                    words.pins.extend(requirement.map(|r| format!("{}{now}", r.name)));
                }
                Edit::Extras { line, now } => {
                    let requirement = asked.question.lines.get(*line).map(|l| &l.requirement);
                    words.pins.extend(
                        requirement.map(|r| format!("{}[{}]{}", r.name, listed(now), r.specifiers)),
                    );
                }
                Edit::Remove { line } => {
                    let lines = &asked.question.lines;
                    let Some(gone) = lines.get(*line).map(|line| line.requirement.name) else {
                        continue;
                    };
                    words.gone.push(gone.to_string());
                    // The files that both installed go with the one that is uninstalled.
                    let removed = |name: Name| {
                        let mut all = found.edits.iter();
                        all.any(|edit| match edit {
                            Edit::Remove { line } => {
                                lines.get(*line).is_some_and(|line| line.requirement.name == name)
                            }
                            _ => false,
                        })
                    };
                    let kept = rivals(gone).into_iter().filter(|name| !removed(*name));
                    let kept = kept.filter_map(|name| Some((name, found.builds.get(&name)?)));
                    words.again.extend(kept.map(|(name, build)| format!("{name}=={build}")));
                }
                Edit::Add { name, versions, .. } => words.pins.push(format!("{name}{versions}")),
                Edit::AskIndex { source, .. } => {
                    words.indexes.extend(self.indexes.address(*source));
                }
            }
        }
        words
    }
}

fn listed(extras: &[Name]) -> String {
    let names: Vec<&str> = extras.iter().map(|extra| extra.as_str()).collect();
    names.join(",")
}

/// The distribution whose versions an edit changes.
fn edited(edit: &Edit, asked: &Asked) -> Option<Name> {
    match edit {
        Edit::Versions { line, .. } => {
            asked.question.lines.get(*line).map(|line| line.requirement.name)
        }
        Edit::Add { name, .. } => Some(*name),
        Edit::Extras { .. } | Edit::Remove { .. } | Edit::AskIndex { .. } => None,
    }
}

enum Amended<'a> {
    Versions(&'a str),
    Extras(String),
    Remove,
    Add(String),
    Index(String),
}

#[derive(Default)]
struct Words {
    pins: Vec<String>,
    gone: Vec<String>,
    again: Vec<String>,
    indexes: Vec<String>,
}

/// What to run where a program writes the file.
fn command(kind: Kind, words: &Words) -> Option<String> {
    let quoted: Vec<String> = words.pins.iter().map(|pin| format!("'{pin}'")).collect();
    let pins = quoted.join(" ");
    let indexes: String =
        words.indexes.iter().map(|url| format!(" --extra-index-url {url}")).collect();
    let gone = words.gone.join(" ");
    let uninstall = |tool: &str| {
        if gone.is_empty() { String::new() } else { format!("{tool} {gone} && ") }
    };
    match kind {
        Kind::UvLock => {
            let index: String = words.indexes.iter().map(|url| format!(" --index {url}")).collect();
            Some(format!("{}uv add{index} {pins}", uninstall("uv remove")))
        }
        Kind::PoetryLock => Some(format!("{}poetry add {pins}", uninstall("poetry remove"))),
        Kind::PdmLock => Some(format!("{}pdm add {pins}", uninstall("pdm remove"))),
        Kind::Pylock => None,
        _ => {
            let mut steps = Vec::new();
            if !gone.is_empty() {
                steps.push(format!("pip uninstall -y {gone}"));
            }
            if !words.again.is_empty() {
                let again: Vec<String> = words.again.iter().map(|pin| format!("'{pin}'")).collect();
                steps.push(format!(
                    "pip install{indexes} --force-reinstall --no-deps {}",
                    again.join(" ")
                ));
            }
            if !pins.is_empty() {
                steps.push(format!("pip install{indexes} {pins}"));
            }
            (!steps.is_empty()).then(|| steps.join(" && "))
        }
    }
}

fn entry<'a>(input: &'a Input, asked: &Asked, line: usize) -> Option<&'a Entry> {
    let place = *asked.entries.get(line)?;
    let bound = asked.question.lines.get(line)?.bound;
    if bound { input.constraints.get(place) } else { input.entries.get(place) }
}

/// A change at an entry in words.
fn words_of(input: &Input, entry: &Entry, amendment: Amendment<'_>) -> String {
    let name = input.text(entry.name_span);
    let hashed = if entry.hashes.is_empty() { "" } else { ", with its hashes" };
    match amendment {
        Amendment::Versions { now } if entry.specifier.is_empty() => {
            format!("{name}{now} instead of {name}{hashed}")
        }
        Amendment::Versions { now } => {
            format!("{name}{now} instead of {name}{}{hashed}", entry.specifier)
        }
        Amendment::Extras { now } => format!("{name}[{now}] instead of {name}"),
        Amendment::Remove => format!("remove {name}{}", entry.specifier),
        Amendment::Add { text } => format!("add {text}{hashed}"),
        Amendment::Index { url } => format!("add --extra-index-url {url}"),
    }
}

fn placed(input: &Input, edit: &TextEdit, words: &str) -> PlacedEdit {
    let file = input.files.get(edit.span.file);
    let start = input.position(edit.span);
    let end = file.map_or(start, |file| file.position(edit.span.end));
    PlacedEdit {
        file: file.map(|file| file.name.clone()).unwrap_or_default(),
        line: start.line,
        column: start.column,
        end_line: end.line,
        end_column: end.column,
        old: input.text(edit.span).to_owned(),
        new: edit.new.clone(),
        words: words.to_owned(),
    }
}

/// What a search without success came to.
fn remarks(
    outcome: &Outcome,
    asked: &Asked,
    verdict: &Verdict,
    counts: &dyn Fn(&Finding) -> bool,
) -> Vec<String> {
    let mut remarks = Vec::new();
    let place = if asked.name.is_empty() { String::new() } else { format!(" for {}", asked.name) };
    let left = verdict.findings.iter().any(counts);
    if outcome.stopped {
        remarks.push(format!("stopped looking for a fix{place} after {} solves", outcome.solves));
    } else if outcome.repair.is_none() && left && outcome.tried() {
        let why = outcome.obstacles.last().map(|why| why.replace("env.toml asks", "the file asks"));
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        remarks.push(format!("no change of pins that was tried is a fix{place}{why}"));
    }
    remarks
}
