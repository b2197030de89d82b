//! What a file says beside its lines: variables, packages of the system, images, its encoding.

use cuda_lock_constraint::audit::{Code, Severity, Surroundings};
use cuda_lock_constraint::machine::Platform;
use cuda_lock_constraint::rules::image::parse_image;
use cuda_lock_constraint::rules::installer;
use cuda_lock_constraint::rules::vendor_image::parse_vendor_image;
use cuda_lock_formats::input::{Environment, Input, Kind, Origin, Span};

use super::ask::Noted;
use super::machine::Given;

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

/// The pip of the system's packages installs for the Python of the system, also where another one is installed beside it.
pub fn other_python(input: &Input, environment: &Environment, reference: &str) -> Option<Noted> {
    let os_python = match parse_image(reference, Platform::LinuxX86_64) {
        Ok(image) => image.python?.to_string(),
        Err(_) => return None,
    };
    let packages = &environment.system_packages;
    let pip = packages.iter().find(|package| package.name == "python3-pip")?;
    let other = packages.iter().find_map(|package| {
        let version = package.name.strip_prefix("python")?;
        let is_minor = version.strip_prefix("3.")?.bytes().all(|b| b.is_ascii_digit());
        (is_minor && version != os_python).then_some(version)
    })?;
    let text = &input.files.get(pip.span.file)?.text;
    if text.contains(&format!("python{other} -m pip"))
        || text.contains("get-pip")
        || text.contains("venv")
    {
        return None;
    }
    Some(Noted {
        code: Code::ImageMismatch,
        message: format!(
            "python3-pip of {reference} installs for Python {os_python}, and python{other} is installed beside it"
        ),
        help: Some(format!("call it as python{other} -m pip")),
        severity: Severity::Warning,
        span: Some(pip.span),
    })
}

/// Text that an older pip on Windows reads in the encoding of the system.
pub fn locale(input: &Input, given: &Given) -> Option<Noted> {
    if given.platform != Some(Platform::WindowsX86_64) || input.kind != Kind::Requirements {
        return None;
    }
    let (place, file) = input.files.iter().enumerate().find(|(_, file)| {
        file.encoding.name == "utf-8"
            && !file.encoding.bom
            && !file.text.is_ascii()
            && !declares(&file.text)
    })?;
    let at = file.text.char_indices().find(|(_, c)| !c.is_ascii()).map_or(0, |(at, _)| at);
    Some(Noted {
        code: Code::Syntax,
        message: "the file is UTF-8 with characters beyond ASCII, and pip before 25.0 reads it in the encoding of the system, which on Windows is another one".to_owned(),
        help: Some("update pip, save the file with a byte order mark, or add '# -*- coding: utf-8 -*-' as its first line".to_owned()),
        severity: Severity::Warning,
        span: Some(Span { file: place, start: at, end: at }),
    })
}

/// Whether one of the first two lines names the encoding (PEP 263).
fn declares(text: &str) -> bool {
    text.lines()
        .take(2)
        .any(|line| line.starts_with('#') && (line.contains("coding:") || line.contains("coding=")))
}
