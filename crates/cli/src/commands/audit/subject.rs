//! What is judged: files, standard input, folders of installed packages.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cuda_lock_formats::input::{
    DiskLoader, FileLoader, Input, LoadError, read, read_site_packages,
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
            Ok(_) => Ok(Subject::File { name: STDIN.to_owned(), bytes }),
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
    fs_err::read(path).map(|bytes| Subject::File { name, bytes }).map_err(|why| {
        message::error(why);
        Exit::BadInput
    })
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
    if is_environment(path) {
        return match site_packages_of(path) {
            Some(folder) => Ok(Subject::Folder(folder)),
            None => wrong(format!(
                "--site-packages: the environment {} has no site-packages",
                path.display()
            )),
        };
    }
    Ok(Subject::Folder(path.to_owned()))
}

fn is_environment(path: &Path) -> bool {
    path.join("pyvenv.cfg").is_file() || path.join("conda-meta").is_dir()
}

/// `lib/python3.11/site-packages`, or `Lib/site-packages` on Windows.
fn site_packages_of(environment: &Path) -> Option<PathBuf> {
    let windows = environment.join("Lib").join("site-packages");
    if windows.is_dir() {
        return Some(windows);
    }
    let mut found: Vec<PathBuf> = fs_err::read_dir(environment.join("lib"))
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("site-packages")))
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found.pop()
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
