//! A catalog that stops answering after so many questions, so that a search ends.
//!
//! A solve asks the same questions in the same order every time, so counting them bounds it by work that does not depend on
//! the speed of the machine or of a network. Waiting for an index is bounded too, for one that answers slowly: what this
//! machine itself needs does not count, so that a slow one finds the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pep440_rs::Version;

use crate::catalog::{Catalog, CatalogError, File, Metadata, OnMetadata, OnProject, Project};
use crate::name::Name;
use crate::version::SourceId;

/// Why a search came to its end before everything was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As much was tried as may be: the same on every machine.
    Count,
    /// The time for waiting was up.
    Clock,
}

/// How long a search waited for indexes, all its solves together.
#[derive(Clone, Default)]
pub(crate) struct Waited(Arc<AtomicU64>);

impl Waited {
    pub(crate) fn total(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    fn during<T>(&self, ask: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let answer = ask();
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.0.fetch_add(micros, Ordering::Relaxed);
        answer
    }
}

/// The time that a solve has.
pub(crate) enum Time {
    /// Until all waiting together comes to a duration.
    Waiting(Waited, Duration),
    /// Until a moment, at which the clock stood still while an index answered: a cold cache and a warm one end alike.
    Working(Waited, Instant),
}

/// Passes everything on until the questions or the time are used up.
pub(crate) struct Bounded {
    inner: Arc<dyn Catalog>,
    questions: u64,
    time: Time,
    asked: AtomicU64,
    late: AtomicBool,
}

impl Bounded {
    pub(crate) fn new(inner: Arc<dyn Catalog>, questions: u64, time: Time) -> Self {
        let (asked, late) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { inner, questions, time, asked, late }
    }

    fn ask<T>(&self, ask: impl FnOnce() -> T) -> T {
        let (Time::Waiting(waited, _) | Time::Working(waited, _)) = &self.time;
        waited.during(ask)
    }

    /// Set once a question was not answered.
    pub(crate) fn ended(&self) -> Option<Ended> {
        if self.late.load(Ordering::Relaxed) {
            return Some(Ended::Clock);
        }
        (self.asked.load(Ordering::Relaxed) > self.questions).then_some(Ended::Count)
    }

    fn check(&self) -> Result<(), CatalogError> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= self.questions {
            return Err(CatalogError::Offline("enough was asked".into()));
        }
        let is_left = match &self.time {
            Time::Waiting(waited, patience) => waited.total() < *patience,
            Time::Working(waited, end) => Instant::now() < *end + waited.total(),
        };
        if is_left {
            return Ok(());
        }
        self.late.store(true, Ordering::Relaxed);
        Err(CatalogError::Offline("the time for looking is over".into()))
    }
}

impl Catalog for Bounded {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        self.check()?;
        self.ask(|| self.inner.project(source, name))
    }

    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        self.check()?;
        self.ask(|| self.inner.metadata(source, name, file))
    }

    fn build(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
        python: &Version,
    ) -> Result<Arc<Metadata>, CatalogError> {
        self.check()?;
        self.inner.build(source, name, file, python)
    }

    fn expect_project(&self, source: SourceId, name: Name, then: OnProject) {
        self.inner.expect_project(source, name, then);
    }

    fn expect_metadata(&self, source: SourceId, name: Name, file: &File, then: OnMetadata) {
        self.inner.expect_metadata(source, name, file, then);
    }

    fn wants_hints(&self) -> bool {
        self.inner.wants_hints()
    }

    fn fault(&self) -> Option<CatalogError> {
        self.inner.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Empty;

    impl Catalog for Empty {
        fn project(&self, _: SourceId, _: Name) -> Result<Option<Arc<Project>>, CatalogError> {
            Ok(None)
        }

        fn metadata(&self, _: SourceId, _: Name, _: &File) -> Result<Arc<Metadata>, CatalogError> {
            Err(CatalogError::Unavailable("nothing here".into()))
        }

        fn expect_project(&self, _: SourceId, _: Name, _: OnProject) {}

        fn expect_metadata(&self, _: SourceId, _: Name, _: &File, _: OnMetadata) {}

        fn wants_hints(&self) -> bool {
            true
        }

        fn fault(&self) -> Option<CatalogError> {
            None
        }
    }

    fn ask(bounded: &Bounded) -> bool {
        bounded.project(SourceId(0), Name::new("a").expect("a name")).is_ok()
    }

    #[test]
    fn questions_are_counted() {
        let bounded = Bounded::new(
            Arc::new(Empty),
            2,
            Time::Working(Waited::default(), Instant::now() + Duration::from_secs(60)),
        );
        assert!(ask(&bounded) && ask(&bounded));
        assert_eq!(bounded.ended(), None, "the last answer was given");
        assert!(!ask(&bounded));
        assert_eq!(bounded.ended(), Some(Ended::Count));
    }

    #[test]
    fn waiting_ends_what_the_count_does_not() {
        let waited = Waited::default();
        let patience = Duration::from_millis(20);
        let first = Bounded::new(Arc::new(Empty), 9, Time::Waiting(waited.clone(), patience));
        assert!(ask(&first), "nothing was waited for yet");
        waited.during(|| std::thread::sleep(patience));
        let bounded = Bounded::new(Arc::new(Empty), 9, Time::Waiting(waited, patience));
        assert!(!ask(&bounded), "the solves of a search share their patience");
        assert_eq!(bounded.ended(), Some(Ended::Clock));
    }
}
