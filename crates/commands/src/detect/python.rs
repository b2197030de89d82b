//! The Python that packages would be installed into.

use std::path::Path;
use std::str::FromStr as _;

use pep440_rs::Version as Pep440;

use super::{Host, Seen};

/// What a Python prints its version with.
const SCRIPT: &str = "import sys; print('%d.%d.%d' % sys.version_info[:3])";

pub(super) fn detect(host: &Host, seen: &mut Seen) {
    for environment in &host.environments {
        if let Some(version) = of_environment(environment) {
            seen.python = Some(version);
            return;
        }
    }
    let Some(program) = ["python3", "python"].into_iter().find_map(|name| host.program(name))
    else {
        seen.remarks.push("Python: there is none on PATH".to_owned());
        return;
    };
    let folder = program.parent().and_then(Path::parent);
    if let Some(version) = folder.and_then(of_environment) {
        seen.python = Some(version);
        return;
    }
    match host.run(&program, &["-c", SCRIPT]) {
        Ok(text) => {
            seen.python = Pep440::from_str(text.trim()).ok();
            if seen.python.is_none() {
                let said = text.lines().next().unwrap_or_default();
                seen.remarks
                    .push(format!("{} does not say its version: {said}", program.display()));
            }
        }
        Err(why) => seen.remarks.push(format!("{} {why}", program.display())),
    }
}

/// The Python of an environment: by pyvenv.cfg, or by what conda lists.
fn of_environment(folder: &Path) -> Option<Pep440> {
    if let Ok(text) = std::fs::read_to_string(folder.join("pyvenv.cfg")) {
        let value = |wanted: &str| {
            text.lines().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == wanted).then(|| value.trim().to_owned())
            })
        };
        return value("version_info").or_else(|| value("version")).as_deref().and_then(version);
    }
    let entries = std::fs::read_dir(folder.join("conda-meta")).ok()?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names.iter().find_map(|name| {
        let rest = name.strip_prefix("python-")?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then(|| version(rest.split('-').next()?))?
    })
}

/// `3.11.7`, or `3.11.7.final.0`: what is numbers in front.
fn version(text: &str) -> Option<Pep440> {
    let numbers: Vec<&str> = text
        .split('.')
        .take(3)
        .take_while(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    if numbers.len() < 2 { None } else { Pep440::from_str(&numbers.join(".")).ok() }
}
