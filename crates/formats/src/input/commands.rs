//! Commands that install something: pip, uv, conda, apt and what wraps them.

use super::build::Builder;
use super::conda;
use super::install_options;
use super::loader;
use super::model::{Include, IndexOptions, Level, Origin, ProblemCode, Setting, SystemPackage};
use super::options::{self, Found, Opt, Options};
use super::requirements;
use super::shell::{self, Word, assignment};
use super::text::Mapped;
use super::variables::Variables;

/// Shells within shells are followed this deep.
const MAX_NESTING: usize = 5;

/// Where commands run.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub variables: Variables,
    /// Files of the image by path, with the path they were copied from.
    pub copied: Vec<(String, String)>,
    pub folder: String,
    pub nesting: usize,
}

/// Reads the commands in `text`.
pub(super) fn read(builder: &mut Builder<'_>, text: &Mapped, context: &mut Context) {
    for command in shell::commands(text, &mut context.variables) {
        read_command(builder, &command.words, context);
    }
}

/// Reads one command that is given as its words.
pub(super) fn read_words(builder: &mut Builder<'_>, words: Vec<Mapped>, context: &mut Context) {
    let words: Vec<Word> = words.into_iter().map(|text| Word { text, redirected: None }).collect();
    read_command(builder, &words, context);
}

/// Whether a line of text starts a command that this module understands.
pub(super) fn is_command(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['$', '!', '%', '>', ' ']);
    let mut words = line.split_whitespace().skip_while(|w| *w == "sudo" || assignment(w).is_some());
    let program = base_name(words.next().unwrap_or_default());
    let next = words.next().unwrap_or_default();
    match tool(program) {
        Some(Tool::Python) => next == "-m",
        Some(Tool::Pip) => {
            matches!(next, "install" | "download" | "wheel" | "uninstall") || next.starts_with('-')
        }
        Some(_) => {
            !next.is_empty() && !next.starts_with(['=', '<', '>', '~', '!', ';', '@', '[', '('])
        }
        None => {
            matches!(program, "source" | "cd" | "export" | "git" | "wget" | "curl" | "bash" | "sh")
                && !next.is_empty()
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Pip,
    Python,
    Uv,
    Conda,
    System,
    Shell,
    Pipx,
}

fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

fn tool(program: &str) -> Option<Tool> {
    let versioned = |name: &str| {
        program.strip_prefix(name).is_some_and(|rest| {
            rest.bytes().all(|b| b.is_ascii_digit() || b == b'.') || rest.starts_with('$')
        })
    };
    match program {
        "uv" => Some(Tool::Uv),
        "conda" | "mamba" | "micromamba" => Some(Tool::Conda),
        "apt" | "apt-get" | "aptitude" | "apk" | "yum" | "dnf" | "microdnf" | "zypper" => {
            Some(Tool::System)
        }
        "bash" | "sh" | "dash" | "zsh" => Some(Tool::Shell),
        "pipx" | "pdm" | "pipenv" => Some(Tool::Pipx),
        "py" => Some(Tool::Python),
        _ if versioned("pip") => Some(Tool::Pip),
        _ if versioned("python") || versioned("pypy") => Some(Tool::Python),
        _ => None,
    }
}

fn read_command(builder: &mut Builder<'_>, words: &[Word], context: &mut Context) {
    let mut words = words;
    let mut own = Variables::default();
    // What may stand before the program.
    while let Some((first, rest)) = words.split_first() {
        let text = first.text.as_str();
        if let Some((name, value)) = assignment(text) {
            own.insert(name.to_owned(), value.to_owned());
        } else if text == "cd" {
            if let Some(folder) = rest.first() {
                context.folder = join_folder(&context.folder, folder.text.as_str());
            }
            return;
        } else if !matches!(
            text,
            "sudo"
                | "time"
                | "exec"
                | "env"
                | "nice"
                | "then"
                | "do"
                | "else"
                | "if"
                | "while"
                | "!"
                | "{"
                | "$"
                | ">"
                | "%"
                | "-E"
                | "-H"
                | "eval"
                | "command"
                | "retry"
                | "travis_retry"
        ) {
            break;
        }
        words = rest;
    }
    let Some((program, arguments)) = words.split_first() else { return };
    let name = base_name(program.text.as_str().trim_start_matches(['!', '%', '@', '-']));
    let argument = |n: usize| arguments.get(n).map_or("", |w: &Word| w.text.as_str());
    match tool(name) {
        Some(Tool::Pip) => pip(builder, arguments, context, &own),
        Some(Tool::Python) => {
            // Options of the interpreter may come before `-m`.
            let module = arguments.iter().position(|w| w.text.as_str() == "-m");
            match module.map(|at| (argument(at + 1), arguments.get(at + 2..).unwrap_or_default())) {
                Some(("pip", rest)) => pip(builder, rest, context, &own),
                Some(("uv", rest)) => uv(builder, rest, context, &own),
                _ => {}
            }
        }
        Some(Tool::Uv) => uv(builder, arguments, context, &own),
        Some(Tool::Pipx) => {
            if matches!(argument(0), "install" | "add" | "inject" | "runpip") {
                install(builder, arguments.get(1..).unwrap_or_default(), context, &own);
            }
        }
        Some(Tool::Conda) => conda_command(builder, arguments, context),
        Some(Tool::System) => system(builder, arguments),
        Some(Tool::Shell) => {
            let script = arguments
                .iter()
                .position(|w| w.text.as_str().starts_with('-') && w.text.as_str().ends_with('c'));
            if let Some(script) = script
                .and_then(|at| arguments.get(at + 1))
                .filter(|_| context.nesting < MAX_NESTING)
            {
                context.nesting += 1;
                read(builder, &script.text, context);
                context.nesting -= 1;
            }
        }
        None => {}
    }
}

fn join_folder(folder: &str, target: &str) -> String {
    loader::join(&format!("{folder}/x"), target)
}

/// `pip … install …`: options may come before the name of the action.
fn pip(builder: &mut Builder<'_>, words: &[Word], context: &mut Context, variables: &Variables) {
    let action =
        words.iter().position(|w| matches!(w.text.as_str(), "install" | "download" | "wheel"));
    let Some(at) = action else { return };
    // Before the action there are only options and their values.
    let is_other = words.iter().take(at).any(|w| {
        matches!(
            w.text.as_str(),
            "uninstall"
                | "show"
                | "list"
                | "freeze"
                | "check"
                | "config"
                | "search"
                | "cache"
                | "index"
                | "hash"
                | "debug"
                | "help"
                | "inspect"
                | "lock"
        )
    });
    if !is_other {
        let rest: Vec<Word> =
            words.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, w)| w.clone()).collect();
        install(builder, &rest, context, variables);
    }
}

