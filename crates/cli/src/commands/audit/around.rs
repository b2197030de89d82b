//! What a file says beside its lines: variables, packages of the system, commands, images, its encoding.

use cuda_lock_constraint::audit::Surroundings;
use cuda_lock_constraint::machine::Platform;
use cuda_lock_constraint::rules::image::parse_image;
use cuda_lock_constraint::rules::installer;
use cuda_lock_constraint::rules::vendor_image::parse_vendor_image;
use cuda_lock_formats::input::{Environment, Input, Kind, Origin, Span};

/// What surrounds the lines of one environment, whose image is `reference`.
pub fn surroundings(
    input: &Input,
    environment: &Environment,
    reference: Option<&str>,
) -> Surroundings {
    let indexes = || input.indexes.iter();
    let chain = || {
        let mut next = Some(environment);
        std::iter::from_fn(move || {
            let here = next?;
            next = here.parent.and_then(|parent| input.environments.get(parent));
            Some(here)
        })
        .take(input.environments.len() + 1)
    };
    let library_path = chain()
        .find_map(|here| here.variables.iter().find(|variable| variable.key == "LD_LIBRARY_PATH"))
        .map(|variable| {
            variable.value.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect()
        })
        .unwrap_or_default();
    Surroundings {
        names_index: indexes().any(|options| {
            options.index_url.is_some()
                || !options.extra_index_urls.is_empty()
                || !options.find_links.is_empty()
                || !options.named.is_empty()
                || options.torch_backend.is_some()
        }),
        shell: input.kind == Kind::Shell,
        one_version: input.entries.iter().any(|entry| entry.origin == Origin::Poetry),
        library_path,
        system_packages: chain()
            .flat_map(|here| here.system_packages.iter().map(|package| package.name.clone()))
            .collect(),
        vendor_image: reference.and_then(parse_vendor_image),
        pip: pip(input, environment, reference),
        find_links: indexes().flat_map(|options| options.find_links.iter().cloned()).collect(),
        ..Surroundings::default()
    }
}

/// The pip of the system's packages, where the file installs it, and does not update it.
fn pip(
    input: &Input,
    environment: &Environment,
    reference: Option<&str>,
) -> Option<(pep440_rs::Version, String)> {
    let reference = reference?;
    let installs = environment.system_packages.iter().any(|package| package.name == "python3-pip");
    let place = input.environments.iter().position(|other| other == environment)?;
    let updates = input.entries.iter().any(|entry| {
        entry.environment == place
            && entry.name.is_some_and(|name| matches!(name.as_str(), "pip" | "uv"))
    });
    if !installs || updates {
        return None;
    }
    let os = match parse_image(reference, Platform::LinuxX86_64) {
        Ok(image) => image.os,
        Err(_) => {
            let (repository, tag) = reference.rsplit_once(':')?;
            (repository.rsplit('/').next()? == "ubuntu").then(|| format!("ubuntu{tag}"))?
        }
    };
    let pip = installer::of_system(&os)?;
    Some((pip.version, pip.brought_by))
}

/// The Python that the pip of the system installs for, another Python beside it, and where that pip is installed: unless a
/// command calls the pip of the other one.
pub fn other_python(
    input: &Input,
    environment: &Environment,
    reference: &str,
) -> Option<(String, String, Span)> {
    let system = match parse_image(reference, Platform::LinuxX86_64) {
        Ok(image) => image.python?.to_string(),
        Err(_) => return None,
    };
    let packages = &environment.system_packages;
    let pip = packages.iter().find(|package| package.name == "python3-pip")?;
    let other = packages.iter().find_map(|package| {
        let version = package.name.strip_prefix("python")?;
        let is_minor = version.strip_prefix("3.")?.bytes().all(|b| b.is_ascii_digit());
        (is_minor && version != system).then_some(version)
    })?;
    let own_pip = programs(input).any(|words| {
        let calls = |program: &str| words.iter().any(|word| is_program(word, program));
        let module = |name: &str| words.windows(2).any(|pair| pair[0] == "-m" && pair[1] == name);
        (calls(&format!("python{other}")) && module("pip"))
            || module("venv")
            || calls("virtualenv")
            || words.iter().any(|word| word.contains("get-pip"))
    });
    (!own_pip).then(|| (system, other.to_owned(), pip.span))
}

/// Whether a command calls an installer that brings a Python of its own.
pub fn brings_python(input: &Input) -> bool {
    const INSTALLERS: [&str; 6] = ["uv", "conda", "mamba", "micromamba", "pixi", "pyenv"];
    programs(input)
        .any(|words| words.iter().any(|word| INSTALLERS.iter().any(|name| is_program(word, name))))
}

/// The commands of the first file as words; a comment is none.
fn programs(input: &Input) -> impl Iterator<Item = Vec<&str>> {
    let text = input.files.first().map_or("", |file| &*file.text);
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.flat_map(|line| line.split([';', '&', '|'])).map(|command| {
        let between =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '[' | ']' | ',' | '(' | ')');
        command.split(between).filter(|word| !word.is_empty()).collect()
    })
}

/// `uv` in `/root/.local/bin/uv` and in `COPY --from=…/uv:latest`; an installer's script carries its name as well.
fn is_program(word: &str, name: &str) -> bool {
    let last = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let stem = last.split([':', '-', '.', '@']).next().unwrap_or(last);
    last == name || stem.eq_ignore_ascii_case(name) || word.contains(&format!("/{name}/"))
}

/// The first character beyond ASCII of a requirements file in UTF-8 that does not say so.
pub fn undeclared_utf8(input: &Input) -> Option<Span> {
    if input.kind != Kind::Requirements {
        return None;
    }
    let (place, file) = input.files.iter().enumerate().find(|(_, file)| {
        file.encoding.name == "utf-8"
            && !file.encoding.bom
            && !file.text.is_ascii()
            && !declares(&file.text)
    })?;
    let at = file.text.char_indices().find(|(_, c)| !c.is_ascii()).map_or(0, |(at, _)| at);
    Some(Span { file: place, start: at, end: at })
}

/// Whether one of the first two lines names the encoding (PEP 263).
fn declares(text: &str) -> bool {
    text.lines()
        .take(2)
        .any(|line| line.starts_with('#') && (line.contains("coding:") || line.contains("coding=")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_from_words_that_contain_their_names() {
        for word in
            ["uv", "/root/.local/bin/uv", "ghcr.example/astral-sh/uv:0.5", "Miniconda3-latest"]
        {
            let name = if word.contains("iniconda") { "Miniconda3" } else { "uv" };
            assert!(is_program(word, name), "{word}");
        }
        for word in ["uvicorn", "conda-forge-notes", "--uv"] {
            assert!(!is_program(word, "uv"), "{word}");
        }
    }
}
