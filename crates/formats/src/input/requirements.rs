//! requirements.txt and constraint files, as pip reads them.
//!
//! pip joins lines first, then drops comments, then replaces variables, and only then looks at a line; each step has
//! its traps, and each is reproduced here in that order.

use cuda_lock_constraint::requirement::{Mode, Parts};

use super::build::Builder;
use super::loader;
use super::model::{Entry, Hash, Include, Level, Origin, ProblemCode, Setting};
use super::options::{self, Found, Opt, Options};
use super::syntax_error::SyntaxError;
use super::text::{LineEnds, Mapped, is_space, lines};

/// Deeper nesting than anyone writes.
const MAX_DEPTH: usize = 100;

/// A line after joining, without comment, trimmed.
struct LogicalLine {
    text: Mapped,
    /// Physical lines that a comment with a backslash at its end took away.
    swallowed: Vec<Mapped>,
    /// The name in a comment of `pip freeze` on the line before.
    freeze_name: Option<String>,
}

/// Reads the file at `file`, which was opened as `path`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize, path: &str, constraint: bool) {
    builder.read.insert((path.to_owned(), constraint));
    builder.stack.push(path.to_owned());
    let text = builder.text(file);
    for line in logical_lines(&text, file) {
        for swallowed in &line.swallowed {
            let message = "this line belongs to the comment above, which ends in a backslash; pip does not read it";
            let help = Some("remove the backslash at the end of the comment".to_owned());
            builder.problem(
                swallowed.whole(),
                ProblemCode::Swallowed,
                Level::Warning,
                message,
                help,
            );
        }
        if !line.text.is_empty() {
            let expanded = expand(builder, &line.text);
            read_line(builder, &expanded, line.freeze_name, constraint);
        }
    }
    builder.stack.pop();
}

/// Reads lines that stand elsewhere, such as the pip part of environment.yml.
pub(super) fn read_line(
    builder: &mut Builder<'_>,
    line: &Mapped,
    freeze_name: Option<String>,
    constraint: bool,
) {
    let (args, rest) = options::break_args(line);
    let words = match options::shlex(&rest) {
        Ok(words) => words,
        Err(error) => {
            builder.syntax(&rest, error);
            return;
        }
    };
    let options = options::parse(words, options::REQUIREMENTS_FILE);
    for (word, error) in &options.errors {
        let span = word.span(error.at.start, error.at.end);
        builder.problem(
            span,
            ProblemCode::Option,
            Level::Error,
            error.message.clone(),
            error.help.clone(),
        );
    }
    let editable = options.found.iter().find(|f| f.opt == Opt::Editable);
    if !args.is_empty() {
        let entry = builder.requirement(&args, Origin::Pip);
        finish(builder, line, entry, &options, constraint);
    } else if let Some(editable) = editable {
        if constraint {
            let message = "editable requirements are not allowed as constraints";
            builder.problem(line.whole(), ProblemCode::Syntax, Level::Error, message, None);
            return;
        }
        if options.words.first().is_some_and(|w| w.as_str() == "@") {
            let message = "pip reads only the word after -e: write it in quotes";
            let help = Some("write -e 'NAME @ URL'".to_owned());
            builder.problem(line.whole(), ProblemCode::Syntax, Level::Error, message, help);
            return;
        }
        let mut entry = builder.editable(&editable.value, Origin::Pip);
        if let (Some(entry), Some(name)) = (&mut entry, freeze_name)
            && entry.raw_name.is_empty()
        {
            entry.name = cuda_lock_constraint::name::Name::new(&name).ok();
            entry.raw_name = name;
        }
        finish(builder, line, entry, &options, constraint);
    } else {
        option_line(builder, &options);
    }
    if let (Some(first), Some(last)) = (options.words.first(), options.words.last()) {
        let mut span = first.whole();
        span.end = last.whole().end.max(span.end);
        let message = "pip ignores what follows an option on the same line";
        builder.problem(
            span,
            ProblemCode::Swallowed,
            Level::Warning,
            message,
            Some("write it on a line of its own".to_owned()),
        );
    }
}

