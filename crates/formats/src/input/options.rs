//! Options of pip, as Python's `optparse` reads them: unique prefixes, `--name=value`, `-nvalue`.

use cuda_lock_constraint::nearest;

use super::syntax_error::SyntaxError;
use super::text::{Mapped, is_space};

/// What an option means for the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opt {
    IndexUrl,
    ExtraIndexUrl,
    /// uv's `--default-index`.
    DefaultIndex,
    /// uv's `--index [name=]url`.
    Index,
    NoIndex,
    FindLinks,
    Constraint,
    Requirement,
    Editable,
    NoBinary,
    OnlyBinary,
    PreferBinary,
    RequireHashes,
    NoRequireHashes,
    Pre,
    AllReleases,
    OnlyFinal,
    TrustedHost,
    Hash,
    ConfigSettings,
    NoDeps,
    TorchBackend,
    /// uv's `--prerelease MODE`.
    Prerelease,
    /// `--override FILE` of uv.
    Override,
    /// `--channel` of conda.
    Channel,
    /// Has no bearing on what is installed.
    Other,
}

/// An option of a command line.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionSpec {
    /// `-i`, or empty.
    pub short: &'static str,
    /// Long names, the preferred one first.
    pub long: &'static [&'static str],
    pub takes_value: bool,
    pub opt: Opt,
}

pub(super) const fn spec(
    short: &'static str,
    long: &'static [&'static str],
    takes_value: bool,
    opt: Opt,
) -> OptionSpec {
    OptionSpec { short, long, takes_value, opt }
}

/// The options that pip allows in a requirements file.
pub(super) const REQUIREMENTS_FILE: &[OptionSpec] = &[
    spec("-i", &["--index-url", "--pypi-url"], true, Opt::IndexUrl),
    spec("", &["--extra-index-url"], true, Opt::ExtraIndexUrl),
    spec("", &["--no-index"], false, Opt::NoIndex),
    spec("-c", &["--constraint"], true, Opt::Constraint),
    spec("-r", &["--requirement"], true, Opt::Requirement),
    spec("-e", &["--editable"], true, Opt::Editable),
    spec("-f", &["--find-links"], true, Opt::FindLinks),
    spec("", &["--no-binary"], true, Opt::NoBinary),
    spec("", &["--only-binary"], true, Opt::OnlyBinary),
    spec("", &["--prefer-binary"], false, Opt::PreferBinary),
    spec("", &["--require-hashes"], false, Opt::RequireHashes),
    spec("", &["--no-require-hashes"], false, Opt::NoRequireHashes),
    spec("", &["--pre"], false, Opt::Pre),
    spec("", &["--all-releases"], true, Opt::AllReleases),
    spec("", &["--only-final"], true, Opt::OnlyFinal),
    spec("", &["--trusted-host"], true, Opt::TrustedHost),
    spec("", &["--use-feature"], true, Opt::Other),
    spec("", &["--hash"], true, Opt::Hash),
    spec("-C", &["--config-settings", "--config-setting"], true, Opt::ConfigSettings),
];

/// An option that was found, or why it was not.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub opt: Opt,
    /// The option as written, without its value.
    pub flag: Mapped,
    /// Empty for flags.
    pub value: Mapped,
}

/// Options and the words that are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub found: Vec<Found>,
    pub words: Vec<Mapped>,
    /// Errors with the word they are about.
    pub errors: Vec<(Mapped, SyntaxError)>,
}

/// Sorts `words` by `specs`, as `optparse` does. After an error the next word is tried, where pip stops.
pub(super) fn parse(words: Vec<Mapped>, specs: &[OptionSpec]) -> Options {
    let mut options = Options::default();
    let mut words = words.into_iter();
    let mut only_words = false;
    let mut waiting: Option<Mapped> = None;
    while let Some(word) = waiting.take().or_else(|| words.next()) {
        let text = word.as_str();
        if only_words || !text.starts_with('-') || text == "-" {
            options.words.push(word);
            continue;
        }
        if text == "--" {
            only_words = true;
            continue;
        }
        let (flag_end, inline) = if text.starts_with("--") {
            let end = text.find('=').unwrap_or(text.len());
            (end, (end < text.len()).then_some(end + 1))
        } else {
            let end = text.char_indices().nth(2).map_or(text.len(), |(at, _)| at);
            (end, (end < text.len()).then_some(end))
        };
        let flag = word.slice(0, flag_end);
        let matches = candidates(flag.as_str(), specs);
        let error = |message: String| SyntaxError::new(0..flag_end, message);
        match matches.as_slice() {
            [] => {
                let mut found = error(format!("no such option: {}", flag.as_str()));
                found.help = nearest(flag.as_str(), specs);
                options.errors.push((word, found));
            }
            [spec] => {
                let value = match inline {
                    Some(at) if spec.takes_value => word.slice(at, text.len()),
                    None if !spec.takes_value => Mapped::new(word.file()),
                    None => match words.next() {
                        Some(value) => value,
                        None => {
                            let message = format!("{} needs a value", flag.as_str());
                            options.errors.push((word.clone(), error(message)));
                            continue;
                        }
                    },
                    Some(at) if text.starts_with("--") => {
                        let message = format!("{} does not take a value", flag.as_str());
                        let rest = at..text.len();
                        options.errors.push((word.clone(), SyntaxError::new(rest, message)));
                        continue;
                    }
                    // Short flags may be written together: `-qU`. A long run of them is no option of anyone.
                    Some(at) if text.len() <= 16 => {
                        let mut rest = Mapped::new(word.file());
                        rest.push_replaced("-", word.span(at, at).start, word.span(at, at).start);
                        rest.append_part(&word, at, text.len());
                        waiting = Some(rest);
                        Mapped::new(word.file())
                    }
                    Some(_) => {
                        options
                            .errors
                            .push((word.clone(), error(format!("no such option: {text}"))));
                        continue;
                    }
                };
                options.found.push(Found { opt: spec.opt, flag, value });
            }
            several => {
                let names: Vec<&str> =
                    several.iter().filter_map(|s| s.long.first().copied()).collect();
                let message =
                    format!("ambiguous option: {} ({}?)", flag.as_str(), names.join(", "));
                options.errors.push((word.clone(), error(message)));
            }
        }
    }
    options
}

