//! What a fix makes of files: written, shown as a difference, or handed back on standard output.

use std::io::Write as _;
use std::path::Path;

use cuda_lock_commands::Failure;
use cuda_lock_constraint::secret::redact;
use cuda_lock_formats::atomic::{Output, write_all};
use cuda_lock_formats::input::decode;
use cuda_lock_formats::regular::{self, TEXT_LIMIT};
use similar::TextDiff;

use super::subject::{Overlay, STDIN};
use crate::args::{Audit, AuditFormat};
use crate::output::audit::Report;

/// Whether standard input is judged.
pub fn has_stdin(args: &Audit) -> bool {
    args.files.iter().any(|file| file.as_os_str() == "-")
}

/// Refuses flags that want the same standard output.
///
/// # Errors
/// When two of them do.
pub fn check(args: &Audit) -> Result<(), Failure> {
    let refuse = |text: &str| Err(Failure::argument(text));
    if args.diff && args.format != AuditFormat::Text {
        return refuse("--diff prints a difference: --format cannot change that");
    }
    if args.fix && has_stdin(args) {
        if args.files.len() > 1 {
            return refuse(
                "--fix with - writes the fixed text to standard output: name no other file",
            );
        }
        if args.format != AuditFormat::Text {
            return refuse(
                "--fix with - writes the fixed text to standard output: --format has no place there",
            );
        }
    }
    if args.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        return refuse("- is named twice: standard input can be read once");
    }
    Ok(())
}

/// Tells the report which files a fix changes.
pub fn changes(overlay: &Overlay, report: &mut Report) {
    for (name, (old, new)) in &overlay.files {
        if old != new {
            report.changes.push(name.clone());
        }
    }
}

/// Writes every file that a fix changes: all of them, or none.
///
/// # Errors
/// When a file is not what it was when it was read, or cannot be written.
pub fn write(overlay: &Overlay) -> Result<(), Failure> {
    let files = overlay.files.iter().filter(|(name, (old, new))| *name != STDIN && old != new);
    let mut outputs = Vec::new();
    for (name, (old, new)) in files {
        let path = Path::new(name);
        match regular::read(path, TEXT_LIMIT) {
            Ok(now) if now == *old => outputs.push(Output { path, content: new }),
            Ok(_) => {
                return Err(Failure::system(format!(
                    "{name} has changed since it was read; nothing was written"
                ))
                .with_help("run the command again"));
            }
            Err(why) => {
                return Err(Failure::system(format!("{why}; nothing was written")));
            }
        }
    }
    write_all(&outputs).map(|_| ()).map_err(Failure::system)
}

/// Writes what standard input became.
pub fn stdin(overlay: &Overlay) {
    let text = overlay.files.get(STDIN).map(|(_, new)| new.as_slice());
    let _ = std::io::stdout().write_all(text.unwrap_or_default());
}

/// Prints a unified diff of every file that a fix changes.
pub fn diff(overlay: &Overlay) {
    let mut out = std::io::stdout().lock();
    for (name, (old, new)) in overlay.files.iter().filter(|(_, (old, new))| old != new) {
        let ((old, _), (new, _)) = (decode(old, None), decode(new, None));
        let shown = name.replace('\\', "/");
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        let text = unified.header(&format!("a/{shown}"), &format!("b/{shown}")).to_string();
        // Every byte as it is, so that the patch applies, except for secrets.
        let _ = write!(out, "{}", redact(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(name: &str, old: &str, new: &str) -> Overlay {
        let mut overlay = Overlay::default();
        let texts = (old.as_bytes().to_vec(), new.as_bytes().to_vec());
        overlay.files.insert(name.to_owned(), texts);
        overlay
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("requirements.txt");
        let name = path.display().to_string();
        std::fs::write(&path, "torch==2.2.2\n").expect("written");
        let fixed = overlay(&name, "torch==2.2.1\n", "torch==2.3.0\n");
        assert!(matches!(write(&fixed), Err(Failure::System { .. })));
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "torch==2.2.2\n");
        assert!(write(&overlay(&name, "torch==2.2.2\n", "torch==2.3.0\n")).is_ok());
        assert_eq!(std::fs::read_to_string(&path).expect("read"), "torch==2.3.0\n");
        let gone = folder.path().join("gone.txt").display().to_string();
        assert!(write(&overlay(&gone, "a", "b")).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).expect("listed").count(), 1, "no leftovers");
    }
}
