//! How a setup.py gets what it requires, without running it.
//!
//! What an older tool recorded holds wherever setup.py has its requirements as a list, reads them from a file, or names
//! none. Where it asks the machine first, a build may find others. When in doubt the answer is "it decides while it runs".

use super::python::{Token, tokens};

/// Names are followed so many steps.
const STEPS: usize = 8;

/// The argument of `setup()` that is looked at.
const KEY: &str = "install_requires";

/// What a value that asks the machine mentions.
const PROBES: [&str; 17] = [
    "sys",
    "platform",
    "environ",
    "getenv",
    "subprocess",
    "version_info",
    "python_version",
    "find_spec",
    "try",
    "except",
    "import",
    "cuda",
    "nvcc",
    "uname",
    "which",
    "exists",
    "isfile",
];

/// What code that reads a list from a file is made of, beside names that the file itself defines.
const READERS: [&str; 62] = [
    "open",
    "read",
    "read_text",
    "readlines",
    "splitlines",
    "split",
    "strip",
    "rstrip",
    "lstrip",
    "replace",
    "list",
    "tuple",
    "map",
    "filter",
    "str",
    "sorted",
    "set",
    "os",
    "path",
    "join",
    "dirname",
    "abspath",
    "realpath",
    "__file__",
    "Path",
    "pathlib",
    "io",
    "codecs",
    "encoding",
    "for",
    "in",
    "if",
    "not",
    "and",
    "or",
    "with",
    "as",
    "return",
    "def",
    "lambda",
    "startswith",
    "endswith",
    "append",
    "extend",
    "len",
    "True",
    "False",
    "None",
    "re",
    "compile",
    "match",
    "format",
    "parent",
    "resolve",
    "is",
    "continue",
    "pass",
    "else",
    "yield",
    "sum",
    "dict",
    "values",
];

/// What a setup.py shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SetupPy {
    /// What it requires is decided while it runs.
    pub(super) computes: bool,
    /// It raises an error that hangs on how it is called.
    pub(super) guards_itself: bool,
    /// It calls pip to install something.
    pub(super) installs: bool,
    /// Every name in it.
    pub(super) words: Vec<String>,
    /// The modules that it imports.
    pub(super) imports: Vec<String>,
}

/// Reads a setup.py.
pub(super) fn read(text: &str) -> SetupPy {
    let tokens = tokens(text);
    let code = Code { tokens: &tokens };
    let mut words: Vec<String> = tokens
        .iter()
        .filter_map(|token| match token {
            Token::Word(word) => Some((*word).to_owned()),
            _ => None,
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    SetupPy {
        computes: code.computes(),
        guards_itself: code.guards_itself(),
        installs: code.installs(),
        imports: code.imports(),
        words,
    }
}

struct Code<'a> {
    tokens: &'a [Token<'a>],
}

impl<'a> Code<'a> {
    fn at(&self, place: usize) -> Option<&'a Token<'a>> {
        self.tokens.get(place)
    }

    fn computes(&self) -> bool {
        let mut values = self.values();
        values.dedup();
        match values.as_slice() {
            // Nothing says what is required, or only a name that setup() may be given in ways that are not followed.
            [] => !self.bindings(KEY).is_empty() && !self.is_plain_name(KEY, 0),
            [value] => !self.is_plain(value, 0),
            _ => true,
        }
    }

