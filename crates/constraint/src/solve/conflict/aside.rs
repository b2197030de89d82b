//! Which facts of a proof are asides: true and needed for the proof to hold, but nobody looking for what collides asks for
//! them.
//!
//! A proof about onnxruntime-gpu has to say of each of its releases why not. That the oldest have no wheels for this Python,
//! and that one in the middle is broken, is an aside as long as more is said of newer ones.

use crate::constraint::Reason;
use crate::package::Package;
use crate::solve::conflict::CollidingFact;
use crate::version::Version;

/// The facts without the asides, and how many asides there are.
pub(super) fn without(facts: &[CollidingFact]) -> (Vec<CollidingFact>, usize) {
    let (asides, mut kept): (Vec<&CollidingFact>, Vec<&CollidingFact>) =
        facts.iter().partition(|fact| is_aside(fact, facts));
    if asides.is_empty() {
        return (facts.to_vec(), 0);
    }
    // What the machine is was said for their sake.
    let told: Vec<Package> = kept.iter().filter_map(|fact| needed(fact)).collect();
    let for_asides = |package: &Package| {
        !told.contains(package) && asides.iter().any(|aside| needed(aside) == Some(*package))
    };
    let of_machine = |fact: &CollidingFact| {
        matches!(fact, CollidingFact::Needs { subject: Package::Root, package, .. }
            if for_asides(package))
    };
    kept.retain(|fact| !of_machine(fact));
    (kept.into_iter().cloned().collect(), asides.len())
}

/// What a build needs.
fn needed(fact: &CollidingFact) -> Option<Package> {
    match fact {
        CollidingFact::Needs { subject, package, .. } if *subject != Package::Root => {
            Some(*package)
        }
        _ => None,
    }
}

/// Releases that are too old for this Python, or broken, below others of which something else is said.
fn is_aside(fact: &CollidingFact, facts: &[CollidingFact]) -> bool {
    let (subject, last) = match fact {
        CollidingFact::Needs { subject, package: Package::Python, reasons, .. }
            if reasons.iter().all(|(_, reason)| is_of_files(reason)) =>
        {
            (*subject, newest(fact))
        }
        CollidingFact::Unusable { package, .. } => (*package, newest(fact)),
        _ => return false,
    };
    subject.dist_name().is_some()
        && facts.iter().any(|other| match other {
            CollidingFact::Needs { subject: same, package, .. } => {
                *same == subject && *package != Package::Python && newest(other) > last
            }
            _ => false,
        })
}

fn is_of_files(reason: &Reason) -> bool {
    matches!(reason, Reason::WheelTag { .. } | Reason::RequiresPython { .. })
}

/// The newest known version that a fact is about.
fn newest(fact: &CollidingFact) -> Option<Version> {
    match fact {
        CollidingFact::Needs { versions, known, .. }
        | CollidingFact::Unusable { versions, known, .. } => {
            known.iter().rev().find(|version| versions.contains(version)).cloned()
        }
        CollidingFact::NoVersion { .. } => None,
    }
}
