//! The reason why there is no answer, for people.

use cuda_lock_constraint::solve::Conflict;

use super::message::{self, FAINT, STRONG};

/// How many statements are shown without `--verbose`.
const STATEMENTS: usize = 12;

/// Prints the facts that collide, machine first.
pub fn print(conflict: &Conflict, verbose: bool) {
    let report = conflict.report();
    let headline = report.headline.filter(|_| !verbose);
    match &headline {
        Some(headline) => message::error(headline),
        None => message::error("no environment satisfies env.toml on this machine"),
    }
    message::line("");
    let (statements, asides) =
        if verbose { (conflict.full_proof(), 0) } else { (report.statements, report.asides) };
    let shown = if verbose { statements.len() } else { STATEMENTS };
    for statement in statements.iter().take(shown) {
        message::line(format_args!("  {}", statement.text));
        if let Some(source) = &statement.source {
            message::line(format_args!("      {FAINT}{source}{FAINT:#}"));
        }
    }
    let more = statements.len().saturating_sub(shown);
    match (more, asides) {
        (0, 0) => {}
        (0, 1) => message::line("  ... and 1 fact about another release (--verbose)"),
        (0, _) => {
            message::line(format_args!("  ... and {asides} facts about other releases (--verbose)"))
        }
        _ => message::line(format_args!("  ... and {} more facts (--verbose)", more + asides)),
    }
    if !conflict.hints.is_empty() || conflict.unasked.is_some() {
        message::line("");
    }
    for hint in &conflict.hints {
        message::line(format_args!("{STRONG}note{STRONG:#}: {hint}"));
    }
    if let Some(why) = &conflict.unasked {
        message::line(format_args!(
            "{STRONG}note{STRONG:#}: other builds may do, but their index could not be asked: {why}"
        ));
    }
}
