//! Known indexes that this user reaches at another address: a mirror inside a company, for every env.toml alike.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cuda_lock_constraint::rules::index;
use cuda_lock_formats::diagnostic::{Diagnostic, Diagnostics, Source};
use cuda_lock_formats::regular::{self, TEXT_LIMIT};
use serde::Deserialize;
use url::Url;

/// Moves PyTorch's indexes: the address under which `cpu`, `cu126` and so on lie.
const PYTORCH: &str = "CUDA_LOCK_PYTORCH_INDEX";

/// The file in the user's folder for configurations.
const FILE: &str = "cuda-lock/config.toml";

/// Where known indexes are for this user.
#[derive(Debug, Default)]
pub(super) struct Moved {
    /// Under which PyTorch's indexes lie, one folder for each backend.
    pub(super) pytorch: Option<Url>,
    indexes: BTreeMap<String, Url>,
}

/// `config.toml`: `[pytorch] index = "…"` and `[index] onnxruntime-cuda-12 = "…"`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    pytorch: Pytorch,
    #[serde(default)]
    index: BTreeMap<String, Url>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pytorch {
    index: Option<Url>,
}

impl Moved {
    /// What the environment says, and the configuration file where the environment says nothing.
    ///
    /// # Errors
    /// When the file or an address in it cannot be used.
    pub(super) fn read() -> Result<Self, Diagnostics> {
        let mut moved = match config_file() {
            Some(path) => Self::from_file(&path)?,
            None => Self::default(),
        };
        if let Some(text) = std::env::var(PYTORCH).ok().filter(|text| !text.trim().is_empty()) {
            let url = Url::parse(text.trim()).map_err(|error| {
                let source = Source::new(PYTORCH, text.as_str());
                one(Diagnostic::error(&source, format!("{PYTORCH} is no address: {error}")))
            })?;
            moved.pytorch = Some(url);
        }
        Ok(moved)
    }

    /// The address of a known index, when the file moves it.
    pub(super) fn index(&self, name: &str) -> Option<&Url> {
        self.indexes.get(name)
    }

    fn from_file(path: &Path) -> Result<Self, Diagnostics> {
        let read = regular::read(path, TEXT_LIMIT).and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|_| std::io::Error::other(format!("{} is not UTF-8", path.display())))
        });
        let text = match read {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => {
                let source = Source::new(path.display().to_string(), "");
                return Err(one(Diagnostic::error(&source, error.to_string())));
            }
        };
        let source = Source::new(path.display().to_string(), text.as_str());
        let at = |span: Option<std::ops::Range<usize>>, text: String| {
            let found = Diagnostic::error(&source, text);
            one(match span {
                Some(span) => found.at(span),
                None => found,
            })
        };
        let file: File =
            toml::from_str(&text).map_err(|error| at(error.span(), error.message().to_owned()))?;
        if let Some(unknown) = file.index.keys().find(|name| index::by_name(name).is_none()) {
            let text = format!(
                "there is no known index called '{unknown}'; name your own indexes in env.toml"
            );
            return Err(at(None, text));
        }
        Ok(Self { pytorch: file.pytorch.index, indexes: file.index })
    }
}

fn one(diagnostic: Diagnostic) -> Diagnostics {
    Diagnostics::new(vec![diagnostic])
}

/// `$XDG_CONFIG_HOME/cuda-lock/config.toml`, `%APPDATA%\cuda-lock\config.toml`, or the same under `~/.config`.
fn config_file() -> Option<PathBuf> {
    let folder = |key| std::env::var_os(key).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) { folder("APPDATA") } else { folder("XDG_CONFIG_HOME") };
    let base = base.or_else(|| Some(folder("HOME")?.join(".config")))?;
    Some(base.join(FILE))
}
