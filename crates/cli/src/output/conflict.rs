//! The reason why there is no answer, for people.

use cuda_lock_constraint::solve::{CollidingFact, Conflict, PassedOver, describe};

use super::message::{self, FAINT, STRONG};

/// How many facts are shown without `--verbose`.
const FACTS: usize = 15;

/// Prints the facts that collide, machine first, then what was passed over.
pub fn print(conflict: &Conflict, verbose: bool) {
    message::error("no environment satisfies env.toml on this machine");
    message::line("");
    let shown = if verbose { conflict.facts.len() } else { FACTS };
    for fact in conflict.facts.iter().take(shown) {
        let (line, source) = describe(fact);
        message::line(format_args!("  {line}"));
        if let Some(source) = source.filter(|_| !is_own(fact)) {
            message::line(format_args!("      {FAINT}{source}{FAINT:#}"));
        }
    }
    if conflict.facts.len() > shown {
        let more = conflict.facts.len() - shown;
        message::line(format_args!("  ... and {more} more facts; --verbose shows them all"));
    }
    message::line("");
    for (what, count) in passed_over(conflict) {
        let releases = if count == 1 { "release" } else { "releases" };
        message::line(format_args!(
            "{STRONG}note{STRONG:#}: {count} {releases} passed over: {what}"
        ));
    }
    if let Some(why) = &conflict.unasked {
        message::help(format_args!(
            "other builds may do, but their index could not be asked: {why}"
        ));
    }
}

fn is_own(fact: &CollidingFact) -> bool {
    matches!(fact, CollidingFact::Needs { subject, .. } if subject.to_string() == "env.toml")
}

/// What was passed over, by project and reason.
fn passed_over(conflict: &Conflict) -> Vec<(String, usize)> {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for rejection in &conflict.rejections {
        let name = rejection.name;
        let text = match &rejection.why {
            PassedOver::Prerelease => {
                format!(
                    "pre-releases of {name}; env.toml can ask for one by name: {name}=={}",
                    rejection.version
                )
            }
            PassedOver::Yanked(_) => format!("{name}: withdrawn by its author"),
            PassedOver::TooNew => format!("{name}: uploaded after exclude-newer"),
            PassedOver::NoFile(files) => format!("{name}: no file fits ({})", files.join("; ")),
            PassedOver::Broken(why) => format!("{name}: {why}"),
        };
        let key = |text: &str| text.split(['(', ';']).next().unwrap_or_default().to_owned();
        match groups.iter_mut().find(|(known, _)| key(known) == key(&text)) {
            Some((_, count)) => *count += 1,
            None => groups.push((text, 1)),
        }
    }
    groups
}
