//! Changes that make a problem solvable, for people.

use cuda_lock_commands::fixes::Edit;
use cuda_lock_commands::resolve::Remedies;
use cuda_lock_constraint::fix::{Ended, Found};
use cuda_lock_constraint::solve::Conflict;

use super::message::{self, FAINT, STRONG};

/// Facts of a further conflict that are shown.
const ALSO: usize = 4;

/// Prints what collides besides, then the fixes, or that there is none.
pub fn print(remedies: &Remedies, first: &Conflict, file: &str) {
    let Remedies { found, fixes } = remedies;
    also(found, first);
    message::line("");
    match fixes.as_slice() {
        // What would allow it was said already.
        [] if !first.undeclared.is_empty() => return,
        [] if found.stopped.is_some() => {
            message::help(format_args!("no fix found in {} tries; {}", found.solves, ended(found)))
        }
        [] => message::help(format_args!(
            "nothing that was tried makes it solvable ({} tries)",
            found.solves
        )),
        [_] => message::help("this change makes it solvable (it was tried):"),
        _ => message::help("any one of these makes it solvable (each was tried):"),
    }
    for (number, fix) in (1..).zip(fixes) {
        for (n, edit) in fix.edits.iter().enumerate() {
            let start = if n == 0 { format!("{number}.") } else { "  ".to_owned() };
            let gives = match (n + 1 == fix.edits.len(), fix.gives.is_empty()) {
                (true, false) => format!("  {FAINT}gives {}{FAINT:#}", fix.gives.join(", ")),
                _ => String::new(),
            };
            message::line(format_args!("  {start} {}{gives}", text(edit, file)));
        }
    }
    if found.stopped.is_some() && !fixes.is_empty() {
        message::line(format_args!(
            "  {FAINT}{} after {} tries; there may be more{FAINT:#}",
            ended(found),
            found.solves
        ));
    }
}

/// Why the search came to its end before all was tried.
fn ended(found: &Found) -> &'static str {
    match found.stopped {
        Some(Ended::Clock) => "stopped looking because the indexes answer slowly",
        _ => "stopped looking",
    }
}

/// The conflicts that stay when the first one is mended, without the facts that were already told.
fn also(found: &Found, first: &Conflict) {
    let mut told: Vec<String> =
        first.report().statements.into_iter().map(|said| said.text).collect();
    for also in &found.also {
        let report = also.conflict.report();
        let headline = report.headline.map(|headline| format!(" {headline}"));
        let texts = report.statements.into_iter().map(|said| said.text);
        let new: Vec<String> = texts.filter(|text| !told.contains(text)).take(ALSO).collect();
        if headline.is_some() || !new.is_empty() {
            let without = also.without.text();
            message::line("");
            message::line(format_args!(
                "  even without {without}:{}",
                headline.unwrap_or_default()
            ));
            new.iter().for_each(|text| message::line(format_args!("  {text}")));
            told.extend(new);
        }
    }
}

fn text(edit: &Edit, file: &str) -> String {
    let place = match edit.line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    };
    let words = match (&edit.old, &edit.new) {
        (Some(old), Some(new)) if edit.or_newer => {
            format!("{STRONG}{new}{STRONG:#} or newer instead of {old}")
        }
        (Some(old), Some(new)) => format!("{STRONG}{new}{STRONG:#} instead of {old}"),
        (None, Some(new)) => format!("add {STRONG}{new}{STRONG:#}"),
        (Some(old), None) => format!("remove {STRONG}{old}{STRONG:#}"),
        (None, None) => String::new(),
    };
    format!("{place}: {} {words}", edit.key)
}
