//! Jobs of GitLab CI, GitHub workflows and their kin: images, variables, matrices, and what their commands install.

use std::collections::BTreeMap;

use super::build::Builder;
use super::commands::{self, Context};
use super::model::{Environment, Image, Level, ProblemCode, PythonRequest, Span};
use super::shell;
use super::text::Mapped;
use super::variables::Variables;
use super::yaml::{self, Node};

/// So many combinations of a matrix are read; nobody looks through more.
const MAX_COMBINATIONS: usize = 64;

/// Commands stand under these keys.
const SCRIPTS: [&str; 9] = [
    "before_script",
    "before_install",
    "install",
    "script",
    "run",
    "command",
    "bash",
    "commands",
    "pwsh",
];

/// Reads the file at `file`, which was opened as `path`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize, path: &str) {
    let text = builder.text(file);
    let (root, errors) = yaml::parse(&text, file);
    for error in errors {
        let span = Span { file, start: error.at.start, end: error.at.end };
        builder.problem(span, ProblemCode::Syntax, Level::Error, error.message, error.help);
    }
    builder.stack.push(path.to_owned());
    builder.input.environments.clear();
    let mut budget = 20_000;
    match root.get("jobs").filter(|jobs| !jobs.entries().is_empty()) {
        Some(jobs) => {
            for (name, job) in jobs.entries() {
                read_job(builder, &root, (name, job), &mut budget);
            }
        }
        None => gitlab(builder, &root, &mut budget),
    }
    if builder.input.environments.is_empty() {
        let image = image_of(&root);
        builder.input.environments.push(Environment { image, ..Environment::default() });
    }
    builder.environment = 0;
    builder.stack.pop();
}

/// Every mapping of the top level with commands is a job; the rest are settings of all.
fn gitlab(builder: &mut Builder<'_>, root: &Node, budget: &mut usize) {
    let mut found = false;
    for (name, job) in root.entries() {
        let is_setting = matches!(
            name.as_str(),
            "variables"
                | "default"
                | "image"
                | "stages"
                | "workflow"
                | "include"
                | "cache"
                | "env"
                | "on"
        );
        if !is_setting
            && !name.as_str().starts_with('.')
            && !job.entries().is_empty()
            && has_commands(job, 0)
        {
            read_job(builder, root, (name, job), budget);
            found = true;
        }
    }
    if !found && has_commands(root, 0) {
        let name = Mapped::new(root.span().file);
        read_job(builder, &Node::Null(root.span()), (&name, root), budget);
    }
}

fn has_commands(node: &Node, depth: usize) -> bool {
    if depth > 4 {
        return false;
    }
    match node {
        Node::Map(entries, _) => {
            entries.iter().take(1000).any(|(key, value)| {
                SCRIPTS.contains(&key.as_str()) || has_commands(value, depth + 1)
            }) || node.get("extends").is_some()
        }
        Node::Seq(items, _) => items.iter().take(1000).any(|item| has_commands(item, depth + 1)),
        _ => false,
    }
}

fn read_job(builder: &mut Builder<'_>, root: &Node, job: (&Mapped, &Node), budget: &mut usize) {
    let (name, job) = job;
    let template = job.get("extends").and_then(Node::scalar).and_then(|t| root.get(t.as_str()));
    let layers: Vec<&Node> =
        [Some(root), root.get("default"), template, Some(job)].into_iter().flatten().collect();
    let mut variables = Variables::new(&builder.allowance);
    let mut named: Vec<(String, Mapped)> = Vec::new();
    for layer in &layers {
        for key in ["variables", "env"] {
            for (name, value) in layer.get(key).map(Node::entries).unwrap_or_default() {
                let value = value.scalar().or_else(|| value.get("value").and_then(Node::scalar));
                if let Some(value) = value {
                    let value = expand(value, &variables);
                    variables.insert(name.as_str().to_owned(), value.as_str().to_owned());
                    named.push((name.as_str().to_owned(), value));
                }
            }
        }
    }
    for combination in combinations(job) {
        if *budget == 0 {
            return;
        }
        let mut variables = variables.clone();
        let label: Vec<String> =
            combination.iter().map(|(key, value)| format!("{key}={value}")).collect();
        for (key, value) in &combination {
            variables.insert(key.clone(), value.clone());
            variables.insert(format!("matrix.{key}"), value.clone());
        }
        let title = if label.is_empty() {
            name.as_str().to_owned()
        } else {
            format!("{} ({})", name.as_str(), label.join(", "))
        };
        let image = layers.iter().rev().find_map(|layer| image_of(layer));
        let image = image.map(|image| {
            let reference = expand(&Mapped::replaced(&image.reference, image.span), &variables);
            Image { reference: reference.as_str().to_owned(), span: image.span }
        });
        builder.environment = builder.input.environments.len();
        builder.input.environments.push(Environment {
            name: title,
            image,
            ..Environment::default()
        });
        builder.read.clear();
        for (name, value) in &named {
            commands::remember(builder, name, value);
        }
        let mut context = Context { variables, ..Context::default() };
        if job.get("before_script").is_none() {
            let before = layers.iter().rev().skip(1).find_map(|layer| layer.get("before_script"));
            scripts(builder, before, &mut context, budget);
        }
        if SCRIPTS.iter().all(|key| job.get(key).is_none()) {
            for key in SCRIPTS {
                scripts(builder, template.and_then(|t| t.get(key)), &mut context, budget);
            }
        }
        walk(builder, job, &mut context, budget, 0);
    }
}

