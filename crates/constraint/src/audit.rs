//! Would what is written down run on that machine? Every rule evaluated on what an installer would take today.
//!
//! No rule stands here: the facts come from [`crate::rules`], METADATA, wheel tags and index pages, as they do for
//! [`crate::solve`]. This module finds out which builds the lines of a file mean ([`Question`]), evaluates all constraints
//! on them, and words what does not hold as [`Finding`]s with a stable [`Code`].
//!
//! | module | what |
//! | --- | --- |
//! | `code`, `table` | the codes: one for each rule, each with why, source, example and fix |
//! | `finding` | a finding |
//! | `question` | what is asked: lines, machine, indexes |
//! | `known` | which builds PyTorch's indexes are known to have, where they are not asked |
//! | `pick` | which build an installer takes for one name |
//! | `install` | all builds it takes, dependencies included |
//! | `conda` | what conda packages stand for, and which channel has them |
//! | `answer` | what a solve chose, judged the same way before it is written |
//! | `judge`, `layers`, `absent`, `places`, `around`, `beside` | what does not hold |

mod absent;
mod answer;
mod around;
mod beside;
mod code;
mod conda;
mod finding;
mod install;
mod judge;
mod known;
mod layers;
mod pick;
mod places;
mod question;
mod table;

pub use answer::audit_answer;
pub use code::Page;
pub use finding::{FactText, Finding, Severity, Verdict};
pub use judge::audit;
pub use question::{Line, Question, Surroundings};
pub use table::Code;
