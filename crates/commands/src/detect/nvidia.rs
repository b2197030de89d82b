//! The driver and the GPUs: from the kernel module's files, and from nvidia-smi.

use std::path::PathBuf;

use cuda_lock_constraint::version::SystemVersion;

use super::{Host, Seen};

/// Where the Windows driver puts nvidia-smi for Linux under it.
const WSL: &str = "usr/lib/wsl/lib/nvidia-smi";

pub(super) fn detect(host: &Host, seen: &mut Seen) {
    let module = std::fs::read_to_string(host.at("proc/driver/nvidia/version")).ok();
    seen.driver = module.as_deref().and_then(of_module);
    let program = host.program("nvidia-smi").or_else(|| wsl(host));
    let asked = match &program {
        Some(program) => ask(host, program, seen),
        None => false,
    };
    if !asked {
        listed(host, seen);
    }
    if seen.driver.is_none() && program.is_none() {
        seen.remarks.push(
            "no NVIDIA driver can be seen: there is no nvidia-smi and no /proc/driver/nvidia (in a container, start it with its GPUs)"
                .to_owned(),
        );
    } else if seen.gpus.is_empty() && seen.unknown_gpus.is_empty() {
        seen.remarks.push("no GPU can be seen".to_owned());
    }
    if program.is_some_and(|program| program == host.at(WSL)) {
        seen.remarks.push("this is WSL: the driver is that of Windows".to_owned());
    }
}

fn wsl(host: &Host) -> Option<PathBuf> {
    Some(host.at(WSL)).filter(|path| path.is_file())
}

/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …`: the first word that is a version.
fn of_module(text: &str) -> Option<SystemVersion> {
    let line = text.lines().find(|line| line.starts_with("NVRM version"))?;
    let is_version =
        |word: &&str| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    line.split_whitespace().find(is_version)?.parse().ok()
}

/// Asks nvidia-smi. Whether it answered with GPUs.
fn ask(host: &Host, program: &std::path::Path, seen: &mut Seen) -> bool {
    let query = |fields: &str| {
        host.run(program, &[&format!("--query-gpu={fields}"), "--format=csv,noheader"])
    };
    // Before driver 510 nvidia-smi does not know compute_cap, and says so.
    let answer = match query("driver_version,compute_cap,name") {
        Err(why) if why.contains("compute_cap") || why.contains("not a valid field") => {
            query("driver_version,name")
        }
        answer => answer,
    };
    let text = match answer {
        Ok(text) => text,
        Err(why) => {
            seen.remarks.push(format!("{} {why}", program.display()));
            return false;
        }
    };
    let mut found = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut fields = line.splitn(3, ',').map(str::trim);
        let (first, second, third) = (fields.next(), fields.next(), fields.next());
        let Some(driver) = first.and_then(|text| text.parse::<SystemVersion>().ok()) else {
            continue;
        };
        if seen.driver.is_none() {
            seen.driver = Some(driver);
        }
        let capability =
            second.filter(|text| text.contains('.')).and_then(|text| text.parse().ok());
        let name = if third.is_some() { third } else { second };
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            seen.add_gpu(name, capability);
            found = true;
        }
    }
    if !found {
        let said = text.lines().next().unwrap_or_default().trim();
        seen.remarks.push(format!("{} names no GPU: {said}", program.display()));
    }
    found
}

/// The GPUs that the kernel module lists.
fn listed(host: &Host, seen: &mut Seen) {
    let Ok(folders) = std::fs::read_dir(host.at("proc/driver/nvidia/gpus")) else { return };
    let mut files: Vec<PathBuf> =
        folders.filter_map(|entry| Some(entry.ok()?.path().join("information"))).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let model = text.lines().find_map(|line| line.strip_prefix("Model:"));
        if let Some(name) = model.map(str::trim).filter(|name| !name.is_empty()) {
            seen.add_gpu(name, None);
        }
    }
}
