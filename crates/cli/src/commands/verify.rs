//! `cuda-lock verify`: the Python of the environment says what it finds.

use std::io::Write as _;
use std::process::Stdio;

use cuda_lock_commands::Failure;
use cuda_lock_commands::verify::{check, script};

use crate::args::{Format, Verify};
use crate::exit::Exit;

/// Runs the command.
///
/// # Errors
/// When the checks cannot be run.
pub fn run(args: &Verify) -> Result<Exit, Failure> {
    if args.script {
        let _ = std::io::stdout().write_all(script(&args.lock)?.as_bytes());
        return Ok(Exit::Ok);
    }
    let json = args.format == Format::Json;
    let holds = check(&args.lock, &args.python, json, Stdio::inherit())?;
    Ok(if holds { Exit::Ok } else { Exit::No })
}
