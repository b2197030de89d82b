//! Sdists that are known to say nothing before they are downloaded.
//!
//! An sdist says what it needs from metadata version 2.2 on (PEP 643). Before that existed none could, and a project whose
//! newer sdists are written by older tools had no newer tools before. A project with a hundred releases without a wheel
//! would cost a hundred downloads to learn that of each.

use std::sync::{Mutex, PoisonError};

use cuda_lock_constraint::catalog::File;
use cuda_lock_constraint::name::Name;
use jiff::Timestamp;
use rustc_hash::FxHashMap;

/// The day on which PEP 643 was accepted, 27 October 2020, in Unix seconds.
const ACCEPTED: i64 = 1_603_756_800;

/// So many newer sdists of a project speak for an older one.
const ENOUGH: usize = 3;

/// The sdists of a run whose PKG-INFO is of an older version, by project: when they were uploaded.
#[derive(Default)]
pub(crate) struct SilentSdists(Mutex<FxHashMap<Name, Vec<Timestamp>>>);

impl SilentSdists {
    /// Notes an sdist whose PKG-INFO is of an older version.
    pub(crate) fn note(&self, name: Name, file: &File) {
        if let Some(time) = file.upload_time {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(name).or_default().push(time);
        }
    }

    /// Why a file is known to say nothing. What is in the cache plays no part in it, so every run decides alike.
    pub(crate) fn why(&self, name: Name, file: &File) -> Option<&'static str> {
        let time = file.upload_time.filter(|_| !file.filename.ends_with(".whl"))?;
        if time.as_second() < ACCEPTED {
            return Some(
                "its requirements are known only after building it, because it was uploaded before metadata version 2.2 \
                 existed, the first to promise them",
            );
        }
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newer = known.get(&name)?.iter().filter(|other| **other > time).count();
        (newer >= ENOUGH).then_some(
            "its requirements are known only after building it, because newer sdists of this project already follow a \
             metadata version that does not promise them",
        )
    }
}

#[cfg(test)]
mod tests {
    use cuda_lock_constraint::catalog::CoreMetadata;

    use super::*;

    fn file(filename: &str, time: &str) -> File {
        File {
            filename: filename.to_owned(),
            url: format!("https://index.example/{filename}"),
            sha256: None,
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: time.parse().ok(),
            core_metadata: CoreMetadata::No,
        }
    }

    #[test]
    fn old_sdists_and_those_behind_three_silent_ones_are_known() {
        let (name, other) = (Name::new("foo").expect("valid"), Name::new("bar").expect("valid"));
        let silent = SilentSdists::default();
        let at = |year: u16| file("foo-1.zip", &format!("{year}-05-01T00:00:00Z"));
        assert!(silent.why(name, &at(2020)).is_some());
        assert!(silent.why(name, &file("foo-1.zip", "no time")).is_none());
        assert!(
            silent.why(name, &file("foo-1-py3-none-any.whl", "2010-05-01T00:00:00Z")).is_none()
        );
        for year in [2025, 2024, 2023] {
            assert!(silent.why(name, &at(2022)).is_none(), "before {year}");
            silent.note(name, &at(year));
        }
        assert!(silent.why(name, &at(2022)).is_some());
        assert!(silent.why(name, &at(2024)).is_none() && silent.why(other, &at(2022)).is_none());
    }
}
