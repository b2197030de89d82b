//! `cuda-lock explain`: why something is in the lock at its version, and why it is not newer.

use std::io::Write as _;
use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::explain::{self, Drivers, Explanation, Holder, Newer};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::solve::{Problem, Solution, SolveError, nearest_of, solve};
use cuda_lock_formats::pylock::Pylock;

use crate::args::{Explain, Format, Upgrade};
use crate::exit::Exit;
use crate::fetching;
use crate::kept::Kept;
use crate::output::conflict;
use crate::output::message::{self, FAINT, STRONG};
use crate::output::progress::Progress;
use crate::plan::{self, Plan};
use crate::run::{Paths, existing};

/// Flags as if none were given: the pins of the lock stay.
const KEEP: Upgrade =
    Upgrade { upgrade: false, upgrade_package: Vec::new(), upgrade_stack: false, within: None };

/// What can be asked about beside distributions.
const WORDS: [&str; 5] = ["driver", "gpu", "cuda", "cudnn", "python"];

/// Holders that are printed; programs are given all of them.
const HOLDERS: usize = 6;

/// What is asked about.
enum Subject {
    Driver,
    Gpu,
    Layer(Package),
    Distribution(Name),
}

/// Runs the command.
pub fn run(args: &Explain) -> Exit {
    match explain(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn explain(args: &Explain) -> Result<Exit, Exit> {
    let subject = subject(&args.name)?;
    let manifest = plan::read_manifest(&args.manifest)?;
    let sources = plan::sources(&manifest, &args.manifest).map_err(Exit::bad_input)?;
    let plan =
        plan::plan(&manifest, args.target.as_deref(), &sources, None).map_err(Exit::bad_input)?;
    let progress = Arc::new(Progress::new(false));
    let config = plan::fetcher(&manifest, &sources, &args.network);
    let fetcher = fetching::open(config, &progress)?;
    let catalog: Arc<dyn Catalog> = fetcher.clone();
    let lock = existing(&Paths::new(&args.manifest, plan.spec.name.as_deref()))?;
    let outcome = answer(args, &subject, &plan, lock.as_ref(), &catalog, &progress);
    progress.clear();
    fetcher.finish();
    outcome
}

fn subject(text: &str) -> Result<Subject, Exit> {
    Ok(match text {
        "driver" => Subject::Driver,
        "gpu" => Subject::Gpu,
        "cuda" => Subject::Layer(Package::Cuda),
        "cudnn" => Subject::Layer(Package::Cudnn),
        "python" => Subject::Layer(Package::Python),
        name => Subject::Distribution(Name::new(name).map_err(|error| {
            message::error(error);
            Exit::BadInput
        })?),
    })
}

fn answer(
    args: &Explain,
    subject: &Subject,
    plan: &Plan,
    lock: Option<&Pylock>,
    catalog: &Arc<dyn Catalog>,
    progress: &Progress,
) -> Result<Exit, Exit> {
    let (problem, solution) = match solved(plan, lock, catalog) {
        Ok(solved) => solved,
        Err(SolveError::Conflict(found)) => {
            progress.clear();
            conflict::print(&found, false);
            message::line("");
            message::help("`cuda-lock resolve` looks for changes that make it solvable");
            return Ok(Exit::No);
        }
        Err(SolveError::Catalog(error)) => return Err(Exit::unreadable(&error)),
    };
    let nothing = || {
        progress.clear();
        message::error(format_args!("nothing in this environment needs {}", args.name));
        let known = solution.builds.keys().map(|name| name.as_str()).chain(WORDS);
        if let Some(meant) = nearest_of(&args.name.to_ascii_lowercase(), known) {
            message::help(format_args!("did you mean {meant}?"));
        }
        Exit::BadInput
    };
    let explanation = match subject {
        Subject::Driver => {
            let drivers = explain::drivers(&solution, &problem);
            progress.clear();
            print(args.format, &drivers, print_drivers);
            return Ok(Exit::Ok);
        }
        Subject::Gpu => explain::layer(&problem, catalog, &solution, Package::Gpu(0)),
        Subject::Layer(package) => explain::layer(&problem, catalog, &solution, *package),
        Subject::Distribution(name) => explain::distribution(&problem, catalog, &solution, *name)
            .map_err(|e| Exit::unreadable(&e))?,
    };
    let explanation = explanation.ok_or_else(nothing)?;
    progress.clear();
    if let (Subject::Distribution(name), Some(lock)) = (subject, lock) {
        let locked = lock.packages.iter().find(|package| package.name == *name);
        let locked = locked.and_then(|package| package.version.as_ref()).map(ToString::to_string);
        if locked.as_ref() != Some(&explanation.version) {
            message::warning(format_args!(
                "the lock is not what env.toml gives now: it has {}",
                locked.unwrap_or_else(|| "none".to_owned())
            ));
        }
    }
    print(args.format, &explanation, print_explanation);
    Ok(Exit::Ok)
}

/// The solution with the pins of the lock kept.
fn solved(
    plan: &Plan,
    lock: Option<&Pylock>,
    catalog: &Arc<dyn Catalog>,
) -> Result<(Problem, Solution), SolveError> {
    let Ok(kept) = Kept::new(&KEEP) else {
        let problem = plan.problem.clone();
        return solve(Arc::new(problem.clone()), Arc::clone(catalog)).map(|s| (problem, s));
    };
    let mut first = None;
    for python in kept.pythons(lock, plan) {
        let mut problem = plan.problem_for(python);
        kept.apply(lock, &mut problem);
        match solve(Arc::new(problem.clone()), Arc::clone(catalog)) {
            Ok(solution) => return Ok((problem, solution)),
            Err(SolveError::Conflict(conflict)) => {
                first.get_or_insert(SolveError::Conflict(conflict));
            }
            Err(error) => return Err(error),
        }
    }
    match first {
        Some(error) => Err(error),
        None => {
            let problem = plan.problem.clone();
            solve(Arc::new(problem.clone()), Arc::clone(catalog)).map(|s| (problem, s))
        }
    }
}

fn print<T: serde::Serialize>(format: Format, value: &T, text: fn(&T)) {
    match format {
        Format::Text => text(value),
        Format::Json => {
            if let Ok(json) = serde_json::to_string_pretty(value) {
                let _ = writeln!(crate::output::stdout(), "{json}");
            }
        }
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
