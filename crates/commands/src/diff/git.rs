//! Files of a git revision, read through git itself.

use std::process::{Command, Output};

/// A file at a revision; `None` when the revision does not have it. As git has it, a path counts from the top of the
/// repository, and one that starts with `./` from the current folder.
pub fn file(revision: &str, path: &str) -> Result<Option<Vec<u8>>, String> {
    let object = format!("{}:{path}", checked(revision)?);
    // A revision that does not exist is a mistake, a file that did not exist yet is none.
    if !git(&["cat-file", "-e", &object])?.status.success() {
        return exists(revision).map(|()| None);
    }
    let output = git(&["cat-file", "blob", &object])?;
    if output.status.success() {
        Ok(Some(output.stdout))
    } else {
        Err(format!("{object} is no file"))
    }
}

/// The names of the files that a revision has in the current folder.
pub fn names(revision: &str) -> Result<Vec<String>, String> {
    let revision = checked(revision)?;
    exists(revision)?;
    let output = git(&["ls-tree", "-z", "--name-only", revision, "./"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

fn exists(revision: &str) -> Result<(), String> {
    let commit = format!("{}^{{commit}}", checked(revision)?);
    let output = git(&["rev-parse", "--verify", "--quiet", &commit])?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("fatal: ");
    if said.is_empty() {
        Err(format!(
            "git knows no revision '{revision}' here; a shallow clone may lack it: git fetch origin {revision}"
        ))
    } else {
        Err(format!("git: {said}"))
    }
}

/// A revision that git cannot take for a flag.
fn checked(revision: &str) -> Result<&str, String> {
    if revision.is_empty() || revision.starts_with('-') {
        return Err(format!("'{revision}' is no git revision"));
    }
    Ok(revision)
}

fn git(arguments: &[&str]) -> Result<Output, String> {
    Command::new("git")
        .args(arguments)
        .output()
        .map_err(|error| format!("git cannot be started: {error}"))
}
