//! What is judged: files, standard input, folders of installed packages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cuda_lock_commands::Failure;
use cuda_lock_formats::input::{
    DiskLoader, FileLoader, Input, LoadError, not_read, read, read_site_packages,
};
use cuda_lock_formats::regular::{self, TEXT_LIMIT};

use crate::args::Audit;

/// What standard input is called.
pub const STDIN: &str = "<stdin>";

/// Something that is judged.
pub enum Subject {
    /// A file, or standard input.
    File {
        /// Its name.
        name: String,
        /// Its content when it was first read.
        bytes: Vec<u8>,
    },
    /// A folder of installed packages.
    Folder(PathBuf),
}

/// Texts that take the place of files: what a fix would write.
#[derive(Debug, Default)]
pub struct Overlay {
    /// By the name a file is opened by: its bytes before and after.
    pub files: BTreeMap<String, (Vec<u8>, Vec<u8>)>,
}

impl FileLoader for Overlay {
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        match self.files.get(path) {
            Some((_, now)) => Ok(now.clone()),
            None => DiskLoader.load(path),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        DiskLoader.variable(name)
    }
}

/// Everything that is to be judged, in the order of the command line.
///
/// # Errors
/// When something cannot be read.
pub fn all(args: &Audit) -> Result<Vec<Subject>, Failure> {
    let mut subjects = Vec::new();
    for path in &args.files {
        subjects.push(of_path(path)?);
    }
    for path in &args.site_packages {
        subjects.push(of_folder(path)?);
    }
    Ok(subjects)
}

fn of_path(path: &Path) -> Result<Subject, Failure> {
    if path.as_os_str() == "-" {
        let stdin = std::io::stdin().lock();
        let bytes =
            regular::read_stream(stdin, "standard input", TEXT_LIMIT).map_err(Failure::system)?;
        return understood(bytes, STDIN.to_owned());
    }
    if path.is_dir() {
        return Err(Failure::argument(format!("{} is a folder", path.display()))
            .with_help("judge the packages that are installed in it with --site-packages"));
    }
    let name = path.display().to_string();
    understood(regular::read_named(path, TEXT_LIMIT).map_err(Failure::system)?, name)
}

/// A file, unless it is of a kind that is known and not read.
fn understood(bytes: Vec<u8>, name: String) -> Result<Subject, Failure> {
    let Some(why) = not_read(&bytes, &name) else { return Ok(Subject::File { name, bytes }) };
    let help =
        why.help.unwrap_or("the kinds of files that are read stand in `cuda-lock audit --help`");
    Err(Failure::argument(format!("{name} is not read: it is {}", why.what)).with_help(help))
}

/// The folder itself, or the site-packages of the environment that it is.
fn of_folder(path: &Path) -> Result<Subject, Failure> {
    let wrong = |text: String| {
        Err(Failure::argument(text).with_help(
            "name the folder that pip installs into: python -c \"import site; print(site.getsitepackages())\"",
        ))
    };
    if !path.is_dir() {
        return wrong(format!("--site-packages: {} is no folder", path.display()));
    }
    if holds_distributions(path) {
        return Ok(Subject::Folder(path.to_owned()));
    }
    match site_packages_of(path) {
        Some(folder) => Ok(Subject::Folder(folder)),
        None if is_site_packages(path) => Ok(Subject::Folder(path.to_owned())),
        None => wrong(format!(
            "--site-packages: nothing is installed in {}, and it is no environment",
            path.display()
        )),
    }
}

fn holds_distributions(path: &Path) -> bool {
    let Ok(entries) = fs_err::read_dir(path) else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.ends_with(".dist-info") || name.ends_with(".egg-info")
    })
}

/// Whether it has the name of such a folder; an empty one has nothing to judge, and is no mistake.
fn is_site_packages(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "site-packages" || name == "dist-packages")
}

/// `lib/python3.11/site-packages`, or `Lib/site-packages` on Windows; of several Pythons the newest.
fn site_packages_of(environment: &Path) -> Option<PathBuf> {
    let windows = environment.join("Lib").join("site-packages");
    if windows.is_dir() {
        return Some(windows);
    }
    let minor = |path: &Path| -> Option<u32> {
        let name = path.file_name()?.to_str()?.strip_prefix("python3.")?;
        name.trim_end_matches('t').parse().ok()
    };
    let mut found: Vec<(u32, PathBuf)> = fs_err::read_dir(environment.join("lib"))
        .ok()?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let folder = path.join("site-packages");
            folder.is_dir().then_some((minor(&path)?, folder))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, folder)| folder)
}

impl Subject {
    /// Reads it, with the texts of `overlay` in the place of files.
    pub fn read(&self, overlay: &Overlay) -> Input {
        match self {
            Self::Folder(path) => read_site_packages(path),
            Self::File { name, bytes } => {
                let now = overlay.files.get(name).map(|(_, now)| now.as_slice());
                read(now.unwrap_or(bytes), name, overlay)
            }
        }
    }
}
