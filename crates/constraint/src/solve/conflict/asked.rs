//! What the machine is and what is asked of it, as far as a proof uses it: the two ends of every conflict.

use crate::constraint::Reason;
use crate::package::Package;
use crate::solve::candidates::{PassedOver, Rejection};
use crate::solve::conflict::ranges::range_text;
use crate::solve::conflict::{CollidingFact, Setting};
use crate::version::Range;

/// More words than this make no headline.
const HEADLINE: usize = 4;

/// The words for what the root has and wants.
pub(super) struct Asked {
    /// `driver 470.86`, `GPU V100 (compute capability 7.0)`.
    pub(super) machine: Vec<String>,
    /// Requirements and wishes as env.toml has them.
    pub(super) wishes: Vec<String>,
}

impl Asked {
    pub(super) fn of(facts: &[CollidingFact], setting: &Setting) -> Self {
        let mut asked = Self { machine: Vec::new(), wishes: Vec::new() };
        if names_platform(facts) {
            asked.machine.push(format!("platform {}", setting.machine.platform));
        }
        for fact in facts {
            let CollidingFact::Needs { subject: Package::Root, package, reasons, .. } = fact else {
                continue;
            };
            if matches!(
                (package, reasons.first()),
                (Package::Backend, Some((_, Reason::Matrix(_))))
            ) {
                // That the machine has a GPU rules out builds for the CPU.
                let gpus = setting.machine.gpus.iter().flatten();
                asked.machine.extend(gpus.map(|gpu| format!("GPU {}", gpu.name)));
                continue;
            }
            let of_machine = is_of_machine(*package, setting);
            let words = if of_machine { &mut asked.machine } else { &mut asked.wishes };
            for word in asked_text(fact, setting, of_machine) {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
        asked
    }

    /// What collides, in one line; `None` when that would be too long a line.
    pub(super) fn headline(&self) -> Option<String> {
        if self.machine.len() + self.wishes.len() > HEADLINE {
            return None;
        }
        let wishes = list(&self.wishes)?;
        let does = if self.wishes.len() == 1 { "does" } else { "do" };
        Some(match (list(&self.machine), self.wishes.len()) {
            (Some(machine), _) => format!("{wishes} {does} not go with {machine}"),
            (None, 1) => format!("{wishes} cannot be installed"),
            (None, _) => format!("{wishes} {does} not go together"),
        })
    }
}

/// What the root asks of one package, in the words of env.toml where those say it; a part for each bound.
///
/// Facts of matrices are sentences of their own. One layer can have several bounds: what the machine has, and what its
/// image asks for.
fn asked_text(fact: &CollidingFact, setting: &Setting, of_machine: bool) -> Vec<String> {
    let CollidingFact::Needs { package, range, reasons, .. } = fact else { return Vec::new() };
    let is_row = |(_, reason): &(_, Reason)| matches!(reason, Reason::Matrix(_));
    if is_numbered(*package) || (of_machine && is_library(*package)) {
        let only_rows = !reasons.is_empty() && reasons.iter().all(is_row);
        let own = setting.version_of(*package);
        return match own {
            Some(version) => vec![format!("{package} {version}")],
            None if only_rows => Vec::new(),
            None => vec![machine_text(*package, range)],
        };
    }
    let stated = reasons.iter().filter_map(|(_, reason)| match reason {
        Reason::Manifest { text } => Some(text.to_string()),
        _ => None,
    });
    let stated: Vec<String> = stated.collect();
    if stated.is_empty() && !reasons.iter().any(is_row) {
        return vec![machine_text(*package, range)];
    }
    stated
}

/// What the machine is, as against what is asked of it.
fn is_of_machine(package: Package, setting: &Setting) -> bool {
    is_numbered(package)
        || matches!(package, Package::Gpu(_))
        || (is_library(package) && setting.has_libraries())
}

/// CUDA and cuDNN, which are either wished for or part of the system.
fn is_library(package: Package) -> bool {
    matches!(package, Package::Cuda | Package::Cudnn)
}

/// Whether something exists, but only for other platforms.
fn names_platform(facts: &[CollidingFact]) -> bool {
    let only_elsewhere = |rejection: &Rejection| matches!(&rejection.why, PassedOver::NoFile(why) if !why.platforms.is_empty());
    facts.iter().any(|fact| match fact {
        CollidingFact::NoVersion { passed_over, .. } => passed_over.iter().any(only_elsewhere),
        _ => false,
    })
}

/// Layers of which a machine has exactly one version.
fn is_numbered(package: Package) -> bool {
    matches!(package, Package::Python | Package::Glibc | Package::Macos | Package::Driver)
}

/// `driver 470.86`, `glibc 2.17`.
fn machine_text(package: Package, range: &Range) -> String {
    let text = range_text(range, &[]);
    let number = text.trim_start_matches("==");
    format!("{package} {number}")
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(words: &[String]) -> Option<String> {
    match words {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