    /// What the argument is given, as `setup(install_requires=…)`, `"install_requires": …` or `x["install_requires"] = …`.
    fn values(&self) -> Vec<&'a [Token<'a>]> {
        let mut found = Vec::new();
        let mut open = 0_usize;
        for (place, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Mark('(' | '[' | '{') => open += 1,
                Token::Mark(')' | ']' | '}') => open = open.saturating_sub(1),
                Token::Line(_) => open = 0,
                _ => {}
            }
            let next = |n: usize, mark| self.at(place + n).is_some_and(|t| t.is_mark(mark));
            let start = match token {
                Token::Word(KEY) if open > 0 && next(1, '=') && !next(2, '=') => place + 2,
                Token::Text(KEY) if next(1, ':') => place + 2,
                Token::Text(KEY) if next(1, ']') && next(2, '=') => place + 3,
                _ => continue,
            };
            found.push(self.value(start));
        }
        found
    }

    /// The tokens of a value: up to the comma, the bracket or the line that ends it.
    fn value(&self, start: usize) -> &'a [Token<'a>] {
        let rest = self.tokens.get(start..).unwrap_or_default();
        let mut open = 0_usize;
        let end = rest.iter().position(|token| {
            match token {
                Token::Mark('(' | '[' | '{') => open += 1,
                Token::Mark(')' | ']' | '}') if open == 0 => return true,
                Token::Mark(')' | ']' | '}') => open -= 1,
                Token::Mark(',') if open == 0 => return true,
                Token::Line(_) => return true,
                _ => {}
            }
            false
        });
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
    }

    /// Whether a value is the same on every machine.
    fn is_plain(&self, value: &[Token<'_>], step: usize) -> bool {
        if value.is_empty() || step > STEPS {
            return false;
        }
        // `a if b else c` chooses; `x for x in y if z` does not.
        let word = |wanted: &str| value.iter().any(|token| token.is_word(wanted));
        if word("else") || word("if") && !word("for") {
            return false;
        }
        self.names(value).iter().all(|name| self.is_plain_name(name, step + 1))
    }

    /// The names that a value is made of: not those behind a dot, not those of keyword arguments.
    fn names<'b>(&self, value: &[Token<'b>]) -> Vec<&'b str> {
        let own: Vec<&str> = bound_by_for(value);
        let name = |(place, token): (usize, &Token<'b>)| {
            let Token::Word(word) = token else { return None };
            let before = place.checked_sub(1).and_then(|place| value.get(place));
            let after = value.get(place + 1);
            let is_attribute = before.is_some_and(|token| token.is_mark('.'));
            let is_keyword = after.is_some_and(|token| token.is_mark('='))
                && before.is_some_and(|token| token.is_mark('(') || token.is_mark(','));
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            let skipped = is_keyword || is_number || own.contains(word);
            if is_attribute && !PROBES.contains(word) {
                None
            } else {
                Some(*word).filter(|_| !skipped)
            }
        };
        value.iter().enumerate().filter_map(name).collect()
    }

    fn is_plain_name(&self, name: &str, step: usize) -> bool {
        if PROBES.contains(&name) || step > STEPS {
            return false;
        }
        let (bindings, function) = (self.bindings(name), self.function(name));
        match (bindings.as_slice(), function) {
            ([], Some(body)) => self.is_plain_body(body, step),
            ([], None) => READERS.contains(&name),
            ([value], None) => !self.is_changed(name) && self.is_plain(value, step),
            _ => false,
        }
    }

    /// Whether a function reads a file and asks nothing of the machine.
    fn is_plain_body(&self, body: &[Token<'_>], step: usize) -> bool {
        let mut own = bound_by_for(body);
        for (place, token) in body.iter().enumerate() {
            if let Token::Word(word) = token {
                let bound = body.get(place + 1).is_some_and(|next| next.is_mark('='))
                    && !body.get(place + 2).is_some_and(|next| next.is_mark('='));
                let parameter = body.iter().take_while(|t| !matches!(t, Token::Line(_)));
                let is_parameter = parameter.take(place + 1).count() > place;
                let named =
                    place.checked_sub(1).and_then(|p| body.get(p)).is_some_and(|t| t.is_word("as"));
                if bound || is_parameter || named {
                    own.push(word);
                }
            }
        }
        self.names(body)
            .iter()
            .filter(|name| !own.contains(name))
            .all(|name| READERS.contains(name) || self.is_plain_name(name, step + 1))
            && !body.iter().any(|t| matches!(t, Token::Word(word) if PROBES.contains(word)))
    }

    /// What a name is bound to, wherever that is.
    fn bindings(&self, name: &str) -> Vec<&'a [Token<'a>]> {
        let starts = self.tokens.iter().enumerate().filter(|(_, t)| matches!(t, Token::Line(_)));
        let value = |(place, _): (usize, &Token<'_>)| {
            let is = self.at(place + 1)?.is_word(name) && self.at(place + 2)?.is_mark('=');
            let is = is && !self.at(place + 3)?.is_mark('=');
            is.then(|| self.statement(place + 3))
        };
        starts.filter_map(value).collect()
    }

    /// The tokens up to the end of the line.
    fn statement(&self, start: usize) -> &'a [Token<'a>] {
        let rest = self.tokens.get(start..).unwrap_or_default();
        let end = rest.iter().position(|token| matches!(token, Token::Line(_)));
        rest.get(..end.unwrap_or(rest.len())).unwrap_or_default()
    }

    /// Whether something is done to a name after it was bound: `+=`, `.append(…)`, `[…] = …`.
    fn is_changed(&self, name: &str) -> bool {
        const CHANGES: [&str; 8] =
            ["append", "extend", "insert", "remove", "update", "pop", "clear", "setdefault"];
        self.tokens.iter().enumerate().any(|(place, token)| {
            let next = |n: usize| self.at(place + n);
            token.is_word(name)
                && match next(1) {
                    Some(Token::Mark('+' | '-' | '|')) => next(2).is_some_and(|t| t.is_mark('=')),
                    Some(Token::Mark('.')) => {
                        matches!(next(2), Some(Token::Word(word)) if CHANGES.contains(word))
                    }
                    Some(Token::Mark('[')) => {
                        let value = self.value(place + 2);
                        let after = place + 2 + value.len();
                        self.at(after).is_some_and(|t| t.is_mark(']'))
                            && self.at(after + 1).is_some_and(|t| t.is_mark('='))
                            && !self.at(after + 2).is_some_and(|t| t.is_mark('='))
                    }
                    _ => false,
                }
        })
    }

    /// The parameters and the body of a function.
    fn function(&self, name: &str) -> Option<&'a [Token<'a>]> {
        let place = self.tokens.iter().enumerate().position(|(place, token)| {
            token.is_word("def") && self.at(place + 1).is_some_and(|t| t.is_word(name))
        })?;
        let before = self.tokens.get(..place).unwrap_or_default().iter().rev();
        let indent = before.into_iter().find_map(|token| match token {
            Token::Line(indent) => Some(*indent),
            _ => None,
        })?;
        let body = self.tokens.get(place + 2..)?;
        let ends = |token: &Token<'_>| matches!(token, Token::Line(column) if *column <= indent);
        let end = body.iter().position(ends);
        body.get(..end.unwrap_or(body.len()))
    }

    /// Whether an error is raised that hangs on the arguments that setup.py is called with: `raise` under an `if` that
    /// looks at them, or `raise SystemExit` in a file that does.
    fn guards_itself(&self) -> bool {
        let looks = self.tokens.iter().any(|token| token.is_word("argv"));
        let ends = self.tokens.windows(2).any(|pair| {
            matches!(pair, [first, second] if first.is_word("raise") && second.is_word("SystemExit"))
        });
        let mut asked = None;
        let mut indent = 0;
        for (place, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Line(column) => {
                    indent = *column;
                    if asked.is_some_and(|at| indent <= at) {
                        asked = None;
                    }
                }
                Token::Word("if") if indent == 0 => {
                    let is_asked = self.statement(place).iter().any(|t| t.is_word("argv"));
                    asked = is_asked.then_some(indent);
                }
                Token::Word("raise") if asked.is_some() || indent == 0 => return true,
                _ => {}
            }
        }
        looks && ends
    }

    /// Whether it calls pip: `[sys.executable, "-m", "pip"]` and `"install"` among what it can run.
    fn installs(&self) -> bool {
        let says = |text: &str| self.tokens.contains(&Token::Text(text));
        let runs = |word: &str| self.tokens.iter().any(|token| token.is_word(word));
        says("pip") && says("install") && (runs("subprocess") || runs("check_call"))
    }

    fn imports(&self) -> Vec<String> {
        let starts = self.tokens.windows(3).filter_map(|three| match three {
            [Token::Line(_), Token::Word("import" | "from"), Token::Word(module)] => {
                Some((*module).to_owned())
            }
            _ => None,
        });
        starts.collect()
    }
}

