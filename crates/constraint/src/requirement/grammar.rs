//! PEP 508's grammar of a requirement, with the place of each part.
//!
//! Both modes read the same grammar with the same functions. Where they differ, the function asks the cursor: white space
//! between tokens, names of extras and clauses without commas, quotes around versions, a semicolon that touches a URL.

use std::ops::Range;

use pep440_rs::VersionSpecifier;

use super::Mode;
use super::clause;
use super::cursor::Cursor;
use super::error::{Fault, RequirementError};
use super::marker;
use crate::name::Name;

/// The parts of a requirement and where each stands, in bytes of its text.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The project.
    pub name: (Name, Range<usize>),
    /// The extras that are asked for, as often as they are written.
    pub extras: Vec<(Name, Range<usize>)>,
    /// The version specifiers; none allow all.
    pub clauses: Vec<Clause>,
    /// What follows `@`.
    pub url: Option<Range<usize>>,
    /// What follows `;`.
    pub marker: Option<Range<usize>>,
}

/// One version specifier.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Where the operator stands.
    pub operator: Range<usize>,
    /// Where the version stands.
    pub version: Range<usize>,
    /// What it means. `None` for `===` with a text that is no version, which pip takes.
    pub specifier: Option<VersionSpecifier>,
}

impl Parts {
    /// Reads a requirement with its marker.
    ///
    /// # Errors
    /// When it cannot be read in `mode`.
    pub fn read(text: &str, mode: Mode) -> Result<Self, RequirementError> {
        let mut cursor = Cursor::new(text, mode);
        let parts = requirement(&mut cursor)?;
        if let Some(at) = &parts.marker {
            let marker = cursor.part(at.clone());
            marker::check(marker, mode).map_err(|error| error.within(text, at.start))?;
        }
        Ok(parts)
    }
}

/// Reads a requirement; what follows the semicolon is left to the caller.
pub(super) fn requirement(cursor: &mut Cursor<'_>) -> Result<Parts, RequirementError> {
    cursor.skip_space();
    let name = name(cursor, Fault::NoName)?;
    cursor.skip_space();
    let extras = if cursor.eat("[") { extras(cursor)? } else { Vec::new() };
    cursor.skip_space();
    let mut clauses = Vec::new();
    let mut reference = None;
    if cursor.eat("@") {
        reference = Some(url(cursor)?);
    } else {
        specifiers(cursor, &mut clauses)?;
    }
    cursor.skip_space();
    let marker = if cursor.eat(";") {
        Some(cursor.offset()..cursor.offset() + cursor.rest().len())
    } else if cursor.peek().is_none() {
        None
    } else if reference.is_some() {
        return cursor.fail(Fault::AfterUrl);
    } else if clauses.is_empty() {
        return cursor.fail(Fault::AfterName);
    } else {
        return cursor.fail(Fault::AfterVersion);
    };
    Ok(Parts { name, extras, clauses, url: reference, marker })
}

/// A name: letters, digits, `-`, `_` and `.`. Letters of other scripts are taken with it, so that the error is about the
/// whole name.
fn name(cursor: &mut Cursor<'_>, missing: Fault) -> Result<(Name, Range<usize>), RequirementError> {
    let start = cursor.offset();
    cursor.take_while(is_name);
    if cursor.peek().is_some_and(|b| b > 127) {
        cursor.take_chars(|c| c.is_alphanumeric() || u8::try_from(c).is_ok_and(is_name));
    }
    let at = start..cursor.offset();
    if at.is_empty() {
        return cursor.fail(missing);
    }
    match Name::new(cursor.part(at.clone())) {
        Ok(name) => Ok((name, at)),
        Err(invalid) => cursor.fail_from(start, invalid.into()),
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// What follows `[`, to the `]`. Repairs: commas may be missing, or too many.
fn extras(cursor: &mut Cursor<'_>) -> Result<Vec<(Name, Range<usize>)>, RequirementError> {
    let open = cursor.offset().saturating_sub(1);
    let mut extras = Vec::new();
    let mut comma = true;
    loop {
        cursor.skip_space();
        if !cursor.is_strict() {
            cursor.take_while(|b| b.is_ascii_whitespace() || b == b',');
        }
        // For pip a name has to follow a comma.
        let may_end = !cursor.is_strict() || !comma || extras.is_empty();
        if may_end && cursor.eat("]") {
            return Ok(extras);
        }
        if cursor.peek().is_none() {
            return cursor.fail_from(open, Fault::Unclosed('['));
        }
        if cursor.is_strict() && !comma {
            return cursor.fail(Fault::NoComma);
        }
        extras.push(name(cursor, Fault::NoExtra)?);
        cursor.skip_space();
        comma = cursor.is_strict() && cursor.eat(",");
    }
}

/// What follows `@`. PEP 508 ends a URL at white space. Repair: a semicolon right before that is the one of the marker, as
/// no real URL ends so.
fn url(cursor: &mut Cursor<'_>) -> Result<Range<usize>, RequirementError> {
    cursor.skip_space();
    let start = cursor.offset();
    let strict = cursor.is_strict();
    let raw = cursor.rest();
    let raw = if strict {
        raw.split([' ', '\t']).next().unwrap_or_default()
    } else {
        let raw = raw.split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
        raw.strip_suffix(';').unwrap_or(raw)
    };
    if raw.is_empty() {
        return cursor.fail(Fault::NoUrl);
    }
    cursor.eat(raw);
    Ok(start..cursor.offset())
}

/// Version specifiers, in parentheses or not. Repairs: commas may be missing or too many, and quotes stand around versions.
pub(super) fn specifiers(
    cursor: &mut Cursor<'_>,
    clauses: &mut Vec<Clause>,
) -> Result<(), RequirementError> {
    let open = cursor.offset();
    let parenthesised = cursor.eat("(");
    loop {
        cursor.skip_space();
        if !cursor.is_strict() {
            cursor.take_while(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'"' | b'\''));
        }
        match cursor.peek() {
            Some(b')') if parenthesised => {
                cursor.eat(")");
                return Ok(());
            }
            None | Some(b';') if parenthesised => {
                return cursor.fail_from(open, Fault::Unclosed('('));
            }
            None | Some(b';') => return Ok(()),
            Some(_) => match clause::read(cursor)? {
                Some(clause) => clauses.push(clause),
                // The caller knows what may stand here instead.
                None if !parenthesised => return Ok(()),
                None if clauses.is_empty() => return cursor.fail(Fault::NoOperator),
                None => return cursor.fail(Fault::AfterVersion),
            },
        }
        if cursor.is_strict() {
            cursor.skip_space();
            if !cursor.eat(",") {
                return if parenthesised { close(cursor, open) } else { Ok(()) };
            }
        }
    }
}

fn close(cursor: &mut Cursor<'_>, open: usize) -> Result<(), RequirementError> {
    if cursor.eat(")") {
        Ok(())
    } else if matches!(cursor.peek(), None | Some(b';')) {
        cursor.fail_from(open, Fault::Unclosed('('))
    } else {
        cursor.fail(Fault::AfterVersion)
    }
}
