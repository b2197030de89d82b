//! What conda prints and reads line by line: match specifications, `conda list`, `--export`, `--explicit`.

use super::build::Builder;
use super::link;
use super::model::{Entry, Hash, Level, Location, Origin, ProblemCode, PythonRequest, Wheel};
use super::syntax_error::SyntaxError;
use super::text::{LineEnds, Mapped, lines};

/// Reads a match specification: `channel::name=version=build`, `name >=1,<2`, `name[version=…]`.
pub(super) fn match_spec(builder: &mut Builder<'_>, text: &Mapped) -> Option<Entry> {
    let text = text.trim();
    let source = text.as_str();
    if link::is_url(source) {
        return explicit_url(builder, &text);
    }
    let (channel, from) = match source.find("::") {
        Some(at) => (source.get(..at), at + 2),
        None => (None, 0),
    };
    let rest = source.get(from..).unwrap_or_default();
    let name_length = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(rest.len());
    if name_length == 0 {
        let mut error = SyntaxError::new(
            from..source.len(),
            "expected the name of a package at the start of the match specification",
        );
        error.help =
            source.starts_with('-').then(|| "options belong into the list under 'pip:'".to_owned());
        builder.syntax(&text, error);
        return None;
    }
    let mut entry =
        builder.entry(rest.get(..name_length).unwrap_or_default(), Origin::Conda, text.whole());
    entry.name_span = text.span(from, from + name_length);
    entry.channel = channel.filter(|c| !c.is_empty()).map(str::to_owned);
    let mut at = from + name_length;
    if let Some(open) = source.get(at..).and_then(|r| r.find('[')).map(|o| o + at) {
        bracket(&mut entry, &text, open);
        version(builder, &mut entry, &text, at, open);
    } else {
        at += source.get(at..).map_or(0, |r| r.len() - r.trim_start().len());
        version(builder, &mut entry, &text, at, source.len());
    }
    if entry.raw_name == "python" && !entry.specifier.is_empty() {
        set_python(builder, &entry);
    }
    Some(entry)
}

