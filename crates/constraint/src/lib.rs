//! What must hold on a CUDA machine, and how to find versions for which it does. No I/O.
//!
//! Everything known is a [`constraint::Constraint`]: a subject needs a package in a range, because of a reason with its
//! source. `resolve` hands constraints to PubGrub, `audit` evaluates them on pins, `explain` prints them, the lock records
//! them.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`package`], [`version`], [`name`] | the graph's vocabulary: packages, versions and ranges |
//! | [`machine`], [`target`] | what an environment is for |
//! | [`wheel`], [`requirement`] | what file names and METADATA say (PEP 425, 427, 440, 508) |
//! | [`catalog`] | where builds come from, as a trait |
//! | [`matrix`] | the facts that no index publishes |
//! | [`rules`] | from facts to constraints |
//! | [`solve`] | from a problem to an answer, or to the proof that there is none |
//! | [`explain`] | why an answer is what it is, and why not a newer one |
//! | [`fix`] | changes to env.toml after which there is an answer, each tried |
//! | [`check`] | constraints evaluated on pins |
//! | [`audit`] | every rule on what a file installs |
//! | [`repair`] | the smallest change of a file's pins after which its audit finds no error |
//! | [`secret`] | addresses, without what nobody else may see |
//! | [`text`] | foreign text, made fit to be shown |
//! | [`digest`] | SHA-256 as text and as bytes |
//! | [`nearest`] | the known word that a misspelt one was meant to be |

pub mod audit;
pub mod catalog;
pub mod check;
pub mod constraint;
pub mod digest;
pub mod explain;
pub mod fix;
pub mod machine;
pub mod matrix;
pub mod name;
pub mod nearest;
pub mod package;
pub mod repair;
pub mod requirement;
pub mod rules;
pub mod secret;
pub mod solve;
pub mod target;
pub mod text;
pub mod version;
pub mod wheel;
