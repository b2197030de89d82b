//! The C library: glibc says its version in its own file, musl when its loader is run.

use std::path::{Path, PathBuf};

use cuda_lock_constraint::machine::Libc;
use cuda_lock_constraint::version::SystemVersion;

use super::{Host, Seen};

/// What precedes the version in `libc.so.6` ("GNU C Library (...) stable release version 2.35.").
const MARK: &[u8] = b"release version ";

pub(super) fn detect(host: &Host, seen: &mut Seen) {
    let processor = std::env::consts::ARCH;
    if let Some(version) = files(host, processor).iter().find_map(|path| glibc(path)) {
        seen.libc = Some(Libc::Glibc(version));
        return;
    }
    let loader = host.at(&format!("lib/ld-musl-{processor}.so.1"));
    if loader.is_file() {
        // Run without a program it says what it is, and that this is no way to call it.
        let said = host.said(&loader, &[]).map(|output| output.text).unwrap_or_default();
        match musl(&said) {
            Some(version) => seen.libc = Some(Libc::Musl(version)),
            None => seen
                .remarks
                .push("the C library is musl, of a version that it does not say".to_owned()),
        }
        return;
    }
    let ldd = host.program("ldd").map(|ldd| host.run(&ldd, &["--version"]));
    if let Some(Ok(text)) = ldd {
        if text.contains("musl") {
            seen.libc = musl(&text).map(Libc::Musl);
        } else {
            let last = text.lines().next().and_then(|line| line.split_whitespace().last());
            seen.libc = last.and_then(|text| text.parse().ok()).map(Libc::Glibc);
        }
    }
    if seen.libc.is_none() {
        seen.remarks.push("the C library: no libc.so.6 was found in the usual places".to_owned());
    }
}

fn files(host: &Host, processor: &str) -> Vec<PathBuf> {
    let triple = format!("{processor}-linux-gnu");
    let folders = ["lib64", "usr/lib64", "lib", "usr/lib"];
    let own = [format!("lib/{triple}"), format!("usr/lib/{triple}")];
    let all = own.iter().map(String::as_str).chain(folders);
    all.map(|folder| host.at(folder).join("libc.so.6")).filter(|path| path.is_file()).collect()
}

fn glibc(path: &Path) -> Option<SystemVersion> {
    let bytes = std::fs::read(path).ok()?;
    let at = bytes.windows(MARK.len()).position(|window| window == MARK)?;
    let rest = bytes.get(at + MARK.len()..)?;
    let end = rest.iter().position(|b| !(b.is_ascii_digit() || *b == b'.'))?;
    let text = std::str::from_utf8(rest.get(..end)?).ok()?;
    text.trim_end_matches('.').parse().ok()
}

/// `Version 1.2.4` on a line of its own.
fn musl(text: &str) -> Option<SystemVersion> {
    text.lines().find_map(|line| line.trim().strip_prefix("Version ")?.trim().parse().ok())
}
