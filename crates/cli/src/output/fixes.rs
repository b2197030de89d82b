//! Changes that make a problem solvable, as the lines of env.toml to change.

use cuda_lock_constraint::fix::{Change, Found};
use cuda_lock_constraint::machine::Libc;
use cuda_lock_constraint::package::Package;
use cuda_lock_formats::manifest::Manifest;
use serde::Serialize;
use serde_spanned::Spanned;

use super::message::{self, FAINT, STRONG};
use crate::plan::Plan;

/// One fix, for people and programs.
#[derive(Serialize)]
pub struct Fix {
    /// What to change in env.toml, all of it together.
    pub edits: Vec<Edit>,
    /// What is then chosen of the distributions that collided.
    pub gives: Vec<String>,
}

/// One change to env.toml.
#[derive(Serialize)]
pub struct Edit {
    /// The line, counted from 1, when the change is to something that is written there.
    pub line: Option<usize>,
    /// The key or table: `dependencies`, `[machine] driver`.
    pub key: String,
    /// What is written now; null when it is to be added.
    pub old: Option<String>,
    /// What to write; null when the old text is to be removed.
    pub new: Option<String>,
}

/// The fixes with their places in env.toml.
#[must_use]
pub fn located(found: &Found, manifest: &Manifest, plan: &Plan) -> Vec<Fix> {
    let place = Place { manifest, plan };
    found
        .fixes
        .iter()
        .map(|fix| Fix {
            edits: fix.changes.iter().map(|change| place.edit(change)).collect(),
            gives: fix.gives.iter().map(|(name, version)| format!("{name} {version}")).collect(),
        })
        .collect()
}

/// Prints the fixes, or that there is none.
pub fn print(fixes: &[Fix], found: &Found, manifest: &Manifest) {
    let file = manifest.source().name();
    message::line("");
    match fixes {
        [] if found.stopped => {
            message::help(format_args!("no fix found in {} tries; stopped looking", found.solves))
        }
        [] => message::help(format_args!(
            "no single change of env.toml that was tried makes it solvable"
        )),
        [_] => message::help("this change makes it solvable (it was tried):"),
        _ => message::help("any one of these makes it solvable (each was tried):"),
    }
    for (number, fix) in (1..).zip(fixes) {
        for (n, edit) in fix.edits.iter().enumerate() {
            let start = if n == 0 { format!("{number}.") } else { "  ".to_owned() };
            let gives = match (n + 1 == fix.edits.len(), fix.gives.is_empty()) {
                (true, false) => format!("  {FAINT}gives {}{FAINT:#}", fix.gives.join(", ")),
                _ => String::new(),
            };
            message::line(format_args!("  {start} {}{gives}", edit.text(file)));
        }
    }
    if let Some(also) = &found.also {
        message::line("");
        message::line("  Even without that, something else collides:");
        for statement in also.statements().iter().take(6) {
            message::line(format_args!("  {}", statement.text));
        }
    }
    if found.stopped && !fixes.is_empty() {
        message::line(format_args!(
            "  {FAINT}stopped looking after {} tries; there may be more{FAINT:#}",
            found.solves
        ));
    }
}

impl Edit {
    fn text(&self, file: &str) -> String {
        let place = match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        };
        let words = match (&self.old, &self.new) {
            (Some(old), Some(new)) => format!("{STRONG}{new}{STRONG:#} instead of {old}"),
            (None, Some(new)) => format!("add {STRONG}{new}{STRONG:#}"),
            (Some(old), None) => format!("remove {STRONG}{old}{STRONG:#}"),
            (None, None) => String::new(),
        };
        format!("{place}: {} {words}", self.key)
    }
}

struct Place<'a> {
    manifest: &'a Manifest,
    plan: &'a Plan,
}

impl Place<'_> {
    fn line<T>(&self, value: &Spanned<T>) -> usize {
        self.manifest.source().position(value.span().start).line
    }

    fn edit(&self, change: &Change) -> Edit {
        let machine = &self.plan.spec.machine;
        let options = &self.manifest.options;
        let quoted = |text: &dyn std::fmt::Display| format!("\"{text}\"");
        match change {
            Change::Move { requirement, now } => {
                self.dependency(requirement.text(), Some(quoted(now)))
            }
            Change::Rename { requirement, now } => {
                self.dependency(requirement.text(), Some(quoted(now)))
            }
            Change::Drop { requirement } => self.dependency(requirement.text(), None),
            Change::Substitute { from, to } => Edit {
                line: None,
                key: "[options] substitute".into(),
                old: None,
                new: Some(format!("{{ {from} = \"{to}\" }}")),
            },
            Change::Prerelease => Edit {
                line: None,
                key: "[options] prerelease".into(),
                old: None,
                new: Some(quoted(&"allow")),
            },
            Change::ExcludeNewer { until } => Edit {
                line: options.exclude_newer.as_ref().map(|date| self.line(date)),
                key: "[options] exclude-newer".into(),
                old: options.exclude_newer.as_ref().map(|date| quoted(&date.get_ref().text)),
                new: until.map(|until| quoted(&until)),
            },
            Change::Backend { name } => Edit {
                line: None,
                key: "[pytorch] backends".into(),
                old: None,
                new: name.as_ref().map(|name| quoted(&name)),
            },
            Change::NoWish { layer } => {
                let (key, wish) = match layer {
                    Package::Cuda => ("[machine] cuda", &machine.cuda),
                    _ => ("[machine] cudnn", &machine.cudnn),
                };
                Edit {
                    line: wish.as_ref().map(|wish| self.line(wish)),
                    key: key.into(),
                    old: wish.as_ref().map(|wish| quoted(&wish.get_ref().text)),
                    new: None,
                }
            }
            Change::Driver { at_least } => Edit {
                line: machine.driver.as_ref().map(|driver| self.line(driver)),
                key: "[machine] driver".into(),
                old: machine.driver.as_ref().map(|driver| quoted(driver.get_ref())),
                new: Some(format!("\"{at_least}\" or newer")),
            },
            Change::Glibc { at_least } => Edit {
                line: machine.libc.as_ref().map(|libc| self.line(libc)),
                key: "[machine] glibc".into(),
                old: machine.libc.as_ref().and_then(|libc| match libc.get_ref() {
                    Libc::Glibc(version) => Some(quoted(version)),
                    Libc::Musl(_) => None,
                }),
                new: Some(format!("\"{at_least}\" or newer")),
            },
            Change::Python { version } => Edit {
                line: Some(self.line(&self.plan.spec.python)),
                key: "python".into(),
                old: Some(quoted(&self.plan.spec.python.get_ref())),
                new: Some(quoted(version)),
            },
        }
    }

    fn dependency(&self, text: &str, new: Option<String>) -> Edit {
        let written =
            self.plan.spec.dependencies.iter().find(|known| known.get_ref().trim() == text.trim());
        Edit {
            line: written.map(|written| self.line(written)),
            key: "dependencies".into(),
            old: Some(format!("\"{text}\"")),
            new,
        }
    }
}
