//! A program that is given a limited time.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What a program said.
pub(super) struct Output {
    /// Both outputs.
    pub(super) text: String,
    /// How it ended, when not well.
    pub(super) failure: Option<String>,
}

/// What a program prints, on both outputs, when it ends within `patience`.
///
/// # Errors
/// Why it did not: in words that follow the name of the program.
pub(super) fn output(
    program: &Path,
    arguments: &[OsString],
    patience: Duration,
) -> Result<Output, String> {
    let deadline = Instant::now() + patience;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| format!("cannot be run: {why}"))?;
    let outputs = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let mut text = String::new();
    let late = || format!("did not answer within {} s", patience.as_secs_f32());
    for output in outputs.into_iter().flatten() {
        let left = deadline.saturating_duration_since(Instant::now());
        match output.recv_timeout(left) {
            Ok(part) => text.push_str(&part),
            Err(_) => {
                // It may be gone already; there is nobody to tell if it cannot be ended.
                let _ = child.kill();
                let _ = child.wait();
                return Err(late());
            }
        }
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(Output { text, failure: None }),
            Ok(Some(status)) => {
                let said = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let failure = Some(format!("ended with {status}: {}", said.trim()));
                return Ok(Output { text, failure });
            }
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(late());
            }
            Err(why) => return Err(why.to_string()),
        }
    }
}

/// Reads all of an output on a thread of its own: a grandchild may keep it open for good.
fn reader(mut output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