/// Adds the options of a requirement line to its entry.
fn finish(
    builder: &mut Builder<'_>,
    line: &Mapped,
    entry: Option<Entry>,
    options: &Options,
    constraint: bool,
) {
    // pip stops at a line that is no requirement; its options say nothing.
    let Some(mut entry) = entry else { return };
    let mut settings = Vec::new();
    let mut hashes = Vec::new();
    for found in &options.found {
        match found.opt {
            Opt::Editable if entry.editable => {}
            Opt::Hash => hashes.extend(hash(builder, found)),
            Opt::ConfigSettings => settings.extend(setting(builder, found)),
            _ => {
                let flag = found.flag.as_str();
                let message = format!("pip ignores {flag} on the line of a requirement");
                let help = match found.opt {
                    Opt::IndexUrl | Opt::ExtraIndexUrl | Opt::FindLinks => Some(format!(
                        "write {flag} on a line of its own; it then holds for the whole file"
                    )),
                    _ => Some(format!("write {flag} on a line of its own")),
                };
                builder.problem(
                    found.flag.whole(),
                    ProblemCode::Option,
                    Level::Warning,
                    message,
                    help,
                );
            }
        }
    }
    entry.span = line.whole();
    if !hashes.is_empty() {
        builder.options().require_hashes = true;
    }
    entry.hashes.extend(hashes);
    entry.settings = settings;
    if constraint {
        let refused = if entry.raw_name.is_empty() {
            Some("requirements without a name are not allowed as constraints")
        } else if !entry.extras.is_empty() {
            Some("constraints cannot have extras")
        } else {
            None
        };
        if let Some(message) = refused {
            builder.problem(entry.span, ProblemCode::Syntax, Level::Error, message, None);
        }
        builder.input.constraints.push(entry);
    } else {
        builder.input.entries.push(entry);
    }
}

fn hash(builder: &mut Builder<'_>, found: &Found) -> Option<Hash> {
    let text = found.value.as_str();
    let known = text.split_once(':').is_some_and(|(algorithm, digest)| {
        matches!(algorithm, "sha256" | "sha384" | "sha512") && !digest.is_empty()
    });
    if !known {
        let message = "expected ALGORITHM:DIGEST with sha256, sha384 or sha512";
        builder.syntax(&found.value, SyntaxError::new(0..text.len(), message));
        return None;
    }
    Some(Hash { text: text.to_owned(), span: found.value.whole() })
}

fn setting(builder: &mut Builder<'_>, found: &Found) -> Option<Setting> {
    let Some((key, value)) = found.value.as_str().split_once('=') else {
        builder.syntax(
            &found.value,
            SyntaxError::new(0..found.value.as_str().len(), "expected KEY=VALUE"),
        );
        return None;
    };
    Some(Setting { key: key.to_owned(), value: value.to_owned(), span: found.value.whole() })
}

/// A line with nothing but options: all of them hold for everything.
fn option_line(builder: &mut Builder<'_>, options: &Options) {
    let include = options
        .found
        .iter()
        .find(|f| f.opt == Opt::Requirement)
        .or_else(|| options.found.iter().find(|f| f.opt == Opt::Constraint));
    if let Some(include) = include {
        for other in options.found.iter().filter(|f| !std::ptr::eq(*f, include)) {
            let message =
                format!("pip ignores {} beside {}", other.flag.as_str(), include.flag.as_str());
            let help = Some("write one option per line".to_owned());
            builder.problem(other.flag.whole(), ProblemCode::Option, Level::Warning, message, help);
        }
        self::include(builder, &include.value, include.opt == Opt::Constraint, Level::Error);
        return;
    }
    // optparse collects the values first: of repeated options of one line, the last one counts.
    for found in &options.found {
        if found.opt == Opt::Hash {
            let message = "this --hash belongs to no requirement and is ignored";
            builder.problem(found.flag.whole(), ProblemCode::Option, Level::Warning, message, None);
        } else if found.opt == Opt::ConfigSettings {
            // Without a requirement it means nothing, but pip still checks its form.
            let _ = setting(builder, found);
        } else {
            apply(builder, found);
        }
    }
}

