//! Source distributions for people: what is built when it is installed, and what would allow one that says too little.

use std::fmt::Write as _;
use std::io::Write;

use cuda_lock_commands::lock::Answer;
use cuda_lock_commands::passed;
use cuda_lock_constraint::catalog::{Silence, Undeclared};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::Conflict;
use cuda_lock_constraint::version::DistVersion;

use super::message::{self, FAINT, STRONG};

/// Prints what is built when it is installed.
pub fn built(out: &mut impl Write, answer: &Answer<'_>) {
    let built = passed::built(&answer.solution);
    if built.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n  Built when it is installed:");
    for package in &built {
        let needs = match package.needs.as_slice() {
            [] => String::new(),
            needs => format!("; needs {}", needs.join(", ")),
        };
        let _ = writeln!(
            out,
            "  - {STRONG}{}{STRONG:#}{needs}  {FAINT}requirements: {}{FAINT:#}",
            package.name, package.requirements
        );
    }
    let within: Vec<&str> =
        built.iter().filter(|p| p.in_environment).map(|p| p.name.as_str()).collect();
    if !within.is_empty() {
        let _ = writeln!(
            out,
            "  Install everything but {} first, then that with --no-build-isolation.",
            within.join(", ")
        );
    }
}

/// Prints the table of env.toml that states what a source distribution needs, filled with what it records.
pub fn offer(conflict: &Conflict) {
    for (name, version, found) in &conflict.undeclared {
        message::line("");
        if let (Silence::Unbuilt, Some(detail)) = (found.why, &found.detail) {
            message::line(format_args!("{name} {version}: {detail}"));
            message::line("");
        }
        message::help(format_args!(
            "{name} {version} can be used once env.toml says what it needs. {}",
            match &found.recorded {
                Some(_) => "This is what it records; check it and paste it:",
                None => "It records nothing; fill this in:",
            }
        ));
        for line in block(*name, version, found).lines() {
            message::line(format_args!("  {line}"));
        }
        if found.why.can_be_built() {
            message::line(format_args!(
                "  {FAINT}or let uv or pip build its metadata, which runs its code: --build {name}{FAINT:#}"
            ));
        }
    }
}

/// `[metadata.NAME]`.
fn block(name: Name, version: &DistVersion, found: &Undeclared) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut block = format!("[metadata.{name}]\n");
    if let Some(version) = version.version() {
        let _ = writeln!(block, "version = \"{version}\"");
    }
    let recorded = found.recorded.as_deref();
    let requires = recorded.map(|metadata| metadata.requires_dist.as_slice()).unwrap_or_default();
    if requires.is_empty() {
        block.push_str("requires-dist = []\n");
    } else {
        block.push_str("requires-dist = [\n");
        for text in requires {
            let _ = writeln!(block, "    {},", quoted(text));
        }
        block.push_str("]\n");
    }
    if let Some(python) = recorded.and_then(|metadata| metadata.requires_python.as_deref()) {
        let _ = writeln!(block, "requires-python = {}", quoted(python));
    }
    let extras = recorded.map(|metadata| metadata.provides_extra.as_slice()).unwrap_or_default();
    if !extras.is_empty() {
        let extras: Vec<String> = extras.iter().map(|extra| quoted(extra)).collect();
        let _ = writeln!(block, "provides-extra = [{}]", extras.join(", "));
    }
    block
}
