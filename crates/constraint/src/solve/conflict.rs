//! A proof that there is no answer, as data: the facts that collide, each with its source.
//!
//! PubGrub's proof is a tree whose leaves are facts and whose inner nodes are deductions. People need the leaves: what
//! the machine is, what each package needs and who says so. `leaves` gathers them; `core` leaves out what the proof does not
//! need; `facts` folds the rest over versions, so that twenty releases of torch become one line; `aside` knows which of them
//! nobody asks for; `asked` says what collides in one line, `words` and `ranges` why; `near` knows what was probably meant,
//! `hints` where it is.

mod aside;
mod asked;
mod core;
mod facts;
mod hints;
mod leaves;
mod near;
mod ranges;
mod words;

use std::sync::Arc;

use crate::catalog::Undeclared;
use crate::constraint::Reason;
use crate::machine::{Libc, Libraries, Machine};
use crate::name::Name;
use crate::package::Package;
use crate::rules::advice;
use crate::solve::candidates::Rejection;
use crate::solve::problem::Problem;
use crate::solve::provider::{Provider, Unusable};
use crate::version::{DistVersion, Range, Version};

use asked::Asked;
use facts::Facts;
use leaves::{Leaves, Tree};
pub use near::{nearest_name, nearest_of};
pub use ranges::{range_text, versions_text};
pub use words::Statement;

/// Why no environment satisfies a problem.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The facts that collide, machine first; none of them can be left out.
    pub facts: Vec<CollidingFact>,
    /// Every fact that the solver's own proof used, for those who want to read all of it.
    pub proof: Vec<CollidingFact>,
    /// Builds that were passed over and might have mattered.
    pub rejections: Vec<Rejection>,
    /// Where builds are that might do, on indexes that this solve was not allowed to ask.
    pub hints: Vec<String>,
    /// The machine, as messages name it.
    setting: Setting,
    /// Set when other indexes might have had an answer and could not be asked: why not.
    pub unasked: Option<String>,
    /// Of each project in it the newest release that has only a source distribution which does not say what it needs.
    pub undeclared: Vec<(Name, DistVersion, Arc<Undeclared>)>,
    /// How many versions the solver chose before it knew.
    pub decisions: u64,
}

/// So many statements at most: nobody reads more.
const STATEMENTS: usize = 12;

/// A conflict as it is shown.
#[derive(Clone, Debug)]
pub struct Report {
    /// What collides: `torch==2.6.0 does not go with driver 470.86`. `None` when too much takes part for one line; the
    /// statements begin with it then.
    pub headline: Option<String>,
    /// Why.
    pub statements: Vec<Statement>,
    /// Facts that were left out: about releases that are too old for the Python, or broken, and those beyond what
    /// anybody reads.
    pub asides: usize,
}

/// What facts are said of: the machine and its Python, by their names.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) machine: Machine,
    pub(super) python: String,
    /// The names of the indexes, by their numbers.
    pub(super) indexes: Vec<String>,
}

impl Setting {
    fn of(problem: &Problem) -> Self {
        let (major, minor) = problem.target.python_minor();
        Self {
            machine: problem.machine.clone(),
            python: format!("{major}.{minor}"),
            indexes: problem.sources.iter().map(|source| source.name.clone()).collect(),
        }
    }

    /// The version of a layer that the machine fixes, as people write it.
    fn version_of(&self, package: Package) -> Option<String> {
        match package {
            Package::Python => Some(self.python.clone()),
            Package::Driver => self.machine.driver.as_ref().map(ToString::to_string),
            Package::Glibc => match self.machine.libc.as_ref()? {
                Libc::Glibc(version) => Some(version.to_string()),
                Libc::Musl(_) => None,
            },
            _ => None,
        }
    }

    /// Whether CUDA and cuDNN are part of the machine, and no wish.
    fn has_libraries(&self) -> bool {
        self.machine.libraries == Libraries::System
    }
}

