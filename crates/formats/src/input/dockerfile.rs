//! Dockerfile: base images, variables, and what its commands install.

use std::collections::{BTreeMap, BTreeSet};

use super::build::Builder;
use super::commands::{self, Context};
use super::loader;
use super::model::{Environment, Image, Level, ProblemCode};
use super::shell;
use super::text::{LineEnds, Mapped, lines};
use super::variables::Variables;

/// Beyond so many stages, none is looked up as the base of another.
const MAX_STAGES: usize = 1000;

/// An instruction without its continuation marks and comments.
struct Instruction {
    keyword: String,
    rest: Mapped,
    /// Bodies of here-documents.
    heredocs: Vec<Mapped>,
}

/// A stage that was read.
struct Stage {
    environment: usize,
    context: Context,
    /// Variables of ENV, which hide those of ARG.
    from_env: BTreeSet<String>,
}

impl Stage {
    /// What a stage that starts from this one knows: variables of ENV go on, those of ARG do not.
    fn inherited(&self) -> Variables {
        let mut inherited = self.context.variables.clone();
        inherited.retain(|name, _| self.from_env.contains(name));
        inherited
    }
}

/// Reads the file at `file`, which was opened as `path`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize, path: &str) {
    let text = builder.text(file);
    builder.stack.push(path.to_owned());
    // ARGs before the first FROM are known to FROM, and to a stage that repeats their name.
    let mut global = Variables::new(&builder.allowance);
    let mut stages: Vec<Stage> = Vec::new();
    let mut by_name = BTreeMap::new();
    for instruction in instructions(&text, file) {
        let rest = &instruction.rest;
        match instruction.keyword.as_str() {
            "FROM" => from(builder, rest, &global, &mut stages, &mut by_name),
            "ARG" => {
                arg(rest, &mut global, stages.last_mut());
            }
            "ENV" => env(builder, rest, stages.last_mut()),
            "WORKDIR" => {
                if let Some(stage) = stages.last_mut() {
                    let folder = shell::expand(&rest.trim(), &stage.context.variables);
                    stage.context.folder =
                        loader::join(&format!("{}/x", stage.context.folder), folder.as_str());
                }
            }
            "COPY" | "ADD" => copy(rest, stages.last_mut()),
            "RUN" | "ONBUILD" => {
                if let Some(stage) = stages.last_mut() {
                    run(builder, &instruction, stage);
                }
            }
            _ => {}
        }
    }
    builder.environment = 0;
    builder.stack.pop();
}

fn from(
    builder: &mut Builder<'_>,
    rest: &Mapped,
    global: &Variables,
    stages: &mut Vec<Stage>,
    by_name: &mut BTreeMap<String, usize>,
) {
    let expanded = shell::expand(rest, global);
    let words = words(&expanded);
    let mut words = words.iter().filter(|w| !w.as_str().starts_with("--"));
    let Some(image) = words.next() else {
        let message = "FROM needs an image";
        builder.problem(rest.whole(), ProblemCode::Syntax, Level::Error, message, None);
        return;
    };
    let name = match (words.next(), words.next()) {
        (Some(keyword), Some(name)) if keyword.as_str().eq_ignore_ascii_case("as") => {
            name.as_str().to_owned()
        }
        _ => String::new(),
    };
    let reference = image.as_str().to_owned();
    if reference.contains('$') {
        let message =
            format!("the image '{reference}' has a variable whose value is not known here");
        builder.problem(image.whole(), ProblemCode::Variable, Level::Note, message, None);
    }
    let parent = by_name
        .get(&reference)
        .and_then(|at| stages.get(*at))
        .filter(|_| stages.len() < MAX_STAGES);
    let context = Context {
        variables: parent
            .map_or_else(|| Variables::new(&builder.allowance), |stage| stage.inherited()),
        copied: parent.map(|stage| stage.context.copied.clone()).unwrap_or_default(),
        folder: parent.map(|stage| stage.context.folder.clone()).unwrap_or_default(),
        nesting: 0,
    };
    let parent_environment = parent.map(|stage| stage.environment);
    let is_stage = parent.is_some();
    if !name.is_empty() {
        by_name.insert(name.clone(), stages.len());
    }
    let environment = Environment {
        name,
        image: (!is_stage).then(|| Image { reference, span: image.whole() }),
        parent: parent_environment,
        ..Environment::default()
    };
    let place = if stages.is_empty() {
        builder.input.environments.clear();
        0
    } else {
        builder.input.environments.len()
    };
    builder.input.environments.push(environment);
    builder.environment = place;
    builder.read.clear();
    let from_env = context.variables.keys().cloned().collect();
    stages.push(Stage { environment: place, context, from_env });
}

