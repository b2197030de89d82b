//! What a key of a table is called, and what may stand there.

/// One key of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// Whether the table needs it.
    pub required: bool,
    /// A sentence for the JSON Schema.
    pub about: &'static str,
    /// A value, as it would be written; shown when the key is missing or its value has the wrong type.
    pub example: &'static str,
}

impl Key {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        example: &'static str,
        about: &'static str,
    ) -> Self {
        Self { name, kind, required: false, about, example }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// The shape of a value. What a text means is checked by whoever reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A string.
    Text,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// A whole number of at least 1.
    Count,
    /// `true` or `false`.
    Bool,
    /// A string, or a TOML date or timestamp.
    Date,
    /// A list of strings.
    Texts,
    /// A string, or a list of them.
    TextOrTexts,
    /// A list of strings, or `false`.
    TextsOrFalse,
    /// A table of any keys with strings.
    TextMap,
    /// A table of any keys, each one of these strings.
    ChoiceMap(&'static [&'static str]),
    /// A table.
    Table(&'static [Key]),
    /// A table of any keys, each a table of these keys.
    NamedTables(&'static [Key]),
    /// A list of tables.
    Tables(&'static [Key]),
}

impl Kind {
    /// In words, for "expected ...".
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::Choice(choices) => format!("one of {}", list(choices)),
            Self::Count => "a whole number of at least 1".to_owned(),
            Self::Bool => "true or false".to_owned(),
            Self::Date => "a date or a timestamp".to_owned(),
            Self::Texts => "a list of strings".to_owned(),
            Self::TextOrTexts => "a string or a list of strings".to_owned(),
            Self::TextsOrFalse => "a list of strings, or false".to_owned(),
            Self::TextMap => "a table of strings".to_owned(),
            Self::ChoiceMap(choices) => format!("a table of values from {}", list(choices)),
            Self::Table(_) => "a table".to_owned(),
            Self::NamedTables(_) => "a table of tables".to_owned(),
            Self::Tables(_) => "a list of tables".to_owned(),
        }
    }
}

/// `"a", "b" or "c"`.
pub(crate) fn list(choices: &[&str]) -> String {
    let quoted: Vec<String> = choices.iter().map(|choice| format!("\"{choice}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}