/// One fact of the proof.
#[derive(Clone, Debug)]
pub enum CollidingFact {
    /// A package at some versions needs another.
    Needs {
        /// Who needs it.
        subject: Package,
        /// Its versions of which this is true, folded.
        versions: Range,
        /// All of its versions that could be chosen, ascending, for printing.
        known: Vec<Version>,
        /// What is needed.
        package: Package,
        /// Any of these would do for at least one of the versions.
        range: Range,
        /// The versions of the needed package that exist, ascending, for printing.
        existing: Vec<Version>,
        /// Who says so: the distinct reasons, the most lenient first.
        reasons: Vec<(Version, Reason)>,
    },
    /// There is no version that could be chosen.
    NoVersion {
        /// The package.
        package: Package,
        /// What is asked for.
        range: Range,
        /// What exists, ascending.
        known: Vec<Version>,
        /// No source has the project at all; the known name that was probably meant.
        unknown_project: Option<Option<String>>,
        /// What exists in the range and was passed over for one kind of reason, newest first.
        passed_over: Vec<Rejection>,
    },
    /// Builds that cannot be used, for a reason of their own.
    Unusable {
        /// The package.
        package: Package,
        /// Which versions.
        versions: Range,
        /// All of its versions that are known, ascending.
        known: Vec<Version>,
        /// Why.
        why: Unusable,
    },
}

impl Conflict {
    pub(super) fn new(provider: &Provider, tree: &Tree) -> Self {
        let leaves = Leaves::of(tree);
        let proof = Facts { provider, leaves: &leaves }.all();
        let leaves = core::reduce(provider, leaves);
        let facts = Facts { provider, leaves: &leaves }.all();
        let setting = Setting::of(&provider.problem);
        let hints = hints::of(&facts, &provider.problem);
        let decisions = provider.decisions();
        let mut conflict = Self {
            facts,
            proof,
            rejections: provider.rejections(),
            hints,
            setting,
            unasked: None,
            undeclared: Vec::new(),
            decisions,
        };
        let names = conflict.distributions();
        conflict.rejections.retain(|rejection| names.contains(&rejection.name));
        conflict.undeclared = provider.sources.borrow().newest_of(&names);
        conflict
    }

    /// Whether the proof needs something that is no more than advice.
    pub(super) fn rests_on_advice(&self) -> bool {
        let is_advice =
            |reason: &Reason| matches!(reason, Reason::Matrix(fact) if advice::is_advice(fact));
        self.proof.iter().any(|fact| match fact {
            CollidingFact::Needs { reasons, .. } => reasons.iter().any(|(_, r)| is_advice(r)),
            _ => false,
        })
    }

    /// The distributions that no index has.
    pub fn unknown_projects(&self) -> impl Iterator<Item = Name> {
        self.facts.iter().filter_map(|fact| match fact {
            CollidingFact::NoVersion { package, unknown_project: Some(_), .. } => {
                package.dist_name()
            }
            _ => None,
        })
    }

