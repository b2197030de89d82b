//! `cuda-lock resolve`: env.toml becomes pylock.toml and requirements.txt.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::{Catalog, CatalogError};
use cuda_lock_constraint::fix;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::{Conflict, Problem, Solution, SolveError, solve};
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::atomic::{Outcome, Output, write_all};
use cuda_lock_formats::diagnostic::mask_credentials;
use cuda_lock_formats::manifest::{ExcludeNewer, Manifest};
use cuda_lock_formats::pylock::Pylock;

use crate::args::{Format, Resolve};
use crate::commands::check;
use crate::digests;
use crate::exit::Exit;
use crate::fetching;
use crate::kept::Kept;
use crate::lock::Answer;
use crate::output::progress::Progress;
use crate::output::{conflict, fixes, json, message, stack};
use crate::plan::{self, Plan, Sources};
use crate::problem::{self, Answers};
use crate::targets::{Party, agree};

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
            resolve_with(args, &read_manifest(&args.manifest)?, &answers)
        }
    }
}

fn resolve_with(args: &Resolve, manifest: &Manifest, answers: &Answers) -> Result<Exit, Exit> {
    let exclude_newer = exclude_newer(args)?;
    let kept = Kept::new(&args.upgrade).map_err(|text| {
        message::error(text);
        Exit::BadInput
    })?;
    let sources = plan::sources(manifest, &args.manifest).map_err(bad_input)?;
    if sources.all.is_empty() {
        return Err(bad_input(plan::none_left(manifest)));
    }
    let names: Vec<Option<&str>> = match &args.target {
        Some(name) => vec![Some(name.as_str())],
        None => manifest.target_names(),
    };
    let plans = names
        .into_iter()
        .map(|name| plan::plan(manifest, name, &sources, exclude_newer.as_ref()))
        .collect::<Result<Vec<Plan>, _>>()
        .map_err(bad_input)?;
    let progress = Arc::new(Progress::new(args.quiet));
    let mut fetcher = None;
    let catalog = answers.catalog(&sources, || {
        let config = plan::fetcher(manifest, &sources, &args.network);
        fetching::open(config, &progress).inspect(|opened| fetcher = Some(Arc::clone(opened)))
    })?;
    // As they are now: the run may replace them.
    let locks = answers.noted_locks(&plans, |plan| lock_path(args, plan));
    let run = Run {
        args,
        manifest,
        sources: &sources,
        kept: &kept,
        catalog,
        answers,
        fetcher: fetcher.clone(),
    };
    let outcome =
        if args.check { check::all(&run, &plans, &progress) } else { run.all(&plans, &progress) };
    progress.clear();
    if let Some(fetcher) = fetcher {
        fetcher.finish();
    }
    problem::save(args, manifest, answers, (&plans, locks))?;
    outcome
}