fn arg(rest: &Mapped, global: &mut Variables, stage: Option<&mut Stage>) {
    let Some(stage) = stage else {
        for word in words(rest) {
            if let Some((name, value)) = unquoted(&word, global) {
                global.insert(name, value);
            }
        }
        return;
    };
    for word in words(rest) {
        let declared = unquoted(&word, &stage.context.variables).or_else(|| {
            let name = word.as_str().to_owned();
            global.value(&name).map(|value| (name, value))
        });
        // A variable of ENV hides an ARG of the same name.
        if let Some((name, value)) = declared.filter(|(name, _)| !stage.from_env.contains(name)) {
            stage.context.variables.insert(name, value);
        }
    }
}

/// `NAME=value` without quotes and with variables replaced.
fn unquoted(word: &Mapped, variables: &Variables) -> Option<(String, String)> {
    let (name, value) = word.as_str().split_once('=')?;
    let at = word.as_str().len() - value.len();
    let value = shell::expand(&word.slice(at, word.as_str().len()), variables);
    Some((name.to_owned(), value.as_str().trim_matches(['"', '\'']).to_owned()))
}

/// `ENV NAME=value …`, or `ENV NAME value`.
fn env(builder: &mut Builder<'_>, rest: &Mapped, stage: Option<&mut Stage>) {
    let Some(stage) = stage else { return };
    let text = rest.as_str();
    let first = text.split_whitespace().next().unwrap_or_default();
    let mut pairs: Vec<(String, Mapped)> = Vec::new();
    if first.contains('=') {
        for command in shell::commands(rest, &mut stage.context.variables) {
            for word in command.words {
                let Some((name, value)) = word.text.as_str().split_once('=') else { continue };
                let at = word.text.as_str().len() - value.len();
                pairs.push((name.to_owned(), word.text.slice(at, word.text.as_str().len())));
            }
        }
    } else {
        let value = rest.slice(first.len(), text.len()).trim();
        pairs.push((first.to_owned(), shell::expand(&value, &stage.context.variables)));
    }
    for (name, value) in pairs {
        commands::remember(builder, &name, &value);
        stage.from_env.insert(name.clone());
        stage.context.variables.insert(name, value.as_str().to_owned());
    }
}

fn copy(rest: &Mapped, stage: Option<&mut Stage>) {
    let Some(stage) = stage else { return };
    let expanded = shell::expand(rest, &stage.context.variables);
    let list: Vec<String> = match json_words(&expanded) {
        Some(list) => list.iter().map(|w| w.as_str().to_owned()).collect(),
        None => words(&expanded)
            .iter()
            .map(|w| w.as_str().trim_matches(['"', '\'']).to_owned())
            .collect(),
    };
    if list.iter().any(|w| w.starts_with("--from=") || w.starts_with("<<")) {
        return;
    }
    let list: Vec<&String> = list.iter().filter(|w| !w.starts_with("--")).collect();
    let Some((target, sources)) = list.split_last() else { return };
    let inside = loader::join(&format!("{}/x", stage.context.folder), target);
    let is_folder = target.ends_with('/') || target.as_str() == "." || sources.len() > 1;
    for source in sources {
        let source = source.trim_start_matches("./").trim_end_matches('/');
        let name = source.rsplit('/').next().unwrap_or_default();
        let path = match (source, is_folder && name.contains('.') && !name.starts_with('.')) {
            ("." | "", _) => inside.clone(),
            (_, true) => format!("{}/{name}", inside.trim_end_matches('/'))
                .trim_start_matches("./")
                .to_owned(),
            (_, false) => inside.clone(),
        };
        let path = if inside.is_empty() { path.trim_start_matches('/').to_owned() } else { path };
        stage
            .context
            .copied
            .push((path, if source.is_empty() { ".".to_owned() } else { source.to_owned() }));
    }
}

fn run(builder: &mut Builder<'_>, instruction: &Instruction, stage: &mut Stage) {
    let rest = without_flags(&instruction.rest);
    // Variables that a command sets are gone with it.
    let assigns = rest
        .as_str()
        .split_whitespace()
        .filter_map(shell::assignment)
        .any(|(_, value)| !value.starts_with('='));
    let before =
        (assigns || !instruction.heredocs.is_empty()).then(|| stage.context.variables.clone());
    let folder = stage.context.folder.clone();
    let head = rest.as_str().trim_start();
    let program = head.split("<<").next().unwrap_or_default().trim();
    let is_shell = program.is_empty()
        || matches!(
            program,
            "bash" | "sh" | "/bin/bash" | "/bin/sh" | "bash -e" | "bash -ex" | "sh -e" | "sh -ex"
        );
    if !instruction.heredocs.is_empty() && is_shell {
        for body in &instruction.heredocs {
            commands::read(builder, body, &mut stage.context);
        }
    } else if let Some(words) = json_words(&rest) {
        commands::read_words(builder, words, &mut stage.context);
    } else {
        commands::read(builder, &rest, &mut stage.context);
    }
    if let Some(before) = before {
        stage.context.variables = before;
    }
    stage.context.folder = folder;
}

