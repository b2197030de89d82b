//! A folder in which the binary is run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::server::Server;

/// A folder of its own with an `env.toml`, a home and a cache.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
    binary: PathBuf,
}

/// What one run of the binary gave.
#[derive(Clone, Debug)]
pub struct Run {
    /// The exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// The run itself when it left with `code`.
    ///
    /// # Panics
    /// With both outputs when it did not.
    #[must_use]
    pub fn expect(self, code: i32) -> Self {
        assert!(
            self.code == code,
            "exit code {} instead of {code}\n--- stdout\n{}\n--- stderr\n{}",
            self.code,
            self.stdout,
            self.stderr
        );
        self
    }
}

impl Project {
    /// A folder with this `env.toml`; `binary` is `env!("CARGO_BIN_EXE_cuda-lock")`.
    ///
    /// # Panics
    /// When the temporary folder cannot be made.
    #[must_use]
    pub fn new(binary: &str, manifest: impl ToString) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let project = Self { folder, binary: binary.into() };
        project.write("env.toml", &manifest.to_string());
        project
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file of the folder.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect("the folder can be written");
    }

    /// A file of the folder, when it is there.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path().join(name)).ok()
    }

    /// Runs `cuda-lock` with these arguments in the folder. Of the caller's environment only `PATH` and what Windows
    /// cannot start a program without are passed on.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_with(arguments, &[])
    }

    /// As [`run`](Self::run), with environment variables.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn run_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
        let home = self.path().join("home");
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.path()).env_clear();
        for name in ["PATH", "SystemRoot", "TEMP", "TMP"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", &home).env("USERPROFILE", &home);
        for (name, folder) in [
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_STATE_HOME", "state"),
            ("LOCALAPPDATA", "local"),
            ("APPDATA", "roaming"),
        ] {
            command.env(name, home.join(folder));
        }
        let output = command.envs(environment.iter().copied()).output().expect("the binary starts");
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// `cuda-lock resolve` with its cache in the folder.
    #[must_use]
    pub fn resolve(&self, arguments: &[&str]) -> Run {
        let cache = self.path().join("cache");
        let cache = cache.to_string_lossy();
        self.run(&[&["resolve", "--cache-dir", &cache], arguments].concat())
    }

    /// `pylock.toml`, parsed.
    ///
    /// # Panics
    /// When there is none or it is not TOML.
    #[must_use]
    pub fn pylock(&self) -> toml::Table {
        let text = self.read("pylock.toml").expect("pylock.toml was written");
        text.parse().unwrap_or_else(|error| panic!("pylock.toml is not TOML: {error}\n{text}"))
    }

    /// The locked versions by project.
    ///
    /// # Panics
    /// When `pylock.toml` is missing or a package in it has no name or version.
    #[must_use]
    pub fn packages(&self) -> BTreeMap<String, String> {
        let lock = self.pylock();
        let packages = lock.get("packages").and_then(toml::Value::as_array);
        let text = |package: &toml::Value, key: &str| {
            let value = package.get(key).and_then(toml::Value::as_str);
            value.unwrap_or_else(|| panic!("a package without {key}: {package}")).to_owned()
        };
        packages
            .into_iter()
            .flatten()
            .map(|package| (text(package, "name"), text(package, "version")))
            .collect()
    }

    /// `requirements.txt`.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn requirements(&self) -> String {
        self.read("requirements.txt").expect("requirements.txt was written")
    }
}

/// An `env.toml` that asks one server and no other index.
#[derive(Clone, Debug)]
pub struct Manifest {
    url: String,
    python: String,
    platform: String,
    dependencies: Vec<String>,
    machine: String,
    options: String,
    rest: String,
}

impl Manifest {
    /// For Python 3.11 on Linux x86-64, without dependencies.
    #[must_use]
    pub fn new(server: &Server) -> Self {
        Self {
            url: server.url(),
            python: "3.11".into(),
            platform: "linux-x86_64".into(),
            dependencies: Vec::new(),
            machine: String::new(),
            options: String::new(),
            rest: String::new(),
        }
    }

    /// Asks for this Python.
    #[must_use]
    pub fn python(mut self, python: &str) -> Self {
        python.clone_into(&mut self.python);
        self
    }

    /// For this platform.
    #[must_use]
    pub fn platform(mut self, platform: &str) -> Self {
        platform.clone_into(&mut self.platform);
        self
    }

    /// Adds dependencies.
    #[must_use]
    pub fn depends<T: AsRef<str>>(mut self, requirements: impl IntoIterator<Item = T>) -> Self {
        self.dependencies.extend(requirements.into_iter().map(|r| r.as_ref().to_owned()));
        self
    }

    /// Adds a line to `[machine]`.
    #[must_use]
    pub fn machine(mut self, line: &str) -> Self {
        self.machine += &format!("{line}\n");
        self
    }

    /// Adds a line to `[options]`.
    #[must_use]
    pub fn option(mut self, line: &str) -> Self {
        self.options += &format!("{line}\n");
        self
    }

    /// Adds text at the end.
    #[must_use]
    pub fn table(mut self, text: &str) -> Self {
        self.rest += &format!("\n{text}\n");
        self
    }
}

impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut dependencies = String::new();
        for requirement in &self.dependencies {
            writeln!(dependencies, "  {},", toml::Value::String(requirement.clone()))?;
        }
        let Self { url, python, platform, machine, options, rest, .. } = self;
        write!(
            f,
            "[environment]\nname = \"test\"\npython = \"{python}\"\ndependencies = [\n{dependencies}]\n\n\
             [machine]\nplatform = \"{platform}\"\n{machine}\n\
             [[index]]\nname = \"test\"\nurl = \"{url}\"\ndefault = true\n\n\
             [options]\nonly-indexes = [\"test\"]\n{options}{rest}"
        )
    }
}
