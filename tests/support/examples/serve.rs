//! Serves a recording on loopback, for trying other clients by hand:
//! `cargo run -p cuda-lock-testing --example serve -- tests/recordings/index-2026-11-30.json.gz`.

use std::path::PathBuf;

use cuda_lock_testing::Index;

#[expect(clippy::print_stdout, reason = "the address is what the person at the terminal needs")]
fn main() {
    let path = std::env::args_os().nth(1).map(PathBuf::from).expect("the path of a recording");
    let server = Index::from_recording(&path).with(|features| features.gzip = true).serve();
    println!("{}", server.url());
    loop {
        std::thread::park();
    }
}
