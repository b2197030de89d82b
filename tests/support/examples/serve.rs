//! Serves an index on loopback, for other clients and for benchmarks, and prints its address:
//!
//! `cargo run -p cuda-lock-testing --example serve -- tests/recordings/index-2026-11-30.json.gz`
//!
//! `made:PROJECTS:RELEASES` instead of a recording makes an index of that size; `--latency MS` holds back every answer.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use cuda_lock_testing::{Dist, Index};

#[expect(clippy::print_stdout, reason = "the address is what the person at the terminal needs")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().ok_or("name a recording, or made:PROJECTS:RELEASES")?;
    let latency = match arguments.next().as_deref() {
        Some("--latency") => arguments.next().ok_or("--latency needs milliseconds")?.parse()?,
        Some(other) => return Err(format!("{other} is not known").into()),
        None => 0,
    };
    let index = match what.strip_prefix("made:").and_then(|size| size.split_once(':')) {
        Some((projects, releases)) => made(projects.parse()?, releases.parse()?),
        None => Index::from_recording(Path::new(&what)),
    };
    let server = index
        .with(|features| {
            features.gzip = true;
            features.latency = Duration::from_millis(latency);
        })
        .serve();
    println!("{}", server.url());
    loop {
        std::thread::park();
    }
}

/// `p0`, `p1` ... with equally many releases. Each release needs its three neighbours in a window around its own age, so
/// the newest do not all fit together and the solver has to step back here and there.
fn made(projects: usize, releases: usize) -> Index {
    let mut index = Index::new();
    for project in 0..projects {
        for release in 0..releases {
            let mut dist = Dist::wheel();
            for neighbour in project + 1..(project + 4).min(projects) {
                let most = release + releases / 4 + 1;
                let least = release.saturating_sub(releases / 2);
                dist = dist.requires(&format!("p{neighbour}>=1.{least},<1.{most}"));
            }
            index = index.release(&format!("p{project}"), &format!("1.{release}"), dist);
        }
    }
    index
}
