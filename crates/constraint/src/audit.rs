//! Would what is written down run on that machine? Every rule evaluated on what an installer would take today.
//!
//! The facts come from [`crate::rules`], METADATA, wheel tags and index pages, as they do for [`crate::solve`]. Here is found
//! out which builds the lines of a file mean, and what does not hold of them.
//!
//! | module | what |
//! | --- | --- |
//! | `code`, `table` | the codes: one for each rule, each with why, source, example and fix |
//! | `finding` | a finding: code, builds, facts, place |
//! | `question` | what is asked: lines, machine, indexes, what the file says beside them |
//! | `installer` | which files an installer would take |
//! | `case` | what is installed, and what brings which layer |
//! | `checks` | the checks, one file for each subject |
//! | `sink` | how much a finding counts, and which findings are one |
//! | `run` | the list of all checks, and a verdict |
//! | `answer` | what a solve chose, judged the same way before it is written |
//!
//! A new check is one function in `checks`, one line in `run`, and, when nothing it says has a code yet, one row in `table`
//! with its page. A program reads files, asks, and prints; no check stands there.

mod answer;
mod case;
mod checks;
mod code;
mod finding;
mod installer;
mod question;
mod run;
mod sink;
mod table;

pub use answer::audit_answer;
pub use code::{Code, Page};
pub use finding::{FactText, Finding, Place, Severity, Verdict};
pub use question::{
    BadLocation, BaseImage, Damage, Folder, Line, LocationFault, Object, OtherPython, Question,
    Surroundings, TextFault, Unresolved,
};
pub use run::{audit, of_text};
