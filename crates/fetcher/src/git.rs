//! Sources in a repository, fetched by the person's own git: it knows their keys and what they may read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A tree of sources at one commit, in a folder that goes with it.
pub(crate) struct Checkout {
    pub(crate) folder: TempDir,
    pub(crate) commit: String,
}

/// What is fetched.
pub(crate) struct Wanted<'a> {
    /// The address as git takes it, perhaps with credentials.
    pub(crate) url: &'a str,
    /// A branch, a tag or a commit; unset: what the repository points at.
    pub(crate) reference: Option<&'a str>,
}

/// Fetches one commit, and nothing of its history.
///
/// # Errors
/// What git says, in words, without credentials.
pub(crate) fn checkout(wanted: &Wanted<'_>) -> Result<Checkout, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let at = folder.path();
    git(at, &["init", "--quiet"], wanted.url)?;
    let reference = wanted.reference.unwrap_or("HEAD");
    let shallow = ["fetch", "--quiet", "--depth", "1", "--no-tags", "--", wanted.url, reference];
    let fetched = match git(at, &shallow, wanted.url) {
        Ok(_) => "FETCH_HEAD",
        // A shortened commit is found only among all of them.
        Err(why) if !is_shortened(reference) => return Err(why),
        Err(_) => {
            let all = ["fetch", "--quiet", "--", wanted.url, "+refs/*:refs/remotes/all/*"];
            git(at, &all, wanted.url)?;
            reference
        }
    };
    let commit = git(at, &["rev-parse", "--verify", &format!("{fetched}^{{commit}}")], wanted.url)?;
    let commit = commit.trim().to_owned();
    git(at, &["checkout", "--quiet", "--detach", &commit], wanted.url)?;
    Ok(Checkout { folder, commit })
}

/// Whether a text can be the beginning of a commit's name.
fn is_shortened(reference: &str) -> bool {
    reference.len() >= 7 && reference.bytes().all(|b| b.is_ascii_hexdigit())
}

fn git(at: &Path, arguments: &[&str], url: &str) -> Result<String, String> {
    let mut command = Command::new("git");
    command
        .args([
            "-c",
            "core.hooksPath=",
            "-c",
            "protocol.ext.allow=never",
            "-c",
            "core.symlinks=false",
        ])
        .args(arguments)
        .current_dir(at)
        .stdin(Stdio::null())
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_LFS_SKIP_SMUDGE", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("git is not on PATH, and it has to fetch this".to_owned());
        }
        Err(error) => return Err(format!("git cannot be started: {error}")),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = said.last().copied().unwrap_or("it says nothing");
    Err(format!("git: {}", last.replace(url, "the repository")))
}

/// The folder of a project in a tree; `None` when the path leads out of it.
pub(crate) fn subfolder(root: &Path, subdirectory: Option<&str>) -> Option<PathBuf> {
    let Some(below) = subdirectory else { return Some(root.to_owned()) };
    let is_plain = Path::new(below)
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
    is_plain.then(|| root.join(below)).filter(|folder| folder.is_dir())
}
