//! `cuda-lock diff`: what moved between two locks.

mod git;

use std::collections::BTreeSet;
use std::path::Path;

use cuda_lock_formats::lock_diff::LockDiff;
use cuda_lock_formats::pylock::Pylock;
use cuda_lock_formats::regular::{self, TEXT_LIMIT};
use serde::Serialize;

use crate::failure::Failure;

/// What is compared.
#[derive(Clone, Debug)]
pub enum Request {
    /// Two locks, each a file or REVISION:FILE of git.
    Two(String, String),
    /// Locks at a git revision with those that are there now; every lock of the folder when none is named.
    Since {
        /// The revision.
        revision: String,
        /// Files of the current folder.
        files: Vec<String>,
    },
}

/// A lock as it was named on the command line, and what it holds; `None` when it did not exist then.
struct Side {
    name: String,
    lock: Option<Pylock>,
}

/// `cuda-lock diff --format json`.
#[derive(Serialize)]
pub struct Report {
    /// Version of this shape.
    pub schema: u32,
    /// Each pair of locks.
    pub locks: Vec<Pair>,
}

/// Two locks that were compared.
#[derive(Serialize)]
pub struct Pair {
    /// The older, as it was named.
    pub old: String,
    /// The newer, as it was named.
    pub new: String,
    /// What moved.
    #[serde(flatten)]
    pub diff: LockDiff,
}

/// Compares locks. With `knowing_the_system` a lock that does not say what it needs of a machine is refused: nothing could
/// be said of its minimum driver.
///
/// # Errors
/// When a lock cannot be read, or git does not know it.
pub fn compare(request: &Request, knowing_the_system: bool) -> Result<Report, Failure> {
    let pairs = match request {
        Request::Two(old, new) => side(old).and_then(|old| Ok(vec![(old, side(new)?)])),
        Request::Since { revision, files } => since(revision, files),
    }
    .map_err(Failure::argument)?;
    let mut locks = Vec::new();
    for (old, new) in &pairs {
        if knowing_the_system {
            knows_the_system(old)
                .and_then(|()| knows_the_system(new))
                .map_err(Failure::argument)?;
        }
        let empty = Pylock::new();
        let diff =
            LockDiff::new(old.lock.as_ref().unwrap_or(&empty), new.lock.as_ref().unwrap_or(&empty));
        locks.push(Pair { old: old.name.clone(), new: new.name.clone(), diff });
    }
    Ok(Report { schema: 1, locks })
}

impl Report {
    /// Whether a minimum driver rose or a GPU lost its cover.
    #[must_use]
    pub fn has_regressions(&self) -> bool {
        self.locks.iter().any(|pair| !pair.diff.regressions.is_empty())
    }
}

/// A file, or REVISION:FILE. A file of that name wins.
fn side(name: &str) -> Result<Side, String> {
    let path = Path::new(name);
    let text = match name.split_once(':') {
        Some((revision, file)) if !path.exists() => {
            git::file(revision, file)?.ok_or_else(|| format!("{revision} has no file {file}"))?
        }
        _ => regular::read_named(path, TEXT_LIMIT).map_err(|error| error.to_string())?,
    };
    Ok(Side { name: name.to_owned(), lock: Some(parse(&text, name)?) })
}

/// Every lock of the folder, or those that are named, at a revision and now. One that is new or gone is compared with
/// nothing.
fn since(revision: &str, names: &[String]) -> Result<Vec<(Side, Side)>, String> {
    let mut files: BTreeSet<String> = names.iter().cloned().collect();
    if files.is_empty() {
        let here = fs_err::read_dir(".").map_err(|error| error.to_string())?;
        let here = here.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        files = here.chain(git::names(revision)?).filter(|name| is_lock(name)).collect();
    }
    if files.is_empty() {
        return Err(format!("there is no pylock.toml here, and none at {revision}"));
    }
    if let Some(file) = files.iter().find(|file| Path::new(file).is_absolute()) {
        return Err(format!("{file}: with --git, name files from the current folder"));
    }
    files
        .into_iter()
        .map(|file| {
            let name = format!("{revision}:{file}");
            let old = git::file(revision, &format!("./{file}"))?
                .map(|text| parse(&text, &name))
                .transpose()?;
            let new = match regular::read(Path::new(&file), TEXT_LIMIT) {
                Ok(text) => Some(parse(&text, &file)?),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(error.to_string()),
            };
            if old.is_none() && new.is_none() {
                return Err(format!("there is no {file} here, and none at {revision}"));
            }
            Ok((Side { name, lock: old }, Side { name: file, lock: new }))
        })
        .collect()
}

/// The names that PEP 751 gives to locks.
fn is_lock(name: &str) -> bool {
    let middle = name.strip_prefix("pylock.").and_then(|rest| rest.strip_suffix("toml"));
    middle.is_some_and(|middle| middle.is_empty() || middle.ends_with('.') && middle.len() > 1)
}

fn parse(bytes: &[u8], name: &str) -> Result<Pylock, String> {
    Pylock::parse_bytes(bytes, name)
        .map_err(|why| why.iter().map(|problem| problem.one_line()).collect::<Vec<_>>().join("\n"))
}

fn knows_the_system(side: &Side) -> Result<(), String> {
    match &side.lock {
        Some(lock) if lock.tool.is_none() => Err(format!(
            "--deny-regressions: {} has no [tool.cuda-lock], so its minimum driver is not known",
            side.name
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_have_the_names_of_pep_751() {
        for name in ["pylock.toml", "pylock.edge.toml", "pylock.a-b.toml"] {
            assert!(is_lock(name), "{name}");
        }
        for name in ["pylock..toml", "pylock.edge", "pylock.xtoml", "xpylock.toml", "env.toml"] {
            assert!(!is_lock(name), "{name}");
        }
    }
}