/// Without `--mount=…` and the like.
fn without_flags(rest: &Mapped) -> Mapped {
    let text = rest.as_str();
    let mut at = text.len() - text.trim_start().len();
    while let Some(after) = text.get(at..).filter(|t| t.starts_with("--")) {
        let length = after.find(char::is_whitespace).unwrap_or(after.len());
        let more = after.get(length..).unwrap_or_default();
        at += length + (more.len() - more.trim_start().len());
    }
    rest.slice(at, text.len())
}

/// The words of a JSON array of strings, as the exec form of an instruction has them.
fn json_words(rest: &Mapped) -> Option<Vec<Mapped>> {
    let trimmed = rest.trim();
    let text = trimmed.as_str();
    if !text.starts_with('[') {
        return None;
    }
    let words: Vec<String> = serde_json::from_str(text).ok()?;
    let mut at = 0;
    let mapped = words.iter().map(|word| {
        let quoted = serde_json::to_string(word).unwrap_or_default();
        let start = text.get(at..).and_then(|t| t.find(&quoted)).map(|n| n + at);
        match start {
            Some(start) => {
                at = start + quoted.len();
                let inner = trimmed.slice(start + 1, at - 1);
                if inner.as_str() == word { inner } else { Mapped::replaced(word, inner.whole()) }
            }
            None => Mapped::replaced(word, trimmed.whole()),
        }
    });
    Some(mapped.collect())
}

/// Words apart by white space, quotes kept.
fn words(text: &Mapped) -> Vec<Mapped> {
    super::conda::columns(text.as_str())
        .into_iter()
        .map(|(at, word)| text.slice(at, at + word.len()))
        .collect()
}

/// Joins continued lines, drops comment lines, and takes here-documents apart.
fn instructions(text: &str, file: usize) -> Vec<Instruction> {
    let all = lines(text, LineEnds::Plain);
    let escape = if all.iter().take(5).any(|(_, l)| is_escape_directive(l)) { '`' } else { '\\' };
    let mut out = Vec::new();
    let mut at = 0;
    while let Some((start, line)) = all.get(at).copied() {
        at += 1;
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let mut joined = Mapped::new(file);
        let mut next = Some((start, line));
        while let Some((start, line)) = next {
            let content = line.trim_end();
            let is_comment = content.trim_start().starts_with('#');
            let continued = content.strip_suffix(escape);
            if !is_comment && !content.is_empty() {
                joined.push(continued.unwrap_or(line), start);
            }
            // Comments and empty lines within an instruction do not end it.
            let goes_on = continued.is_some() || is_comment || content.is_empty();
            next = if goes_on { all.get(at).copied() } else { None };
            at += usize::from(next.is_some());
        }
        let text = joined.as_str();
        let lead = text.len() - text.trim_start().len();
        let end = text
            .get(lead..)
            .and_then(|t| t.find(char::is_whitespace))
            .map_or(text.len(), |n| n + lead);
        let keyword = text.get(lead..end).unwrap_or_default().to_ascii_uppercase();
        let rest = joined.slice(end, text.len());
        let mut heredocs = Vec::new();
        if matches!(keyword.as_str(), "RUN" | "COPY" | "ADD") {
            for terminator in heredoc_names(rest.as_str()) {
                let mut body = Mapped::new(file);
                while let Some((start, line)) = all.get(at).copied() {
                    at += 1;
                    if line.trim_start_matches('\t') == terminator {
                        break;
                    }
                    body.push(line, start);
                    body.push_replaced("\n", start + line.len(), start + line.len());
                }
                heredocs.push(body);
            }
        }
        out.push(Instruction { keyword, rest, heredocs });
    }
    out
}

fn is_escape_directive(line: &str) -> bool {
    let text: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    text.eq_ignore_ascii_case("#escape=`")
}

/// The terminators of `<<NAME`, `<<-NAME`, `<<"NAME"`.
fn heredoc_names(text: &str) -> Vec<String> {
    text.match_indices("<<")
        .filter_map(|(at, mark)| {
            let after = text.get(at + mark.len()..)?.trim_start_matches('-');
            let after = after.trim_start_matches(['"', '\'']);
            let end = after
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .unwrap_or(after.len());
            after
                .get(..end)
                .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        })
        .map(str::to_owned)
        .collect()
}
