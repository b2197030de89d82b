//! What most likely was meant by a requirement that cannot be read.

use super::Mode;
use super::error::{Fault, RequirementError, SpecifierFault};
use super::grammar::Parts;

impl RequirementError {
    /// What to write instead, where that can be told.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let at = self.range();
        let wrong = self.text().get(at.clone()).unwrap_or_default();
        match self.fault() {
            Fault::Specifier(_, SpecifierFault::Label) => return Some(pin_the_build(wrong)),
            Fault::Specifier(_, SpecifierFault::Star) => {
                return wrong
                    .strip_suffix(".*")
                    .filter(|plain| !plain.starts_with(['=', '!', '~']))
                    .map(|plain| format!("write '{}'", plain.trim_end()));
            }
            _ => {}
        }
        if let Fault::Specifier(..) = self.fault() {
            let odd = |c: &char| !c.is_ascii() || *c == '#';
            return wrong.chars().find(odd).and_then(odd_character);
        }
        let rest = self.text().get(at.start..).unwrap_or_default();
        let next = rest.chars().next()?;
        match self.fault() {
            Fault::AfterName if next == '=' => Some(self.exact().unwrap_or_else(conda)),
            Fault::NoMarkerOperator if next == '=' => Some(conda()),
            Fault::NoMarkerValue if is_typographic_quote(next) => {
                Some("these are typographic quotes; type \" or '".to_owned())
            }
            Fault::AfterName | Fault::AfterVersion | Fault::AfterUrl
                if next.is_ascii_alphabetic() =>
            {
                Some("write one requirement per line".to_owned())
            }
            _ => odd_character(next),
        }
    }

    /// The requirement with the second `=` of `NAME = VERSION`.
    fn exact(&self) -> Option<String> {
        let at = self.range().start;
        let name = self.text().get(..at)?.trim();
        let version = self.text().get(at + 1..)?.trim();
        let fixed = format!("{name}=={version}");
        let reads = Parts::read(&fixed, Mode::Strict).is_ok();
        reads.then(|| format!("an exact version is written with two equal signs: \"{fixed}\""))
    }
}

/// `clause` compares with a local label by another operator than `==` and `!=`.
fn pin_the_build(clause: &str) -> String {
    let version = clause.trim_start_matches(['<', '>', '=', '~', '!', ' ']);
    let public = clause.split('+').next().unwrap_or_default();
    format!("write '=={version}' to pin the build, or '{public}' and name the index that has it")
}

fn conda() -> String {
    "'=' is the syntax of conda; pip wants '=='".to_owned()
}

fn is_typographic_quote(c: char) -> bool {
    matches!(c, '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' | '\u{ff02}' | '\u{300c}')
}

/// What to say of a character that only looks like one with a meaning.
fn odd_character(c: char) -> Option<String> {
    let code = u32::from(c);
    Some(match c {
        '\u{ff1d}' | '\u{ff1e}' | '\u{ff1c}' | '\u{ff5e}' | '\u{ff1b}' | '\u{ff0c}' => {
            format!(
                "U+{code:04X} is a full-width character; type it with an English keyboard layout"
            )
        }
        c if !c.is_ascii() && c.is_whitespace() => {
            format!(
                "U+{code:04X} is white space that pip does not accept here; replace it by a blank"
            )
        }
        '\u{2013}' | '\u{2014}' | '\u{2212}' => "this is a dash, not the character '-'".to_owned(),
        '#' => "a comment starts with ' #': put white space before '#'".to_owned(),
        _ => return None,
    })
}
