//! `cuda-lock resolve`, in words.

use std::io::Write as _;
use std::sync::Arc;

use cuda_lock_commands::Failure;
use cuda_lock_commands::check::{Checked, Remark};
use cuda_lock_commands::resolve::{Refusal, Report, Solved, Unsolved};
use cuda_lock_commands::run::Run;
use cuda_lock_constraint::solve::Conflict;
use cuda_lock_formats::atomic::Outcome;

use crate::args::{Format, Resolve};
use crate::exit::Exit;
use crate::output::progress::Progress;
use crate::output::{conflict, fixes, json, message, rejected, sdists, stack};

/// Runs the command.
///
/// # Errors
/// When there is no report.
pub fn run(args: &Resolve) -> Result<Exit, Failure> {
    let progress = Arc::new(Progress::new(args.quiet));
    let run = match &args.problem {
        Some(file) => Run::replay(file, progress.clone())?,
        None => Run::open(args.request()?, progress.clone())?,
    };
    let outcome = if args.check {
        run.check().map(|checked| {
            progress.clear();
            print_check(args, &checked)
        })
    } else {
        run.resolve().and_then(|report| {
            progress.clear();
            print(args, &run, &report)
        })
    };
    progress.clear();
    run.finish();
    if let Some(path) = &args.save_problem {
        run.save(path)?;
        if !args.quiet {
            let path = path.display();
            message::help(format_args!(
                "the problem is in {path}; solve it again with: cuda-lock resolve --problem {path}"
            ));
        }
    }
    outcome
}

/// Prints what became of each target, and writes the files when there is an answer for all of them.
fn print(args: &Resolve, run: &Run, report: &Report<'_>) -> Result<Exit, Failure> {
    report.notes.iter().for_each(message::warning);
    let mut targets = Vec::new();
    for target in &report.targets {
        match &target.outcome {
            Ok(solved) => show(args, solved, &mut targets),
            Err(Unsolved::Refused(refusal)) => refuse(args, run, refusal, &mut targets),
            Err(Unsolved::Rejected(why)) if args.format == Format::Json => {
                targets.push(json::rejected(why));
            }
            Err(Unsolved::Rejected(why)) => rejected::print(why.target.as_deref(), &why.errors),
        }
    }
    let work = || json::Work::new(report.decisions, run.stats());
    if args.format == Format::Json {
        json::print(&json::Report { schema: 1, targets, work: args.stats.then(work) });
    } else if args.stats {
        message::line(work());
    }
    if !report.is_solved() {
        return Ok(if report.is_unread() { Exit::Network } else { Exit::No });
    }
    if !args.dry_run && args.problem.is_none() {
        write(args, report)?;
    }
    Ok(Exit::Ok)
}

fn show(args: &Resolve, solved: &Solved<'_>, targets: &mut Vec<json::TargetReport>) {
    for name in &solved.unknown {
        message::warning(format_args!("--upgrade-package {name}: nothing here needs {name}"));
    }
    let answer = &solved.answer;
    if !args.quiet {
        answer.solution.warnings.iter().for_each(message::warning);
        answer.passed.iter().for_each(|passed| message::warning(&passed.text));
    }
    if args.format == Format::Json {
        targets.push(json::solved(answer));
        return;
    }
    if args.quiet {
        return;
    }
    let target = answer.plan.spec.name.as_ref().map(|name| format!(" for {name}"));
    let count = answer.solution.builds.len();
    let mut out = crate::output::stdout();
    let _ = writeln!(out, "Resolved {count} packages{}:\n", target.unwrap_or_default());
    stack::print(answer);
    let _ = writeln!(out);
    if args.dry_run || args.problem.is_some() {
        for (name, chosen) in &answer.solution.builds {
            let _ = writeln!(out, "{name}=={}", chosen.version);
        }
    }
}

/// Says why there is no answer, then looks for changes after which there is one.
fn refuse(args: &Resolve, run: &Run, refusal: &Refusal<'_>, targets: &mut Vec<json::TargetReport>) {
    let json = args.format == Format::Json;
    let sharper = if args.quiet { None } else { refusal.among_pins() };
    let found = sharper.as_deref().unwrap_or(&refusal.conflict);
    if !json {
        if let Some(target) = refusal.target() {
            message::line(format_args!("target {target}:"));
        }
        conflict::print(found, args.verbose);
        sdists::offer(found);
        name_the_asked(refusal, found);
        if args.quiet {
            return;
        }
    }
    let remedies = refusal.remedies(found);
    if json {
        targets.push(json::unsolved(refusal.target(), found, remedies));
        return;
    }
    fixes::print(&remedies, found, run.manifest.source().name());
    if let Some(hint) = refusal.hint() {
        message::help(hint);
    }
}

/// Where a project was looked for that no index has.
fn name_the_asked(refusal: &Refusal<'_>, found: &Conflict) {
    for asked in refusal.asked(found) {
        let indexes: Vec<String> =
            asked.indexes.iter().map(|(name, address)| format!("{name} ({address})")).collect();
        message::help(format_args!("asked for {}: {}", asked.name, indexes.join(", ")));
    }
}

fn write(args: &Resolve, report: &Report<'_>) -> Result<(), Failure> {
    let outcomes = report.write()?;
    if args.quiet || args.format == Format::Json {
        return Ok(());
    }
    let mut out = crate::output::stdout();
    for (file, outcome) in outcomes {
        let verb = match outcome {
            Outcome::Created | Outcome::Replaced => "wrote",
            Outcome::Unchanged => "unchanged:",
        };
        let _ = writeln!(out, "{verb} {}", file.path.display());
    }
    Ok(())
}

fn print_check(args: &Resolve, checked: &Checked) -> Exit {
    let json = args.format == Format::Json;
    for remark in &checked.remarks {
        match remark {
            Remark::Warning(text) => message::warning(text),
            Remark::Unsolvable { .. } | Remark::Rejected { .. } if json => {}
            Remark::Rejected { target, errors } => rejected::print(target.as_deref(), errors),
            Remark::Unsolvable { target, conflict: found } => {
                if let Some(target) = target {
                    message::line(format_args!("target {target}:"));
                }
                conflict::print(found, args.verbose);
            }
        }
    }
    let report = &checked.report;
    if json {
        json::print(report);
    } else {
        print_files(args.quiet, checked);
    }
    if report.up_to_date { Exit::Ok } else { Exit::No }
}

fn print_files(quiet: bool, checked: &Checked) {
    let mut out = crate::output::stdout();
    for file in &checked.report.files {
        if file.up_to_date {
            if !quiet {
                let _ = writeln!(out, "up to date: {}", file.path);
            }
            continue;
        }
        message::line(format_args!("stale: {}", file.path));
        for reason in &file.reasons {
            message::line(format_args!("  - {}", reason.text));
        }
    }
    if !checked.report.up_to_date {
        message::help(
            "to write the files anew, keeping every pin that holds, run: cuda-lock resolve",
        );
    }
}
