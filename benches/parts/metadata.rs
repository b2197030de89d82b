//! METADATA: headers, then each requirement with its specifiers and its marker.

use cuda_lock_benches::{LANGUAGE_MODELS, Recorded, answer, problem};
use cuda_lock_constraint::machine::Platform;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::target::Target;
use cuda_lock_fetcher::metadata::parse_metadata;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Every requirement that the answer of a real problem states.
fn requirements() -> Vec<String> {
    let recorded = Recorded::new();
    let problem = problem(LANGUAGE_MODELS);
    let solution = answer(&problem, recorded.replay(&problem));
    let stated = solution.builds.values().flat_map(|chosen| &chosen.metadata.requires_dist);
    stated.map(ToString::to_string).collect()
}

#[divan::bench]
fn headers(bencher: Bencher<'_, '_>) {
    let mut text = String::from("Metadata-Version: 2.4\nName: demo\nVersion: 1.0\n");
    for requirement in requirements() {
        text.push_str(&format!("Requires-Dist: {requirement}\n"));
    }
    text.push_str("\nThe description, which nobody reads here.\n");
    bencher
        .counter(divan::counter::BytesCount::new(text.len()))
        .bench(|| parse_metadata(black_box(text.as_bytes())).is_ok());
}

#[divan::bench]
fn requirement(bencher: Bencher<'_, '_>) {
    let texts = requirements();
    bencher.counter(ItemsCount::new(texts.len())).bench(|| {
        texts.iter().filter(|text| black_box(text).parse::<Requirement>().is_ok()).count()
    });
}

#[divan::bench]
fn marker(bencher: Bencher<'_, '_>) {
    let read: Vec<Requirement> =
        requirements().iter().filter_map(|text| text.parse().ok()).collect();
    let markers: Vec<_> =
        read.iter().filter_map(|requirement| requirement.marker.clone()).collect();
    let Ok(python) = "3.11".parse() else { return };
    let environment = Target::new(Platform::LinuxX86_64, &python).marker_environment();
    bencher.counter(ItemsCount::new(markers.len())).bench(|| {
        markers.iter().filter(|marker| marker.evaluate(black_box(&environment), None)).count()
    });
}
