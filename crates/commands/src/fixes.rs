//! Changes that make a problem solvable, as the lines of env.toml to change.

use cuda_lock_constraint::fix::{Change, Found};
use cuda_lock_constraint::machine::Libc;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::version::SystemVersion;
use cuda_lock_formats::manifest::{Backends, Manifest};
use serde::Serialize;
use serde_spanned::Spanned;

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
    /// True when anything newer than `new` will do as well: a driver, a glibc.
    pub or_newer: bool,
}

/// The fixes with their places in env.toml.
#[must_use]
pub fn located(found: &Found, manifest: &Manifest, plan: &Plan) -> Vec<Fix> {
    let place = Place { manifest, plan };
    found
        .fixes
        .iter()
        .map(|fix| Fix {
            edits: fix.changes.iter().flat_map(|change| place.edits(change)).collect(),
            gives: fix.gives.iter().map(|(name, version)| format!("{name} {version}")).collect(),
        })
        .collect()
}

impl Edit {
    fn of(key: &str) -> Self {
        Self { line: None, key: key.to_owned(), old: None, new: None, or_newer: false }
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

    /// The line of a key that stands once in the file, such as one of `[options]`; `None` when it is not written.
    fn line_of_key(&self, key: &str) -> Option<usize> {
        let is_key = |line: &str| {
            line.trim_start()
                .strip_prefix(key)
                .is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        let mut lines = self.manifest.source().text().lines();
        lines.position(is_key).map(|place| place + 1)
    }

    fn edits(&self, change: &Change) -> Vec<Edit> {
        match change {
            Change::Wheels => self.wheels(),
            one => vec![self.edit(one)],
        }
    }

    /// Libraries from wheels, and no wish for those of the system.
    fn wheels(&self) -> Vec<Edit> {
        let machine = &self.plan.spec.machine;
        let libraries = Edit {
            line: machine.libraries.as_ref().map(|value| self.line(value)),
            old: machine.libraries.as_ref().map(|_| quoted(&"system")),
            new: Some(quoted(&"wheels")),
            ..Edit::of("[machine] libraries")
        };
        let wishes = [(Package::Cuda, &machine.cuda), (Package::Cudnn, &machine.cudnn)];
        let written = wishes.into_iter().filter(|(_, wish)| wish.is_some());
        std::iter::once(libraries)
            .chain(written.map(|(layer, _)| self.edit(&Change::NoWish { layer })))
            .collect()
    }

    fn edit(&self, change: &Change) -> Edit {
        let machine = &self.plan.spec.machine;
        let options = &self.manifest.options;
        match change {
            Change::Move { requirement, now } | Change::Rename { requirement, now } => {
                self.dependency(requirement.text(), Some(quoted(now)))
            }
            Change::Drop { requirement } => self.dependency(requirement.text(), None),
            Change::Substitute { from, to } => Edit {
                new: Some(format!("{{ {from} = \"{to}\" }}")),
                ..Edit::of("[options] substitute")
            },
            Change::TrustRecorded { name } => self.trust(name),
            Change::Prerelease => Edit {
                line: self.line_of_key("prerelease"),
                new: Some(quoted(&"allow")),
                ..Edit::of("[options] prerelease")
            },
            Change::ExcludeNewer { until } => Edit {
                line: options.exclude_newer.as_ref().map(|date| self.line(date)),
                old: options.exclude_newer.as_ref().map(|date| quoted(&date.get_ref().text)),
                new: until.map(|until| quoted(&until)),
                ..Edit::of("[options] exclude-newer")
            },
            Change::Backend { name } => self.backends(name.as_deref()),
            Change::NoWish { layer } => {
                let (key, wish) = match layer {
                    Package::Cuda => ("[machine] cuda", &machine.cuda),
                    _ => ("[machine] cudnn", &machine.cudnn),
                };
                Edit {
                    line: wish.as_ref().map(|wish| self.line(wish)),
                    old: wish.as_ref().map(|wish| quoted(&wish.get_ref().text)),
                    ..Edit::of(key)
                }
            }
            // Several places: see `edits`.
            Change::Wheels => Edit::of("[machine] libraries"),
            Change::Driver { at_least } => Edit {
                line: machine.driver.as_ref().map(|driver| self.line(driver)),
                old: machine.driver.as_ref().map(|driver| quoted(driver.get_ref())),
                new: Some(quoted(&whole(at_least))),
                or_newer: true,
                ..Edit::of("[machine] driver")
            },
            Change::Glibc { at_least } => Edit {
                line: machine.libc.as_ref().map(|libc| self.line(libc)),
                old: machine.libc.as_ref().and_then(|libc| match libc.get_ref() {
                    Libc::Glibc(version) => Some(quoted(version)),
                    Libc::Musl(_) => None,
                }),
                new: Some(quoted(at_least)),
                or_newer: true,
                ..Edit::of("[machine] glibc")
            },
            Change::Python { version } => Edit {
                line: Some(self.line(&self.plan.spec.python)),
                old: Some(quoted(&self.plan.spec.python.get_ref())),
                new: Some(quoted(version)),
                ..Edit::of("python")
            },
        }
    }

    /// One more package whose source distribution is trusted.
    fn trust(&self, name: &Name) -> Edit {
        let written = &self.manifest.options.trust_recorded;
        let old: Vec<String> = written.iter().map(|name| quoted(name.get_ref())).collect();
        let all = old.iter().cloned().chain(std::iter::once(quoted(name))).collect::<Vec<_>>();
        Edit {
            line: written.first().map(|name| self.line(name)),
            old: (!old.is_empty()).then(|| format!("[{}]", old.join(", "))),
            new: Some(format!("[{}]", all.join(", "))),
            ..Edit::of("[options] trust-recorded")
        }
    }

    /// One accelerator more.
    fn backends(&self, name: Option<&str>) -> Edit {
        let written: Vec<&str> = match &self.manifest.pytorch.backends {
            Backends::Only(names) => names.iter().map(|name| name.get_ref().as_str()).collect(),
            Backends::Any | Backends::None => Vec::new(),
        };
        let list = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            format!("[{}]", names.join(", "))
        };
        let old = match &self.manifest.pytorch.backends {
            Backends::Any => None,
            Backends::None => Some("false".to_owned()),
            Backends::Only(_) => Some(list(&written)),
        };
        let all: Vec<&str> = written.iter().copied().chain(name).collect();
        Edit {
            line: self.line_of_key("backends"),
            old,
            new: Some(list(&all)),
            ..Edit::of("[pytorch] backends")
        }
    }

    fn dependency(&self, text: &str, new: Option<String>) -> Edit {
        let written =
            self.plan.spec.dependencies.iter().find(|known| known.get_ref().trim() == text.trim());
        Edit {
            line: written.map(|written| self.line(written)),
            old: Some(quoted(&text)),
            new,
            ..Edit::of("dependencies")
        }
    }
}

/// A version as env.toml wants it: a branch of drivers alone is none.
fn whole(version: &SystemVersion) -> String {
    let text = version.to_string();
    if text.contains('.') { text } else { format!("{text}.0") }
}

fn quoted(text: &dyn std::fmt::Display) -> String {
    format!("\"{text}\"")
}
