//! `cuda-lock explain`, in words.

use std::io::Write as _;
use std::sync::Arc;

use cuda_lock_commands::Failure;
use cuda_lock_commands::explain::{Answer, Subject};
use cuda_lock_commands::request::{Request, Targets};
use cuda_lock_commands::run::Run;
use cuda_lock_constraint::explain::{Drivers, Explanation, Holder, Newer};
use serde::Serialize;

use crate::args::{Explain, Format};
use crate::exit::Exit;
use crate::output::message::{self, FAINT, STRONG};
use crate::output::progress::Progress;
use crate::output::{conflict, json};

/// Holders that are printed; programs are given all of them.
const HOLDERS: usize = 6;

/// Runs the command.
///
/// # Errors
/// When there is nothing to explain.
pub fn run(args: &Explain) -> Result<Exit, Failure> {
    let subject: Subject = args.name.parse()?;
    let progress = Arc::new(Progress::new(false));
    let request = Request {
        targets: Targets::One(args.target.clone()),
        network: args.network.typed(),
        ..Request::new(&args.manifest)
    };
    let run = Run::open(request, progress.clone())?;
    let explained = run.explain(&args.name, subject);
    progress.clear();
    run.finish();
    let explained = explained?;
    explained.notes.iter().for_each(message::warning);
    match &explained.answer {
        Answer::Drivers(drivers) => print(args.format, drivers, print_drivers),
        Answer::Version(explanation) => print(args.format, explanation, print_explanation),
        Answer::Unsolvable(found) => {
            conflict::print(found, false);
            message::line("");
            message::help("`cuda-lock resolve` looks for changes that make it solvable");
            return Ok(Exit::No);
        }
    }
    Ok(Exit::Ok)
}

fn print<T: Serialize>(format: Format, value: &T, text: fn(&T)) {
    match format {
        Format::Text => text(value),
        Format::Json => json::print(value),
    }
}

fn print_explanation(explanation: &Explanation) {
    let mut out = crate::output::stdout();
    let Explanation { name, version, held_by, newer, not_tried } = explanation;
    let _ = writeln!(out, "{STRONG}{name} {version}{STRONG:#}");
    print_holders(held_by);
    if newer.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  newer releases:");
    let rows = rows(explanation);
    let width = rows.iter().map(|(versions, ..)| versions.len()).max().unwrap_or(0).max(10);
    let last = rows.len().saturating_sub(1);
    for (place, (versions, verdict)) in rows.iter().enumerate() {
        if *not_tried > 0 && place == last {
            let _ = writeln!(out, "  {FAINT}... {not_tried} more{FAINT:#}");
        }
        let _ = writeln!(out, "  {versions:<width$} {verdict}");
    }
}

/// The newer releases with what is said of each; neighbours of which the same is said are one row.
fn rows(explanation: &Explanation) -> Vec<(String, String)> {
    let Explanation { name, newer, not_tried, .. } = explanation;
    let take = match name.as_str() {
        "Python" => "`python` in [environment] takes it".to_owned(),
        "CUDA" | "cuDNN" => format!("`{}` in [machine] takes it", name.to_ascii_lowercase()),
        name => format!("`cuda-lock resolve -P {name}` takes it"),
    };
    let is_layer = matches!(name.as_str(), "Python" | "CUDA" | "cuDNN");
    let said = |release: &Newer| match (&release.why_not, release.moves.as_slice()) {
        (Some(why), _) if is_layer => format!("no: {why}"),
        (Some(why), _) => {
            format!("no: {}", why.replace(&format!("{name} {}", release.version), name))
        }
        (None, []) => format!("possible; {take}"),
        (None, moves) => format!("possible; moves {}", moves.join(", ")),
    };
    let newest = newer.len().saturating_sub(1);
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut first = "";
    for (place, release) in newer.iter().enumerate() {
        let verdict = said(release);
        match rows.last_mut() {
            // The newest stands alone: releases before it may not have been tried.
            Some((versions, known)) if *known == verdict && (place < newest || *not_tried == 0) => {
                *versions = format!("{first} to {}", release.version);
            }
            _ => {
                first = &release.version;
                rows.push((release.version.clone(), verdict));
            }
        }
    }
    rows
}

fn print_holders(holders: &[Holder]) {
    let mut out = crate::output::stdout();
    for holder in holders.iter().take(HOLDERS) {
        let _ = writeln!(out, "  {} needs {}", holder.subject, holder.range);
        let _ = writeln!(out, "      {FAINT}{}{FAINT:#}", holder.source);
    }
    if let Some(more) = holders.len().checked_sub(HOLDERS).filter(|more| *more > 0) {
        let _ =
            writeln!(out, "  {FAINT}and {more} more with looser bounds (--format json){FAINT:#}");
    }
}

fn print_drivers(drivers: &Drivers) {
    let mut out = crate::output::stdout();
    let rows = [
        ("driver of the machine", &drivers.machine),
        ("CUDA runtime", &drivers.cuda),
        ("minimum (minor-version compatibility)", &drivers.minimum),
        ("released with this CUDA or newer", &drivers.full),
        ("for GPUs reached only through PTX", &drivers.ptx),
        ("GPU that goes first", &drivers.first_to_go),
    ];
    for (label, value) in rows {
        let value = value.as_deref().unwrap_or("-");
        let _ = writeln!(out, "  {STRONG}{label:<38}{STRONG:#} {value}");
    }
    if !drivers.held_by.is_empty() {
        let _ = writeln!(out);
        print_holders(&drivers.held_by);
    }
}
