//! `cuda-lock cache`: where the cache is, how large, and how it moves to a machine without a network.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;

use cuda_lock_commands::Failure;
use cuda_lock_commands::cache::{age, export, export_to, folder, import, import_from};

use crate::args::{Archive, Cache, Prune};
use crate::exit::Exit;

/// Runs the command.
///
/// # Errors
/// When the cache or the archive cannot be read or written.
pub fn run(command: &Cache) -> Result<Exit, Failure> {
    match command {
        Cache::Dir(flags) => say(folder(flags.cache_dir.clone())?.dir().display()),
        Cache::Size(flags) => {
            say(folder(flags.cache_dir.clone())?.size().map_err(Failure::system)?);
        }
        Cache::Prune(flags) => prune(flags)?,
        Cache::Export(flags) => export_all(flags)?,
        Cache::Import(flags) => import_all(flags)?,
    }
    Ok(Exit::Ok)
}

fn prune(flags: &Prune) -> Result<(), Failure> {
    let age = age(&flags.older_than)?;
    let pruned = folder(flags.folder.cache_dir.clone())?.prune(age).map_err(Failure::system)?;
    say(format_args!("removed {} files, {} bytes", pruned.files, pruned.bytes));
    Ok(())
}

fn export_all(flags: &Archive) -> Result<(), Failure> {
    let folder = folder(flags.folder.cache_dir.clone())?;
    if flags.archive == Path::new("-") {
        return export_to(&folder, io::BufWriter::new(io::stdout().lock()));
    }
    export(&folder, &flags.archive)?;
    say(format_args!("wrote {}", flags.archive.display()));
    Ok(())
}

fn import_all(flags: &Archive) -> Result<(), Failure> {
    let folder = folder(flags.folder.cache_dir.clone())?;
    let count = if flags.archive == Path::new("-") {
        import_from(&folder, io::stdin().lock())?
    } else {
        import(&folder, &flags.archive)?
    };
    say(format_args!("added {count} entries to {}", folder.dir().display()));
    Ok(())
}

/// Prints a line. A reader that has gone away wants no more.
fn say(what: impl Display) {
    let _ = writeln!(crate::output::stdout(), "{what}");
}
