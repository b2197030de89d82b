//! Reading any file.

use super::build::Builder;
use super::loader::FileLoader;
use super::model::{Input, Level, ProblemCode, Span};
use super::requirements;
use super::sniff::{Kind, sniff};
use super::text::LineEnds;

/// Reads a file of any kind. Never fails: what is wrong with the file is among [`Input::problems`].
///
/// `name` is what messages call the file and what its includes are relative to; files that it includes are asked from
/// `loader`.
#[must_use]
pub fn read(bytes: &[u8], name: &str, loader: &dyn FileLoader) -> Input {
    let kind = sniff(bytes, name);
    let mut builder = Builder::new(kind, loader);
    let ends = match kind {
        Kind::Requirements => LineEnds::Python,
    };
    let file = builder.add_file(name, bytes, ends);
    match kind {
        Kind::Requirements => requirements::read(&mut builder, file, name, false),
    }
    let mut input = builder.input;
    if input.entries.is_empty() && input.problems.is_empty() {
        builder_note(&mut input, file);
    }
    input
}

fn builder_note(input: &mut Input, file: usize) {
    input.problems.push(super::model::Problem {
        span: Span { file, start: 0, end: 0 },
        code: ProblemCode::Empty,
        level: Level::Note,
        message: "the file asks for no package".to_owned(),
        help: None,
    });
}
