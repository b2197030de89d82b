//! Solves an env.toml without a process: `cargo run -p cuda-lock-commands --example resolve -- path/to/env.toml`.

use std::sync::Arc;

use cuda_lock_commands::resolve::Unsolved;
use cuda_lock_commands::{Failure, request::Request, run::Run};
use cuda_lock_fetcher::Silent;

#[allow(clippy::print_stdout, reason = "an example shows what it got")]
fn main() -> Result<(), Failure> {
    let manifest = std::env::args().nth(1).unwrap_or_else(|| "env.toml".to_owned());
    let run = Run::open(Request::new(manifest), Arc::new(Silent))?;
    for target in run.resolve()?.targets {
        match target.outcome {
            Ok(solved) => println!("{}", solved.answer.pylock().to_toml()),
            Err(Unsolved::Refused(refusal)) => {
                println!("{:#?}", refusal.conflict.report().headline);
            }
            Err(Unsolved::Rejected(rejection)) => {
                rejection.errors.iter().for_each(|finding| println!("{}", finding.message));
            }
        }
    }
    Ok(())
}
