//! `cuda-lock resolve --check`: do the files match env.toml, and do their pins still hold? Writes nothing.
//!
//! What needs no index is compared first: the manifest's digest, the machine, the files with what they would be written
//! as. Only a lock that passes is solved again, with its own pins preferred: METADATA never changes, so with fresh pages
//! in the cache this asks nothing of the network, and with stale ones it asks once per page whether the page still holds.

mod env;
mod pins;
mod reason;
mod text;

use std::io::Write as _;
use std::path::Path;

use cuda_lock_constraint::matrix;
use cuda_lock_constraint::solve::{Conflict, SolveError};
use cuda_lock_formats::pylock::{LockMetadata, Pylock};

use self::reason::{FileReport, Reason, Report};
use crate::args::Format;
use crate::digests;
use crate::exit::Exit;
use crate::judged;
use crate::lock::{Answer, requirements_of};
use crate::output::progress::Progress;
use crate::output::{conflict, message};
use crate::plan::Plan;
use crate::run::{Paths, Run};
use crate::targets::Solved;

/// The lock of one target on its way through the check.
struct Checked<'p> {
    plan: &'p Plan,
    paths: Paths,
    /// The lock, when it can be read.
    lock: Option<Pylock>,
    /// What is wrong with it so far.
    reasons: Vec<Reason>,
}

/// Checks the files of every target.
pub(super) fn all(run: &Run<'_>, plans: &[Plan], progress: &Progress) -> Result<Exit, Exit> {
    let mut checked = Vec::with_capacity(plans.len());
    for plan in plans {
        let paths = Paths::new(&run.args.manifest, plan.spec.name.as_deref());
        let (lock, reasons) = check_lock(run, plan, &paths.lock)?;
        checked.push(Checked { plan, paths, lock, reasons });
    }
    solve_again(run, &mut checked, progress)?;
    let mut files = Vec::new();
    for Checked { plan, paths, lock, reasons } in checked {
        files.push(FileReport::new(&paths.lock, reasons));
        let reasons = check_requirements(run, plan, &paths.requirements, lock.as_ref());
        files.push(FileReport::new(&paths.requirements, reasons));
    }
    let report = Report::new(files);
    let exit = if report.up_to_date { Exit::Ok } else { Exit::No };
    print(run, &report);
    Ok(exit)
}

/// The lock, when it can be read, and what is wrong with it that needs no index to see.
fn check_lock(
    run: &Run<'_>,
    plan: &Plan,
    path: &Path,
) -> Result<(Option<Pylock>, Vec<Reason>), Exit> {
    let Some(text) = read(path)? else { return Ok((None, vec![Reason::Missing])) };
    let lock = match Pylock::parse(&text, &path.display().to_string()) {
        Ok(lock) => lock,
        Err(why) => return Ok((None, vec![Reason::Unreadable(text::broken(&text, &why))])),
    };
    let Some(tool) = &lock.tool else { return Ok((Some(lock), vec![Reason::Foreign])) };
    let mut reasons = Vec::new();
    if tool.manifest == run.manifest.target_digest(&plan.spec) {
        reasons.extend(env::moved_cutoff(tool, plan).map(Reason::Environment));
    } else {
        reasons.extend(env::changes(tool, plan).into_iter().map(Reason::Environment));
    }
    reasons.extend(text::first_difference(&text, &lock.to_toml()).map(Reason::Edited));
    Ok((Some(lock), reasons))
}

