//! One version specifier: `>=2.1`.

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier};

use super::cursor::Cursor;
use super::error::{Fault, RequirementError, SpecifierFault};
use super::grammar::Clause;

const OPERATORS: [(&str, Operator); 8] = [
    (">=", Operator::GreaterThanEqual),
    ("===", Operator::ExactEqual),
    ("==", Operator::Equal),
    ("<=", Operator::LessThanEqual),
    ("~=", Operator::TildeEqual),
    ("!=", Operator::NotEqual),
    ("<", Operator::LessThan),
    (">", Operator::GreaterThan),
];

/// Reads a specifier; `None` when no operator comes next.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Clause>, RequirementError> {
    let start = cursor.offset();
    let Some((sign, mut operator)) = OPERATORS.into_iter().find(|(sign, _)| cursor.eat(sign))
    else {
        return Ok(None);
    };
    let end = cursor.offset();
    if cursor.is_strict() {
        // Between an operator and its version pip takes all that Python calls white space.
        cursor.take_chars(|c| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}'));
    } else {
        if operator == Operator::NotEqual && cursor.eat("~") {
            operator = Operator::NotEqualStar;
        }
        cursor.take_while(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''));
    }
    let from = cursor.offset();
    let text = if cursor.is_strict() && operator == Operator::ExactEqual {
        cursor.take_chars(|c| !c.is_whitespace() && !matches!(c, ';' | ')' | ','))
    } else {
        take_version(cursor)
    };
    let arbitrary = cursor.is_strict() && operator == Operator::ExactEqual;
    if text.is_empty() && !arbitrary {
        return cursor.fail(Fault::NoVersion(sign.to_owned()));
    }
    let read =
        if cursor.is_strict() { specifier(operator, text) } else { repaired(operator, text) };
    let specifier = match read {
        Ok(specifier) => Some(specifier),
        Err(_) if arbitrary => None,
        Err(reason) => {
            let clause = format!("{sign}{text}");
            return cursor.fail_from(start, Fault::Specifier(clause, reason));
        }
    };
    Ok(Some(Clause { operator: start..end, version: from..cursor.offset(), specifier }))
}

/// The text of a version: up to a comma, white space, or the next operator. The `!` of an epoch belongs to it.
fn take_version<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    let whole = cursor.rest();
    let mut length = 0;
    loop {
        length +=
            cursor.take_while(|b| !b.is_ascii_whitespace() && !b",;()<>=~!\"'".contains(&b)).len();
        if cursor.peek() != Some(b'!') || cursor.peek_second() == Some(b'=') {
            return whole.get(..length).unwrap_or_default();
        }
        cursor.eat("!");
        length += 1;
    }
}

/// The specifier as PEP 440 has it.
fn specifier(operator: Operator, text: &str) -> Result<VersionSpecifier, SpecifierFault> {
    let Some(prefix) = text.strip_suffix(".*") else {
        return built(operator, text.parse().map_err(|_| SpecifierFault::NotAVersion)?);
    };
    let version: Pep440 = prefix.parse().map_err(|_| SpecifierFault::NotAVersion)?;
    built(starred(operator).ok_or(SpecifierFault::Star)?, version)
}

/// The specifier that is meant by one that was published.
fn repaired(operator: Operator, text: &str) -> Result<VersionSpecifier, SpecifierFault> {
    // "3.0*" is a slip for "3.0.*".
    let (text, operator) = match text.strip_suffix('*') {
        None => (text, operator),
        Some(prefix) => {
            let operator = match operator {
                // A star says nothing more to an order.
                Operator::GreaterThanEqual
                | Operator::GreaterThan
                | Operator::LessThanEqual
                | Operator::LessThan => operator,
                _ => starred(operator).ok_or(SpecifierFault::Star)?,
            };
            (prefix.strip_suffix('.').unwrap_or(prefix), operator)
        }
    };
    let version = if text == "dev" {
        Pep440::new([0, 0, 0]).with_dev(Some(0))
    } else {
        // "9.0.0a1.0" is a slip for "9.0.0a1".
        let slip = || text.strip_suffix(".0")?.parse().ok();
        text.parse().ok().or_else(slip).ok_or(SpecifierFault::NotAVersion)?
    };
    built(operator, version)
}

/// The operator for a version that ends with a star.
fn starred(operator: Operator) -> Option<Operator> {
    match operator {
        Operator::Equal => Some(Operator::EqualStar),
        Operator::NotEqual => Some(Operator::NotEqualStar),
        _ => None,
    }
}

fn built(operator: Operator, version: Pep440) -> Result<VersionSpecifier, SpecifierFault> {
    let plain = !version.any_prerelease() && !version.is_post() && !version.is_local();
    if matches!(operator, Operator::EqualStar | Operator::NotEqualStar) && !plain {
        return Err(SpecifierFault::Star);
    }
    let labelled = version.is_local();
    VersionSpecifier::from_version(operator, version)
        .map_err(|_| if labelled { SpecifierFault::Label } else { SpecifierFault::Compatible })
}