/// `[version='>=1', build=…, channel=…]`.
fn bracket(entry: &mut Entry, text: &Mapped, open: usize) {
    let source = text.as_str();
    let close = source.rfind(']').unwrap_or(source.len());
    let inner = source.get(open + 1..close).unwrap_or_default();
    let mut quote = None;
    let parts = inner.split(|c: char| {
        match quote {
            Some(q) if c == q => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
        c == ',' && quote.is_none()
    });
    for (key, value) in parts.filter_map(|part| part.split_once('=')) {
        let value = value.trim().trim_matches(['"', '\'']);
        match key.trim() {
            "version" => value.clone_into(&mut entry.specifier),
            "build" => entry.build = Some(value.to_owned()),
            "channel" => entry.channel = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// The version, and after `=` or a blank the build, between `from` and `to`.
fn version(builder: &mut Builder<'_>, entry: &mut Entry, text: &Mapped, from: usize, to: usize) {
    let source = text.as_str().get(from..to).unwrap_or_default();
    let body = source.trim_end();
    if body.is_empty() {
        return;
    }
    let operator = body.len() - body.trim_start_matches(['=', '<', '>', '!', '~']).len();
    let after = body.get(operator..).unwrap_or_default();
    let blanks = after.len() - after.trim_start().len();
    let first = operator + blanks;
    let rest = body.get(first..).unwrap_or_default();
    // `1.2=build`, or `1.2 build`; a comma goes on with the version.
    let split = rest.find(|c: char| c == '=' || c.is_whitespace()).filter(|at| {
        let head = rest.get(..*at).unwrap_or_default();
        let tail = rest.get(*at..).unwrap_or_default().trim_start();
        !head.ends_with([',', '|', '<', '>', '!', '~', '='])
            && !tail.starts_with([',', '|', '<', '>', '!'])
            && !(tail.starts_with("=="))
            && !head.contains(',')
    });
    let end = split.map_or(rest.len(), |at| at);
    if let Some(at) = split {
        let build = rest.get(at..).unwrap_or_default().trim_start_matches(['=', ' ', '\t']);
        if build.contains(char::is_whitespace) || build.contains("==") {
            let start = from + first + at;
            let mut error = SyntaxError::new(
                start..from + body.len(),
                "expected the end of the match specification",
            );
            error.help = Some("write one package per line".to_owned());
            builder.syntax(text, error);
        } else if !build.is_empty() && build != "*" {
            entry.build = Some(build.to_owned());
        }
    }
    let version = rest.get(..end).unwrap_or_default();
    entry.specifier = format!("{}{version}", body.get(..operator).unwrap_or_default())
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    entry.specifier_span = Some(text.span(from, from + first + end));
    if matches!(body.get(..operator), Some("==" | "=" | "")) && !version.contains([',', '|', '*']) {
        entry.version_span = Some(text.span(from + first, from + first + end));
    }
    if entry.specifier == "*" {
        entry.specifier.clear();
    }
}

/// Takes the Python that conda is asked for as the one of the environment.
pub(super) fn set_python(builder: &mut Builder<'_>, entry: &Entry) {
    let Some(specifiers) = entry.specifiers() else { return };
    let specifiers = specifiers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let span = entry.specifier_span.unwrap_or(entry.span);
    let request = PythonRequest { specifiers, span };
    builder.target().python = Some(request.clone());
    if builder.environment == 0 {
        builder.input.python = Some(request);
    }
}

/// A URL of a package: `…/channel/platform/name-version-build.conda#md5`.
fn explicit_url(builder: &mut Builder<'_>, text: &Mapped) -> Option<Entry> {
    let source = text.as_str();
    let (url, digest) = source.split_once('#').unwrap_or((source, ""));
    let start = url.rfind('/').map_or(0, |at| at + 1);
    let file_name = url.get(start..).unwrap_or_default();
    let stem =
        [".conda", ".tar.bz2"].into_iter().find_map(|extension| file_name.strip_suffix(extension));
    let parts = stem.and_then(|stem| {
        let (rest, build) = stem.rsplit_once('-')?;
        let (name, version) = rest.rsplit_once('-')?;
        Some((name, version, build))
    });
    let Some((name, version, build)) = parts else {
        let message =
            "expected the URL of a package that ends in NAME-VERSION-BUILD.conda or .tar.bz2";
        builder.syntax(text, SyntaxError::new(start..url.len(), message));
        return None;
    };
    let mut entry = builder.entry(name, Origin::CondaList, text.whole());
    let version_start = start + name.len() + 1;
    entry.name_span = text.span(start, start + name.len());
    entry.version_span = Some(text.span(version_start, version_start + version.len()));
    entry.locked = Some(version.to_owned());
    entry.build = Some(build.to_owned());
    let mut folders = url.get(..start).unwrap_or_default().trim_end_matches('/').rsplit('/');
    folders.next();
    entry.channel = folders.next().map(str::to_owned);
    if !digest.is_empty() {
        let at = text.span(url.len() + 1, source.len());
        let algorithm = if digest.len() == 64 { "sha256" } else { "md5" };
        entry.hashes.push(Hash {
            text: format!("{algorithm}:{}", digest.trim_start_matches("sha256:")),
            span: at,
        });
    }
    entry.wheels.push(Wheel {
        file_name: file_name.to_owned(),
        url: Some(url.to_owned()),
        hash: entry.hashes.first().map(|h| h.text.clone()),
        is_wheel: false,
        span: text.whole(),
    });
    entry.location = Some(Location::Url(url.to_owned()));
    if name == "python" {
        set_locked_python(builder, &entry);
    }
    Some(entry)
}

fn set_locked_python(builder: &mut Builder<'_>, entry: &Entry) {
    if let Some(version) = &entry.locked {
        let span = entry.version_span.unwrap_or(entry.span);
        builder.input.python = Some(PythonRequest { specifiers: format!("=={version}"), span });
    }
}

/// Reads an explicit specification: `@EXPLICIT`, then one URL per line.
pub(super) fn read_explicit(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    for (start, line) in lines(&text, LineEnds::Plain) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') || trimmed.starts_with('@') {
            continue;
        }
        let mapped = Mapped::copied(line, file, start).trim();
        let entry = if link::is_url(trimmed) {
            explicit_url(builder, &mapped)
        } else {
            let message = "an explicit specification has one URL per line";
            builder.syntax(&mapped, SyntaxError::new(0..trimmed.len(), message));
            None
        };
        builder.input.entries.extend(entry);
    }
}

/// Reads `conda list` as a table or as `--export`.
pub(super) fn read_list(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    for (start, line) in lines(&text, LineEnds::Plain) {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let mapped = Mapped::copied(line, file, start).trim();
        let source = mapped.as_str();
        let columns: Vec<(usize, &str)> = if source.contains(char::is_whitespace) {
            columns(source)
        } else {
            let mut at = 0;
            source
                .split('=')
                .map(|part| {
                    let column = (at, part);
                    at += part.len() + 1;
                    column
                })
                .collect()
        };
        if let [(_, name), (version_at, version), rest @ ..] = columns.as_slice()
            && !version.is_empty()
            && version.starts_with(|c: char| c.is_ascii_alphanumeric())
            && cuda_lock_constraint::name::Name::new(name.trim_start_matches('_')).is_ok()
        {
            let build = rest.first().map(|(_, b)| *b);
            let channel = rest.get(1).map(|(_, c)| *c);
            let by_pip = channel.is_some_and(|c| c == "pypi")
                || build.is_some_and(|b| b == "pypi_0" || b == "<pip>" || b == "pypi");
            let origin = if by_pip { Origin::CondaPip } else { Origin::CondaList };
            let mut entry = builder.entry(name, origin, mapped.whole());
            entry.name_span = mapped.span(0, name.len());
            entry.version_span = Some(mapped.span(*version_at, version_at + version.len()));
            entry.locked = Some((*version).to_owned());
            entry.build = build.map(str::to_owned);
            entry.channel = channel.map(str::to_owned);
            if *name == "python" {
                set_locked_python(builder, &entry);
            }
            builder.input.entries.push(entry);
        } else {
            let message = "not a row of `conda list`: expected name, version and build";
            let span = mapped.whole();
            builder.problem(span, ProblemCode::Syntax, Level::Error, message, None);
        }
    }
}

/// Words with their offsets.
pub(super) fn columns(line: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut at = 0;
    for word in line.split(char::is_whitespace) {
        if !word.is_empty() {
            out.push((at, word));
        }
        at += word.len()
            + line.get(at + word.len()..).and_then(|r| r.chars().next()).map_or(0, char::len_utf8);
    }
    out
}