/// Solves the targets again whose locks had nothing wrong so far, together, with their pins preferred.
fn solve_again(
    run: &Run<'_>,
    checked: &mut [Checked<'_>],
    progress: &Progress,
) -> Result<(), Exit> {
    let good = checked.iter().filter(|checked| checked.reasons.is_empty());
    let work: Vec<(&Plan, Option<&Pylock>)> =
        good.map(|checked| (checked.plan, checked.lock.as_ref())).collect();
    let parties = run.agreed(&work);
    progress.clear();
    let good = checked.iter_mut().filter(|checked| checked.reasons.is_empty());
    for (checked, party) in good.zip(parties) {
        let Some((lock, tool)) = checked.lock.as_ref().and_then(|l| Some((l, l.tool.as_ref()?)))
        else {
            continue;
        };
        checked.reasons = check_pins(run, checked.plan, (lock, tool), party.outcome)?;
    }
    Ok(())
}

/// Whether what was solved again is the same lock.
fn check_pins(
    run: &Run<'_>,
    plan: &Plan,
    (lock, tool): (&Pylock, &LockMetadata),
    solved: Solved,
) -> Result<Vec<Reason>, Exit> {
    let (problem, mut solution) = match solved {
        Ok(solved) => solved,
        Err(SolveError::Conflict(found)) => {
            explain(run, plan, &found);
            let facts = found.statements().into_iter().map(|statement| statement.text).collect();
            return Ok(vec![Reason::Unsolvable(facts)]);
        }
        Err(SolveError::Catalog(error)) => return Err(Exit::unreadable(&error)),
    };
    // Nothing is downloaded here: a digest that the lock has and the index lacks is taken as it is.
    let without =
        digests::complete(&mut solution, Some(lock), None).map_err(|e| Exit::unreadable(&e))?;
    solution.warnings.extend(without);
    let errors = judged::judge(&run.manifest.audit, plan, &problem, &mut solution);
    if !errors.is_empty() {
        judged::print(plan.spec.name.as_deref(), &errors);
        return Ok(vec![Reason::Unsolvable(errors.into_iter().map(|e| e.message).collect())]);
    }
    for warning in &solution.warnings {
        message::warning(warning);
    }
    let system = solution.system_stack(&problem);
    let answer = Answer {
        manifest: run.manifest,
        plan,
        problem: &problem,
        sources: run.sources,
        solution: &solution,
        stack: &system,
    };
    let mut now = answer.pylock();
    let other_facts = tool.matrices != matrix::REVISION;
    let mut reasons = pins::moved(run, lock, &now, &answer, other_facts)?;
    if other_facts {
        reasons.extend(pins::changed_facts(tool, now.tool.as_ref()).map(Reason::Facts));
        if let Some(new) = &mut now.tool {
            pins::take_words(new, tool);
        }
    }
    if reasons.is_empty()
        && let Some(at) = text::first_difference(&lock.to_toml(), &now.to_toml())
    {
        reasons.push(Reason::Other(at));
    }
    Ok(reasons)
}

/// requirements.txt must be what the lock beside it gives.
fn check_requirements(
    run: &Run<'_>,
    plan: &Plan,
    path: &Path,
    lock: Option<&Pylock>,
) -> Vec<Reason> {
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return vec![Reason::Missing],
        Err(_) => return vec![Reason::Unreadable("it cannot be read".to_owned())],
    };
    // Without a lock of this program there is nothing to compare with, and the lock's own reason says what to do.
    let Some(lock) = lock.filter(|lock| lock.tool.is_some()) else { return Vec::new() };
    match requirements_of(lock, run.manifest, plan) {
        Ok(written) => {
            text::first_difference(&text, &written).map(Reason::Differs).into_iter().collect()
        }
        Err(error) => vec![Reason::Unreadable(error.to_string())],
    }
}

/// A file, `None` when there is none.
fn read(path: &Path) -> Result<Option<String>, Exit> {
    match fs_err::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            message::error(error);
            Err(Exit::BadInput)
        }
    }
}

fn explain(run: &Run<'_>, plan: &Plan, found: &Conflict) {
    if run.args.format == Format::Json {
        return;
    }
    if let Some(target) = &plan.spec.name {
        message::line(format_args!("target {target}:"));
    }
    conflict::print(found, run.args.verbose);
}

fn print(run: &Run<'_>, report: &Report) {
    let mut out = anstream::stdout();
    if run.args.format == Format::Json {
        if let Ok(text) = serde_json::to_string_pretty(report) {
            let _ = writeln!(out, "{text}");
        }
        return;
    }
    for file in &report.files {
        if file.up_to_date {
            if !run.args.quiet {
                let _ = writeln!(out, "up to date: {}", file.path);
            }
            continue;
        }
        message::line(format_args!("stale: {}", file.path));
        for reason in &file.reasons {
            message::line(format_args!("  - {}", reason.text));
        }
    }
    if !report.up_to_date {
        message::help(
            "to write the files anew, keeping every pin that holds, run: cuda-lock resolve",
        );
    }
}
