//! Variables of a shell, a Dockerfile or a CI file, and how much text they may grow to.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// The most text that the variables of one file are replaced by, in bytes. `B=$A$A` doubles with every line, so that
/// thirty lines of a pull request would fill the memory of the machine that judges it.
const MOST: usize = 4 << 20;

/// The most text that one variable is replaced by, in bytes.
const LONGEST: usize = 64 << 10;

/// How much more text the variables of a file may be replaced by. Copies share it.
#[derive(Clone, Debug)]
pub(super) struct Allowance {
    left: Rc<Cell<usize>>,
    refused: Rc<Cell<bool>>,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { left: Rc::new(Cell::new(MOST)), refused: Rc::default() }
    }
}

impl Allowance {
    /// `value`, unless that is too much.
    pub(super) fn spend<'a>(&self, value: &'a str) -> Option<&'a str> {
        match self.left.get().checked_sub(value.len()) {
            Some(left) if value.len() <= LONGEST => {
                self.left.set(left);
                Some(value)
            }
            _ => {
                self.refused.set(true);
                None
            }
        }
    }

    /// Whether some variable was left as it is written.
    pub(super) fn was_refused(&self) -> bool {
        self.refused.get()
    }
}

/// Variables by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    values: BTreeMap<String, String>,
    allowance: Allowance,
}

impl Variables {
    /// None yet.
    pub(super) fn new(allowance: &Allowance) -> Self {
        Self { values: BTreeMap::new(), allowance: allowance.clone() }
    }

    /// What `name` is replaced by, `None` when it has no value or that is too much.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(|value| self.allowance.spend(value)).map(str::to_owned)
    }
}

impl Deref for Variables {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.values
    }
}

impl DerefMut for Variables {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_what_may_be_spent() {
        let allowance = Allowance::default();
        let mut variables = Variables::new(&allowance);
        variables.insert("A".to_owned(), "x".repeat(LONGEST));
        variables.insert("B".to_owned(), "x".repeat(LONGEST + 1));
        assert_eq!(variables.value("C"), None);
        assert!(!allowance.was_refused());
        assert_eq!(variables.value("B"), None);
        assert!(allowance.was_refused());
        let copy = variables.clone();
        let count = (0..2 * MOST / LONGEST).filter(|_| copy.value("A").is_some()).count();
        assert_eq!(count, MOST / LONGEST);
        assert_eq!(variables.value("A"), None);
    }
}