/// Lets an option take effect on the options in force.
pub(super) fn apply(builder: &mut Builder<'_>, found: &Found) {
    let value = found.value.as_str().to_owned();
    let span = found.value.whole();
    if let Some(variable) = unset_variable(&value) {
        let message = format!("the variable {variable} is not set, so pip keeps the text as it is");
        builder.problem(span, ProblemCode::Variable, Level::Note, message, None);
    }
    let mut dropped = Vec::new();
    let options = builder.options();
    if matches!(
        found.opt,
        Opt::IndexUrl | Opt::ExtraIndexUrl | Opt::FindLinks | Opt::DefaultIndex | Opt::Index
    ) {
        options.spans.entry(value.clone()).or_insert(span);
    }
    match found.opt {
        Opt::IndexUrl => {
            // pip starts its list of indexes anew.
            dropped = std::mem::take(&mut options.extra_index_urls);
            options.index_url = Some(value);
        }
        Opt::DefaultIndex => options.index_url = Some(value),
        Opt::ExtraIndexUrl => options.extra_index_urls.push(value),
        Opt::Index => {
            let url = value
                .split_once('=')
                .filter(|(name, _)| !name.contains([':', '/']))
                .map_or(value.as_str(), |(_, url)| url);
            options.extra_index_urls.push(url.to_owned());
        }
        Opt::FindLinks => options.find_links.push(value),
        Opt::NoIndex => options.no_index = true,
        Opt::Pre => options.pre = true,
        Opt::Prerelease => options.pre = value == "allow",
        Opt::PreferBinary => options.prefer_binary = true,
        Opt::RequireHashes => options.require_hashes = true,
        Opt::NoRequireHashes => options.require_hashes = false,
        Opt::TrustedHost => options.trusted_hosts.push(value),
        Opt::TorchBackend => options.torch_backend = Some(value),
        Opt::NoBinary => choose(&value, &mut options.no_binary, &mut options.only_binary),
        Opt::OnlyBinary => choose(&value, &mut options.only_binary, &mut options.no_binary),
        Opt::AllReleases => choose(&value, &mut options.all_releases, &mut options.only_final),
        Opt::OnlyFinal => choose(&value, &mut options.only_final, &mut options.all_releases),
        _ => {}
    }
    if !dropped.is_empty() {
        let message = format!(
            "{} starts the list of indexes anew: pip drops the {} given above",
            found.flag.as_str(),
            if dropped.len() == 1 { "--extra-index-url" } else { "--extra-index-urls" },
        );
        let help = Some(format!("write {} first", found.flag.as_str()));
        builder.problem(found.flag.whole(), ProblemCode::Option, Level::Warning, message, help);
    }
}

/// Comma-separated projects for one of two lists that exclude each other; `:all:` and `:none:` start anew.
fn choose(value: &str, target: &mut Vec<String>, other: &mut Vec<String>) {
    let parts: Vec<&str> = value.split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
    let start = match parts.iter().rposition(|p| matches!(*p, ":all:" | ":none:")) {
        Some(at) => {
            target.clear();
            if parts.get(at) == Some(&":all:") {
                other.clear();
                target.push(":all:".to_owned());
            }
            at + 1
        }
        None => 0,
    };
    for part in parts.iter().skip(start) {
        let name = cuda_lock_constraint::name::Name::new(part)
            .map_or((*part).to_owned(), |n| n.to_string());
        other.retain(|o| *o != name);
        if !target.contains(&name) {
            target.push(name);
        }
    }
}

/// Reads another file in place. `level` is how bad it is when that cannot be done.
pub(super) fn include(builder: &mut Builder<'_>, target: &Mapped, constraint: bool, level: Level) {
    let from = builder.stack.last().cloned().unwrap_or_default();
    let path = loader::join(&from, target.as_str());
    include_as(builder, target, &path, constraint, level);
}

/// Reads the file at `path`, which `target` means.
pub(super) fn include_as(
    builder: &mut Builder<'_>,
    target: &Mapped,
    path: &str,
    constraint: bool,
    level: Level,
) {
    let span = target.whole();
    let mut record = Include {
        path: target.as_str().to_owned(),
        file: builder.opened.get(path).copied(),
        constraint,
        span,
    };
    if builder.stack.iter().any(|open| open == path) {
        let message = if builder.stack.last().is_some_and(|last| last == path) {
            "the file includes itself".to_owned()
        } else {
            format!("{} includes itself through this line", target.as_str())
        };
        builder.problem(
            span,
            ProblemCode::Include,
            Level::Error,
            message,
            Some("remove the line".to_owned()),
        );
    } else if builder.stack.len() >= MAX_DEPTH {
        builder.problem(
            span,
            ProblemCode::Include,
            Level::Error,
            "files are included too deep to follow",
            None,
        );
    } else if !builder.read.contains(&(path.to_owned(), constraint)) {
        let file = match record.file {
            Some(file) => Some(file),
            None => match builder.loader.load(path) {
                Ok(bytes) => Some(builder.add_file(path, &bytes, LineEnds::Python)),
                Err(error) => {
                    let message = format!("cannot read {path}: {error}");
                    builder.problem(span, ProblemCode::Include, level, message, None);
                    None
                }
            },
        };
        record.file = file;
        builder.input.includes.push(record);
        if let Some(file) = file {
            read(builder, file, path, constraint);
        }
        return;
    }
    builder.input.includes.push(record);
}

