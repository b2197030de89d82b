//! `cuda-lock probe`: this machine as the `[machine]` of an env.toml.

use cuda_lock_commands::Failure;
use cuda_lock_commands::detect::{Host, detect};
use cuda_lock_commands::probe::table;

use crate::exit::Exit;
use crate::output::{audit, message};

/// Runs the command.
///
/// # Errors
/// None: what cannot be seen is said.
pub fn run() -> Result<Exit, Failure> {
    let seen = detect(&Host::this());
    audit::line(table(&seen).trim_end());
    for (name, why) in &seen.unknown_gpus {
        message::warning(format_args!("{name}: {why}"));
    }
    for remark in &seen.remarks {
        message::warning(remark);
    }
    Ok(Exit::Ok)
}
