//! Changes to the lines of a file.

use std::sync::Arc;

use super::wording;
use crate::audit::{Line, Question};
use crate::name::Name;
use crate::requirement::Requirement;
use crate::version::SourceId;

/// One change to the lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Other versions in a line; its extras and its marker stay.
    Versions {
        /// The line: a place in [`Question::lines`].
        line: usize,
        /// The specifiers to write, such as `==2.3.1+cu118`.
        now: String,
    },
    /// Extras of a line; its versions and its marker stay.
    Extras {
        /// The line.
        line: usize,
        /// All extras that it then has, in order.
        now: Vec<Name>,
    },
    /// A line that goes: what it names is installed by another one.
    Remove {
        /// The line.
        line: usize,
    },
    /// A line that is added.
    Add {
        /// The distribution.
        name: Name,
        /// Its specifiers.
        versions: String,
        /// The line beside which it belongs.
        near: usize,
    },
    /// An index that the file must ask as well.
    AskIndex {
        /// The index.
        source: SourceId,
        /// The line for which it is asked.
        near: usize,
    },
}

/// The question with the edits made.
#[must_use]
pub fn amended(question: &Question, edits: &[Edit]) -> Question {
    let mut question = question.clone();
    let local = question.local.clone();
    if !edits.is_empty() {
        // What lies in the folder once something is installed into it is not known.
        question.folder = None;
    }
    for edit in edits {
        match edit {
            Edit::Versions { line, now } => {
                if let Some(line) = question.lines.get_mut(*line)
                    && let Some(requirement) = read(&wording::with(&line.requirement, now))
                {
                    line.requirement = requirement;
                    line.wheel = None;
                    line.source = line.source.filter(|source| !local.contains(source));
                }
            }
            Edit::Extras { line, now } => {
                if let Some(line) = question.lines.get_mut(*line)
                    && let Some(requirement) = read(&wording::with_extras(&line.requirement, now))
                {
                    line.requirement = requirement;
                }
            }
            // The places of the other lines stay what they are: a bound asks for nothing by itself.
            Edit::Remove { line } => {
                if let Some(line) = question.lines.get_mut(*line) {
                    line.bound = true;
                }
            }
            Edit::Add { name, versions, .. } => {
                if let Some(requirement) = read(&format!("{name}{versions}")) {
                    question.lines.push(Line::new(requirement));
                }
            }
            Edit::AskIndex { source, .. } => {
                if !question.indexes.contains(source) {
                    question.indexes.push(*source);
                    question.extra.insert(*source);
                }
            }
        }
    }
    question
}

fn read(text: &str) -> Option<Arc<Requirement>> {
    text.parse::<Requirement>().ok().map(Arc::new)
}