/// Joins lines, drops comments and white space around.
fn logical_lines(text: &str, file: usize) -> Vec<LogicalLine> {
    let mut out = Vec::new();
    let mut joined: Option<(Mapped, Vec<Mapped>)> = None;
    let mut freeze_name = None;
    for (start, line) in lines(text, LineEnds::Python) {
        let is_comment = line.trim_start_matches(is_space).starts_with('#');
        let continues = line.ends_with('\\') && !is_comment;
        let (mapped, pieces) = joined.get_or_insert_with(|| (Mapped::new(file), Vec::new()));
        let piece = if continues {
            let inner = line.trim_matches('\\');
            Mapped::copied(inner, file, start + (line.len() - line.trim_start_matches('\\').len()))
        } else {
            let mut piece = Mapped::new(file);
            if is_comment {
                // So that the comment ends the line that it is joined to.
                piece.push_replaced(" ", start, start);
            }
            piece.push(line, start);
            piece
        };
        mapped.append(&piece);
        pieces.push(piece);
        if !continues {
            let name = freeze_name.take();
            freeze_name = if is_comment && pieces.len() == 1 { freeze_comment(line) } else { None };
            if let Some((mapped, pieces)) = joined.take() {
                out.extend(logical_line(&mapped, &pieces, name));
            }
        }
    }
    if let Some((mapped, pieces)) = joined.take() {
        out.extend(logical_line(&mapped, &pieces, freeze_name));
    }
    out
}

fn logical_line(
    joined: &Mapped,
    pieces: &[Mapped],
    freeze_name: Option<String>,
) -> Option<LogicalLine> {
    let text = joined.as_str();
    let end = comment_start(text).unwrap_or(text.len());
    let line = joined.slice(0, end).trim();
    let mut swallowed = Vec::new();
    let mut at = 0;
    for piece in pieces {
        // The piece with the comment itself starts before the end.
        if at > end && looks_like_line(piece.as_str()) {
            swallowed.push(piece.trim());
        }
        at += piece.as_str().len();
    }
    (!line.is_empty() || !swallowed.is_empty()).then_some(LogicalLine {
        text: line,
        swallowed,
        freeze_name,
    })
}

/// Where a comment starts, with the white space before it.
fn comment_start(text: &str) -> Option<usize> {
    let mut blank_from = Some(0);
    for (at, c) in text.char_indices() {
        if c == '#' && blank_from.is_some() {
            return blank_from;
        }
        if is_space(c) {
            blank_from = blank_from.or(Some(at));
        } else {
            blank_from = None;
        }
    }
    None
}

fn looks_like_line(text: &str) -> bool {
    let text = text.trim_matches(is_space);
    text.starts_with('-')
        || (!text.is_empty() && text.len() < 1000 && Parts::read(text, Mode::Strict).is_ok())
}

/// The name in `# Editable install with no version control (NAME==VERSION)` and its kin.
fn freeze_comment(line: &str) -> Option<String> {
    let inner = line.trim().strip_prefix("# Editable ")?.strip_suffix(')')?;
    let (_, pin) = inner.rsplit_once('(')?;
    pin.split_once("==").map(|(name, _)| name.to_owned())
}

/// Replaces `${NAME}` where the variable is set and not empty.
fn expand(builder: &Builder<'_>, line: &Mapped) -> Mapped {
    let text = line.as_str();
    if !text.contains("${") {
        return line.clone();
    }
    let mut out = Mapped::new(line.file());
    let mut done = 0;
    for (at, _) in text.match_indices("${") {
        let Some(name) = variable_name(text.get(at + 2..).unwrap_or_default()) else { continue };
        let Some(value) = builder.loader.variable(name).filter(|v| !v.is_empty()) else { continue };
        let Some(value) = builder.allowance.spend(&value) else { continue };
        let end = at + 2 + name.len() + 1;
        out.append_part(line, done, at);
        let span = line.span(at, end);
        out.push_replaced(value, span.start, span.end);
        done = end;
    }
    out.append_part(line, done, text.len());
    out
}

/// The name at the start of `NAME}…`: capitals, digits and `_`.
fn variable_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))?;
    text.get(..end).filter(|name| !name.is_empty() && text.get(end..end + 1) == Some("}"))
}

fn unset_variable(value: &str) -> Option<&str> {
    value.match_indices("${").find_map(|(at, _)| variable_name(value.get(at + 2..)?))
}
