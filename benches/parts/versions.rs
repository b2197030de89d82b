//! Versions and ranges, which the solver handles by the thousand.

use cuda_lock_benches::Recorded;
use cuda_lock_constraint::catalog::Catalog as _;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::version::{DistVersion, Range, SourceId, Version};
use cuda_lock_fetcher::Mode;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Every release of NumPy, as text.
fn releases() -> Vec<String> {
    let recorded = Recorded::new();
    let fetcher = recorded.fetcher(Mode::Online);
    let project = Name::new("numpy").ok().and_then(|name| fetcher.project(SourceId(0), name).ok());
    project
        .flatten()
        .map_or_else(Vec::new, |project| project.versions.iter().map(ToString::to_string).collect())
}

/// What other projects ask of NumPy.
fn ranges() -> Vec<Range> {
    [
        "numpy",
        "numpy<2",
        "numpy>=1.21.6",
        "numpy>=1.17",
        "numpy!=2.0.0,>=1.23",
        "numpy~=1.26",
        "numpy>=1.22.4,<2.3.0",
        "numpy==1.26.*",
        "numpy<3,>=1.24",
        "numpy>=2",
    ]
    .iter()
    .filter_map(|text| text.parse::<Requirement>().ok())
    .map(|requirement| requirement.range().clone())
    .collect()
}

#[divan::bench]
fn parse(bencher: Bencher<'_, '_>) {
    let texts = releases();
    bencher.counter(ItemsCount::new(texts.len())).bench(|| {
        texts.iter().filter(|text| black_box(text).parse::<pep440_rs::Version>().is_ok()).count()
    });
}

#[divan::bench]
fn contains(bencher: Bencher<'_, '_>) {
    let read = releases().into_iter().filter_map(|text| text.parse().ok());
    let versions: Vec<Version> =
        read.map(|version| Version::Dist(DistVersion::new(version, SourceId(0)))).collect();
    let ranges = ranges();
    bencher.counter(ItemsCount::new(versions.len() * ranges.len())).bench(|| {
        let inside =
            |range: &Range| versions.iter().filter(|version| range.contains(version)).count();
        ranges.iter().map(|range| inside(black_box(range))).sum::<usize>()
    });
}

#[divan::bench]
fn intersect(bencher: Bencher<'_, '_>) {
    let ranges = ranges();
    bencher.counter(ItemsCount::new(ranges.len() * ranges.len())).bench(|| {
        let pairs = ranges.iter().flat_map(|left| ranges.iter().map(move |right| (left, right)));
        pairs.filter(|(left, right)| black_box(left.intersection(right)) == Range::empty()).count()
    });
}
