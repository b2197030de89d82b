//! The netrc file: user names and passwords by host.

use std::path::Path;

use crate::regular::{self, SETTINGS_LIMIT};

/// What a netrc file says, in its order.
#[derive(Default)]
pub(crate) struct Netrc {
    entries: Vec<Entry>,
}

struct Entry {
    /// `None` for `default`.
    host: Option<String>,
    login: String,
    password: String,
}

impl Netrc {
    /// Reads a file; one that is not there is empty.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub(crate) fn read(path: &Path) -> std::io::Result<Self> {
        match regular::read(path, SETTINGS_LIMIT) {
            Ok(bytes) => Ok(Self::parse(&String::from_utf8_lossy(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Reads the text. Words that belong to no entry are passed over, as other readers of this format do.
    pub(crate) fn parse(text: &str) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut words = Words { rest: text };
        while let Some(word) = words.next() {
            match word.as_str() {
                "machine" => {
                    let host = words.next().map(|host| host.to_ascii_lowercase());
                    entries.push(Entry { host, login: String::new(), password: String::new() });
                }
                "default" => {
                    entries.push(Entry {
                        host: None,
                        login: String::new(),
                        password: String::new(),
                    });
                }
                "login" | "user" => {
                    if let (Some(entry), Some(value)) = (entries.last_mut(), words.next()) {
                        entry.login = value;
                    }
                }
                "password" => {
                    if let (Some(entry), Some(value)) = (entries.last_mut(), words.next()) {
                        entry.password = value;
                    }
                }
                "account" => drop(words.next()),
                "macdef" => words.skip_macro(),
                _ => {}
            }
        }
        Self { entries }
    }

    /// Login and password for a host; `default` counts only when `or_default`.
    pub(crate) fn get(&self, host: &str, or_default: bool) -> Option<(&str, &str)> {
        self.entries
            .iter()
            .find(|entry| match &entry.host {
                Some(known) => known.eq_ignore_ascii_case(host),
                None => or_default,
            })
            .map(|entry| (entry.login.as_str(), entry.password.as_str()))
    }
}

/// The words of the file; one may be quoted.
struct Words<'a> {
    rest: &'a str,
}

impl Words<'_> {
    /// A macro ends with an empty line.
    fn skip_macro(&mut self) {
        self.rest = self.rest.split_once("\n\n").map_or("", |(_, rest)| rest);
    }
}

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            self.rest = self.rest.trim_start();
            // A password may begin with `#`, so only a `#` that stands alone begins a comment.
            match self.rest.strip_prefix('#') {
                Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => {
                    self.rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
                }
                _ => break,
            }
        }
        if self.rest.is_empty() {
            return None;
        }
        let mut word = String::new();
        let mut quoted = false;
        let mut chars = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => quoted = !quoted,
                '\\' if quoted => word.extend(chars.next().map(|(_, c)| c)),
                c if c.is_whitespace() && !quoted => {
                    end = at;
                    break;
                }
                c => word.push(c),
            }
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_defaults_macros_and_comments_are_read() {
        let netrc = Netrc::parse(
            "# mine\nmachine index.example login me password #s3cret\nmacdef init\n machine evil.example login x\n\n\
             machine Other.example\n  login \"a b\"\n  account q\n  password \"p\\\"q\"\ndefault login anonymous password x",
        );
        assert_eq!(netrc.get("index.example", false), Some(("me", "#s3cret")));
        assert_eq!(netrc.get("other.example", false), Some(("a b", "p\"q")));
        assert_eq!(netrc.get("evil.example", false), None);
        assert_eq!(netrc.get("evil.example", true), Some(("anonymous", "x")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[machinelogdfut#\" \\\\\n]{0,60}") {
            let _ = Netrc::parse(&text);
        }
    }
}
