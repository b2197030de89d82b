//! Environment markers as pip reads them (PEP 508), without evaluating them.

use super::pep508::{Cursor, SyntaxError};

/// A marker that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// The canonical text: double quotes, single spaces, current names of variables.
    pub text: String,
    /// Where the variable `extra` is used, outside an `or`.
    pub needs_extra: Option<std::ops::Range<usize>>,
}

/// Names of variables, with the ones that stand for another.
const VARIABLES: [(&str, &str); 19] = [
    ("python_full_version", "python_full_version"),
    ("python_version", "python_version"),
    ("os_name", "os_name"),
    ("os.name", "os_name"),
    ("sys_platform", "sys_platform"),
    ("sys.platform", "sys_platform"),
    ("platform_release", "platform_release"),
    ("platform_system", "platform_system"),
    ("platform_version", "platform_version"),
    ("platform.version", "platform_version"),
    ("platform_machine", "platform_machine"),
    ("platform.machine", "platform_machine"),
    ("platform_python_implementation", "platform_python_implementation"),
    ("platform.python_implementation", "platform_python_implementation"),
    ("python_implementation", "platform_python_implementation"),
    ("implementation_name", "implementation_name"),
    ("implementation_version", "implementation_version"),
    ("extra", "extra"),
    ("extras", "extras"),
];

const OPERATORS: [&str; 8] = ["===", "==", "~=", "!=", "<=", ">=", "<", ">"];

/// Parses the whole of `text` as a marker.
pub(super) fn parse(text: &str) -> Result<Marker, SyntaxError> {
    let mut cursor = Cursor { text, at: 0 };
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut needs_extra = None;
    let mut has_or = false;
    loop {
        cursor.blanks();
        while cursor.take(b'(') {
            depth += 1;
            out.push('(');
            cursor.blanks();
        }
        let extra = comparison(&mut cursor, &mut out)?;
        needs_extra = needs_extra.or(extra);
        cursor.blanks();
        while depth > 0 && cursor.take(b')') {
            depth -= 1;
            out.push(')');
            cursor.blanks();
        }
        if word(&mut cursor, "and") {
            out.push_str(" and ");
        } else if word(&mut cursor, "or") {
            has_or = true;
            out.push_str(" or ");
        } else {
            break;
        }
    }
    if depth > 0 {
        return Err(SyntaxError::new(cursor.here(), "expected ')' to match '(' in the marker"));
    }
    if !cursor.at_end() {
        return Err(quoted(&cursor, "expected the end of the marker or 'and' or 'or'"));
    }
    Ok(Marker { text: out, needs_extra: needs_extra.filter(|_| !has_or) })
}

/// `OPERAND OPERATOR OPERAND`; gives the place of a comparison of `extra` for equality.
fn comparison(
    cursor: &mut Cursor<'_>,
    out: &mut String,
) -> Result<Option<std::ops::Range<usize>>, SyntaxError> {
    let start = cursor.at;
    let left = operand(cursor, out)?;
    cursor.blanks();
    let operator = if let Some(found) = OPERATORS.into_iter().find(|o| cursor.rest().starts_with(o))
    {
        cursor.at += found.len();
        found
    } else if word(cursor, "in") {
        "in"
    } else if word(cursor, "not") {
        cursor.blanks();
        if !word(cursor, "in") {
            return Err(SyntaxError::new(cursor.here(), "expected 'in' after 'not'"));
        }
        "not in"
    } else {
        let expected = "expected a comparison: <=, <, !=, ==, >=, >, ~=, ===, 'in' or 'not in'";
        return Err(SyntaxError::new(cursor.here(), expected));
    };
    out.push(' ');
    out.push_str(operator);
    out.push(' ');
    cursor.blanks();
    let right = operand(cursor, out)?;
    let about_extra = left == Some("extra") || right == Some("extra");
    Ok((about_extra && operator == "==").then_some(start..cursor.at))
}

/// A variable, whose name is given back, or a quoted string.
fn operand(cursor: &mut Cursor<'_>, out: &mut String) -> Result<Option<&'static str>, SyntaxError> {
    if let Some(quote @ (b'"' | b'\'')) = cursor.peek() {
        let inner = cursor.rest().get(1..).unwrap_or_default();
        let Some(end) = inner.find(char::from(quote)) else {
            return Err(SyntaxError::new(
                cursor.at..cursor.text.len(),
                "the quoted string has no end",
            ));
        };
        let value = inner.get(..end).unwrap_or_default();
        let quote = if value.contains('"') { '\'' } else { '"' };
        out.push(quote);
        out.push_str(value);
        out.push(quote);
        cursor.at += end + 2;
        return Ok(None);
    }
    let length = cursor
        .rest()
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
        .unwrap_or(cursor.rest().len());
    let name = cursor.rest().get(..length).unwrap_or_default();
    let known = match name {
        "dependency_groups" => Some("dependency_groups"),
        _ => {
            VARIABLES.iter().find(|(written, _)| *written == name).map(|(_, canonical)| *canonical)
        }
    };
    let Some(known) = known else {
        return Err(quoted(cursor, "expected a marker variable or a quoted string"));
    };
    cursor.at += length;
    out.push_str(known);
    Ok(Some(known))
}

fn word(cursor: &mut Cursor<'_>, word: &str) -> bool {
    let Some(after) = cursor.rest().strip_prefix(word) else { return false };
    let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if ends {
        cursor.at += word.len();
    }
    ends
}

fn quoted(cursor: &Cursor<'_>, message: &str) -> SyntaxError {
    let mut error = SyntaxError::new(cursor.here(), message);
    if cursor
        .rest()
        .starts_with(['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', '\u{ff02}', '\u{300c}'])
    {
        error.help = Some("these are typographic quotes; type \" or '".to_owned());
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_get_their_canonical_form() {
        for (text, canonical) in [
            (
                "python_version<'3.14'and platform_system==\"Linux\"",
                "python_version < \"3.14\" and platform_system == \"Linux\"",
            ),
            (
                "( os.name=='nt' or 'x'  not   in sys_platform)",
                "(os_name == \"nt\" or \"x\" not in sys_platform)",
            ),
        ] {
            assert_eq!(parse(text).expect("valid").text, canonical);
        }
        assert_eq!(parse("extra == 'a'").expect("valid").needs_extra, Some(0..12));
    }

    #[test]
    fn errors_point_at_the_character() {
        let smart = parse("platform_system == \u{201c}Linux\u{201d}").expect_err("quotes");
        assert_eq!(
            (smart.at.start, smart.message.as_str()),
            (19, "expected a marker variable or a quoted string")
        );
        for text in [
            "",
            "os_name",
            "os_name == ",
            "(os_name == 'a'",
            "os_name == 'a')",
            "os_name == 'a",
            "os_name is 'a'",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        let deep = "(".repeat(100_000);
        assert!(parse(&deep).is_err());
    }
}
