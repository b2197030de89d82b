//! Commands in shell text: words, quotes, variables, redirections, with the way back to the file.

use super::text::Mapped;
use super::variables::Variables;

/// One command: its words in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub words: Vec<Word>,
}

/// A word of a command.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub text: Mapped,
    /// `>=1.26` in `numpy>=1.26`: what the shell takes as a redirection that touches the word.
    pub redirected: Option<Mapped>,
}

/// Splits `text` into commands. Assignments (`A=b`, `export A=b`) are remembered in `variables` and used from there on;
/// a variable without a value stays as it is written.
pub(super) fn commands(text: &Mapped, variables: &mut Variables) -> Vec<Command> {
    let mut lexer = Lexer {
        text,
        at: 0,
        command: Command::default(),
        commands: Vec::new(),
        word: None,
        heredocs: Vec::new(),
    };
    lexer.run(variables);
    lexer.commands
}

struct Lexer<'a> {
    text: &'a Mapped,
    at: usize,
    command: Command,
    commands: Vec<Command>,
    word: Option<Mapped>,
    /// Terminators of here-documents that start on the next line.
    heredocs: Vec<String>,
}

impl Lexer<'_> {
    fn source(&self) -> &str {
        self.text.as_str()
    }

    fn rest(&self) -> &str {
        self.source().get(self.at..).unwrap_or_default()
    }

    fn push(&mut self, start: usize, end: usize) {
        let text = self.text;
        self.word.get_or_insert_with(|| Mapped::new(text.file())).append_part(text, start, end);
        self.at = end;
    }

    fn run(&mut self, variables: &mut Variables) {
        while let Some(c) = self.rest().chars().next() {
            let end = self.at + c.len_utf8();
            match c {
                ' ' | '\t' | '\r' => {
                    self.end_word();
                    self.at = end;
                }
                '\n' => {
                    self.end_command(variables);
                    self.at = end;
                    self.skip_heredocs();
                }
                ';' | '&' | '|' | '(' | ')' => {
                    self.end_command(variables);
                    self.at = end;
                }
                '#' if self.word.is_none() => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                '\\' => self.escape(end),
                '\'' => self.single(end),
                '"' => self.double(end, variables),
                '$' => self.dollar(variables),
                '`' => {
                    let length =
                        self.rest().get(1..).and_then(|r| r.find('`')).map_or(1, |n| n + 2);
                    self.push(self.at, self.at + length);
                }
                '<' | '>' => self.redirect(variables),
                _ => {
                    let plain = self.rest().find([
                        ' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '#', '\\', '\'', '"', '$',
                        '`', '<', '>',
                    ]);
                    let length = match plain {
                        None => self.rest().len(),
                        Some(0) => c.len_utf8(),
                        Some(n) => n,
                    };
                    self.push(self.at, self.at + length);
                }
            }
        }
        self.end_command(variables);
    }

    /// A backslash outside quotes: joins lines, or takes the next character as it is.
    fn escape(&mut self, after: usize) {
        let rest = self.source().get(after..).unwrap_or_default();
        if let Some(newline) = ["\r\n", "\n"].into_iter().find(|n| rest.starts_with(n)) {
            self.at = after + newline.len();
        } else if let Some(next) = rest.chars().next() {
            self.push(after, after + next.len_utf8());
        } else {
            self.at = after;
        }
    }

    fn single(&mut self, after: usize) {
        let rest = self.source().get(after..).unwrap_or_default();
        let length = rest.find('\'').unwrap_or(rest.len());
        self.push(after, after + length);
        self.at = (after + length + 1).min(self.source().len());
    }

    fn double(&mut self, after: usize, variables: &mut Variables) {
        self.push(after, after);
        while let Some(c) = self.rest().chars().next() {
            let end = self.at + c.len_utf8();
            match c {
                '"' => {
                    self.at = end;
                    return;
                }
                '\\' => {
                    let next = self.source().get(end..).and_then(|r| r.chars().next());
                    match next {
                        Some('\n') => self.at = end + 1,
                        Some(e @ ('"' | '\\' | '$' | '`')) => self.push(end, end + e.len_utf8()),
                        _ => self.push(self.at, end),
                    }
                }
                '$' => self.dollar(variables),
                _ => {
                    let length = self
                        .rest()
                        .find(['"', '\\', '$'])
                        .unwrap_or(self.rest().len())
                        .max(c.len_utf8());
                    self.push(self.at, self.at + length);
                }
            }
        }
    }

    /// `$NAME`, `${NAME}`, `${NAME:-default}`, `$(…)`.
    fn dollar(&mut self, variables: &Variables) {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("$(") {
            let length = rest.find(')').map_or(2, |n| n + 1);
            self.push(start, start + length);
            return;
        }
        match expansion(rest, variables) {
            Some((length, Some(value))) => {
                let span = self.text.span(start, start + length);
                let file = self.text.file();
                self.word
                    .get_or_insert_with(|| Mapped::new(file))
                    .push_replaced(&value, span.start, span.end);
                self.at = start + length;
            }
            Some((length, None)) => self.push(start, start + length),
            None => self.push(start, start + 1),
        }
    }

    fn redirect(&mut self, variables: &mut Variables) {
        let start = self.at;
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix("<<").filter(|r| !r.starts_with('<')) {
            let after = after.trim_start_matches('-').trim_start_matches([' ', '\t']);
            let word_end = after
                .find(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | ')'))
                .unwrap_or(after.len());
            let terminator =
                after.get(..word_end).unwrap_or_default().trim_matches(['"', '\'']).to_owned();
            let consumed = rest.len() - after.len() + word_end;
            self.end_word();
            self.at = start + consumed.max(2);
            if !terminator.is_empty() {
                self.heredocs.push(terminator);
            }
            return;
        }
        let operator = rest.len() - rest.trim_start_matches(['<', '>', '&', '|']).len();
        let before = self.word.take();
        let is_descriptor =
            before.as_ref().is_none_or(|w| w.as_str().bytes().all(|b| b.is_ascii_digit()));
        self.at = start + operator.clamp(1, 3);
        if is_descriptor {
            self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        }
        // The target is a word of its own.
        let target_from = self.at;
        while let Some(c) = self.rest().chars().next() {
            let end = self.at + c.len_utf8();
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | ')' => break,
                '&' if self.at > target_from => break,
                '\'' => self.single(end),
                '"' => self.double(end, variables),
                '$' => self.dollar(variables),
                '\\' => self.escape(end),
                _ => self.push(self.at, end),
            }
        }
        let target = self.word.take();
        if let Some(word) = before.filter(|_| !is_descriptor) {
            let mut redirected = self.text.slice(start, target_from);
            if let Some(target) = target {
                redirected.append(&target);
            }
            self.command.words.push(Word { text: word, redirected: Some(redirected) });
        }
    }

    fn end_word(&mut self) {
        if let Some(text) = self.word.take() {
            self.command.words.push(Word { text, redirected: None });
        }
    }

    fn end_command(&mut self, variables: &mut Variables) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        let only_assigns = command.words.iter().all(|w| assignment(w.text.as_str()).is_some());
        let exports = command
            .words
            .first()
            .is_some_and(|w| matches!(w.text.as_str(), "export" | "set" | "declare" | "SET"));
        for word in command.words.iter().skip(usize::from(exports)) {
            if let Some((name, value)) =
                assignment(word.text.as_str()).filter(|_| only_assigns || exports)
            {
                variables.insert(name.to_owned(), value.to_owned());
            }
        }
        if !command.words.is_empty() {
            self.commands.push(command);
        }
    }

    /// Skips here-documents: their text goes to a program, not to the shell.
    fn skip_heredocs(&mut self) {
        for terminator in std::mem::take(&mut self.heredocs) {
            loop {
                let rest = self.rest();
                if rest.is_empty() {
                    break;
                }
                let length = rest.find('\n').map_or(rest.len(), |n| n + 1);
                let ends = rest.get(..length).is_some_and(|line| line.trim() == terminator);
                self.at += length;
                if ends {
                    break;
                }
            }
        }
    }
}

