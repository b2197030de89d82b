//! A catalog that stops answering after so many questions, so that a search ends.
//!
//! A solve asks the same questions in the same order every time, so counting them bounds it by work that does not depend on
//! the speed of the machine or of a network. The clock is a second bound. A search may ask that it stands still while an index
//! answers, so that a cold cache and a warm one end alike.

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
    /// The time was up.
    Clock,
}

/// Passes everything on until the questions or the time are used up.
pub(crate) struct Bounded {
    inner: Arc<dyn Catalog>,
    questions: u64,
    deadline: Instant,
    asked: AtomicU64,
    late: AtomicBool,
    /// What was spent on waiting, when that does not count, or alone counts.
    waited: Option<Arc<AtomicU64>>,
    /// How long may be waited, when that alone counts.
    patience: Option<Duration>,
}

impl Bounded {
    pub(crate) fn new(inner: Arc<dyn Catalog>, questions: u64, deadline: Instant) -> Self {
        let (asked, late) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { inner, questions, deadline, asked, late, waited: None, patience: None }
    }

    /// The same with a clock that stands still while an index answers; `waited` are the nanoseconds of all solves of a search.
    pub(crate) fn without_waiting(mut self, waited: Arc<AtomicU64>) -> Self {
        self.waited = Some(waited);
        self
    }

    /// Bounded by waiting alone: what this machine computes does not count, so that a slow one finds the same. `waited` are the
    /// nanoseconds of all solves of a search.
    pub(crate) fn waiting_at_most(mut self, patience: Duration, waited: Arc<AtomicU64>) -> Self {
        (self.waited, self.patience) = (Some(waited), Some(patience));
        self
    }

    fn timed<T>(&self, ask: impl FnOnce() -> T) -> T {
        let Some(waited) = &self.waited else { return ask() };
        let start = Instant::now();
        let answer = ask();
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        waited.fetch_add(spent, Ordering::Relaxed);
        answer
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
        let waited = self.waited.as_ref().map_or(0, |waited| waited.load(Ordering::Relaxed));
        let waited = Duration::from_nanos(waited);
        let is_left = match self.patience {
            Some(patience) => waited < patience,
            None => Instant::now() < self.deadline + waited,
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
        self.timed(|| self.inner.project(source, name))
    }

    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        self.check()?;
        self.timed(|| self.inner.metadata(source, name, file))
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
    }

    fn ask(bounded: &Bounded) -> bool {
        bounded.project(SourceId(0), Name::new("a").expect("a name")).is_ok()
    }

    #[test]
    fn questions_are_counted() {
        let later = Instant::now() + Duration::from_secs(60);
        let bounded = Bounded::new(Arc::new(Empty), 2, later);
        assert!(ask(&bounded) && ask(&bounded));
        assert_eq!(bounded.ended(), None, "the last answer was given");
        assert!(!ask(&bounded));
        assert_eq!(bounded.ended(), Some(Ended::Count));
    }

    #[test]
    fn the_clock_ends_what_the_count_does_not() {
        let bounded = Bounded::new(Arc::new(Empty), 2, Instant::now());
        assert!(!ask(&bounded));
        assert_eq!(bounded.ended(), Some(Ended::Clock));
    }

    #[test]
    fn waiting_alone_counts_where_that_is_asked() {
        let waited = Arc::new(AtomicU64::new(0));
        let patience = Duration::from_millis(5);
        let bounded = || {
            Bounded::new(Arc::new(Empty), 9, Instant::now())
                .waiting_at_most(patience, Arc::clone(&waited))
        };
        assert!(ask(&bounded()), "nothing was waited for yet");
        waited.store(6_000_000, Ordering::Relaxed);
        assert!(!ask(&bounded()), "the solves of a search share their patience");
    }
}
