//! The file itself: reading it with clear errors, and writing it.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::FORMAT;
use super::saved::Record;
use crate::diagnostic::{Diagnostic, Diagnostics, Source, mask_credentials};

/// Unpacked, the largest problems take some 200 MB; what is far larger is no problem file.
const MAX_BYTES: u64 = 2 << 30;

/// What was to be solved, apart from the answers of the indexes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Header {
    /// The version of the format.
    #[serde(rename = "cuda-lock-problem")]
    pub format: u32,
    /// The version of the program that wrote the file.
    pub program: String,
    /// The text of env.toml, credentials masked.
    pub manifest: String,
    /// The target that was asked for, when not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// `--exclude-newer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_newer: Option<String>,
    /// Which pins may move.
    #[serde(default)]
    pub upgrade: Upgrade,
    /// What was read from the model file that env.toml names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The text of each lock, by the name of its target; a lone one has the empty name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locks: BTreeMap<String, String>,
}

impl Header {
    /// A problem with this env.toml, and nothing else on the command line.
    #[must_use]
    pub fn new(program: &str, manifest: &str) -> Self {
        Self {
            format: FORMAT,
            program: program.to_owned(),
            manifest: manifest.to_owned(),
            target: None,
            exclude_newer: None,
            upgrade: Upgrade::default(),
            model: None,
            locks: BTreeMap::new(),
        }
    }
}

/// The flags that let pins move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Upgrade {
    /// `--upgrade`.
    pub all: bool,
    /// `--upgrade-stack`.
    pub stack: bool,
    /// Every `--upgrade-package`.
    pub packages: Vec<String>,
    /// `--within`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// What a model asks of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Model {
    /// The default operator set.
    pub opset: u64,
    /// The version of the file format.
    pub ir: u64,
}

/// A header and its answers.
#[derive(Clone, Debug)]
pub struct ProblemFile {
    /// What was to be solved.
    pub header: Header,
    /// What the indexes answered.
    pub records: Vec<Record>,
}

impl ProblemFile {
    /// The text of the file. The same problem gives the same bytes.
    ///
    /// # Errors
    /// Never in practice: every value can be written as JSON.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut header = self.header.clone();
        header.manifest = mask_credentials(&header.manifest).into_owned();
        for lock in header.locks.values_mut() {
            *lock = mask_credentials(lock).into_owned();
        }
        let mut text = serde_json::to_string(&header)?;
        text.push('\n');
        for record in &self.records {
            text.push_str(&serde_json::to_string(record)?);
            text.push('\n');
        }
        Ok(text)
    }

    /// The bytes of the file, compressed or as text.
    ///
    /// # Errors
    /// Never in practice, as [`ProblemFile::to_text`].
    pub fn to_bytes(&self, compressed: bool) -> io::Result<Vec<u8>> {
        let text = self.to_text()?;
        if !compressed {
            return Ok(text.into_bytes());
        }
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes())?;
        encoder.finish()
    }

    /// Reads the bytes of a file that messages call `name`, compressed or not.
    ///
    /// # Errors
    /// When it is no problem file, was written in another format, or is damaged: with line and column.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, Diagnostics> {
        let unpacked;
        let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
            unpacked = unpack(bytes, name)?;
            unpacked.as_slice()
        } else {
            bytes
        };
        let source = Source::decode(name, bytes).map_err(|error| Diagnostics::new(vec![error]))?;
        let mut lines = Lines { source: &source, at: 0 };
        let header: Header = match lines.next() {
            Some((at, line)) => lines.read(at, line, "this is no problem file")?,
            None => return Err(error(&source, 0, "the file is empty")),
        };
        if header.format != FORMAT {
            let text = format!(
                "the file is of format {}, written by cuda-lock {}; this version reads format {FORMAT}",
                header.format, header.program
            );
            return Err(error(&source, 0, &text));
        }
        let mut records = Vec::new();
        while let Some((at, line)) = lines.next() {
            if !line.trim().is_empty() {
                records.push(lines.read(at, line, "this line is no answer of an index")?);
            }
        }
        Ok(Self { header, records })
    }
}

/// The lines of a text with the byte each starts at.
struct Lines<'a> {
    source: &'a Arc<Source>,
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = self.source.text().get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        let start = self.at;
        self.at = (start + line.len() + 1).min(self.source.text().len());
        Some((start, line))
    }

    fn read<T: serde::de::DeserializeOwned>(
        &self,
        start: usize,
        line: &str,
        what: &str,
    ) -> Result<T, Diagnostics> {
        serde_json::from_str(line).map_err(|why| {
            let column = start + why.column().saturating_sub(1).min(line.len());
            let why = why.to_string();
            // The position is told in the words of the whole file.
            let why = why.split(" at line ").next().unwrap_or(&why);
            error(self.source, column, &format!("{what}: {why}"))
        })
    }
}

fn unpack(bytes: &[u8], name: &str) -> Result<Vec<u8>, Diagnostics> {
    let mut unpacked = Vec::new();
    let mut reader = MultiGzDecoder::new(bytes).take(MAX_BYTES + 1);
    let why = match reader.read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() as u64 <= MAX_BYTES => return Ok(unpacked),
        Ok(_) => "unpacked it is larger than any problem file".to_owned(),
        Err(why) => format!("it cannot be unpacked: {why}"),
    };
    Err(Diagnostics::new(vec![Diagnostic::error(&Source::new(name, ""), why)]))
}

fn error(source: &Arc<Source>, at: usize, text: &str) -> Diagnostics {
    Diagnostics::new(vec![
        Diagnostic::error(source, text)
            .at(at..at + 1)
            .help("write one with: cuda-lock resolve --save-problem FILE"),
    ])
}
