//! `cuda-lock resolve --check`: do the files match env.toml, and do their pins still hold? Writes nothing.
//!
//! What needs no index is compared first: the manifest's digest, the machine, the files with what they would be written
//! as. Only a lock that passes is solved again, with its own pins preferred: METADATA never changes, so with fresh pages
//! in the cache this asks nothing of the network, and with stale ones it asks once per page whether the page still holds.

mod env;
mod pins;
mod reason;
mod text;

use std::path::Path;

use cuda_lock_constraint::audit::Finding;
use cuda_lock_constraint::matrix;
use cuda_lock_constraint::solve::{Conflict, SolveError};
use cuda_lock_formats::pylock::{LockMetadata, Pylock};
use cuda_lock_formats::regular::{self, TEXT_LIMIT};

use self::reason::Reason;
pub use self::reason::{FileReport, Report, Row};
use crate::digests;
use crate::failure::Failure;
use crate::judged;
use crate::lock::{Answer, requirements_of};
use crate::plan::Plan;
use crate::run::{Paths, Run};
use crate::targets::Solved;

/// What a check found, and what is to be said beside it.
pub struct Checked {
    /// Each file, up to date or not.
    pub report: Report,
    /// In the order in which the targets were solved again.
    pub remarks: Vec<Remark>,
}

/// Something that a person should know beside the state of the files.
pub enum Remark {
    /// A warning of the solution.
    Warning(String),
    /// A target has no solution any more.
    Unsolvable {
        /// Its name.
        target: Option<String>,
        /// What collides.
        conflict: Box<Conflict>,
    },
    /// A target has a solution that an audit would reject.
    Rejected {
        /// Its name.
        target: Option<String>,
        /// What does not hold.
        errors: Vec<Finding>,
    },
}

/// The lock of one target on its way through the check.
struct Pending<'p> {
    plan: &'p Plan,
    paths: Paths,
    /// The lock, when it can be read.
    lock: Option<Pylock>,
    /// What is wrong with it so far.
    reasons: Vec<Reason>,
}

impl Run {
    /// Checks the files of every target.
    ///
    /// # Errors
    /// When an index could not be read, or a file that is there.
    pub fn check(&self) -> Result<Checked, Failure> {
        let mut pending = Vec::with_capacity(self.plans.len());
        for plan in &self.plans {
            let paths = self.paths(plan);
            let (lock, reasons) = check_lock(self, plan, &paths.lock)?;
            pending.push(Pending { plan, paths, lock, reasons });
        }
        let mut remarks = Vec::new();
        solve_again(self, &mut pending, &mut remarks)?;
        let mut files = Vec::new();
        for Pending { plan, paths, lock, reasons } in pending {
            files.push(FileReport::new(&paths.lock, reasons));
            let reasons = check_requirements(self, plan, &paths.requirements, lock.as_ref());
            files.push(FileReport::new(&paths.requirements, reasons));
        }
        Ok(Checked { report: Report::new(files), remarks })
    }
}

/// The lock, when it can be read, and what is wrong with it that needs no index to see.
fn check_lock(
    run: &Run,
    plan: &Plan,
    path: &Path,
) -> Result<(Option<Pylock>, Vec<Reason>), Failure> {
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
    run: &Run,
    checked: &mut [Pending<'_>],
    remarks: &mut Vec<Remark>,
) -> Result<(), Failure> {
    let good = checked.iter().filter(|checked| checked.reasons.is_empty());
    let work: Vec<(&Plan, Option<&Pylock>)> =
        good.map(|checked| (checked.plan, checked.lock.as_ref())).collect();
    let mut notes = Vec::new();
    let parties = run.agreed(&work, &mut notes);
    remarks.extend(notes.into_iter().map(Remark::Warning));
    let good = checked.iter_mut().filter(|checked| checked.reasons.is_empty());
    for (checked, party) in good.zip(parties) {
        let Some((lock, tool)) = checked.lock.as_ref().and_then(|l| Some((l, l.tool.as_ref()?)))
        else {
            continue;
        };
        checked.reasons = check_pins(run, checked.plan, (lock, tool), party.outcome, remarks)?;
    }
    Ok(())
}

/// Whether what was solved again is the same lock.
fn check_pins(
    run: &Run,
    plan: &Plan,
    (lock, tool): (&Pylock, &LockMetadata),
    solved: Solved,
    remarks: &mut Vec<Remark>,
) -> Result<Vec<Reason>, Failure> {
    let (problem, mut solution) = match solved {
        Ok(solved) => solved,
        Err(SolveError::Conflict(found)) => {
            let facts = found.statements().into_iter().map(|statement| statement.text).collect();
            let target = plan.spec.name.clone();
            remarks.push(Remark::Unsolvable { target, conflict: found });
            return Ok(vec![Reason::Unsolvable(facts)]);
        }
        Err(SolveError::Catalog(error)) => return Err(error.into()),
    };
    // Nothing is downloaded here: a digest that the lock has and the index lacks is taken as it is.
    let without = digests::complete(&mut solution, Some(lock), None, None)?;
    solution.warnings.extend(without);
    let errors = judged::judge(&run.manifest.audit, plan, &problem, &mut solution);
    if !errors.is_empty() {
        let facts = errors.iter().map(|finding| finding.message.clone()).collect();
        remarks.push(Remark::Rejected { target: plan.spec.name.clone(), errors });
        return Ok(vec![Reason::Unsolvable(facts)]);
    }
    remarks.extend(solution.warnings.iter().cloned().map(Remark::Warning));
    let answer = Answer::new(run, plan, (problem, solution), Some(lock));
    remarks.extend(answer.passed.iter().map(|passed| Remark::Warning(passed.text.clone())));
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
fn check_requirements(run: &Run, plan: &Plan, path: &Path, lock: Option<&Pylock>) -> Vec<Reason> {
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return vec![Reason::Missing],
        Err(_) => return vec![Reason::Unreadable("it cannot be read".to_owned())],
    };
    // Without a lock of this program there is nothing to compare with, and the lock's own reason says what to do.
    let Some(lock) = lock.filter(|lock| lock.tool.is_some()) else { return Vec::new() };
    match requirements_of(lock, &run.manifest, plan) {
        Ok(written) => {
            text::first_difference(&text, &written).map(Reason::Differs).into_iter().collect()
        }
        Err(error) => vec![Reason::Unreadable(error.to_string())],
    }
}

/// A file, `None` when there is none.
fn read(path: &Path) -> Result<Option<String>, Failure> {
    match regular::read(path, TEXT_LIMIT) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::system(error)),
    }
}
