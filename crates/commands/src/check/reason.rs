//! Why a file is stale, for people and for programs.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::text::Difference;

/// Why a file is stale.
pub enum Reason {
    /// There is no such file.
    Missing,
    /// It is no lock, or not text.
    Unreadable(String),
    /// It is the lock of another program.
    Foreign,
    /// env.toml, or a flag, asks for something else than the lock was made for.
    Environment(String),
    /// The lock is not as this program writes it.
    Edited(Difference),
    /// The pins hold, but the lock says something else of them than this program does now.
    Other(Difference),
    /// requirements.txt is not what the lock gives.
    Differs(Difference),
    /// A pin does not hold any more.
    Pin(String),
    /// The compatibility facts changed, and give another answer.
    Facts(String),
    /// There is no solution any more: the facts that collide.
    Unsolvable(Vec<String>),
}

impl Reason {
    /// One word for programs.
    fn kind(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unreadable(_) => "unreadable",
            Self::Foreign => "foreign",
            Self::Environment(_) => "environment",
            Self::Edited(_) => "edited",
            Self::Other(_) => "other",
            Self::Differs(_) => "differs",
            Self::Pin(_) => "pin",
            Self::Facts(_) => "facts",
            Self::Unsolvable(_) => "unsolvable",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not exist"),
            Self::Unreadable(why) => f.write_str(why),
            Self::Foreign => f.write_str("it has no [tool.cuda-lock], so another program wrote it"),
            Self::Environment(what) => f.write_str(what),
            Self::Edited(at) => write!(
                f,
                "line {} was edited by hand: it is {}, cuda-lock writes {}",
                at.line,
                shown(at.found.as_deref()),
                shown(at.expected.as_deref())
            ),
            Self::Other(at) => write!(
                f,
                "line {} is {}, cuda-lock writes {}",
                at.line,
                shown(at.found.as_deref()),
                shown(at.expected.as_deref())
            ),
            Self::Differs(at) => write!(
                f,
                "line {} is {}, the lock gives {}",
                at.line,
                shown(at.found.as_deref()),
                shown(at.expected.as_deref())
            ),
            Self::Pin(what) => f.write_str(what),
            Self::Facts(what) => write!(f, "the compatibility facts changed: {what}"),
            Self::Unsolvable(facts) => {
                write!(f, "env.toml has no solution any more: {}", facts.join("; "))
            }
        }
    }
}

/// A line of a file, cut where it is long.
fn shown(line: Option<&str>) -> String {
    const LONGEST: usize = 80;
    match line.map(str::trim) {
        None => "the end of the file".to_owned(),
        Some("") => "empty".to_owned(),
        Some(line) if line.chars().count() > LONGEST => {
            format!("`{}…`", line.chars().take(LONGEST).collect::<String>())
        }
        Some(line) => format!("`{line}`"),
    }
}

/// `cuda-lock resolve --check --format json`.
#[derive(Serialize)]
pub struct Report {
    /// Version of this shape.
    pub schema: u32,
    /// Every file is up to date.
    pub up_to_date: bool,
    /// Each file that was checked.
    pub files: Vec<FileReport>,
}

impl Report {
    /// The report of some files.
    #[must_use]
    pub fn new(files: Vec<FileReport>) -> Self {
        Self { schema: 1, up_to_date: files.iter().all(|file| file.up_to_date), files }
    }
}

/// One file.
#[derive(Serialize)]
pub struct FileReport {
    /// As it was named.
    pub path: String,
    /// Nothing is wrong with it.
    pub up_to_date: bool,
    /// What is wrong with it.
    pub reasons: Vec<Row>,
}

/// One reason.
#[derive(Serialize)]
pub struct Row {
    /// `missing`, `unreadable`, `foreign`, `environment`, `edited`, `other`, `differs`, `pin`, `facts` or `unsolvable`.
    pub kind: &'static str,
    /// In words.
    pub text: String,
}

impl FileReport {
    /// The report of one file.
    #[must_use]
    pub fn new(path: &Path, reasons: Vec<Reason>) -> Self {
        let rows =
            reasons.iter().map(|reason| Row { kind: reason.kind(), text: reason.to_string() });
        Self {
            path: path.display().to_string(),
            up_to_date: reasons.is_empty(),
            reasons: rows.collect(),
        }
    }
}