/// `NAME=value` as name and value.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let valid = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    valid.then_some((name, value))
}

/// The length of the variable at the start of `text` and its value, if it has one.
pub(super) fn expansion(text: &str, variables: &Variables) -> Option<(usize, Option<String>)> {
    let name_length =
        |t: &str| t.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(t.len());
    let after = text.strip_prefix('$')?;
    let Some(inner) = after.strip_prefix('{') else {
        let length = name_length(after);
        let name = after.get(..length).filter(|n| !n.is_empty())?;
        return Some((1 + length, variables.value(name)));
    };
    let close = inner
        .find(['}', '\n'])
        .filter(|at| inner.get(*at..).is_some_and(|r| r.starts_with('}')))?;
    let inner = inner.get(..close)?;
    let length = name_length(inner);
    let value = variables.value(inner.get(..length)?);
    let modifier = inner.get(length..)?;
    let fallback =
        |prefixes: [&str; 2]| prefixes.into_iter().find_map(|p| modifier.strip_prefix(p));
    let value = if let Some(default) = fallback([":-", "-"]) {
        Some(value.filter(|v| !v.is_empty()).unwrap_or_else(|| default.to_owned()))
    } else if let Some(other) = fallback([":+", "+"]) {
        Some(value.filter(|v| !v.is_empty()).map_or_else(String::new, |_| other.to_owned()))
    } else if modifier.is_empty() {
        value
    } else {
        None
    };
    Some((close + 3, value))
}

