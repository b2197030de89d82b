//! The smallest change of a file's pins after which an audit finds no error, found by solving.
//!
//! [`repair`] makes the problem that a file and a machine mean (the one that [`crate::solve`] would get from an env.toml with
//! the same lines), frees the pins that take part in a conflict, solves, and then puts back every pin that can stay. What is
//! left is written as [`Edit`]s of lines. Every repair is audited again with [`crate::audit::audit`]; one that leaves an error
//! it was made for, or brings a new one, is not given.
//!
//! | module | what |
//! | --- | --- |
//! | `edit` | the changes, and a question with them made |
//! | `apart` | faults that have nothing to do with each other, each mended by itself |
//! | `asked` | from the lines of a file to a problem |
//! | `relax` | which pins must move, and how little |
//! | `settle` | from an answer to edits that an installer follows |
//! | `wording` | how a version is written in a line |

mod apart;
mod asked;
mod edit;
mod relax;
mod settle;
mod wording;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::audit::{Code, Finding, Line, Question, Verdict};
use crate::catalog::Catalog;
use crate::name::Name;
use crate::requirement::Requirement;
use crate::solve::Source;
use crate::version::{DistVersion, SourceId};

pub use edit::{Edit, amended};

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Time of its own: waiting for an index does not count.
    pub time: Duration,
    /// Solves.
    pub solves: usize,
}

impl Default for Limit {
    fn default() -> Self {
        // A build without optimisations is ten times slower.
        let seconds = if cfg!(debug_assertions) { 20 } else { 2 };
        Self { time: Duration::from_secs(seconds), solves: 60 }
    }
}

/// What is looked for.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// How long.
    pub limit: Limit,
    /// Which findings count: settings may hide some.
    pub counts: &'a dyn Fn(&Finding) -> bool,
}

/// Changes to a file after which findings are gone.
#[derive(Clone, Debug)]
pub struct Repair {
    /// What to change, all of it together.
    pub edits: Vec<Edit>,
    /// The builds that were chosen.
    pub builds: BTreeMap<Name, DistVersion>,
    /// The findings that are gone then: places in [`Verdict::findings`].
    pub cured: Vec<usize>,
    /// What a program then has to do before it finds its libraries.
    pub steps: Vec<String>,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The repair, when there is one.
    pub repair: Option<Repair>,
    /// How many solves it took.
    pub solves: usize,
    /// True when the time or the number of solves ran out first.
    pub stopped: bool,
    /// Why there is no repair, in words; empty when nothing was to be repaired.
    pub obstacles: Vec<String>,
}

impl Outcome {
    /// Whether there was anything that other pins could mend.
    #[must_use]
    pub fn tried(&self) -> bool {
        self.solves > 0 || !self.obstacles.is_empty()
    }
}

/// Findings that other pins cannot mend: they are about the text, the machine, or a container image.
const NOT_BY_PINS: [Code; 5] = [
    Code::DriverDroppedGpu,
    Code::HashMissing,
    Code::ImageDriver,
    Code::ImageMismatch,
    Code::Syntax,
];

impl Wanted<'_> {
    /// Whether a change of pins may mend it.
    fn mends(&self, finding: &Finding) -> bool {
        (self.counts)(finding) && !NOT_BY_PINS.contains(&finding.code)
    }
}

/// Starts fetching what an audit of the question will need, all at once: an audit asks for one thing after the other.
pub fn look_ahead(question: &Question, sources: &[Source], catalog: &Arc<dyn Catalog>) {
    let target = question.target.clone();
    let base = asked::base(question, &Verdict::default(), sources, target);
    let local = |line: &Line| line.source.is_some_and(|source| question.local.contains(&source));
    let remote = |place: usize, requirement: &Arc<Requirement>| {
        let is_local = question.lines.get(place).is_some_and(local);
        (!is_local).then(|| Arc::clone(requirement))
    };
    let problem = asked::with_lines(&base, question, &BTreeSet::new(), remote);
    let asked = |id: &&SourceId| !question.unasked.contains(id);
    for id in question.indexes.iter().filter(asked) {
        for line in question.lines.iter().filter(|line| line.wheel.is_none() && !local(line)) {
            catalog.expect_project(*id, line.requirement.name, Box::new(|_| ()));
        }
    }
    crate::solve::look_ahead(&Arc::new(problem), catalog);
}

/// Looks for the smallest change of the lines after which the errors of `verdict` are gone.
///
/// `sources` are all indexes that may be used, numbered as [`Question::sources`]; those that the file does not name are
/// taken only where nothing else has an answer, and an edit adds them.
#[must_use]
pub fn repair(
    question: &Question,
    verdict: &Verdict,
    sources: &[Source],
    catalog: &Arc<dyn Catalog>,
    wanted: Wanted<'_>,
) -> Outcome {
    if !verdict.findings.iter().any(|finding| wanted.mends(finding)) {
        return Outcome::default();
    }
    let Some(target) = asked::target(question, verdict, &**catalog) else {
        let text =
            "Python is not given, and no single one takes all these pins; give it with --python";
        return Outcome { obstacles: vec![text.to_owned()], ..Outcome::default() };
    };
    let mut search = relax::Search::new(question, verdict, sources, catalog, wanted);
    search.target = target;
    let mut outcome = Outcome { repair: attempts(&mut search), ..Outcome::default() };
    if outcome.repair.is_none() && search.follow_family() {
        outcome.repair = attempts(&mut search);
    }
    outcome.solves = search.solves;
    outcome.stopped = search.stopped;
    if outcome.repair.is_none() {
        outcome.obstacles = std::mem::take(&mut search.obstacles);
        let target = search.target.clone();
        apart::mend(question, verdict, sources, catalog, (wanted, target), &mut outcome);
    }
    outcome
}

/// Tries each set of lines that may be left out.
fn attempts(search: &mut relax::Search<'_>) -> Option<Repair> {
    search.removals().into_iter().find_map(|removed| {
        search.removed = removed;
        let relaxed = search.relax()?;
        settle::settle(search, &relaxed)
    })
}