fn uv(builder: &mut Builder<'_>, words: &[Word], context: &mut Context, variables: &Variables) {
    let plain: Vec<&str> =
        words.iter().map(|w| w.text.as_str()).take_while(|w| !w.starts_with('-')).take(2).collect();
    let skip = match plain.as_slice() {
        ["pip", "install" | "sync"] => 2,
        ["add", ..] => 1,
        _ => return,
    };
    // `uv pip sync FILE` reads files, as `-r` does.
    let mut rest = words.get(skip..).unwrap_or_default().to_vec();
    if plain.get(1) == Some(&"sync") {
        let mut with_flags = Vec::new();
        for word in rest {
            if !word.text.as_str().starts_with('-') {
                let at = word.text.whole();
                let mut flag = Mapped::new(word.text.file());
                flag.push_replaced("-r", at.start, at.start);
                with_flags.push(Word { text: flag, redirected: None });
            }
            with_flags.push(word);
        }
        rest = with_flags;
    }
    install(builder, &rest, context, variables);
}

/// The index options that environment variables set for pip and uv.
///
/// `own` are those of one command, which go before those of the shell.
pub(super) fn options_of(own: &Variables, shell: &Variables) -> IndexOptions {
    let get = |name: &str| own.get(name).or_else(|| shell.get(name)).filter(|v| !v.is_empty());
    let one = |names: [&str; 3]| names.into_iter().find_map(get).cloned();
    let many = |names: [&str; 3]| -> Vec<String> {
        names
            .into_iter()
            .filter_map(get)
            .flat_map(|v| v.split_whitespace())
            .map(str::to_owned)
            .collect()
    };
    let flag =
        |name: &str| get(name).is_some_and(|v| matches!(v.as_str(), "1" | "true" | "yes" | "on"));
    IndexOptions {
        index_url: one(["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]),
        extra_index_urls: many(["PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL"]),
        find_links: many(["PIP_FIND_LINKS", "UV_FIND_LINKS", ""]),
        trusted_hosts: many(["PIP_TRUSTED_HOST", "", ""]),
        no_index: flag("PIP_NO_INDEX"),
        pre: flag("PIP_PRE"),
        torch_backend: one(["UV_TORCH_BACKEND", "", ""]),
        ..IndexOptions::default()
    }
}

/// What follows `pip install`.
fn install(
    builder: &mut Builder<'_>,
    words: &[Word],
    context: &mut Context,
    variables: &Variables,
) {
    builder.indexes = builder.input.indexes.len();
    builder.input.indexes.push(options_of(variables, &context.variables));
    let mut unquoted = Vec::new();
    let plain: Vec<Mapped> = words
        .iter()
        .map(|word| match &word.redirected {
            Some(redirected) => {
                unquoted.push((word.text.clone(), redirected.clone()));
                let mut whole = word.text.clone();
                // `<2` would stop the command, so what was meant is read; `>2` installs without a specifier.
                if redirected.as_str().starts_with('<') {
                    whole.append(redirected);
                }
                whole
            }
            None => word.text.clone(),
        })
        .collect();
    for (word, redirected) in unquoted {
        report_redirection(builder, &word, &redirected);
    }
    let options = options::parse(plain, install_options::INSTALL);
    for found in &options.found {
        let found = match found.opt {
            // On a command line the order of options does not matter.
            Opt::IndexUrl => Found { opt: Opt::DefaultIndex, ..found.clone() },
            _ => found.clone(),
        };
        requirements::apply(builder, &found);
    }
    for (word, error) in &options.errors {
        if !word.as_str().contains('$') {
            let span = word.span(error.at.start, error.at.end);
            builder.problem(span, ProblemCode::Option, Level::Warning, error.message.clone(), None);
        }
    }
    let before = builder.input.entries.len();
    for word in &options.words {
        requirement(builder, word);
    }
    for found in options.found.iter().filter(|f| f.opt == Opt::Editable) {
        let entry = builder.editable(&found.value, Origin::Pip);
        builder.input.entries.extend(entry);
    }
    includes(builder, &options, context);
    if options.found.iter().any(|f| f.opt == Opt::NoDeps) {
        for entry in builder.input.entries.iter_mut().skip(before) {
            entry.no_deps = true;
        }
    }
    builder.indexes = 0;
}

fn report_redirection(builder: &mut Builder<'_>, word: &Mapped, redirected: &Mapped) {
    let mut span = word.whole();
    span.end = redirected.whole().end.max(span.end);
    let text = format!("{}{}", word.as_str(), redirected.as_str());
    let (level, what) = if redirected.as_str().starts_with('<') {
        (Level::Error, "reads a file of that name as input")
    } else {
        (
            Level::Warning,
            "writes the output to a file of that name, and pip gets no version specifier",
        )
    };
    let message = format!(
        "without quotes the shell takes '{}' as a redirection: it {what}",
        redirected.as_str()
    );
    builder.problem(
        span,
        ProblemCode::Swallowed,
        level,
        message,
        Some(format!("write \"{text}\" in quotes")),
    );
}

/// One requirement of a command. Where a variable has no value, the name is still known.
fn requirement(builder: &mut Builder<'_>, word: &Mapped) {
    let text = word.as_str();
    let unknown = text.find('$').or_else(|| text.find('`'));
    let Some(dollar) = unknown else {
        let entry = builder.requirement(word, Origin::Pip);
        builder.input.entries.extend(entry);
        return;
    };
    let message = format!("'{text}' has a variable whose value is not known here");
    builder.problem(word.whole(), ProblemCode::Variable, Level::Note, message, None);
    let name_end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .unwrap_or(text.len());
    if name_end > 0 && name_end < dollar {
        let mut entry =
            builder.entry(text.get(..name_end).unwrap_or_default(), Origin::Pip, word.whole());
        entry.name_span = word.span(0, name_end);
        builder.input.entries.push(entry);
    }
}

/// `-r` and `-c`: files of the image are looked up where they were copied from.
fn includes(builder: &mut Builder<'_>, options: &Options, context: &Context) {
    for found in &options.found {
        let constraint = match found.opt {
            Opt::Requirement => false,
            Opt::Constraint | Opt::Override => true,
            _ => continue,
        };
        include_file(builder, &found.value, constraint, context);
    }
}

fn include_file(builder: &mut Builder<'_>, target: &Mapped, constraint: bool, context: &Context) {
    let text = target.as_str();
    if text.contains('$') || text == "-" {
        let message = format!("the file '{text}' is not known here");
        builder.problem(target.whole(), ProblemCode::Include, Level::Warning, message, None);
        builder.input.includes.push(Include {
            path: text.to_owned(),
            file: None,
            constraint,
            span: target.whole(),
        });
        return;
    }
    let inside = join_folder(&context.folder, text);
    let origin = context.copied.iter().rev().take(1000).find_map(|(to, from)| {
        let rest =
            if to.is_empty() { Some(inside.as_str()) } else { inside.strip_prefix(to.as_str()) };
        rest.filter(|r| r.is_empty() || r.starts_with('/') || to.is_empty() || to.ends_with('/'))
            .map(|rest| match (from.as_str(), rest.trim_start_matches('/')) {
                (from, "") => from.to_owned(),
                ("." | "", rest) => rest.to_owned(),
                (from, rest) => format!("{from}/{rest}"),
            })
    });
    let from = builder.stack.last().cloned().unwrap_or_default();
    let path = loader::join(&from, origin.as_deref().unwrap_or(text));
    requirements::include_as(builder, target, &path, constraint, Level::Warning);
}

/// `conda install`, `conda create`, `conda run … COMMAND`, `conda env create -f FILE`.
fn conda_command(builder: &mut Builder<'_>, words: &[Word], context: &mut Context) {
    let plain: Vec<Mapped> = words
        .iter()
        .map(|word| {
            let mut text = word.text.clone();
            if let Some(redirected) = &word.redirected {
                report_redirection(builder, &word.text, redirected);
                text.append(redirected);
            }
            text
        })
        .collect();
    if plain.first().is_some_and(|w| w.as_str() == "run") {
        let rest = words.get(1..).unwrap_or_default();
        let mut at = 0;
        while let Some(word) = rest.get(at).map(|w| w.text.as_str()).filter(|w| w.starts_with('-'))
        {
            at += 1 + usize::from(matches!(word, "-n" | "--name" | "-p" | "--prefix" | "--cwd"));
        }
        if context.nesting < MAX_NESTING {
            context.nesting += 1;
            read_command(builder, rest.get(at..).unwrap_or_default(), context);
            context.nesting -= 1;
        }
        return;
    }
    let options = options::parse(plain, install_options::CONDA);
    let actions: Vec<&str> = options.words.iter().map(Mapped::as_str).take(2).collect();
    let skip = match actions.as_slice() {
        ["install" | "create" | "update" | "upgrade", ..] => 1,
        ["env", "create" | "update"] => 2,
        _ => return,
    };
    builder.indexes = builder.input.indexes.len();
    builder.input.indexes.push(IndexOptions::default());
    let channels: Vec<String> = options
        .found
        .iter()
        .filter(|f| f.opt == Opt::Channel)
        .map(|f| f.value.as_str().to_owned())
        .collect();
    builder.options().channels = channels;
    for word in options.words.iter().skip(skip) {
        let entry = conda::match_spec(builder, word);
        builder.input.entries.extend(entry);
    }
    for found in options.found.iter().filter(|f| f.opt == Opt::Requirement) {
        let text = found.value.as_str().to_owned();
        let message = format!("'{text}' is a file of its own: audit it as well");
        builder.problem(found.value.whole(), ProblemCode::Include, Level::Note, message, None);
        builder.input.includes.push(Include {
            path: text,
            file: None,
            constraint: false,
            span: found.value.whole(),
        });
    }
    builder.indexes = 0;
}

/// `apt-get install …` and the like.
fn system(builder: &mut Builder<'_>, words: &[Word]) {
    let mut installs = false;
    for word in words {
        let text = word.text.as_str();
        if matches!(text, "install" | "add") {
            installs = true;
        } else if installs && !text.starts_with('-') && !text.is_empty() {
            let (name, version) = match text.split_once('=') {
                Some((name, version)) => (name, Some(version.trim_start_matches('=').to_owned())),
                None => (text, None),
            };
            let package = SystemPackage { name: name.to_owned(), version, span: word.text.whole() };
            builder.target().system_packages.push(package);
        }
    }
}

/// Remembers a variable of the environment in force that has a bearing on libraries.
pub(super) fn remember(builder: &mut Builder<'_>, name: &str, value: &Mapped) {
    let matters = [
        "CUDA", "CUDNN", "NVIDIA", "LD_", "TORCH", "PIP_", "UV_", "CONDA", "ORT_", "PYTHON", "PATH",
    ];
    if !matters.iter().any(|start| name.starts_with(start)) {
        return;
    }
    let setting =
        Setting { key: name.to_owned(), value: value.as_str().to_owned(), span: value.whole() };
    let variables = &mut builder.target().variables;
    match variables.iter_mut().find(|v| v.key == name) {
        Some(known) => *known = setting,
        None => variables.push(setting),
    }
}