/// Replaces the variables in `text`; what has no value stays.
pub(super) fn expand(text: &Mapped, variables: &Variables) -> Mapped {
    let source = text.as_str();
    let mut out = Mapped::new(text.file());
    let mut at = 0;
    while let Some(next) = source.get(at..).and_then(|r| r.find('$')) {
        let dollar = at + next;
        out.append_part(text, at, dollar);
        match expansion(source.get(dollar..).unwrap_or_default(), variables) {
            Some((length, Some(value))) => {
                let span = text.span(dollar, dollar + length);
                out.push_replaced(&value, span.start, span.end);
                at = dollar + length;
            }
            Some((length, None)) => {
                out.append_part(text, dollar, dollar + length);
                at = dollar + length;
            }
            None => {
                out.append_part(text, dollar, dollar + 1);
                at = dollar + 1;
            }
        }
    }
    out.append_part(text, at, source.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let mut variables = Variables::default();
        variables.insert("V".to_owned(), "2.3".to_owned());
        commands(&Mapped::copied(text, 0, 0), &mut variables)
            .iter()
            .map(|c| c.words.iter().map(|w| w.text.as_str().to_owned()).collect())
            .collect()
    }

    #[test]
    fn commands_are_split_like_a_shell_does() {
        assert_eq!(
            words(
                "A=1 && pip install \"torch==${V}+x\" 'b>=1' c\\ d \\\n  $U$V ${W:-w}; x 2>&1 >/dev/null | y # z\nq"
            ),
            [
                vec!["A=1"],
                vec!["pip", "install", "torch==2.3+x", "b>=1", "c d", "$U2.3", "w"],
                vec!["x"],
                vec!["y"],
                vec!["q"]
            ]
        );
        assert_eq!(
            words("cat <<EOF > f\npip install no\nEOF\npip install yes"),
            [vec!["cat"], vec!["pip", "install", "yes"]]
        );
        assert_eq!(words("export P=3 ; python$P"), [vec!["export", "P=3"], vec!["python3"]]);
    }

    #[test]
    fn a_specifier_without_quotes_is_a_redirection() {
        let all = commands(
            &Mapped::copied("pip install numpy>=1.26 torch", 0, 0),
            &mut Variables::default(),
        );
        let redirected: Vec<Option<&str>> =
            all[0].words.iter().map(|w| w.redirected.as_ref().map(Mapped::as_str)).collect();
        assert_eq!(redirected, [None, None, Some(">=1.26"), None]);
    }
}
