//! `cuda-lock diff`, in words.

use std::io::Write as _;

use cuda_lock_commands::Failure;
use cuda_lock_commands::diff::{Report, Request, compare};

use crate::args::{Diff, DiffFormat};
use crate::exit::Exit;
use crate::output::json;

/// Runs the command.
///
/// # Errors
/// When the locks cannot be compared.
pub fn run(args: &Diff) -> Result<Exit, Failure> {
    let request = match (&args.git, args.locks.as_slice()) {
        (Some(revision), files) => {
            Request::Since { revision: revision.clone(), files: files.to_vec() }
        }
        (None, [old, new]) => Request::Two(old.clone(), new.clone()),
        (None, _) => {
            let text = "name two locks, OLD and NEW, or a revision with --git";
            return Err(Failure::argument(text));
        }
    };
    let report = compare(&request, args.deny_regressions)?;
    let worse = args.deny_regressions && report.has_regressions();
    print(args.format, &report);
    Ok(if worse { Exit::No } else { Exit::Ok })
}

fn print(format: DiffFormat, report: &Report) {
    if format == DiffFormat::Json {
        json::print(report);
        return;
    }
    let mut out = crate::output::stdout();
    let several = report.locks.len() > 1;
    for (place, pair) in report.locks.iter().enumerate() {
        if several {
            let line = if place > 0 { "\n" } else { "" };
            let _ = match format {
                DiffFormat::Markdown => writeln!(out, "{line}### {}\n", pair.new),
                _ => writeln!(out, "{line}{}:", pair.new),
            };
        }
        let text = match format {
            DiffFormat::Markdown => pair.diff.markdown(),
            _ => pair.diff.text(),
        };
        let _ = write!(out, "{text}");
    }
}
