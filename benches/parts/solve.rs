//! The solver alone: every page and all METADATA are in memory.

use cuda_lock_benches::{LANGUAGE_MODELS, Recorded, TRAIN, answer, problem};
use divan::Bencher;
use std::sync::Arc;

fn main() {
    divan::main();
}

fn solve(bencher: Bencher<'_, '_>, requirements: &[&str]) {
    let problem = problem(requirements);
    let catalog = Recorded::new().replay(&problem);
    bencher.bench_local(|| answer(&problem, Arc::clone(&catalog)));
}

#[divan::bench]
fn train(bencher: Bencher<'_, '_>) {
    solve(bencher, TRAIN);
}

#[divan::bench]
fn language_models(bencher: Bencher<'_, '_>) {
    solve(bencher, LANGUAGE_MODELS);
}
