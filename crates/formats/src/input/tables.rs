//! `pip list`: as columns, in the old form `name (version)`, and as JSON; `conda list --json` as well.

use super::build::Builder;
use super::conda::columns;
use super::model::{Level, Location, Origin, ProblemCode, Span};
use super::text::{LineEnds, Mapped, lines};

/// Reads a table of `pip list`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    // Columns start where the dashes start; a location may contain blanks.
    let mut location_at = None;
    for (start, line) in lines(&text, LineEnds::Plain) {
        let words = columns(line);
        let first = words.first().map_or("", |(_, word)| *word);
        if first.is_empty() || first == "Package" || first.starts_with('#') {
            location_at = location_at.or_else(|| line.find("Editable project location"));
            continue;
        }
        if first.starts_with("--")
            || first.starts_with("WARNING:")
            || first.starts_with("[notice]")
            || first.starts_with("DEPRECATION:")
        {
            continue;
        }
        let mapped = Mapped::copied(line, file, start).trim();
        let shift = line.len() - line.trim_start().len();
        let [(name_at, name), (version_at, version), rest @ ..] = words.as_slice() else {
            not_a_row(builder, &mapped);
            continue;
        };
        let inner = version.trim_start_matches('(').trim_end_matches([')', ',']);
        let version_at = version_at + (version.len() - version.trim_start_matches('(').len());
        if !inner.starts_with(|c: char| c.is_ascii_digit() || c == 'v')
            || cuda_lock_constraint::name::Name::new(name).is_err()
        {
            not_a_row(builder, &mapped);
            continue;
        }
        let mut entry = builder.entry(name, Origin::PipList, mapped.whole());
        entry.name_span = mapped.span(name_at - shift, name_at - shift + name.len());
        entry.version_span =
            Some(mapped.span(version_at - shift, version_at - shift + inner.len()));
        entry.locked = Some(inner.to_owned());
        let location = location_at.filter(|at| rest.first().is_some_and(|(place, _)| place >= at));
        let location = location.and_then(|at| line.get(at..)).map(str::trim);
        if let Some(path) = location.or_else(|| {
            rest.first().map(|(_, w)| w.trim_end_matches(')')).filter(|w| w.contains(['/', '\\']))
        }) {
            entry.editable = true;
            // The last column is the installer.
            let path = path.split("  ").next().unwrap_or(path);
            entry.location = Some(Location::Path(path.to_owned()));
        }
        builder.input.entries.push(entry);
    }
}

fn not_a_row(builder: &mut Builder<'_>, line: &Mapped) {
    let message = "not a row of `pip list`: expected a name and a version";
    builder.problem(line.whole(), ProblemCode::Syntax, Level::Error, message, None);
}

/// Reads `pip list --format=json` and `conda list --json`. JSON has no places, so each row is found by its name.
pub(super) fn read_json(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    let rows: Vec<serde_json::Map<String, serde_json::Value>> = match serde_json::from_str(&text) {
        Ok(rows) => rows,
        Err(error) => {
            let starts: Vec<usize> =
                lines(&text, LineEnds::Plain).into_iter().map(|(start, _)| start).collect();
            let start = starts.get(error.line().saturating_sub(1)).copied().unwrap_or(0);
            let at = (start + error.column().saturating_sub(1)).min(text.len());
            let span = Span { file, start: at, end: at };
            builder.problem(span, ProblemCode::Syntax, Level::Error, error.to_string(), None);
            return;
        }
    };
    let mut from = 0;
    for row in rows {
        let get = |key: &str| row.get(key).and_then(|v| v.as_str());
        let (Some(name), Some(version)) = (get("name"), get("version")) else { continue };
        let find = |needle: &str, from: usize| {
            let quoted = serde_json::to_string(needle).ok()?;
            let at = text.get(from..)?.find(&quoted)? + from;
            Some(Span { file, start: at + 1, end: at + quoted.len() - 1 })
        };
        // Keys come in any order within a row; rows come in order.
        let name_span = find(name, from).unwrap_or(Span { file, start: 0, end: 0 });
        let row_start =
            text.get(..name_span.start).and_then(|t| t.rfind('{')).unwrap_or(0).max(from);
        let version_span = find(version, row_start);
        from = name_span.end.max(from);
        let channel = get("channel");
        let origin = match channel {
            Some("pypi") => Origin::CondaPip,
            Some(_) => Origin::CondaList,
            None => Origin::PipList,
        };
        let mut entry = builder.entry(name, origin, name_span);
        entry.version_span = version_span;
        entry.locked = Some(version.to_owned());
        entry.build = get("build_string").map(str::to_owned);
        entry.channel = channel.map(str::to_owned);
        if let Some(path) = get("editable_project_location") {
            entry.editable = true;
            entry.location = Some(Location::Path(path.to_owned()));
        }
        builder.input.entries.push(entry);
    }
}
