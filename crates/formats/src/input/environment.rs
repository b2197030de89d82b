//! environment.yml of conda.

use super::build::Builder;
use super::conda;
use super::model::{Level, ProblemCode, Setting};
use super::requirements;
use super::yaml::{self, Node};

/// Reads the file at `file`, which was opened as `path`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize, path: &str) {
    let text = builder.text(file);
    let (root, errors) = yaml::parse(&text, file);
    for error in errors {
        let whole = super::text::Mapped::copied(&text, file, 0);
        builder.syntax(&whole, error);
    }
    builder.stack.push(path.to_owned());
    if let Some(name) = root.get("name").and_then(Node::scalar) {
        name.as_str().clone_into(&mut builder.target().name);
    }
    let channels = root.get("channels").map(Node::items).unwrap_or_default();
    let channels: Vec<String> =
        channels.iter().filter_map(|c| c.scalar()).map(|c| c.as_str().to_owned()).collect();
    builder.options().channels = channels;
    for item in root.get("dependencies").map(Node::items).unwrap_or_default() {
        dependency(builder, item);
    }
    for (key, value) in root.get("variables").map(Node::entries).unwrap_or_default() {
        if let Some(value) = value.scalar() {
            let setting = Setting {
                key: key.as_str().to_owned(),
                value: value.as_str().to_owned(),
                span: value.whole(),
            };
            builder.target().variables.push(setting);
        }
    }
    builder.stack.pop();
}

fn dependency(builder: &mut Builder<'_>, item: &Node) {
    if let Some(text) = item.scalar() {
        let entry = conda::match_spec(builder, text);
        builder.input.entries.extend(entry);
        return;
    }
    for (key, value) in item.entries() {
        if key.as_str() != "pip" {
            let message =
                format!("'{}' is not a list that conda knows: expected 'pip'", key.as_str());
            let help = Some("write a package as '- name=version'".to_owned());
            builder.problem(key.whole(), ProblemCode::Syntax, Level::Error, message, help);
            continue;
        }
        // conda writes these lines to a requirements file and gives it to pip.
        for line in value.items() {
            match line.scalar() {
                Some(text) if !text.trim().is_empty() => {
                    requirements::read_line(builder, &text.trim(), None, false)
                }
                _ => {
                    let message = "expected one requirement per item";
                    builder.problem(line.span(), ProblemCode::Syntax, Level::Error, message, None);
                }
            }
        }
    }
}
