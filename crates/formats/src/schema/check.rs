//! Compares a parsed file with the declared keys and reports every difference.

use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::list;
use super::{Key, Kind, nearest};
use crate::document::Report;

/// Reports unknown keys, missing keys and wrong types of `table` and all tables in it. `path` is how the table is called
/// in messages (empty for the file itself), `home` where to point when a key is missing.
///
/// What is wrong is removed, so that a reader sees it as absent.
pub(crate) fn check(
    table: &mut DeTable<'_>,
    keys: &'static [Key],
    path: &str,
    home: Range<usize>,
    report: &mut Report,
) {
    let before = report.len();
    let mut wrong = Vec::new();
    for (name, value) in table.iter_mut() {
        let key = keys.iter().find(|key| key.name == name.get_ref().as_ref());
        let fits = match key {
            Some(key) => Checker { key, path, report }.value(value, key.kind),
            None => {
                unknown(name, keys, path, report);
                false
            }
        };
        if !fits {
            wrong.push(name.clone());
        }
    }
    // A misspelt key is unknown; that the right one is missing would only repeat it.
    let misspelt: Vec<&str> = wrong
        .iter()
        .filter_map(|name| nearest(name.get_ref(), keys.iter().map(|key| key.name)))
        .collect();
    for key in keys.iter().filter(|key| key.required) {
        if !table.contains_key(key.name) && !misspelt.contains(&key.name) {
            let place = if path.is_empty() { String::new() } else { format!(" in [{path}]") };
            let help = match key.kind {
                Kind::Table(_) => format!("add a table [{}]", key.name),
                _ => format!("add {} = {}", key.name, key.example),
            };
            report.error(home.clone(), format!("`{}` is missing{place}", key.name)).help(help);
        }
    }
    if report.len() > before {
        for name in wrong {
            table.remove(name.get_ref().as_ref());
        }
    }
}

fn unknown(
    name: &Spanned<std::borrow::Cow<'_, str>>,
    keys: &[Key],
    path: &str,
    report: &mut Report,
) {
    let text = name.get_ref();
    let place = if path.is_empty() { String::new() } else { format!(" in [{path}]") };
    let error = report.error(name.span(), format!("unknown key `{text}`{place}"));
    let names = keys.iter().map(|key| key.name);
    if let Some(known) = nearest(text, names.clone()) {
        error.help(format!("did you mean `{known}`?"));
        return;
    }
    let homes = crate::manifest::homes_of(text);
    if homes.is_empty() {
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        error.help(format!("known keys: {}", names.join(", ")));
    } else {
        error.help(format!("`{text}` belongs in {}", homes.join(" or ")));
    }
}

/// Checks one value against its kind.
struct Checker<'a> {
    key: &'static Key,
    path: &'a str,
    report: &'a mut Report,
}