/// Reads the commands below a node in their order.
fn walk(
    builder: &mut Builder<'_>,
    node: &Node,
    context: &mut Context,
    budget: &mut usize,
    depth: usize,
) {
    if *budget == 0 || depth > 8 {
        return;
    }
    *budget -= 1;
    match node {
        Node::Seq(items, _) => {
            for item in items {
                walk(builder, item, context, budget, depth + 1);
            }
        }
        Node::Map(entries, _) => {
            step(builder, node, context);
            let outer = context.variables.clone();
            if depth > 0 {
                for (name, value) in node.get("env").map(Node::entries).unwrap_or_default() {
                    if let Some(value) = value.scalar() {
                        let value = expand(value, &context.variables).as_str().to_owned();
                        context.variables.insert(name.as_str().to_owned(), value);
                    }
                }
            }
            for (key, value) in entries {
                if SCRIPTS.contains(&key.as_str()) && value.entries().is_empty() {
                    scripts(builder, Some(value), context, budget);
                } else if !matches!(
                    key.as_str(),
                    "strategy"
                        | "parallel"
                        | "variables"
                        | "env"
                        | "with"
                        | "services"
                        | "image"
                        | "container"
                ) {
                    walk(builder, value, context, budget, depth + 1);
                }
            }
            if depth > 0 {
                context.variables = outer;
            }
        }
        _ => {}
    }
}

/// What the well-known actions set up.
fn step(builder: &mut Builder<'_>, step: &Node, context: &Context) {
    let Some(uses) = step.get("uses").and_then(Node::scalar) else { return };
    let Some(with) = step.get("with") else { return };
    if uses.as_str().contains("setup-python")
        || uses.as_str().contains("setup-uv")
        || uses.as_str().contains("setup-micromamba")
        || uses.as_str().contains("setup-miniconda")
    {
        if let Some(version) = with.get("python-version").and_then(Node::scalar) {
            let text = expand(version, &context.variables);
            let plain = text.as_str().trim();
            let specifiers = if plain.starts_with(['<', '>', '=', '~', '!']) {
                plain.to_owned()
            } else {
                format!("=={plain}.*")
            };
            if plain.starts_with(|c: char| c.is_ascii_digit() || "<>=~!".contains(c)) {
                builder.target().python = Some(PythonRequest { specifiers, span: version.whole() });
            }
        }
        if let Some(file) = with.get("environment-file").and_then(Node::scalar) {
            let message = format!("'{}' is a file of its own: audit it as well", file.as_str());
            builder.problem(file.whole(), ProblemCode::Include, Level::Note, message, None);
        }
    }
}

fn scripts(
    builder: &mut Builder<'_>,
    node: Option<&Node>,
    context: &mut Context,
    budget: &mut usize,
) {
    let Some(node) = node else { return };
    match node {
        Node::Scalar(text) => {
            let text = if text.as_str().contains("${{") {
                expand(text, &context.variables)
            } else {
                text.clone()
            };
            *budget = budget.saturating_sub(1);
            commands::read(builder, &text, context);
        }
        Node::Seq(items, _) => {
            for item in items {
                if *budget == 0 {
                    return;
                }
                *budget -= 1;
                // Lists may be nested where anchors bring whole lists.
                for inner in item.items() {
                    if let Some(text) = inner.scalar() {
                        let text = if text.as_str().contains("${{") {
                            expand(text, &context.variables)
                        } else {
                            text.clone()
                        };
                        commands::read(builder, &text, context);
                    }
                }
            }
        }
        _ => {}
    }
}

