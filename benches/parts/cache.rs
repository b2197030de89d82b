//! The cache: every page and every METADATA of a solve, read by a fetcher that has just been made, as each run does.

use cuda_lock_benches::{LANGUAGE_MODELS, Recorded, TRAIN, answer, problem};
use cuda_lock_fetcher::Mode;
use divan::Bencher;

fn main() {
    divan::main();
}

fn solve(bencher: Bencher<'_, '_>, requirements: &[&str]) {
    let recorded = Recorded::new();
    let problem = problem(requirements);
    let _ = recorded.replay(&problem);
    bencher.bench_local(|| answer(&problem, recorded.fetcher(Mode::Offline)));
}

#[divan::bench]
fn train(bencher: Bencher<'_, '_>) {
    solve(bencher, TRAIN);
}

#[divan::bench]
fn language_models(bencher: Bencher<'_, '_>) {
    solve(bencher, LANGUAGE_MODELS);
}
