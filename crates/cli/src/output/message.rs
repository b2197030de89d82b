//! Messages on standard error, in colour where that is a terminal which wants it.

use std::fmt::Display;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use cuda_lock_formats::diagnostic::{Diagnostics, Style as DiagnosticStyle};

use super::shown;

/// Bold red.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Bold yellow.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// Bold.
pub const STRONG: Style = Style::new().bold();
/// Dimmed.
pub const FAINT: Style = Style::new().dimmed();

/// Writes to standard error. A closed pipe is nobody's concern here.
pub fn line(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{}", shown(&text.to_string()));
}

/// `error: ...`
pub fn error(text: impl Display) {
    line(format_args!("{ERROR}error{ERROR:#}: {text}"));
}

/// `warning: ...`
pub fn warning(text: impl Display) {
    line(format_args!("{WARNING}warning{WARNING:#}: {text}"));
}

/// `help: ...`
pub fn help(text: impl Display) {
    line(format_args!("{STRONG}help{STRONG:#}: {text}"));
}

/// Everything that is wrong with a file, with its lines.
pub fn diagnostics(diagnostics: &Diagnostics) {
    let colour =
        !matches!(anstream::AutoStream::choice(&std::io::stderr()), anstream::ColorChoice::Never);
    let style = if colour { DiagnosticStyle::Color } else { DiagnosticStyle::Plain };
    line(diagnostics.render(style).trim_end());
}
