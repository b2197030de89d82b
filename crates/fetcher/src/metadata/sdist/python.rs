//! Just enough of Python's grammar to see how a setup.py gets what it requires: words, texts, marks and lines.

/// A token. Comments are gone; a line ends where no bracket is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name or a keyword.
    Word(&'a str),
    /// A text, without quotes, escapes as written.
    Text(&'a str),
    /// Any other character.
    Mark(char),
    /// A new line, with the number of columns that it is indented by.
    Line(usize),
}

impl Token<'_> {
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(found) if *found == word)
    }

    pub(super) fn is_mark(&self, mark: char) -> bool {
        matches!(self, Token::Mark(found) if *found == mark)
    }
}

/// The tokens of a file. What is not Python gives tokens as well, of which nothing can be concluded.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text, at: 0, open: 0, found: vec![Token::Line(0)] };
    while scanner.step() {}
    scanner.found
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Brackets that are open.
    open: usize,
    found: Vec<Token<'a>>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = self.rest().get(..length).unwrap_or_default();
        self.at += length;
        taken
    }

    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        match first {
            '#' => {
                self.take(rest.find('\n').unwrap_or(rest.len()));
            }
            '\n' => self.line(),
            '\\' if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") => {
                self.take(rest.find('\n').map_or(rest.len(), |at| at + 1));
            }
            '"' | '\'' => self.text(first),
            _ if first.is_whitespace() => {
                self.take(first.len_utf8());
            }
            _ if first == '_' || first.is_alphanumeric() => {
                let end = rest.find(|c: char| c != '_' && !c.is_alphanumeric());
                let word = self.take(end.unwrap_or(rest.len()));
                let is_prefix = word.len() <= 2 && word.chars().all(|c| "rRbBuUfF".contains(c));
                if !(is_prefix && self.rest().starts_with(['"', '\''])) {
                    self.found.push(Token::Word(word));
                }
            }
            _ => {
                match first {
                    '(' | '[' | '{' => self.open += 1,
                    ')' | ']' | '}' => self.open = self.open.saturating_sub(1),
                    _ => {}
                }
                self.take(first.len_utf8());
                self.found.push(Token::Mark(first));
            }
        }
        true
    }

    fn line(&mut self) {
        self.take(1);
        if self.open > 0 {
            return;
        }
        let rest = self.rest();
        let indent = rest.find(|c| c != ' ' && c != '\t').unwrap_or(rest.len());
        // Empty lines and comments have no indentation of their own.
        if !rest.get(indent..).unwrap_or_default().starts_with(['\n', '\r', '#']) {
            self.found.push(Token::Line(indent));
        }
    }

    fn text(&mut self, quote: char) {
        let triple = quote.to_string().repeat(3);
        let is_triple = self.rest().starts_with(&triple);
        let length = if is_triple { 3 } else { 1 };
        self.take(length);
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.char_indices().find(|(at, c)| {
            if std::mem::take(&mut escaped) {
                return false;
            }
            escaped = *c == '\\';
            if is_triple {
                rest.get(*at..).is_some_and(|rest| rest.starts_with(&triple))
            } else {
                *c == quote || *c == '\n'
            }
        });
        let text = self.take(end.map_or(rest.len(), |(at, _)| at));
        self.take(length.min(self.rest().len()));
        self.found.push(Token::Text(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_texts_marks_and_lines() {
        let text = "a = [  # c 'x'\n  'b',\n  r\"c\\\"d\" ]\nif x:\n    y('''e\n'f''')\n";
        assert_eq!(
            tokens(text),
            [
                Token::Line(0),
                Token::Word("a"),
                Token::Mark('='),
                Token::Mark('['),
                Token::Text("b"),
                Token::Mark(','),
                Token::Text("c\\\"d"),
                Token::Mark(']'),
                Token::Line(0),
                Token::Word("if"),
                Token::Word("x"),
                Token::Mark(':'),
                Token::Line(4),
                Token::Word("y"),
                Token::Mark('('),
                Token::Text("e\n'f"),
                Token::Mark(')'),
                Token::Line(0),
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_ends(text in "(?s)['\"\\\\\n#a(é\\[ ]{0,40}") {
            let _ = tokens(&text);
        }
    }
}
