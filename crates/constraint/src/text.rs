//! Text that somebody else wrote, made fit to be shown.
//!
//! What an index, a wheel or a file says ends up in messages, reports and logs. There it is data: it moves no cursor,
//! starts no line, and shows in the order in which it is stored.

use std::borrow::Cow;

/// The longest piece of foreign text that is repeated, in characters.
const LONGEST: usize = 2000;

/// `text` as one line that a terminal and a log show as it is: line breaks and tabs become spaces, and what is obeyed
/// or not seen (escape sequences, C1 controls, marks that change the direction of writing, invisible characters)
/// becomes U+FFFD. Text of more than 2,000 characters is cut.
#[must_use]
pub fn clean(text: &str) -> Cow<'_, str> {
    let short = text.len() <= LONGEST;
    if short && text.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Cow::Borrowed(text);
    }
    let mut all = text.chars();
    let mut cleaned: String = all.by_ref().take(LONGEST).map(shown).collect();
    if all.next().is_some() {
        cleaned.push('…');
    }
    if cleaned == text { Cow::Borrowed(text) } else { Cow::Owned(cleaned) }
}

/// `text` without what [`clean`] replaces, line breaks and tabs apart, however long it is: for texts of several lines
/// whose parts are mostly our own.
#[must_use]
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    let keep = |c: char| matches!(c, '\n' | '\t');
    if text.chars().all(|c| keep(c) || shown(c) == c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if keep(c) { c } else { shown(c) }).collect())
}

/// Whether a terminal or a log would do something else with `c` than show it.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Soft hyphen, Arabic letter mark, Mongolian vowel separator.
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            // Zero width, marks of direction, line and paragraph separators, embeddings and overrides.
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            // Word joiner and other invisible ones, isolates, deprecated formats.
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Tags.
            | '\u{e0000}'..='\u{e007f}'
        )
}

fn shown(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        c if is_obeyed(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_would_be_obeyed_is_replaced() {
        for (text, shown) in [
            ("bro\"ken, see #12", "bro\"ken, see #12"),
            ("zurückgezogen 撤回", "zurückgezogen 撤回"),
            ("x\r\n::error::stop", "x  ::error::stop"),
            ("\u{1b}[31mred\u{1b}]0;title\u{7}", "\u{fffd}[31mred\u{fffd}]0;title\u{fffd}"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("user\u{202e}drow", "user\u{fffd}drow"),
            ("a\u{2028}b\u{85}c", "a b c"),
            ("a\u{200b}b\u{2066}c\u{e0041}", "a\u{fffd}b\u{fffd}c\u{fffd}"),
        ] {
            assert_eq!(clean(text), shown);
        }
        assert_eq!(clean(&"é".repeat(3000)).chars().count(), LONGEST + 1);
        assert_eq!(clean_lines("a\n\tb\r\u{1b}"), "a\n\tb \u{fffd}");
    }

    proptest! {
        #[test]
        fn nothing_obeyed_is_left_and_cleaning_twice_changes_nothing(text in "\\PC{0,40}|(?s).{0,40}") {
            let cleaned = clean(&text).into_owned();
            prop_assert!(!cleaned.chars().any(is_obeyed));
            prop_assert_eq!(clean(&cleaned), cleaned.as_str());
            prop_assert!(!clean_lines(&text).chars().any(|c| is_obeyed(c) && c != '\n' && c != '\t'));
        }
    }
}
