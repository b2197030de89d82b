//! PEP 508's marker grammar.

use std::ops::Range;

use super::environment::Variable;
use super::{Comparison, Expression, MarkerOperator, Operand};
use crate::name::Name;
use crate::requirement::Mode;
use crate::requirement::cursor::Cursor;
use crate::requirement::error::{Fault, RequirementError};

/// Real markers nest two or three deep; the bound keeps a hostile one from exhausting the stack.
const MAX_DEPTH: usize = 64;

pub(super) fn parse(text: &str, mode: Mode) -> Result<Expression, RequirementError> {
    let mut cursor = Cursor::new(text, mode);
    let expression = or(&mut cursor, 0)?;
    cursor.skip_space();
    match cursor.peek() {
        None => Ok(expression),
        Some(_) => cursor.fail(Fault::Trailing),
    }
}

fn or(cursor: &mut Cursor<'_>, depth: usize) -> Result<Expression, RequirementError> {
    let head = and(cursor, depth)?;
    let mut parts = vec![head];
    while eat_word(cursor, "or") {
        parts.push(and(cursor, depth)?);
    }
    Ok(if parts.len() > 1 { Expression::Or(parts) } else { parts.remove(0) })
}

fn and(cursor: &mut Cursor<'_>, depth: usize) -> Result<Expression, RequirementError> {
    let head = atom(cursor, depth)?;
    let mut parts = vec![head];
    while eat_word(cursor, "and") {
        parts.push(atom(cursor, depth)?);
    }
    Ok(if parts.len() > 1 { Expression::And(parts) } else { parts.remove(0) })
}

fn atom(cursor: &mut Cursor<'_>, depth: usize) -> Result<Expression, RequirementError> {
    cursor.skip_space();
    let open = cursor.offset();
    if cursor.eat("(") {
        if depth >= MAX_DEPTH {
            return cursor.fail_from(open, Fault::Depth);
        }
        let inner = or(cursor, depth + 1)?;
        cursor.skip_space();
        return if cursor.eat(")") {
            Ok(inner)
        } else {
            cursor.fail_from(open, Fault::Unclosed('('))
        };
    }
    let left = operand(cursor)?;
    let operator = operator(cursor)?;
    let right = operand(cursor)?;
    Ok(comparison(left, operator, right))
}

/// Equality with `extra` gets a form of its own: nearly every marker that names `extra` is one, and it is evaluated for
/// each requirement of each version.
fn comparison(left: Operand, operator: MarkerOperator, right: Operand) -> Expression {
    const EXTRA: Operand = Operand::Variable(Variable::Extra);
    let equal = match operator {
        MarkerOperator::Equal | MarkerOperator::Arbitrary => Some(true),
        MarkerOperator::NotEqual => Some(false),
        _ => None,
    };
    match (left, equal, right) {
        (EXTRA, Some(equal), Operand::Text(text)) | (Operand::Text(text), Some(equal), EXTRA) => {
            if text.is_empty() {
                return Expression::Extra { extra: None, equal };
            }
            match Name::new(&text) {
                Ok(name) => Expression::Extra { extra: Some(name), equal },
                // No extra has a name that is none.
                Err(_) => Expression::Constant(!equal),
            }
        }
        (left, _, right) => Expression::Compare(Box::new(Comparison { left, operator, right })),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Takes the keyword `word`, when it stands here as a whole word.
fn eat_word(cursor: &mut Cursor<'_>, word: &str) -> bool {
    cursor.skip_space();
    let rest = cursor.rest();
    let whole =
        rest.strip_prefix(word).is_some_and(|tail| !tail.bytes().next().is_some_and(is_word));
    whole && cursor.eat(word)
}

fn operand(cursor: &mut Cursor<'_>) -> Result<Operand, RequirementError> {
    cursor.skip_space();
    let start = cursor.offset();
    for quote in ["\"", "'"] {
        if cursor.eat(quote) {
            let end = quote.as_bytes().first().copied();
            let text = cursor.take_while(|b| Some(b) != end);
            return if cursor.eat(quote) {
                Ok(Operand::Text(text.into()))
            } else {
                cursor.fail_from(start, Fault::Quote)
            };
        }
    }
    let word = cursor.take_while(is_word);
    if word.is_empty() {
        return cursor.fail(Fault::NoMarkerValue);
    }
    match Variable::named(word) {
        Some(variable) if !(cursor.is_strict() && variable.is_of_variants()) => {
            Ok(Operand::Variable(variable))
        }
        _ => cursor.fail_from(start, Fault::Variable(word.to_owned())),
    }
}

fn operator(cursor: &mut Cursor<'_>) -> Result<MarkerOperator, RequirementError> {
    const SIGNS: [(&str, MarkerOperator); 8] = [
        ("===", MarkerOperator::Arbitrary),
        ("==", MarkerOperator::Equal),
        ("!=", MarkerOperator::NotEqual),
        ("<=", MarkerOperator::LessEqual),
        (">=", MarkerOperator::GreaterEqual),
        ("~=", MarkerOperator::Compatible),
        ("<", MarkerOperator::Less),
        (">", MarkerOperator::Greater),
    ];
    cursor.skip_space();
    if let Some((_, operator)) = SIGNS.into_iter().find(|(sign, _)| cursor.eat(sign)) {
        return Ok(operator);
    }
    if eat_word(cursor, "in") {
        return Ok(MarkerOperator::In);
    }
    if eat_word(cursor, "not") {
        return if eat_word(cursor, "in") {
            Ok(MarkerOperator::NotIn)
        } else {
            cursor.fail(Fault::NotAlone)
        };
    }
    cursor.fail(Fault::NoMarkerOperator)
}

/// A marker in one spelling: `packaging`'s, with double quotes, single blanks and the current names of variables.
///
/// With it comes the comparison that makes the marker hold for an extra only: the first of `extra` for equality, when the
/// marker has no `or`. `text` was read before.
pub(super) fn canonical(text: &str) -> (String, Option<Range<usize>>) {
    let mut cursor = Cursor::new(text, Mode::Repair);
    let mut out = String::with_capacity(text.len());
    let (mut extra, mut has_or) = (None, false);
    loop {
        cursor.skip_space();
        let start = cursor.offset();
        if cursor.eat("(") {
            out.push('(');
        } else if cursor.eat(")") {
            out.push(')');
        } else if eat_word(&mut cursor, "and") {
            out.push_str(" and ");
        } else if eat_word(&mut cursor, "or") {
            has_or = true;
            out.push_str(" or ");
        } else {
            let left = operand(&mut cursor);
            let (Ok(left), Ok(operator)) = (left, operator(&mut cursor)) else { break };
            let Ok(right) = operand(&mut cursor) else { break };
            let about_extra = [&left, &right].contains(&&Operand::Variable(Variable::Extra));
            if extra.is_none() && about_extra && operator == MarkerOperator::Equal {
                extra = Some(start..cursor.offset());
            }
            spell(&mut out, &left);
            out.extend([" ", operator.as_str(), " "]);
            spell(&mut out, &right);
        }
    }
    (out, extra.filter(|_| !has_or))
}

fn spell(out: &mut String, operand: &Operand) {
    match operand {
        Operand::Variable(variable) => out.push_str(variable.name()),
        Operand::Text(text) => {
            let quote = if text.contains('"') { "'" } else { "\"" };
            out.extend([quote, text, quote]);
        }
    }
}
