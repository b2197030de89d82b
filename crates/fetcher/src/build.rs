//! Building the metadata of a source distribution with the person's own uv or pip (PEP 517).
//!
//! A build runs code of the source distribution, so nothing is built that the person did not allow. It gets a folder of
//! its own, a home of its own and none of the environment but what a program needs to run, a time limit and a limit of
//! what it may print. That keeps accidents away, not malice: it runs with the rights of whoever started it.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, File as IndexFile, FromSdist, Grade, Metadata, Silence, Undeclared,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use pep440_rs::Version;
use serde::Deserialize;
use url::Url;

use crate::cache::Said;
use crate::config::{Mode, SourceFormat};
use crate::fetcher::{Fetcher, MetadataResult};
use crate::wheel::about;

/// How long a build may take, unless `CUDA_LOCK_BUILD_TIMEOUT` (seconds) says otherwise.
const TIME: Duration = Duration::from_secs(300);

/// How much it may print.
const PRINTED: u64 = 16 << 20;

/// How much of that is shown when it fails.
const SHOWN: u64 = 3000;

/// How often it is looked after.
const GLANCE: Duration = Duration::from_millis(20);

/// What programs need to run and to reach the network. Nothing here names a person or holds a secret, except a proxy
/// that is given with one.
const PASSED: [&str; 24] = [
    "PATH",
    "PATHEXT",
    "SystemRoot",
    "SYSTEMDRIVE",
    "COMSPEC",
    "TEMP",
    "TMP",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CC",
    "CXX",
    "CUDA_HOME",
    "LD_LIBRARY_PATH",
];

/// What is built.
pub(crate) struct Job<'a> {
    /// The source distribution, or a folder with sources.
    pub(crate) source: &'a Path,
    /// The Python that it is built for, as `3.11`.
    pub(crate) python: String,
    /// Where what the build asks for comes from.
    pub(crate) index: Option<&'a Url>,
}

/// pip's report of what it would install.
#[derive(Deserialize)]
struct Report {
    install: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Core,
}

#[derive(Deserialize)]
struct Core {
    name: String,
    version: String,
    #[serde(default)]
    requires_dist: Vec<String>,
    requires_python: Option<String>,
    #[serde(default)]
    provides_extra: Vec<String>,
}

impl Fetcher {
    /// The metadata of a source distribution as a build finds it: from the cache, where an earlier build of the same file
    /// for the same Python left it, or built now.
    pub(crate) fn build_metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &IndexFile,
        python: &Version,
    ) -> MetadataResult {
        let python = minor(python);
        let kept_as = IndexFile { url: format!("{}#built-{python}", file.url), ..file.clone() };
        let cache = self.inner.cache.as_ref().filter(|_| file.sha256.is_some());
        if let Some(Said::Metadata(known)) = cache.and_then(|cache| cache.metadata(name, &kept_as))
        {
            return Ok(Arc::new(known));
        }
        let failed = |detail: String| {
            CatalogError::Undeclared(Arc::new(Undeclared {
                filename: file.filename.clone(),
                why: Silence::Unbuilt,
                detail: Some(detail),
                recorded: None,
            }))
        };
        let needs = match Catalog::metadata(self, source, name, file) {
            Ok(metadata) => metadata.source.clone(),
            Err(CatalogError::Undeclared(found)) => {
                found.recorded.as_ref().and_then(|recorded| recorded.source.clone())
            }
            Err(_) => None,
        };
        let room = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
        let sdist = self.brought(room.path(), name, file)?;
        let own = self
            .source(source)
            .ok()
            .filter(|source| source.format == SourceFormat::Simple && source.folder.is_none());
        let index = own.map(|source| source.url.clone()).or_else(|| self.any_index());
        let job = Job { source: &sdist, python, index: index.as_ref() };
        let built = metadata(&job).map_err(failed)?;
        let built = graded(about(name, file, built)?, needs.as_deref());
        let said = Said::Metadata(built.clone());
        if let Some(cache) = cache {
            cache.keep_metadata(name, &kept_as, &said);
        }
        Ok(Arc::new(built))
    }

    /// The index that what a build asks for comes from, where the sources are on none.
    pub(crate) fn any_index(&self) -> Option<Url> {
        let simple =
            self.inner.sources.iter().filter(|(_, source)| {
                source.format == SourceFormat::Simple && source.folder.is_none()
            });
        simple.min_by_key(|(id, _)| **id).map(|(_, source)| source.url.clone())
    }

    /// The source distribution as a file of its own name.
    fn brought(&self, room: &Path, name: Name, file: &IndexFile) -> Result<PathBuf, CatalogError> {
        let lost = |error: &dyn std::fmt::Display| {
            CatalogError::Network(format!("{} cannot be written: {error}", file.filename).into())
        };
        let url = Url::parse(&file.url).map_err(|error| lost(&error))?;
        if let Ok(path) = url.to_file_path() {
            return Ok(path);
        }
        if self.inner.mode == Mode::Offline {
            let text = format!(
                "{} must be downloaded to be built, and --offline allows no request",
                file.filename
            );
            return Err(CatalogError::Offline(text.into()));
        }
        // A name from an index is no path.
        let plain = Path::new(&file.filename).file_name().ok_or_else(|| lost(&"it has no name"))?;
        let path = room.join(plain);
        let mut from = self.runtime()?.block_on(self.inner.whole_file(&url, name, file))?;
        let mut to = File::create(&path).map_err(|error| lost(&error))?;
        std::io::copy(&mut from, &mut to).map_err(|error| lost(&error))?;
        Ok(path)
    }
}

