//! `cuda-lock resolve`: env.toml becomes pylock.toml and requirements.txt.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use cuda_lock_constraint::audit::Finding;
use cuda_lock_constraint::fix;
use cuda_lock_constraint::solve::{Conflict, Problem, Solution, SolveError};
use cuda_lock_formats::atomic::{Outcome, Output, write_all};
use cuda_lock_formats::diagnostic::mask_credentials;
use cuda_lock_formats::manifest::{ExcludeNewer, Manifest};
use cuda_lock_formats::pylock::Pylock;

use crate::args::{Format, Resolve};
use crate::commands::check;
use crate::digests;
use crate::exit::Exit;
use crate::fetching;
use crate::judged;
use crate::kept::Kept;
use crate::lock::Answer;
use crate::output::progress::Progress;
use crate::output::{conflict, fixes, json, message, stack};
use crate::plan::{self, Plan};
use crate::problem::{self, Answers};
use crate::run::Run;

/// A file that is to be written.
struct Written {
    path: PathBuf,
    content: String,
}

/// Runs the command.
pub fn run(args: &Resolve) -> Exit {
    match resolve(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn resolve(args: &Resolve) -> Result<Exit, Exit> {
    match &args.problem {
        Some(path) => {
            let (args, manifest, answers) = problem::read(args, path)?;
            resolve_with(&args, &manifest, &answers)
        }
        None => {
            let answers = Answers::of_indexes(args.save_problem.is_some());
            resolve_with(args, &plan::read_manifest(&args.manifest)?, &answers)
        }
    }
}

fn resolve_with(args: &Resolve, manifest: &Manifest, answers: &Answers) -> Result<Exit, Exit> {
    let exclude_newer = exclude_newer(args)?;
    let kept = Kept::new(&args.upgrade).map_err(|text| {
        message::error(text);
        Exit::BadInput
    })?;
    let sources = plan::sources(manifest, &args.manifest).map_err(Exit::bad_input)?;
    if sources.all.is_empty() {
        return Err(Exit::bad_input(plan::none_left(manifest)));
    }
    let names: Vec<Option<&str>> = match &args.target {
        Some(name) => vec![Some(name.as_str())],
        None => manifest.target_names(),
    };
    let plans = names
        .into_iter()
        .map(|name| plan::plan(manifest, name, &sources, exclude_newer.as_ref()))
        .collect::<Result<Vec<Plan>, _>>()
        .map_err(Exit::bad_input)?;
    let progress = Arc::new(Progress::new(args.quiet));
    let mut fetcher = None;
    let catalog = answers.catalog(&sources, || {
        let config = plan::fetcher(manifest, &sources, &args.network);
        fetching::open(config, &progress).inspect(|opened| fetcher = Some(Arc::clone(opened)))
    })?;
    let run = Run {
        args,
        manifest,
        sources: &sources,
        kept: &kept,
        catalog,
        answers,
        fetcher: fetcher.clone(),
    };
    // As they are now: the run may replace them.
    let locks = answers.noted_locks(&plans, |plan| run.paths(plan).lock);
    let outcome =
        if args.check { check::all(&run, &plans, &progress) } else { run.all(&plans, &progress) };
    progress.clear();
    if let Some(fetcher) = fetcher {
        fetcher.finish();
    }
    problem::save(args, manifest, answers, (&plans, locks))?;
    outcome
}

impl Run<'_> {
    /// Solves every target, then writes all files or none.
    fn all(&self, plans: &[Plan], progress: &Progress) -> Result<Exit, Exit> {
        let mut files = Vec::new();
        let mut reports = Vec::new();
        let mut exit = Exit::Ok;
        let mut decisions = 0;
        let locks: Vec<Option<Pylock>> = plans.iter().map(|plan| self.existing(plan)).collect();
        let work: Vec<(&Plan, Option<&Pylock>)> =
            plans.iter().zip(locks.iter().map(Option::as_ref)).collect();
        let parties = self.agreed(&work);
        progress.clear();
        for ((plan, lock), party) in work.into_iter().zip(parties) {
            let paths = self.paths(plan);
            match party.outcome {
                Ok((problem, mut solution)) => {
                    decisions += solution.decisions;
                    let download = self.fetcher.as_deref().filter(|_| self.args.hash_missing);
                    let without = digests::complete(&mut solution, lock, download)
                        .map_err(|error| Exit::unreadable(&error))?;
                    solution.warnings.extend(without);
                    let errors = judged::judge(&self.manifest.audit, plan, &problem, &mut solution);
                    if !errors.is_empty() {
                        exit = Exit::No;
                        self.reject(plan, &errors, &mut reports);
                        continue;
                    }
                    let system = solution.system_stack(&problem);
                    let answer = Answer {
                        manifest: self.manifest,
                        plan,
                        problem: &problem,
                        sources: self.sources,
                        solution: &solution,
                        stack: &system,
                    };
                    self.name_unknown(lock, &solution);
                    self.show(&answer, &mut reports);
                    let lock = answer.pylock();
                    let requirements = answer.requirements(&lock).map_err(|error| {
                        message::error(error);
                        Exit::No
                    })?;
                    files.push(Written { path: paths.lock, content: lock.to_toml() });
                    files.push(Written { path: paths.requirements, content: requirements });
                }
                Err(SolveError::Conflict(found)) => {
                    // What an index that could not be read has to say, nobody knows: that is no refusal.
                    exit = if found.unasked.is_some() { Exit::Network } else { Exit::No };
                    decisions += found.decisions;
                    let problem = party.refused.as_deref().unwrap_or(&plan.problem);
                    self.refuse((plan, problem), &found, &mut reports);
                }
                Err(SolveError::Catalog(error)) => return Err(Exit::unreadable(&error)),
            }
        }
        if self.args.format == Format::Json {
            let work = self.args.stats.then(|| self.work(decisions));
            print_json(&json::Report { schema: 1, targets: reports, work });
        } else if self.args.stats {
            message::line(self.work(decisions));
        }
        if exit == Exit::Ok && !self.args.dry_run {
            self.write(&files)?;
        }
        Ok(exit)
    }

    /// Says why what was solved is no answer.
    fn reject(&self, plan: &Plan, errors: &[Finding], reports: &mut Vec<json::TargetReport>) {
        let target = plan.spec.name.as_deref();
        if self.args.format == Format::Json {
            reports.push(json::rejected(target, errors));
        } else {
            judged::print(target, errors);
        }
    }

    fn name_unknown(&self, lock: Option<&Pylock>, solution: &Solution) {
        let locked = lock.map(|lock| lock.packages.as_slice()).unwrap_or_default();
        let known = |name| {
            solution.builds.contains_key(&name) || locked.iter().any(|package| package.name == name)
        };
        for name in self.kept.unknown(known) {
            message::warning(format_args!("--upgrade-package {name}: nothing here needs {name}"));
        }
    }

    fn show(&self, answer: &Answer<'_>, reports: &mut Vec<json::TargetReport>) {
        if !self.args.quiet {
            answer.solution.warnings.iter().for_each(message::warning);
        }
        if self.args.format == Format::Json {
            reports.push(json::solved(answer));
            return;
        }
        if self.args.quiet {
            return;
        }
        let target = answer.plan.spec.name.as_ref().map(|name| format!(" for {name}"));
        let count = answer.solution.builds.len();
        let mut out = anstream::stdout();
        let _ = writeln!(out, "Resolved {count} packages{}:\n", target.unwrap_or_default());
        stack::print(answer);
        let _ = writeln!(out);
        if self.args.dry_run {
            for (name, chosen) in &answer.solution.builds {
                let _ = writeln!(out, "{name}=={}", chosen.version);
            }
        }
    }

    /// Where a project was looked for that no index has.
    fn name_the_asked(&self, plan: &Plan, found: &Conflict) {
        for name in found.unknown_projects() {
            let asked: Vec<String> = plan
                .problem
                .asked_for(name)
                .into_iter()
                .filter_map(|id| self.sources.all.get(usize::from(id.0)))
                .map(|known| {
                    format!(
                        "{} ({})",
                        known.source.name,
                        mask_credentials(known.config.url.as_str())
                    )
                })
                .collect();
            message::help(format_args!("asked for {name}: {}", asked.join(", ")));
        }
    }

    /// Says why there is no answer, then looks for changes after which there is one.
    fn refuse(
        &self,
        (plan, problem): (&Plan, &Problem),
        found: &Conflict,
        reports: &mut Vec<json::TargetReport>,
    ) {
        let target = plan.spec.name.as_deref();
        let json = self.args.format == Format::Json;
        // What collides besides is found by solving once more, which may ask for as much as the first time.
        let sharper =
            if self.args.quiet { None } else { fix::among_pins(problem, &self.catalog, found) };
        let found = sharper.as_deref().unwrap_or(found);
        if !json {
            if let Some(target) = target {
                message::line(format_args!("target {target}:"));
            }
            conflict::print(found, self.args.verbose);
            self.name_the_asked(plan, found);
            if self.args.quiet {
                return;
            }
        }
        let others = plan::other_backends(self.manifest, self.args, plan, self.answers);
        let tried = fix::find(problem, &self.catalog, found, others, fix::Budget::default());
        let located = fixes::located(&tried, self.manifest, plan);
        if json {
            reports.push(json::unsolved(target, found, &tried, located));
        } else {
            fixes::print(&located, &tried, found, self.manifest);
        }
        if !json && let Some(hint) = self.kept.hint() {
            message::help(hint);
        }
    }

    fn write(&self, files: &[Written]) -> Result<(), Exit> {
        let outputs: Vec<Output<'_>> = files
            .iter()
            .map(|file| Output { path: &file.path, content: file.content.as_bytes() })
            .collect();
        let outcomes = write_all(&outputs).map_err(|error| {
            message::error(error);
            Exit::BadInput
        })?;
        if self.args.quiet || self.args.format == Format::Json {
            return Ok(());
        }
        let mut out = anstream::stdout();
        for (file, outcome) in files.iter().zip(outcomes) {
            let verb = match outcome {
                Outcome::Created | Outcome::Replaced => "wrote",
                Outcome::Unchanged => "unchanged:",
            };
            let _ = writeln!(out, "{verb} {}", file.path.display());
        }
        Ok(())
    }
}

fn exclude_newer(args: &Resolve) -> Result<Option<ExcludeNewer>, Exit> {
    args.exclude_newer.as_ref().map(|text| text.parse()).transpose().map_err(|error| {
        message::error(format_args!("--exclude-newer: {error}"));
        Exit::BadInput
    })
}

fn print_json(report: &json::Report) {
    if let Ok(text) = serde_json::to_string_pretty(report) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}
