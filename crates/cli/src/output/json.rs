//! The answer for programs. The shape is versioned: fields are added, never changed, within one `schema`.

use std::fmt;
use std::io::Write as _;

use cuda_lock_commands::fixes::Fix;
use cuda_lock_commands::judged::in_one_line;
use cuda_lock_commands::lock::Answer;
use cuda_lock_commands::passed;
use cuda_lock_commands::resolve::{Rejection, Remedies};
use cuda_lock_constraint::audit::Finding;
use cuda_lock_constraint::fix;
use cuda_lock_constraint::solve::Conflict;
use cuda_lock_fetcher::Stats;
use cuda_lock_formats::pylock::LockedBuild;
use serde::Serialize;

/// Prints one document. A closed pipe is nobody's concern here.
pub fn print(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string_pretty(value) {
        let _ = writeln!(crate::output::stdout(), "{text}");
    }
}

/// `cuda-lock resolve --format json`.
#[derive(Serialize)]
pub struct Report {
    /// Version of this shape.
    pub schema: u32,
    /// One entry for each target.
    pub targets: Vec<TargetReport>,
    /// What it took, with --stats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
}

/// How much work a run was.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Work {
    /// Versions that the solver chose, those that it took back included; without the search for fixes.
    pub decisions: u64,
    /// HTTP requests, redirects and repetitions included.
    pub requests: u64,
    /// Of them, those whose answer was that nothing has changed.
    pub not_modified: u64,
    /// Bytes of bodies received.
    pub bytes: u64,
    /// Index pages taken from the cache without a request.
    pub cached_pages: u64,
    /// METADATA taken from the cache.
    pub cached_metadata: u64,
}

impl Work {
    /// The decisions of the solver, and what the fetcher counted.
    #[must_use]
    pub fn new(decisions: u64, stats: Stats) -> Self {
        Self {
            decisions,
            requests: stats.requests,
            not_modified: stats.not_modified,
            bytes: stats.bytes,
            cached_pages: stats.cached_pages,
            cached_metadata: stats.cached_metadata,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { decisions, requests, not_modified, bytes, cached_pages, cached_metadata } = self;
        write!(
            f,
            "work: {decisions} decisions; {requests} requests, {not_modified} of them not modified, {bytes} bytes; from the cache {cached_pages} pages, {cached_metadata} METADATA"
        )
    }
}

/// One target.
#[derive(Serialize)]
pub struct TargetReport {
    /// Its name; null when env.toml has no targets.
    pub target: Option<String>,
    /// What was chosen; null when there is no solution.
    pub stack: Option<Vec<Row>>,
    /// Every package with its version.
    pub packages: Vec<Package>,
    /// What a program must do at load time.
    pub loading: Vec<String>,
    /// Things a person should know.
    pub warnings: Vec<String>,
    /// Newer releases that were not taken because what they need could not be known, one line for each project.
    pub passed_over: Vec<String>,
    /// What is built when it is installed.
    pub built: Vec<Built>,
    /// What collides in one line, when there is no solution and a line can say it.
    pub headline: Option<String>,
    /// The facts that collide, when there is no solution.
    pub conflict: Vec<Fact>,
    /// What collides besides.
    pub also: Vec<Besides>,
    /// Changes to env.toml after which there is a solution, each tried, cheapest first.
    pub fixes: Vec<Fix>,
    /// Builds that are known to exist on indexes that env.toml leaves out.
    pub hints: Vec<String>,
    /// True when the search for fixes ended before everything was tried.
    pub stopped: bool,
}

/// A second conflict.
#[derive(Serialize)]
pub struct Besides {
    /// It is there even without this requirement, which takes part in the first one.
    pub without: String,
    /// The facts that collide.
    pub conflict: Vec<Fact>,
}

/// One line of the stack.
#[derive(Serialize)]
pub struct Row {
    /// driver, GPU, CUDA ...
    pub layer: String,
    /// Its version.
    pub value: String,
    /// More in words.
    pub note: String,
}

/// One package.
#[derive(Serialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version with local label.
    pub version: String,
}

/// A package that is built when it is installed.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Built {
    /// Its name.
    pub name: String,
    /// How its requirements are known.
    pub requirements: String,
    /// What the build needs.
    pub needs: Vec<String>,
    /// Whether the build must find the packages of this lock.
    pub in_environment: bool,
}

impl From<LockedBuild> for Built {
    fn from(built: LockedBuild) -> Self {
        let LockedBuild { name, requirements, needs, in_environment } = built;
        Self { name, requirements, needs, in_environment }
    }
}

/// One fact of a conflict.
#[derive(Serialize)]
pub struct Fact {
    /// In words.
    pub text: String,
    /// Who says so.
    pub source: Option<String>,
}

/// The report of a solved target.
#[must_use]
pub fn solved(answer: &Answer<'_>) -> TargetReport {
    let rows = super::stack::rows(answer).into_iter();
    let packages = answer.solution.builds.iter();
    TargetReport {
        target: answer.plan.spec.name.clone(),
        stack: Some(rows.map(|(layer, value, note)| Row { layer, value, note }).collect()),
        packages: packages
            .map(|(name, chosen)| Package {
                name: name.to_string(),
                version: chosen.version.to_string(),
            })
            .collect(),
        loading: answer.stack.loading.iter().map(|step| step.text.clone()).collect(),
        warnings: answer.solution.warnings.clone(),
        passed_over: answer.passed.iter().map(|passed| passed.text.clone()).collect(),
        built: passed::built(&answer.solution).into_iter().map(Built::from).collect(),
        headline: None,
        conflict: Vec::new(),
        also: Vec::new(),
        fixes: Vec::new(),
        hints: Vec::new(),
        stopped: false,
    }
}

/// The report of a target whose solution an audit would reject.
#[must_use]
pub fn rejected(why: &Rejection) -> TargetReport {
    let errors = &why.errors;
    let of = |finding: &Finding| {
        let facts: Vec<Fact> = finding
            .facts
            .iter()
            .map(|fact| Fact {
                text: fact.text.clone(),
                source: Some(fact.source.clone()).filter(|source| !source.is_empty()),
            })
            .collect();
        facts
    };
    TargetReport {
        target: why.target.clone(),
        stack: None,
        packages: Vec::new(),
        loading: Vec::new(),
        passed_over: Vec::new(),
        built: Vec::new(),
        warnings: errors.iter().map(in_one_line).collect(),
        headline: errors.first().map(|finding| finding.message.clone()),
        conflict: errors.iter().flat_map(of).collect(),
        also: Vec::new(),
        fixes: Vec::new(),
        hints: Vec::new(),
        stopped: false,
    }
}

/// The report of a target without solution.
#[must_use]
pub fn unsolved(target: Option<&str>, conflict: &Conflict, remedies: Remedies) -> TargetReport {
    let Remedies { found, fixes } = remedies;
    let also = |also: &fix::Besides| Besides {
        without: also.without.text().to_string(),
        conflict: facts(&also.conflict),
    };
    TargetReport {
        target: target.map(str::to_owned),
        stack: None,
        packages: Vec::new(),
        loading: Vec::new(),
        warnings: Vec::new(),
        passed_over: Vec::new(),
        built: Vec::new(),
        headline: conflict.report().headline,
        conflict: facts(conflict),
        also: found.also.iter().map(also).collect(),
        fixes,
        hints: conflict.hints.clone(),
        stopped: found.stopped.is_some(),
    }
}

fn facts(conflict: &Conflict) -> Vec<Fact> {
    let statements = conflict.report_in_full().into_iter();
    statements.map(|said| Fact { text: said.text, source: said.source }).collect()
}
