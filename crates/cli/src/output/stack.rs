//! The solved stack as a small table: driver, GPUs, CUDA, cuDNN, torch, onnxruntime.

use std::io::Write as _;

use cuda_lock_commands::lock::Answer;
use cuda_lock_constraint::machine::Machine;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::solve::Problem;

use super::message::{FAINT, STRONG};
use super::sdists;

/// The distributions that have a line of their own, in this order.
const SHOWN: [&str; 7] =
    ["torch", "torchvision", "torchaudio", "onnxruntime-gpu", "onnxruntime", "onnx", "numpy"];

/// Prints the table to standard output.
pub fn print(answer: &Answer<'_>) {
    let mut out = crate::output::stdout();
    for (label, value, note) in rows(answer) {
        let note = if note.is_empty() { note } else { format!("  {FAINT}{note}{FAINT:#}") };
        let _ = writeln!(out, "  {STRONG}{label:<16}{STRONG:#} {value}{note}");
    }
    sdists::built(&mut out, answer);
    let steps = &answer.stack.loading;
    if !steps.is_empty() {
        let _ = writeln!(out, "\n  When the program starts:");
        for step in steps {
            let _ = writeln!(out, "  - {}", step.text);
        }
    }
}

/// Label, value and note of each line.
#[must_use]
pub fn rows(answer: &Answer<'_>) -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    let mut row =
        |label: &str, value: String, note: String| rows.push((label.to_owned(), value, note));
    let machine = &answer.problem.machine;
    let target = &answer.problem.target;
    let judged =
        if target.series { format!(", judged by {}", target.python) } else { String::new() };
    row("Python", target.asked_python().to_string(), format!("{}{judged}", machine.platform));
    let minimum = &answer.stack.minimum_driver;
    match (&machine.driver, minimum) {
        (Some(driver), Some(minimum)) => {
            row("driver", driver.to_string(), format!("{minimum} or newer will do"));
        }
        (Some(driver), None) => row("driver", driver.to_string(), String::new()),
        (None, Some(minimum)) => {
            row("driver", format!(">= {minimum}"), "not given: the minimum".into())
        }
        (None, None) => {}
    }
    if let Some(macos) = answer.solution.layer(Package::Macos) {
        match &machine.macos {
            Some(_) => row("macOS", macos.to_string(), String::new()),
            None => {
                row("macOS", format!(">= {macos}"), "not given: the lowest that has wheels".into())
            }
        }
    }
    gpus(&mut row, answer, machine);
    for (label, supplied) in [("CUDA", &answer.stack.cuda), ("cuDNN", &answer.stack.cudnn)] {
        if let Some(version) = supplied {
            row(label, version.to_string(), String::new());
        }
    }
    for name in SHOWN {
        if let Some(chosen) = answer.solution.build(name) {
            row(name, chosen.version.to_string(), place(&answer.problem, chosen.version.source()));
        }
    }
    if !answer.stack.unjudged.is_empty() {
        let note = "which GPUs they have code for, no fact tells".to_owned();
        row("not judged", listed(&answer.stack.unjudged), note);
    }
    rows
}

fn gpus(row: &mut impl FnMut(&str, String, String), answer: &Answer<'_>, machine: &Machine) {
    let covered: Vec<String> = answer.stack.capabilities.iter().map(ToString::to_string).collect();
    let runs = if covered.is_empty() {
        String::new()
    } else {
        let (names, run) = (listed(&answer.stack.covered), answer.stack.covered.len() > 1);
        let run = if run { "run" } else { "runs" };
        format!("{names} {run} on compute capability {}", covered.join(", "))
    };
    match machine.gpus.as_deref() {
        Some([]) => row("GPU", "none".into(), String::new()),
        Some(gpus) => {
            for (n, gpu) in gpus.iter().enumerate() {
                let name = if gpu.name == gpu.capability.as_str() {
                    format!("compute capability {}", gpu.capability)
                } else {
                    format!("{} ({})", gpu.name, gpu.capability)
                };
                row("GPU", name, if n == 0 { runs.clone() } else { String::new() });
            }
        }
        None if !runs.is_empty() => row("GPU", "not given".into(), runs),
        None => {}
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Where a build is from, when that is not the usual place.
fn place(problem: &Problem, source: cuda_lock_constraint::version::SourceId) -> String {
    match problem.source(source) {
        Some(source) if source.id.0 == 0 => String::new(),
        Some(source) => format!("from {}", source.name),
        None => "from its URL".to_owned(),
    }
}
