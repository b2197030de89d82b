//! `[pytorch]`: where the PyTorch builds come from.

use cuda_lock_constraint::rules::index::{pytorch, pytorch_backends};
use serde_spanned::Spanned;
use toml::de::DeTable;
use url::Url;

use super::index::url;
use crate::document::{Report, owned, text, texts};
use crate::schema::{Key, Kind, nearest};

/// The keys of `[pytorch]`.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "index",
        Kind::Text,
        "\"https://mirror.example/whl\"",
        "A mirror of the PyTorch indexes: the address under which cpu, cu126 and so on lie.",
    ),
    Key::new(
        "backends",
        Kind::TextsOrFalse,
        "[\"cu118\", \"cpu\"]",
        "The only backends to take builds of; false: builds of the usual index only.",
    ),
];

/// `[pytorch]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pytorch {
    /// A mirror of the per-backend indexes. It may hold credentials.
    pub index: Option<Spanned<Url>>,
    /// Which backends may be taken.
    pub backends: Backends,
}

/// Which of the PyTorch indexes may be asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Backends {
    /// Any that a build is wanted from.
    #[default]
    Any,
    /// None of them.
    None,
    /// Only these: `cpu`, `cu126` ...
    Only(Vec<Spanned<String>>),
}

impl Pytorch {
    pub(super) fn read(table: &DeTable<'_>, report: &mut Report) -> Self {
        let index = text(table, "index").and_then(|text| {
            url(&text, &["http", "https", "file"], report).map(|url| Spanned::new(text.span(), url))
        });
        let backends = match table.get("backends") {
            None => Backends::Any,
            Some(value) if value.get_ref().as_bool() == Some(false) => Backends::None,
            Some(value) => {
                let names = texts(table, "backends").unwrap_or_default();
                if names.is_empty() {
                    report
                        .error(value.span(), "`backends` is empty")
                        .help("write backends = false to ask none of the PyTorch indexes");
                }
                for name in &names {
                    check_backend(name, report);
                }
                Backends::Only(names.iter().map(owned).collect())
            }
        };
        Self { index, backends }
    }
}

fn check_backend(name: &Spanned<&str>, report: &mut Report) {
    let text = *name.get_ref();
    if pytorch(text).is_some() {
        return;
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let undotted = format!("cu{digits}");
    let reported = report.error(name.span(), format!("unknown backend \"{text}\""));
    if pytorch(&undotted).is_some() {
        reported.help(format!("did you mean \"{undotted}\"?"));
    } else if let Some(known) = nearest(text, pytorch_backends().iter().map(String::as_str)) {
        reported.help(format!("did you mean \"{known}\"?"));
    } else {
        reported.help(
            "write \"cpu\", or \"cu\" and the CUDA version without its dot, such as \"cu126\"",
        );
    }
}