fn image_of(node: &Node) -> Option<Image> {
    let image = ["image", "container"].into_iter().find_map(|key| node.get(key))?;
    let text = image.scalar().or_else(|| {
        ["name", "image"].into_iter().find_map(|k| image.get(k)).and_then(Node::scalar)
    })?;
    Some(Image { reference: text.as_str().to_owned(), span: text.whole() })
}

/// The combinations of `parallel: matrix` and of `strategy: matrix`; one empty one where there is none.
fn combinations(job: &Node) -> Vec<BTreeMap<String, String>> {
    let gitlab = job.get("parallel").and_then(|p| p.get("matrix"));
    let github = job.get("strategy").and_then(|s| s.get("matrix"));
    let mut all = Vec::new();
    for table in gitlab.map(Node::items).unwrap_or_default() {
        all.extend(product(table));
    }
    if let Some(table) = github {
        all.extend(product(table));
        let rows = table.get("include").map(Node::items).unwrap_or_default();
        let included: Vec<BTreeMap<String, String>> = rows.into_iter().map(row).collect();
        extend(&mut all, included);
    }
    all.truncate(MAX_COMBINATIONS);
    if all.is_empty() {
        all.push(BTreeMap::new());
    }
    all
}

/// GitHub adds an included row to the combinations that it contradicts in nothing, else as one more.
fn extend(all: &mut Vec<BTreeMap<String, String>>, included: Vec<BTreeMap<String, String>>) {
    if all.len() == 1 && all.first().is_some_and(BTreeMap::is_empty) {
        all.clear();
    }
    let original = all.clone();
    for row in included.into_iter().take(MAX_COMBINATIONS) {
        let mut used = false;
        for (i, base) in original.iter().enumerate() {
            let fits =
                row.iter().all(|(key, value)| base.get(key).is_none_or(|known| known == value));
            if fits && let Some(combination) = all.get_mut(i) {
                combination.extend(row.clone());
                used = true;
            }
        }
        if !used {
            all.push(row);
        }
    }
}

fn row(node: &Node) -> BTreeMap<String, String> {
    let pairs = node.entries().iter();
    pairs
        .filter_map(|(key, value)| {
            Some((key.as_str().to_owned(), value.scalar()?.as_str().to_owned()))
        })
        .collect()
}

fn product(table: &Node) -> Vec<BTreeMap<String, String>> {
    let mut all = vec![BTreeMap::new()];
    for (key, values) in table.entries() {
        if matches!(key.as_str(), "include" | "exclude") {
            continue;
        }
        let values: Vec<&Mapped> =
            values.items().into_iter().filter_map(Node::scalar).take(MAX_COMBINATIONS).collect();
        if values.is_empty() {
            continue;
        }
        let mut next = Vec::new();
        for base in &all {
            for value in &values {
                let mut one = base.clone();
                one.insert(key.as_str().to_owned(), value.as_str().to_owned());
                next.push(one);
            }
        }
        next.truncate(MAX_COMBINATIONS);
        all = next;
    }
    all
}

/// Replaces `$NAME` and `${{ matrix.name }}`; what has no value stays.
fn expand(text: &Mapped, variables: &Variables) -> Mapped {
    let source = text.as_str();
    if !source.contains("${{") {
        return shell::expand(text, variables);
    }
    let mut out = Mapped::new(text.file());
    let mut at = 0;
    while let Some(open) = source.get(at..).and_then(|r| r.find("${{")).map(|n| n + at) {
        let Some(close) = source.get(open..).and_then(|r| r.find("}}")).map(|n| n + open) else {
            break;
        };
        let name = source.get(open + 3..close).unwrap_or_default().trim();
        let name = name.strip_prefix("env.").unwrap_or(name);
        out.append_part(text, at, open);
        match variables.value(name) {
            Some(value) => {
                let span = text.span(open, close + 2);
                out.push_replaced(&value, span.start, span.end);
            }
            None => out.append_part(text, open, close + 2),
        }
        at = close + 2;
    }
    out.append_part(text, at, source.len());
    out
}