/// The names that `for NAME in` binds.
fn bound_by_for<'a>(value: &[Token<'a>]) -> Vec<&'a str> {
    let name = |pair: &[Token<'a>]| match pair {
        [Token::Word("for"), Token::Word(name)] => Some(*name),
        _ => None,
    };
    value.windows(2).filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_files_and_nothing_are_plain() {
        for text in [
            "setup(name='a')",
            "setup(install_requires=[])",
            "setup(\n  install_requires=['a', \"b>=1\"],  # sys\n)",
            "deps = ['a']\nsetup(install_requires=deps)",
            "deps = ['a'] + ['b']\nall = deps\nsetup(install_requires=all)",
            "kw = dict(install_requires=['a'])\nsetup(**kw)",
            "kw = {'install_requires': ['a']}\nif sys.version_info[0] == 2:\n    kw['name'] = 1\nsetup(**kw)",
            "setup(install_requires=open('requirements.txt').read().splitlines())",
            "with open('r.txt') as f:\n    required = f.read().splitlines()\nsetup(install_requires=[r for r in required if r])"
                .replace("f.read()", "open('r').read()")
                .as_str(),
            "def reqs(path):\n    with open(path) as f:\n        lines = f.readlines()\n    return [l.strip() for l in lines if not l.startswith('#')]\nsetup(install_requires=reqs('r.txt'))",
        ] {
            assert!(!read(text).computes, "{text}");
        }
    }

    #[test]
    fn what_asks_the_machine_is_not_plain() {
        for text in [
            "setup(install_requires=['a'] if sys.version_info < (3,) else [])",
            "deps = ['a']\nif os.name == 'nt':\n    deps.append('b')\nsetup(install_requires=deps)",
            "deps = ['a']\ndeps += ['b']\nsetup(install_requires=deps)",
            "try:\n    import cv2\n    deps = []\nexcept ImportError:\n    deps = ['opencv-python']\nsetup(install_requires=deps)",
            "if x:\n    setup(install_requires=['a'])\nelse:\n    setup(install_requires=['b'])",
            "setup(install_requires=get_requirements())",
            "from helper import deps\nsetup(install_requires=deps)",
            "def deps():\n    if torch.cuda.is_available():\n        return ['a']\n    return []\nsetup(install_requires=deps())",
            "def deps():\n    return ['x_cu' + cuda_major()]\nsetup(install_requires=deps())",
            "kw = {'install_requires': ['a']}\nkw['install_requires'] = ['b']\nsetup(**kw)",
            "install_requires = ['a']\nif x:\n    install_requires = ['b']\nsetup(install_requires=install_requires)",
        ] {
            assert!(read(text).computes, "{text}");
        }
    }

    #[test]
    fn whoever_calls_pip_is_seen() {
        let text = "import subprocess\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'b'])\nsetup()";
        assert!(read(text).installs);
        assert!(!read("print('pip install a')\nsetup()").installs);
    }

    #[test]
    fn placeholders_are_seen() {
        for text in [
            "import sys\nif len(sys.argv) != 4:\n    raise RuntimeError('x')\n",
            "def stop():\n    raise SystemExit('use b')\nif sys.argv[1] != 'sdist':\n    stop()\nsetup()",
            "raise RuntimeError('wrong index')\n",
        ] {
            assert!(read(text).guards_itself, "{text}");
        }
        for text in [
            "if sys.argv[-1] == 'publish':\n    os.system('twine')\n    sys.exit()\nsetup()",
            "def f():\n    raise ValueError('no version')\nsetup()",
        ] {
            assert!(!read(text).guards_itself, "{text}");
        }
    }
}
