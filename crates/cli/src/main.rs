//! The program `cuda-lock`: arguments, words, colours, progress and exit codes. What the commands do is in
//! `cuda-lock-commands`.

mod args;
mod commands;
mod exit;
mod output;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::exit::Exit;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; everything else on the command line is bad input.
            let exit = if error.use_stderr() { Exit::BadInput } else { Exit::Ok };
            let _ = error.print();
            return exit.into();
        }
    };
    signals::heed();
    let json = cli.command.wants_json();
    let done = match cli.command {
        Command::Resolve(args) => commands::resolve::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Diff(args) => commands::diff::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Cache(command) => commands::cache::run(&command),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Probe => commands::probe::run(),
    };
    done.unwrap_or_else(|failure| exit::failed(&failure, json)).into()
}
