//! What machine this is: as far as it can be seen, and no further.
//!
//! Nothing is guessed. What could not be seen is among [`Seen::remarks`]. Files are read where they say it; programs are run
//! only where no file does, and never for longer than [`Host::patience`].

mod command;
mod libc;
mod nvidia;
mod python;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cuda_lock_constraint::machine::{Gpu, Libc, Platform};
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::version::SystemVersion;
use pep440_rs::Version as Pep440;

/// Where to look.
#[derive(Clone, Debug)]
pub struct Host {
    /// The folder in the place of `/`.
    pub root: PathBuf,
    /// Where programs are looked for, in order.
    pub path: Vec<PathBuf>,
    /// The environment that is active: a virtual one, then one of conda.
    pub environments: Vec<PathBuf>,
    /// How long a program may take.
    pub patience: Duration,
}

impl Host {
    /// This machine.
    #[must_use]
    pub fn this() -> Self {
        let folder =
            |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self {
            root: PathBuf::from("/"),
            path: std::env::split_paths(&path).collect(),
            environments: ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder).collect(),
            patience: Duration::from_secs(10),
        }
    }

    /// A program by its name, where it can be run.
    fn program(&self, name: &str) -> Option<PathBuf> {
        let name = if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() };
        self.path.iter().map(|folder| folder.join(&name)).find(|path| path.is_file())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// What a program prints, when it ends well within the patience of this host.
    fn run(&self, program: &Path, arguments: &[&str]) -> Result<String, String> {
        let output = self.said(program, arguments)?;
        output.failure.map_or(Ok(output.text), Err)
    }

    /// What a program prints, however it ends.
    fn said(&self, program: &Path, arguments: &[&str]) -> Result<command::Output, String> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        command::output(program, &arguments, self.patience)
    }
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Operating system and processor.
    pub platform: Option<Platform>,
    /// The C library, on Linux.
    pub libc: Option<Libc>,
    /// The NVIDIA driver.
    pub driver: Option<SystemVersion>,
    /// The GPUs that the driver shows.
    pub gpus: Vec<Gpu>,
    /// GPUs of which nothing is known but the name, with the reason.
    pub unknown_gpus: Vec<(String, String)>,
    /// The Python that is first in line.
    pub python: Option<Pep440>,
    /// What could not be seen, and what is to be known about the rest.
    pub remarks: Vec<String>,
}

/// Looks at a machine.
#[must_use]
pub fn detect(host: &Host) -> Seen {
    let mut seen = Seen { platform: platform(), ..Seen::default() };
    if seen.platform.is_none() {
        let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
        seen.remarks
            .push(format!("{system} on {processor} is no platform that CUDA stacks exist for"));
    }
    if seen.platform.is_some_and(Platform::is_linux) {
        libc::detect(host, &mut seen);
    }
    if seen.platform == Some(Platform::MacosArm64) {
        seen.remarks.push("macOS has no NVIDIA driver".to_owned());
    } else {
        nvidia::detect(host, &mut seen);
    }
    python::detect(host, &mut seen);
    seen
}

fn platform() -> Option<Platform> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some(Platform::LinuxX86_64),
        ("linux", "aarch64") => Some(Platform::LinuxAarch64),
        ("windows", "x86_64") => Some(Platform::WindowsX86_64),
        ("macos", "aarch64") => Some(Platform::MacosArm64),
        _ => None,
    }
}

impl Seen {
    /// Adds a GPU. What the driver says of its compute capability goes before what is known of the product.
    fn add_gpu(&mut self, name: &str, capability: Option<SystemVersion>) {
        match (find_gpu(name), capability) {
            (Ok(gpu), None) => self.gpus.push(gpu),
            (Ok(gpu), Some(capability)) => self.gpus.push(Gpu { capability, ..gpu }),
            (Err(_), Some(capability)) => {
                if let Ok(gpu) = find_gpu(capability.as_str()) {
                    self.gpus.push(Gpu { name: name.to_owned(), ..gpu });
                }
            }
            (Err(why), None) => self.unknown_gpus.push((name.to_owned(), why.to_string())),
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
