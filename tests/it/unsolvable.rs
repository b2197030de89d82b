//! Public trouble reports that have no answer: what is printed names the two facts that the report found, one of the fixes is
//! the report's own or better, and env.toml with that fix has an answer.
//!
//! The index is what PyPI had on the day of the recordings, PyTorch's indexes are a replica. `fixtures/unsolvable.toml` has
//! the machine and the requirements of each report, the words of its verdict, and its fix; the tests are named by it.

use std::path::Path;

mod case;
mod machine;
mod near;
mod packages;
mod stack;

#[test]
fn every_case_is_tested() {
    let tests = [
        include_str!("unsolvable/machine.rs"),
        include_str!("unsolvable/packages.rs"),
        include_str!("unsolvable/stack.rs"),
    ];
    for id in case::ids() {
        assert!(tests.iter().any(|text| text.contains(&format!("checked(\"{id}\")"))), "{id}");
    }
}

/// Reports that are no conflict here: the answer is what the people of the report found.
#[test]
fn what_is_solved_at_once() {
    case::solve_the_solved();
}

/// The search for fixes is bounded by counts, so it comes to the same end every time.
#[test]
fn the_same_input_prints_the_same() {
    for id in ["DRV-01", "FAM-10", "NVP-01"] {
        assert_eq!(case::printed(id), case::printed(id), "{id}");
    }
}

/// The page that compares with uv shows what is printed now; with INSTA_UPDATE=always it is written anew.
#[test]
fn the_page_with_uv_is_not_stale() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conflicts-compared.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut parts = page.split("<!-- ");
    let mut now = parts.next().unwrap().to_owned();
    let mut blocks = 0;
    for part in parts {
        let (id, block) = part.split_once(" -->\n```text\n").unwrap();
        let (_, rest) = block.split_once("\n```").unwrap();
        let printed = case::printed(id);
        now += &format!("<!-- {id} -->\n```text\n{printed}\n```{rest}");
        blocks += 1;
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|mode| mode == "always") {
        std::fs::write(&path, &now).unwrap();
    }
    assert_eq!(blocks, 10);
    assert!(page == now, "docs/conflicts-compared.md is stale:\n{}", difference(&page, &now));
}

/// The lines of the page that are not printed any more, and those that are printed instead.
fn difference(page: &str, now: &str) -> String {
    let gone = page.lines().filter(|line| !now.lines().any(|other| other == *line));
    let new = now.lines().filter(|line| !page.lines().any(|other| other == *line));
    let gone = gone.map(|line| format!("-{line}\n"));
    gone.chain(new.map(|line| format!("+{line}\n"))).collect()
}
