//! `cuda-lock verify`: is what is installed what is locked, does it load, and is the GPU used?
//!
//! Only the Python of the environment can tell, so the checks are a script without dependencies that carries the lock's
//! facts. It is run here, or written out for images that have no cuda-lock.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use cuda_lock_constraint::machine::{Libraries, Platform};
use cuda_lock_constraint::rules::library;
use cuda_lock_constraint::version::{DistVersion, SourceId};
use cuda_lock_formats::pylock::{LockMetadata, Pylock};
use serde::Serialize;

use crate::failure::{Failure, read_file};

/// The checks. One line of it is replaced by the facts of a lock.
const SCRIPT: &str = include_str!("verify/verify.py");

/// That line, and the one it becomes.
const MARK: &str = "LOCK = json.loads(\"{}\")  # the lock\n";

/// What the script is told.
#[derive(Serialize)]
struct Facts {
    python: String,
    packages: Vec<Package>,
    libraries: Vec<Library>,
    minimum_driver: Option<String>,
    capabilities: Vec<String>,
    /// The CUDA libraries come from wheels.
    wheels: bool,
}

/// A pin.
#[derive(Serialize)]
struct Package {
    name: String,
    version: String,
}

/// A shared library that a wheel brings.
#[derive(Serialize)]
struct Library {
    package: String,
    folder: String,
    file: String,
}

/// Runs the checks of a lock with the Python of an environment, which prints what it finds to `output`: as JSON, or for
/// people. Returns whether everything holds.
///
/// # Errors
/// When the lock cannot be used, or that Python cannot be started or ends otherwise than with a verdict.
pub fn check(lock: &Path, python: &Path, json: bool, output: Stdio) -> Result<bool, Failure> {
    let script = script(lock)?;
    let name = python.display();
    let mut child = Command::new(python)
        .args(["-", "--format", if json { "json" } else { "text" }])
        .stdin(Stdio::piped())
        .stdout(output)
        .spawn()
        .map_err(|error| {
            Failure::system(format!(
                "cannot start {name}: {error}; name the Python of the environment with --python"
            ))
        })?;
    if let Some(mut stdin) = child.stdin.take() {
        // A Python that ends early says why by itself.
        let _ = stdin.write_all(script.as_bytes());
    }
    let status = child.wait().map_err(|error| Failure::system(format!("{name}: {error}")))?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(Failure::system(format!(
            "{name} ended with {status}: something that it loaded is broken"
        ))),
    }
}

/// The checks as a Python script with the facts of the lock in it.
///
/// # Errors
/// When the lock cannot be used.
pub fn script(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let lock = Pylock::parse_bytes(&read_file(path)?, &name).map_err(|why| {
        let lines: Vec<String> = why.iter().map(|problem| problem.one_line()).collect();
        Failure::argument(lines.join("\n"))
    })?;
    let Some(tool) = &lock.tool else {
        return Err(Failure::argument(format!(
            "{name} has no [tool.cuda-lock]: another program wrote it"
        )));
    };
    let facts = serde_json::to_string(&facts(&lock, tool)).map_err(Failure::system)?;
    // A JSON string is a Python string: the escapes are the same.
    let literal = serde_json::to_string(&facts).map_err(Failure::system)?;
    Ok(SCRIPT.replacen(MARK, &format!("LOCK = json.loads({literal})\n"), 1))
}

fn facts(lock: &Pylock, tool: &LockMetadata) -> Facts {
    let pinned = || lock.packages.iter().filter_map(|p| Some((p.name, p.version.as_ref()?)));
    let windows = tool.machine.platform == Platform::WindowsX86_64;
    let mut libraries = Vec::new();
    for (name, version) in pinned() {
        let build = DistVersion::new(version.clone(), SourceId(0));
        let Some(path) = library::library_path(name, &build) else { continue };
        let of_platform = |file: &&str| file.ends_with(".dll") == windows;
        libraries.extend(library::files(name, &build).into_iter().filter(of_platform).map(
            |file| Library {
                package: name.to_string(),
                folder: format!("{path}/{}", if windows { "bin" } else { "lib" }),
                file: file.to_owned(),
            },
        ));
    }
    Facts {
        python: tool.python.clone(),
        packages: pinned()
            .map(|(name, version)| Package { name: name.to_string(), version: version.to_string() })
            .collect(),
        libraries,
        minimum_driver: tool.minimum_driver.as_ref().map(ToString::to_string),
        capabilities: tool.capabilities.iter().map(ToString::to_string).collect(),
        wheels: tool.machine.libraries == Libraries::Wheels,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_has_the_line_that_is_replaced() {
        assert_eq!(SCRIPT.matches(MARK).count(), 1);
    }
}