/// The options that `flag` may mean: the one with that name, else those whose long name it starts.
fn candidates<'s>(flag: &str, specs: &'s [OptionSpec]) -> Vec<&'s OptionSpec> {
    let exact = specs.iter().find(|s| s.short == flag || s.long.contains(&flag));
    match exact {
        Some(spec) => vec![spec],
        None if flag.starts_with("--") && flag.len() > 2 => {
            specs.iter().filter(|s| s.long.iter().any(|l| l.starts_with(flag))).collect()
        }
        None => Vec::new(),
    }
}

/// What may have been meant by an unknown option.
fn nearest(flag: &str, specs: &[OptionSpec]) -> Option<String> {
    if [
        "--upgrade",
        "-U",
        "--user",
        "--no-cache-dir",
        "--no-deps",
        "--target",
        "-t",
        "--quiet",
        "-q",
    ]
    .contains(&flag)
    {
        return Some(format!("{flag} is an option of the command `pip install`; remove the line"));
    }
    let known = specs.iter().flat_map(|spec| spec.long).copied();
    nearest::nearest(flag, known, 3).map(|long| format!("did you mean {long}?"))
}

/// Splits as Python's `shlex.split` does; an unclosed quote or a backslash at the end is an error.
pub(super) fn shlex(text: &Mapped) -> Result<Vec<Mapped>, SyntaxError> {
    let source = text.as_str();
    let mut words = Vec::new();
    let mut word: Option<Mapped> = None;
    let mut quote: Option<(char, usize)> = None;
    let mut chars = source.char_indices();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let current = match quote {
            None if matches!(c, ' ' | '\t' | '\r' | '\n') => {
                words.extend(word.take());
                continue;
            }
            _ => word.get_or_insert_with(|| Mapped::new(text.file())),
        };
        match (quote, c) {
            (Some((open, _)), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some((c, at)),
            (None | Some(('"', _)), '\\') => match chars.next() {
                // Within double quotes only these two lose the backslash.
                Some((next, e)) if quote.is_none() || matches!(e, '"' | '\\') => {
                    current.append_part(text, next, next + e.len_utf8());
                }
                Some((next, e)) => current.append_part(text, at, next + e.len_utf8()),
                None => return Err(SyntaxError::new(at..end, "nothing follows the backslash")),
            },
            _ => current.append_part(text, at, end),
        }
    }
    if let Some((_, at)) = quote {
        return Err(SyntaxError::new(at..source.len(), "this quote is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// Splits a line of a requirements file into the requirement and its options: options start at the first word, by
/// blanks, that begins with `-`.
pub(super) fn break_args(line: &Mapped) -> (Mapped, Mapped) {
    let text = line.as_str();
    let mut start = 0;
    for word in text.split(' ') {
        if word.starts_with('-') {
            break;
        }
        start += word.len() + 1;
    }
    let start = start.min(text.len());
    let args_end = text.get(..start).unwrap_or(text).trim_end_matches(is_space).len();
    (line.slice(0, args_end), line.slice(start, text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mapped = Mapped::copied(text, 0, 0);
        shlex(&mapped).expect("valid").iter().map(|w| w.as_str().to_owned()).collect()
    }

    #[test]
    fn words_are_split_like_shlex() {
        assert_eq!(
            words(r#"-i 'a b'c "d\"e" f\ g "" h\\"#),
            ["-i", "a bc", "d\"e", "f g", "", "h\\"]
        );
        assert!(shlex(&Mapped::copied("a 'b", 0, 0)).is_err());
        assert!(shlex(&Mapped::copied("a\\", 0, 0)).is_err());
    }

    #[test]
    fn options_are_found_like_optparse() {
        let text = "--extra-index https://a.example -ihttps://b.example --pre --pre=1 --no- -c --upgrade -e";
        let options = parse(shlex(&Mapped::copied(text, 0, 0)).expect("valid"), REQUIREMENTS_FILE);
        let found: Vec<(Opt, &str)> =
            options.found.iter().map(|f| (f.opt, f.value.as_str())).collect();
        assert_eq!(
            found,
            [
                (Opt::ExtraIndexUrl, "https://a.example"),
                (Opt::IndexUrl, "https://b.example"),
                (Opt::Pre, ""),
                (Opt::Constraint, "--upgrade"),
            ]
        );
        let errors: Vec<&str> = options.errors.iter().map(|(_, e)| e.message.as_str()).collect();
        assert_eq!(
            errors,
            [
                "--pre does not take a value",
                "ambiguous option: --no- (--no-index, --no-binary, --no-require-hashes?)",
                "-e needs a value",
            ]
        );
    }

    #[test]
    fn options_start_at_the_first_word_with_a_dash() {
        let (args, options) = break_args(&Mapped::copied("torch==2.1  --hash=a b", 0, 0));
        assert_eq!((args.as_str(), options.as_str()), ("torch==2.1", "--hash=a b"));
        let (args, options) = break_args(&Mapped::copied("-e .", 0, 0));
        assert_eq!((args.as_str(), options.as_str()), ("", "-e ."));
    }
}