    /// The distributions that take part, in the order of the facts.
    #[must_use]
    pub fn distributions(&self) -> Vec<Name> {
        let mut names = Vec::new();
        for fact in &self.facts {
            let packages = match fact {
                CollidingFact::Needs { subject, package, .. } => vec![*subject, *package],
                CollidingFact::NoVersion { package, .. }
                | CollidingFact::Unusable { package, .. } => vec![*package],
            };
            for name in packages.into_iter().filter_map(|package| package.dist_name()) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// Whether both conflicts come from the same part of the machine: its GPU, driver, glibc or Python.
    #[must_use]
    pub fn shares_machine(&self, other: &Self) -> bool {
        let fixed = |conflict: &Self| -> Vec<Package> {
            let facts = conflict.facts.iter().filter_map(|fact| match fact {
                CollidingFact::Needs { subject: Package::Root, package, .. } => Some(*package),
                _ => None,
            });
            facts.filter(|package| package.dist_name().is_none()).collect()
        };
        let known = fixed(other);
        fixed(self).iter().any(|package| known.contains(package))
    }

    /// Whether what is asked for here is not the same as in another conflict.
    #[must_use]
    pub fn asks_else(&self, other: &Self) -> bool {
        let asked = |conflict: &Self| -> Vec<Package> {
            let facts = conflict.facts.iter();
            facts
                .filter_map(|fact| match fact {
                    CollidingFact::Needs { subject: Package::Root, package, .. } => Some(*package),
                    _ => None,
                })
                .filter(|package| package.dist_name().is_some())
                .collect()
        };
        let known = asked(other);
        asked(self).iter().any(|package| !known.contains(package))
    }

    /// The facts in words, in the order in which they are read: the machine, what its layers need of each other, what is
    /// asked for, what that needs.
    #[must_use]
    pub fn statements(&self) -> Vec<Statement> {
        self.all_of(&self.facts)
    }

    /// The statements for programs: what is asked for is among them, and there are no more than a person reads.
    #[must_use]
    pub fn report_in_full(&self) -> Vec<Statement> {
        let mut statements = self.statements();
        if statements.len() > STATEMENTS {
            let (facts, _) = aside::without(&self.facts);
            statements = self.all_of(&facts);
            statements.truncate(STATEMENTS);
        }
        statements
    }

    fn all_of(&self, facts: &[CollidingFact]) -> Vec<Statement> {
        let asked = Asked::of(facts, &self.setting);
        words::statements(facts, &self.facts, &self.setting, Some(&asked))
    }

    /// What a person is shown first: what collides in one line, and why, without asides about old or broken releases.
    #[must_use]
    pub fn report(&self) -> Report {
        let (facts, asides) = aside::without(&self.facts);
        let asked = Asked::of(&facts, &self.setting);
        let headline = asked.headline();
        let root = headline.is_none().then_some(&asked);
        let mut statements = words::statements(&facts, &self.facts, &self.setting, root);
        let more = statements.len().saturating_sub(STATEMENTS);
        statements.truncate(STATEMENTS);
        Report { headline, statements, asides: asides + more }
    }

    /// Whether a package takes part in what is said without asides.
    #[must_use]
    pub fn is_about(&self, package: Package) -> bool {
        let (facts, _) = aside::without(&self.facts);
        facts.iter().any(
            |fact| matches!(fact, CollidingFact::Needs { package: other, .. } if *other == package),
        )
    }

    /// The proof in one line for a version that was tried by itself: what it needs, then what stands against that. That
    /// `asked` was asked for is left out: it is the question. So are asides.
    #[must_use]
    pub fn one_line(&self, asked: Package, question: &str) -> String {
        let states =
            |reason: &Reason| matches!(reason, Reason::Manifest { text } if **text == *question);
        let is_question = |fact: &&CollidingFact| match fact {
            CollidingFact::Needs { subject: Package::Root, package, reasons, .. } => {
                (package.dist_name().is_some() && package.dist_name() == asked.dist_name())
                    || reasons.iter().all(|(_, reason)| states(reason))
            }
            _ => false,
        };
        let of_name = |fact: &CollidingFact| match fact {
            CollidingFact::Needs { subject: package, .. }
            | CollidingFact::NoVersion { package, .. }
            | CollidingFact::Unusable { package, .. } => {
                *package == asked
                    || (package.dist_name().is_some() && package.dist_name() == asked.dist_name())
            }
        };
        let (facts, _) = aside::without(&self.facts);
        let rest: Vec<CollidingFact> =
            facts.into_iter().filter(|fact| !is_question(&fact)).collect();
        let (first, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(of_name);
        let texts = self
            .all_of(&first)
            .into_iter()
            .chain(self.all_of(&others).into_iter().rev())
            .map(|said| said.text);
        texts.collect::<Vec<_>>().join("; ")
    }

    /// Every fact of the solver's own proof in words.
    #[must_use]
    pub fn full_proof(&self) -> Vec<Statement> {
        self.all_of(&self.proof)
    }
}
