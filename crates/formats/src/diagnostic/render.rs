//! A diagnostic as people see it.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity, mask_credentials};

/// How a diagnostic is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// ASCII without escape sequences: the same bytes everywhere.
    Plain,
    /// With ANSI colours.
    Color,
}

/// Only the first line of a span is shown: a table or a list can be long, and its start is what people look for.
pub(super) fn render(diagnostic: &Diagnostic, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Color => Renderer::styled(),
    };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.message.as_str());
    let helps = diagnostic.help.iter().map(|text| Level::HELP.message(text.as_str()));
    let Some(span) = &diagnostic.span else {
        let mut group =
            Group::with_title(title).element(annotate_snippets::Origin::path(diagnostic.file()));
        group = group.elements(helps);
        return renderer.render(&[group]);
    };

    let source = &diagnostic.source;
    let line = source.line(span.start);
    let raw = source.text().get(line.clone()).unwrap_or_default();
    let shown = mask_credentials(raw);
    let start = shift(raw, &shown, span.start.saturating_sub(line.start));
    let end = shift(raw, &shown, span.end.min(line.end).saturating_sub(line.start)).max(start);
    let mut mark = AnnotationKind::Primary.span(start..end);
    if let Some(label) = &diagnostic.label {
        mark = mark.label(label.as_str());
    }
    let snippet = Snippet::source(shown.as_ref())
        .path(diagnostic.file())
        .line_start(source.position(span.start).line)
        .annotation(mark);
    renderer.render(&[Group::with_title(title).element(snippet).elements(helps)])
}

/// The byte offset in the masked line of the character at `offset` of the line itself.
fn shift(raw: &str, shown: &str, offset: usize) -> usize {
    let characters = raw.char_indices().take_while(|(at, _)| *at < offset).count();
    shown.char_indices().nth(characters).map_or(shown.len(), |(at, _)| at)
}
