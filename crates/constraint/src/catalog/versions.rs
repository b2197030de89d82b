//! The versions of a project, read one by one: a page lists thousands, of which a solve looks at a few.

use std::cmp::Ordering;
use std::sync::OnceLock;

use pep440_rs::Version as Pep440;

/// The versions of a project, ascending by PEP 440 and without duplicates. Each is parsed when it is first looked at.
pub struct Versions {
    text: Box<str>,
    /// Where the text of each version ends.
    ends: Box<[u32]>,
    read: Box<[OnceLock<Pep440>]>,
}

impl Versions {
    /// Versions in one text, ascending; `ends` says where in it each of them ends.
    #[must_use]
    pub fn from_text(text: Box<str>, ends: Box<[u32]>) -> Self {
        let read = ends.iter().map(|_| OnceLock::new()).collect();
        Self { text, ends, read }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.read.len()
    }

    /// True without any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.read.is_empty()
    }

    /// The version at a place.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Pep440> {
        // What is no version in a text that is not the writer's stands for the lowest: nothing is chosen for it.
        let parse = || self.text_at(index).parse().unwrap_or_else(|_| Pep440::new([0]));
        self.read.get(index).map(|cell| cell.get_or_init(parse))
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Pep440> + ExactSizeIterator {
        self.read.iter().enumerate().map(|(index, cell)| {
            cell.get_or_init(|| self.text_at(index).parse().unwrap_or_else(|_| Pep440::new([0])))
        })
    }

    /// The place of a version, else the place where it would be.
    ///
    /// # Errors
    /// The place where it would be.
    pub fn binary_search(&self, version: &Pep440) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).map_or(Ordering::Greater, |found| found.cmp(version)) {
                Ordering::Equal => return Ok(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// Whether a version is among them.
    #[must_use]
    pub fn contains(&self, version: &Pep440) -> bool {
        self.binary_search(version).is_ok()
    }

    /// How many were looked at so far.
    #[must_use]
    pub fn parsed(&self) -> usize {
        self.read.iter().filter(|cell| cell.get().is_some()).count()
    }

    fn text_at(&self, index: usize) -> &str {
        let place = |end: &u32| usize::try_from(*end).unwrap_or(usize::MAX);
        let from = index.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, place);
        let to = self.ends.get(index).map_or(0, place);
        self.text.get(from..to).unwrap_or_default()
    }
}

impl From<Vec<Pep440>> for Versions {
    fn from(versions: Vec<Pep440>) -> Self {
        let read = versions.into_iter().map(OnceLock::from).collect();
        Self { text: Box::default(), ends: Box::default(), read }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Pep440 {
        text.parse().expect("valid")
    }

    #[test]
    fn only_what_is_looked_at_is_parsed() {
        let versions = Versions::from_text("0.91.01.12.0rc1".into(), [3, 6, 9, 15].into());
        assert_eq!((versions.len(), versions.parsed()), (4, 0));
        assert_eq!(versions.iter().next_back(), Some(&version("2.0rc1")));
        assert_eq!(versions.parsed(), 1);
        assert_eq!(versions.binary_search(&version("1.1")), Ok(2));
        assert_eq!(versions.binary_search(&version("1.0.5")), Err(2));
        assert!(versions.contains(&version("0.9.0")) && !versions.contains(&version("3")));
        assert_eq!(versions.get(4), None);
    }

    #[test]
    fn a_text_of_another_kind_does_no_harm() {
        let versions = Versions::from_text("é nonsense".into(), [1, 40, 3].into());
        assert_eq!(versions.iter().len(), 3);
        assert!(versions.iter().all(|found| *found == version("0")));
        assert_eq!(Versions::from(vec![version("1")]).get(0), Some(&version("1")));
    }
}