/// The minor version of a Python: `3.11`.
pub(crate) fn minor(python: &Version) -> String {
    python.release().iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join(".")
}

/// What a build found, with what is known of what the build needs.
pub(crate) fn graded(built: Metadata, known: Option<&FromSdist>) -> Metadata {
    let needs = known.map(|source| source.needs.clone()).unwrap_or_default();
    let source = FromSdist { grade: Grade::Built, extras_open: false, needs };
    Metadata { source: Some(Box::new(source)), ..built }
}

/// Builds the metadata.
///
/// # Errors
/// In words: that there is neither uv nor pip, that it took too long, or what it printed last.
pub(crate) fn metadata(job: &Job<'_>) -> Result<Metadata, String> {
    let room = tempfile::tempdir().map_err(|error| error.to_string())?;
    let report = room.path().join("report.json");
    let printed = tempfile::tempfile_in(room.path()).map_err(|error| error.to_string())?;
    let mut child = start(job, room.path(), &report, &printed)?;
    let status = wait(&mut child, &printed)
        .map_err(|why| format!("{why}; it printed last: {}", last_of(&printed)))?;
    if !status.success() {
        return Err(format!("its build failed ({status}): {}", last_of(&printed)));
    }
    let text = fs_err::read(&report).map_err(|error| error.to_string())?;
    let report: Report =
        serde_json::from_slice(&text).map_err(|error| format!("the report of pip: {error}"))?;
    let core = report.install.into_iter().next().map(|item| item.metadata);
    let core = core.ok_or("pip reports nothing that it would install")?;
    Ok(Metadata {
        name: core.name,
        version: core.version,
        requires_dist: core.requires_dist.into_iter().map(Into::into).collect(),
        requires_python: core.requires_python.map(Into::into),
        provides_extra: core.provides_extra,
        source: None,
    })
}

/// Starts uv, or pip where there is no uv.
fn start(job: &Job<'_>, room: &Path, report: &Path, printed: &File) -> Result<Child, String> {
    let tools: [(&str, &[&str]); 2] =
        [("uv", &["tool", "run", "--isolated", "--python", &job.python, "pip"]), ("pip", &[])];
    for (program, first) in tools {
        let mut command = Command::new(program);
        command.args(first).args([
            "install",
            "--dry-run",
            "--ignore-installed",
            "--no-deps",
            "--quiet",
        ]);
        command.args(["--disable-pip-version-check", "--no-input", "--no-cache-dir", "--report"]);
        command.arg(report).arg(job.source).current_dir(room).stdin(Stdio::null()).env_clear();
        for name in PASSED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", room).env("USERPROFILE", room).env("UV_CACHE_DIR", room.join("uv"));
        if let Some(index) = job.index {
            command.env("PIP_INDEX_URL", index.as_str()).env("UV_DEFAULT_INDEX", index.as_str());
        }
        let outputs = (printed.try_clone(), printed.try_clone());
        let (Ok(out), Ok(error)) = outputs else { return Err("no file for its output".to_owned()) };
        command.stdout(out).stderr(error);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{program} cannot be started: {error}")),
        }
    }
    Err("neither uv nor pip is on PATH, and one of them has to build it".to_owned())
}

/// Waits for the end, or puts an end to it.
fn wait(child: &mut Child, printed: &File) -> Result<ExitStatus, String> {
    let seconds = std::env::var("CUDA_LOCK_BUILD_TIMEOUT").ok().and_then(|text| text.parse().ok());
    let limit = seconds.map_or(TIME, Duration::from_secs);
    let started = Instant::now();
    loop {
        match child.try_wait() {
            // Whatever it left running goes as well.
            Ok(Some(status)) => {
                end(child);
                return Ok(status);
            }
            Ok(None) => {}
            Err(error) => return Err(error.to_string()),
        }
        let too_much = printed.metadata().is_ok_and(|file| file.len() > PRINTED);
        if too_much || started.elapsed() > limit {
            end(child);
            let _ = child.wait();
            return Err(if too_much {
                format!("its build printed more than {} MiB", PRINTED >> 20)
            } else {
                format!("its build took more than {} seconds", limit.as_secs())
            });
        }
        std::thread::sleep(GLANCE);
    }
}

/// Ends the build and everything that it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill")
            .args(["-KILL", "--", &group])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
}

/// The end of what was printed, with nothing that moves a cursor.
fn last_of(printed: &File) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = printed.try_clone()?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SHOWN)))?;
        let mut bytes = Vec::new();
        file.take(SHOWN).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let clean: String =
        text.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    if clean.trim().is_empty() { "nothing".to_owned() } else { clean.trim().to_owned() }
}
