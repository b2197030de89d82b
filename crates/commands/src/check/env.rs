//! What env.toml asks for now and what the lock was made for.

use std::collections::BTreeSet;
use std::fmt::Display;

use cuda_lock_formats::pylock::LockMetadata;
use pep440_rs::Version;

use crate::lock::locked_machine;
use crate::plan::Plan;

/// Everything that changed since the lock was made, in words. Never empty: the lock knows only the digest of the rest.
#[must_use]
pub fn changes(tool: &LockMetadata, plan: &Plan) -> Vec<String> {
    let mut changes = requirements(tool, plan);
    changes.extend(python(tool, plan));
    let (old, new) = (&tool.machine, &locked_machine(plan));
    let mut key = |key: &str, old: Option<String>, new: Option<String>| {
        if old != new {
            changes.push(match (old, new) {
                (Some(old), Some(new)) => format!("env.toml: {key} is {new}, was {old}"),
                (None, Some(new)) => format!("env.toml: {key} is {new}, was not given"),
                (Some(old), None) => format!("env.toml: {key} is not given, was {old}"),
                (None, None) => return,
            });
        }
    };
    key("platform", text(Some(&old.platform)), text(Some(&new.platform)));
    key("driver", text(old.driver.as_ref()), text(new.driver.as_ref()));
    key("gpus", list(old.gpus.as_deref()), list(new.gpus.as_deref()));
    key("image", old.image.clone(), new.image.clone());
    if old.image == new.image {
        key("glibc", text(old.glibc.as_ref()), text(new.glibc.as_ref()));
        key("musl", text(old.musl.as_ref()), text(new.musl.as_ref()));
    }
    if old.libraries != new.libraries {
        changes.push("env.toml: libraries changed".to_owned());
    }
    changes.extend(moved_cutoff(tool, plan));
    if changes.is_empty() {
        changes.push(
            "env.toml changed since the lock was made, in [options], [[index]], [pytorch] or another table".to_owned(),
        );
    }
    changes
}

/// Files are left out from another moment on than they were for the lock.
#[must_use]
pub fn moved_cutoff(tool: &LockMetadata, plan: &Plan) -> Option<String> {
    match (tool.exclude_newer, plan.problem.policy.exclude_newer) {
        (old, new) if old == new => None,
        (Some(old), Some(new)) => Some(format!("exclude-newer is {new}, was {old}")),
        (None, Some(new)) => Some(format!("exclude-newer is {new}, was not given")),
        (Some(old), None) => Some(format!(
            "exclude-newer is not given, was {old}: write it to [options] of env.toml, or check with --exclude-newer"
        )),
        (None, None) => None,
    }
}

fn requirements(tool: &LockMetadata, plan: &Plan) -> Vec<String> {
    let old: BTreeSet<&str> = tool.requirements.iter().map(String::as_str).collect();
    let new: BTreeSet<&str> =
        plan.spec.dependencies.iter().map(|text| text.get_ref().as_str()).collect();
    let gone = old.difference(&new).map(|text| format!("env.toml asks no more for \"{text}\""));
    let come = new.difference(&old).map(|text| format!("env.toml asks now for \"{text}\""));
    gone.chain(come).collect()
}

/// The lock knows the Python that was chosen, env.toml may have a range.
fn python(tool: &LockMetadata, plan: &Plan) -> Option<String> {
    let locked: Option<Version> = tool.python.parse().ok();
    let allowed = plan.pythons.iter().any(|python| Some(python) == locked.as_ref());
    let wanted = plan.spec.python.get_ref();
    (!allowed).then(|| format!("env.toml: python is {wanted}, the lock is for {}", tool.python))
}

fn text(value: Option<&impl Display>) -> Option<String> {
    value.map(ToString::to_string)
}

fn list(names: Option<&[String]>) -> Option<String> {
    let names = names?;
    Some(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}
