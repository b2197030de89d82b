//! Wrong files, and everything that is said about each: the messages, their positions, their help.
//!
//! A case of the tables is its name after `###`, the text of env.toml, and after `---` what is said. With `UPDATE_CASES=1`
//! the test writes what is said now into the tables; look at the difference before you commit it.

use std::fmt::Write as _;
use std::path::Path;

use super::errors;

const HEAD: &str = "### ";
const SAYS: &str = "---\n";

/// A name, a text, and what should be said about it.
struct Case<'a> {
    name: &'a str,
    text: &'a str,
    says: &'a str,
}

fn case(block: &str) -> Case<'_> {
    let (name, rest) = block.split_once('\n').expect("a name");
    // The text may be empty.
    let at = if rest.starts_with(SAYS) { 0 } else { rest.find("\n---\n").expect("---") + 1 };
    Case { name, text: &rest[..at], says: rest[at + SAYS.len()..].trim_end() }
}

#[track_caller]
fn judge(file: &str, count: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/manifest/tests").join(file);
    let table = std::fs::read_to_string(&path).expect("the table");
    let table = table.replace('\r', "");
    let blocks: Vec<&str> = table.split(HEAD).skip(1).collect();
    let (mut wrong, mut written) = (String::new(), Vec::new());
    for case in blocks.iter().map(|block| case(block)) {
        let found = errors(case.text);
        let found = found.trim_end();
        written.push(format!("{HEAD}{}\n{}{SAYS}{found}\n", case.name, case.text));
        if found != case.says {
            let _ = writeln!(wrong, "{}:\n{found}\ninstead of\n{}\n", case.name, case.says);
        }
    }
    if std::env::var_os("UPDATE_CASES").is_some() {
        std::fs::write(&path, written.join("\n")).expect("the table can be written");
    } else {
        assert!(wrong.is_empty(), "{wrong}");
    }
    assert_eq!(blocks.len(), count);
}

#[test]
fn files_environments_and_machines() {
    judge("bad_machine.txt", 37);
}

#[test]
fn other_tables() {
    judge("bad_tables.txt", 31);
}
