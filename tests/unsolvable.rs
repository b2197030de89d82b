//! Public trouble reports that have no answer: what is printed names the two facts that the report found, one of the fixes is
//! the report's own or better, and env.toml with that fix has an answer.
//!
//! The index is what PyPI had on the day of the recordings, PyTorch's indexes are a replica. `fixtures/unsolvable.toml` has
//! the machine and the requirements of each report, the words of its verdict, and its fix; the tests are named by it.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers included")]

#[path = "unsolvable/case.rs"]
mod case;
#[path = "unsolvable/machine.rs"]
mod machine;
#[path = "unsolvable/packages.rs"]
mod packages;
#[path = "unsolvable/stack.rs"]
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