impl Checker<'_> {
    fn value(&mut self, value: &mut Spanned<DeValue<'_>>, kind: Kind) -> bool {
        let span = value.span();
        match (kind, value.get_mut()) {
            (Kind::Text | Kind::Date | Kind::TextOrTexts, DeValue::String(_))
            | (Kind::Bool, DeValue::Boolean(_))
            | (Kind::TextsOrFalse, DeValue::Boolean(false))
            | (Kind::Date, DeValue::Datetime(_)) => true,
            (Kind::Choice(choices), DeValue::String(text)) => self.choice(text, choices, span),
            (Kind::Count, DeValue::Integer(number)) => {
                let fits = i64::from_str_radix(number.as_str(), number.radix())
                    .is_ok_and(|number| (1..=i64::from(i32::MAX)).contains(&number));
                if !fits {
                    let text = format!(
                        "`{}` is {}, expected {}",
                        self.key.name,
                        self.report.text(span.clone()),
                        kind.expected()
                    );
                    self.report.error(span, text);
                }
                fits
            }
            (Kind::Texts | Kind::TextOrTexts | Kind::TextsOrFalse, DeValue::Array(items)) => {
                let mut fits = true;
                for item in items.iter() {
                    if !item.get_ref().is_str() {
                        self.wrong_item(item);
                        fits = false;
                    }
                }
                fits
            }
            (Kind::TextMap, DeValue::Table(table)) => {
                let mut fits = true;
                for (_, item) in table.iter() {
                    if !item.get_ref().is_str() {
                        self.wrong_item(item);
                        fits = false;
                    }
                }
                fits
            }
            (Kind::ChoiceMap(choices), DeValue::Table(table)) => {
                let mut fits = true;
                for (_, item) in table.iter() {
                    fits &= match item.get_ref().as_str() {
                        Some(text) => self.choice(text, choices, item.span()),
                        None => {
                            self.wrong_item(item);
                            false
                        }
                    };
                }
                fits
            }
            (Kind::Table(keys), DeValue::Table(table)) => {
                let path = self.child();
                check(table, keys, &path, span, self.report);
                true
            }
            (Kind::NamedTables(keys), DeValue::Table(tables)) => {
                let mut fits = true;
                for (name, item) in tables.iter_mut() {
                    let path = format!("{}.{}", self.child(), name.get_ref());
                    let span = item.span();
                    if let DeValue::Table(table) = item.get_mut() {
                        check(table, keys, &path, span, self.report);
                    } else {
                        let text = format!("`{path}` is {}, expected a table", article(item));
                        let error = self.report.error(span, text);
                        if let Some(key) = keys.first() {
                            let (name, key, value) = (name.get_ref(), key.name, key.example);
                            error.help(format!("write it as {name} = {{ {key} = {value} }}"));
                        }
                        fits = false;
                    }
                }
                fits
            }
            (Kind::Tables(keys), DeValue::Array(items)) => {
                let mut fits = true;
                let path = format!("[{}]", self.child());
                for item in items.iter_mut() {
                    let span = item.span();
                    if let DeValue::Table(table) = item.get_mut() {
                        check(table, keys, &path, span, self.report);
                    } else {
                        let text =
                            format!("`{}` holds {}, expected tables", self.key.name, article(item));
                        self.report.error(span, text).help(format!("write {}", self.key.example));
                        fits = false;
                    }
                }
                fits
            }
            _ => {
                self.wrong(value, kind);
                false
            }
        }
    }

    fn child(&self) -> String {
        if self.path.is_empty() {
            self.key.name.to_owned()
        } else {
            format!("{}.{}", self.path, self.key.name)
        }
    }

    fn choice(&mut self, text: &str, choices: &[&'static str], span: Range<usize>) -> bool {
        if choices.contains(&text) {
            return true;
        }
        let message =
            format!("unknown value \"{text}\" for `{}`: use {}", self.key.name, list(choices));
        let error = self.report.error(span, message);
        if let Some(known) = nearest(text, choices.iter().copied()) {
            error.help(format!("did you mean \"{known}\"?"));
        }
        false
    }

    fn wrong(&mut self, value: &Spanned<DeValue<'_>>, kind: Kind) {
        let message =
            format!("`{}` is {}, expected {}", self.key.name, article(value), kind.expected());
        let help = match value.get_ref() {
            // A version written as a number loses its zeros: 3.10 would be 3.1.
            DeValue::Float(_) | DeValue::Integer(_)
                if matches!(kind, Kind::Text | Kind::TextOrTexts) =>
            {
                format!(
                    "write it in quotes: {} = \"{}\"",
                    self.key.name,
                    self.report.text(value.span())
                )
            }
            DeValue::String(text) if matches!(kind, Kind::Texts | Kind::TextsOrFalse) => {
                format!("write it as a list: {} = [\"{text}\"]", self.key.name)
            }
            _ if matches!(kind, Kind::Table(_)) => format!("write it as [{}]", self.child()),
            _ if matches!(kind, Kind::Tables(_)) => format!("write it as [[{}]]", self.child()),
            _ => format!("for example {} = {}", self.key.name, self.key.example),
        };
        self.report.error(value.span(), message).help(help);
    }

    fn wrong_item(&mut self, item: &Spanned<DeValue<'_>>) {
        let message = format!("`{}` holds {}, expected strings", self.key.name, article(item));
        let text = self.report.text(item.span()).to_owned();
        let error = self.report.error(item.span(), message);
        if matches!(item.get_ref(), DeValue::Float(_) | DeValue::Integer(_)) {
            error.help(format!("write it in quotes: \"{text}\""));
        }
    }
}

/// The type of a value, with its article.
fn article(value: &Spanned<DeValue<'_>>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(true) => "true",
        DeValue::Boolean(false) => "false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
