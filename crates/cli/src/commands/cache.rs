//! `cuda-lock cache`: where the cache is, how large, and how it moves to a machine without a network.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

use cuda_lock_fetcher::cache::{CacheFolder, default_dir};
use jiff::{Span, SpanRelativeTo};

use crate::args;
use crate::exit::Exit;
use crate::output::message;

/// Runs the command.
pub fn run(command: &args::Cache) -> Exit {
    let done = match command {
        args::Cache::Dir(flags) => folder(flags).and_then(|folder| say(folder.dir().display())),
        args::Cache::Size(flags) => folder(flags)
            .and_then(|folder| folder.size().map_err(|error| text(&error)))
            .and_then(say),
        args::Cache::Prune(flags) => prune(flags),
        args::Cache::Export(flags) => export(flags),
        args::Cache::Import(flags) => import(flags),
    };
    match done {
        Ok(()) => Exit::Ok,
        Err(why) => {
            message::error(why);
            Exit::BadInput
        }
    }
}

fn folder(flags: &args::CacheFolder) -> Result<CacheFolder, String> {
    let dir = flags.cache_dir.clone().or_else(default_dir);
    dir.map(CacheFolder::new).ok_or_else(|| {
        "there is no home folder to keep a cache in; name a folder with --cache-dir".to_owned()
    })
}

fn prune(flags: &args::Prune) -> Result<(), String> {
    let age = age(&flags.older_than)?;
    let pruned = folder(&flags.folder)?.prune(age).map_err(|error| text(&error))?;
    say(format_args!("removed {} files, {} bytes", pruned.files, pruned.bytes))
}

/// An age as people write it. Days have 24 hours, and there is no calendar to count months by.
fn age(text: &str) -> Result<Duration, String> {
    let wrong = |why: String| {
        format!(
            "--older-than {text}: {why}; write an age in days, hours, minutes or seconds, as in 30d or 12h"
        )
    };
    let span: Span = text.parse().map_err(|error: jiff::Error| wrong(error.to_string()))?;
    let age = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| wrong("months and years differ in length".to_owned()))?;
    Duration::try_from(age).map_err(|_| wrong("an age is not negative".to_owned()))
}

fn export(flags: &args::Archive) -> Result<(), String> {
    let folder = folder(&flags.folder)?;
    if flags.archive == Path::new("-") {
        let out = io::BufWriter::new(io::stdout().lock());
        return folder.export(out).map_err(|error| text(&error));
    }
    // Half an archive is of no use: it takes its name only when it is whole.
    let beside = match flags.archive.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = flags.archive.display();
    let wrong = |error: io::Error| format!("cannot write {name}: {error}");
    let file = tempfile::Builder::new().prefix(".cuda-lock-").tempfile_in(beside).map_err(wrong)?;
    folder.export(io::BufWriter::new(file.as_file())).map_err(|error| text(&error))?;
    file.persist(&flags.archive).map_err(|error| wrong(error.error))?;
    say(format_args!("wrote {name}"))
}

fn import(flags: &args::Archive) -> Result<(), String> {
    let folder = folder(&flags.folder)?;
    let count = if flags.archive == Path::new("-") {
        folder.import(io::stdin().lock())
    } else {
        let file = fs_err::File::open(&flags.archive).map_err(|error| text(&error))?;
        folder.import(io::BufReader::new(file))
    };
    let count = count.map_err(|error| text(&error))?;
    say(format_args!("added {count} entries to {}", folder.dir().display()))
}

fn text(error: &io::Error) -> String {
    error.to_string()
}

/// Prints a line. A reader that has gone away wants no more.
fn say(what: impl std::fmt::Display) -> Result<(), String> {
    let _ = writeln!(crate::output::stdout(), "{what}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_as_people_write_them() {
        for (text, seconds) in
            [("30d", 2_592_000), ("12h", 43_200), ("90m", 5400), ("0s", 0), ("1 week", 604_800)]
        {
            assert_eq!(age(text).map(|age| age.as_secs()), Ok(seconds), "{text}");
        }
        for text in ["", "30", "soon", "-1d", "2 months"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
