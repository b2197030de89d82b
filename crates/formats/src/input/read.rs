//! Reading any file.

use super::build::Builder;
use super::commands::{self, Context};
use super::loader::FileLoader;
use super::model::{Input, Level, ProblemCode, Span};
use super::sniff::{Kind, sniff};
use super::text::{LineEnds, Mapped};
use super::variables::Variables;
use super::{
    ci, conda, dockerfile, environment, locks, pixi, pyproject, requirements, script, surroundings,
    tables,
};

/// Reads a file of any kind. Never fails: what is wrong with the file is among [`Input::problems`].
///
/// `name` is what messages call the file and what its includes are relative to; files that it includes are asked from
/// `loader`.
#[must_use]
pub fn read(bytes: &[u8], name: &str, loader: &dyn FileLoader) -> Input {
    read_as(sniff(bytes, name), bytes, name, loader)
}

/// Reads a file whose kind is known.
#[must_use]
pub fn read_as(kind: Kind, bytes: &[u8], name: &str, loader: &dyn FileLoader) -> Input {
    let mut builder = Builder::new(kind, loader);
    let ends = if kind == Kind::Requirements { LineEnds::Python } else { LineEnds::Plain };
    let file = builder.add_file(name, bytes, ends);
    match kind {
        Kind::Requirements | Kind::SitePackages => {
            requirements::read(&mut builder, file, name, false);
            surroundings::read(&mut builder, file);
        }
        Kind::PipList => tables::read(&mut builder, file),
        Kind::JsonList => tables::read_json(&mut builder, file),
        Kind::CondaList => conda::read_list(&mut builder, file),
        Kind::CondaExplicit => conda::read_explicit(&mut builder, file),
        Kind::CondaEnvironment => environment::read(&mut builder, file, name),
        Kind::Pyproject => pyproject::read(&mut builder, file),
        Kind::Script => script::read(&mut builder, file),
        Kind::Pixi => pixi::read_file(&mut builder, file),
        Kind::UvLock | Kind::PoetryLock | Kind::PdmLock | Kind::Pylock => {
            locks::read(&mut builder, file, kind)
        }
        Kind::Dockerfile => dockerfile::read(&mut builder, file, name),
        Kind::Ci => ci::read(&mut builder, file, name),
        Kind::Shell => {
            let text = builder.text(file);
            let text = without_prompts(&text, file);
            builder.stack.push(name.to_owned());
            let variables = Variables::new(&builder.allowance);
            commands::read(&mut builder, &text, &mut Context { variables, ..Context::default() });
            builder.stack.pop();
        }
    }
    finish(builder, file)
}

/// Puts the problems in order, and says so when there is nothing to judge.
pub(super) fn finish(mut builder: Builder<'_>, file: usize) -> Input {
    if builder.input.environments.is_empty() {
        builder.input.environments.push(super::model::Environment::default());
    }
    if builder.allowance.was_refused() {
        let span = Span { file, start: 0, end: 0 };
        let message = "the variables of this file grow to more text than is read; from there on they stay as they are \
                       written, and what they stand for is not judged";
        let help = "write the values out, or shorten them";
        builder.problem(span, ProblemCode::Variable, Level::Error, message, Some(help.to_owned()));
    }
    let installs = !builder.input.entries.is_empty() || !builder.input.constraints.is_empty();
    if !installs && builder.input.problems.is_empty() {
        let has_image = builder.input.environments.iter().any(|e| e.image.is_some());
        let message = if has_image {
            "the file installs no Python package; only the image can be judged"
        } else {
            "the file asks for no package"
        };
        let span = Span { file, start: 0, end: 0 };
        builder.problem(span, ProblemCode::Empty, Level::Note, message, None);
    }
    builder.input.problems.sort_by_key(|p| (p.span.file, p.span.start));
    builder.input.problems.dedup();
    builder.input
}

/// Commands copied from a terminal or a notebook start with `$`, `!`, `%` or `(env) $`.
fn without_prompts(text: &str, file: usize) -> Mapped {
    let mut out = Mapped::new(file);
    for (start, line) in super::text::lines(text, LineEnds::Plain) {
        let body = line.trim_start();
        let prompt = if body.starts_with('(') {
            body.find(") ")
                .map(|at| at + 2)
                .filter(|at| !body.get(..*at).is_some_and(|p| p.contains(';')))
        } else {
            Some(0)
        };
        let body = prompt.and_then(|at| body.get(at..)).unwrap_or(body);
        let body = body.strip_prefix("$ ").or_else(|| body.strip_prefix("> ")).unwrap_or(body);
        let body = if body.starts_with("!pip")
            || body.starts_with("%pip")
            || body.starts_with("!conda")
            || body.starts_with("%conda")
            || body.starts_with("!python")
            || body.starts_with("!uv")
            || body.starts_with("!apt")
        {
            body.get(1..).unwrap_or_default()
        } else {
            body
        };
        out.push(body, start + (line.len() - body.len()));
        out.push_replaced("\n", start + line.len(), start + line.len());
    }
    out
}
