//! What is judged: files, standard input, folders of installed packages.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cuda_lock_formats::input::{
    DiskLoader, FileLoader, Input, LoadError, not_read, read, read_site_packages,
};

use crate::args::Audit;
use crate::exit::Exit;
use crate::output::message;

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
/// When something cannot be read; the reason has been printed.
pub fn all(args: &Audit) -> Result<Vec<Subject>, Exit> {
    let mut subjects = Vec::new();
    for path in &args.files {
        subjects.push(of_path(path)?);
    }
    for path in &args.site_packages {
        subjects.push(of_folder(path)?);
    }
    Ok(subjects)
}

fn of_path(path: &Path) -> Result<Subject, Exit> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        return match std::io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => {
                understood(&bytes, STDIN)?;
                Ok(Subject::File { name: STDIN.to_owned(), bytes })
            }
            Err(why) => {
                message::error(format_args!("standard input: {why}"));
                Err(Exit::BadInput)
            }
        };
    }
    if path.is_dir() {
        message::error(format_args!("{} is a folder", path.display()));
        message::help("judge the packages that are installed in it with --site-packages");
        return Err(Exit::BadInput);
    }
    let name = path.display().to_string();
    let bytes = fs_err::read(path).map_err(|why| {
        message::error(why);
        Exit::BadInput
    })?;
    understood(&bytes, &name)?;
    Ok(Subject::File { name, bytes })
}

/// Refuses a file of a kind that is not read.
fn understood(bytes: &[u8], name: &str) -> Result<(), Exit> {
    let Some(why) = not_read(bytes, name) else { return Ok(()) };
    message::error(format_args!("{name} is not read: it is {}", why.what));
    match why.help {
        Some(help) => message::help(help),
        None => message::help("the kinds of files that are read stand in `cuda-lock audit --help`"),
    }
    Err(Exit::BadInput)
}

/// The folder itself, or the site-packages of the environment that it is.
fn of_folder(path: &Path) -> Result<Subject, Exit> {
    let wrong = |text: String| {
        message::error(text);
        message::help(
            "name the folder that pip installs into: python -c \"import site; print(site.getsitepackages())\"",
        );
        Err(Exit::BadInput)
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