/// What all targets share.
pub(super) struct Run<'a> {
    pub(super) args: &'a Resolve,
    pub(super) manifest: &'a Manifest,
    pub(super) sources: &'a Sources,
    pub(super) kept: &'a Kept,
    pub(super) catalog: Arc<dyn Catalog>,
    answers: &'a Answers,
    /// Absent when a problem file has the answers.
    fetcher: Option<Arc<Fetcher>>,
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
                        .map_err(|error| unreadable(&error))?;
                    solution.warnings.extend(without);
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
                    exit = Exit::No;
                    decisions += found.decisions;
                    let problem = party.refused.as_deref().unwrap_or(&plan.problem);
                    self.refuse((plan, problem), &found, &mut reports);
                }
                Err(SolveError::Catalog(error)) => return Err(unreadable(&error)),
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

    /// What the run took.
    fn work(&self, decisions: u64) -> json::Work {
        let work = json::Work { decisions, ..json::Work::default() };
        let Some(stats) = self.fetcher.as_ref().map(|fetcher| fetcher.stats()) else { return work };
        json::Work {
            requests: stats.requests,
            not_modified: stats.not_modified,
            bytes: stats.bytes,
            cached_pages: stats.cached_pages,
            cached_metadata: stats.cached_metadata,
            ..work
        }
    }

    /// The lock that is there, or that the problem file holds.
    fn existing(&self, plan: &Plan) -> Option<Pylock> {
        let path = self.paths(plan).lock;
        readable(&self.answers.lock(plan.spec.name.as_deref(), &path)?, &path)
    }

    fn paths(&self, plan: &Plan) -> Paths {
        Paths::new(&self.args.manifest, plan.spec.name.as_deref())
    }

    /// Every target solved with the pins of its lock, and what they owe each other settled.
    pub(super) fn agreed(&self, work: &[(&Plan, Option<&Pylock>)]) -> Vec<Party> {
        let party = |(plan, lock): &(&Plan, Option<&Pylock>)| Party {
            name: plan.spec.name.clone().unwrap_or_default(),
            outcome: self.solve(plan, *lock),
            refused: None,
        };
        let mut parties: Vec<Party> = work.iter().map(party).collect();
        let same: Vec<Name> =
            self.manifest.options.same.iter().map(|name| *name.get_ref()).collect();
        let solver = |problem: &Arc<Problem>| solve(Arc::clone(problem), Arc::clone(&self.catalog));
        for note in agree(&mut parties, &same, &solver) {
            message::warning(note);
        }
        parties
    }

    /// The solution for the first Python that has one: that of the lock that is there, then the newest.
    fn solve(
        &self,
        plan: &Plan,
        lock: Option<&Pylock>,
    ) -> Result<(Arc<Problem>, Solution), SolveError> {
        let mut first = None;
        for python in self.kept.pythons(lock, plan) {
            let mut problem = plan.problem_for(python);
            self.kept.apply(lock, &mut problem);
            let problem = Arc::new(problem);
            match solve(Arc::clone(&problem), Arc::clone(&self.catalog)) {
                Ok(solution) => return Ok((problem, solution)),
                Err(SolveError::Conflict(conflict)) => {
                    first.get_or_insert(conflict);
                }
                Err(error) => return Err(error),
            }
        }
        match first {
            Some(conflict) => Err(SolveError::Conflict(conflict)),
            None => {
                Err(SolveError::Catalog(CatalogError::Invalid("no Python to solve for".into())))
            }
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
            reports.push(json::unsolved(target, found, located));
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

/// The lock that is there.
pub(super) fn existing(paths: &Paths) -> Option<Pylock> {
    readable(&fs_err::read_to_string(&paths.lock).ok()?, &paths.lock)
}

/// A lock's pins are only a preference, so one that cannot be read is no error.
fn readable(text: &str, path: &Path) -> Option<Pylock> {
    match Pylock::parse(text, &path.display().to_string()) {
        Ok(lock) => Some(lock),
        Err(why) => {
            if let Some(first) = why.iter().next() {
                message::warning(format_args!(
                    "every version is chosen anew: {}",
                    first.one_line()
                ));
            }
            None
        }
    }
}

fn lock_path(args: &Resolve, plan: &Plan) -> PathBuf {
    Paths::new(&args.manifest, plan.spec.name.as_deref()).lock
}

/// The files of one target, beside env.toml.
pub(super) struct Paths {
    pub(super) lock: PathBuf,
    pub(super) requirements: PathBuf,
}

impl Paths {
    pub(super) fn new(manifest: &Path, target: Option<&str>) -> Self {
        let (lock, requirements) = match target {
            None => ("pylock.toml".to_owned(), "requirements.txt".to_owned()),
            Some(name) => (format!("pylock.{name}.toml"), format!("requirements.{name}.txt")),
        };
        Self {
            lock: manifest.with_file_name(lock),
            requirements: manifest.with_file_name(requirements),
        }
    }
}

pub(super) fn read_manifest(path: &Path) -> Result<Manifest, Exit> {
    let bytes = fs_err::read(path).map_err(|error| {
        message::error(format_args!("{error}"));
        if error.kind() == std::io::ErrorKind::NotFound {
            message::help("name the file, as in: cuda-lock resolve path/to/env.toml");
        }
        Exit::BadInput
    })?;
    Manifest::parse_bytes(&bytes, &path.display().to_string()).map_err(bad_input)
}

fn exclude_newer(args: &Resolve) -> Result<Option<ExcludeNewer>, Exit> {
    args.exclude_newer.as_ref().map(|text| text.parse()).transpose().map_err(|error| {
        message::error(format_args!("--exclude-newer: {error}"));
        Exit::BadInput
    })
}

pub(super) fn bad_input(diagnostics: cuda_lock_formats::diagnostic::Diagnostics) -> Exit {
    message::diagnostics(&diagnostics);
    Exit::BadInput
}

pub(super) fn unreadable(error: &CatalogError) -> Exit {
    message::error(error);
    Exit::Network
}

fn print_json(report: &json::Report) {
    if let Ok(text) = serde_json::to_string_pretty(report) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}
