//! `cuda-lock probe`: this machine as the `[machine]` of an env.toml.

use std::fmt::Write as _;

use cuda_lock_constraint::machine::{Gpu, Libc};
use cuda_lock_constraint::rules::products::find_gpu;

use crate::detect::Seen;

/// What was seen as that table. A key that could not be seen is left out: it is then not known, and nothing is judged by it.
#[must_use]
pub fn table(seen: &Seen) -> String {
    let mut out = String::from("[machine]\n");
    let mut add = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    if let Some(platform) = seen.platform {
        add("platform", quoted(platform.as_str()));
    }
    match &seen.libc {
        Some(Libc::Glibc(version)) => add("glibc", quoted(version.as_str())),
        Some(Libc::Musl(version)) => add("musl", quoted(version.as_str())),
        None => {}
    }
    if let Some(driver) = &seen.driver {
        add("driver", quoted(driver.as_str()));
    }
    if !seen.gpus.is_empty() {
        let names: Vec<String> = seen.gpus.iter().map(|gpu| quoted(written(gpu))).collect();
        add("gpus", format!("[{}]", names.join(", ")));
    }
    if let Some(python) = &seen.python {
        let _ = writeln!(out, "\n# [environment]\n# python = \"{python}\"");
    }
    out
}

/// The name of a GPU that env.toml understands, else its compute capability.
fn written(gpu: &Gpu) -> &str {
    let known = find_gpu(&gpu.name).is_ok_and(|known| known.capability == gpu.capability);
    if known { &gpu.name } else { gpu.capability.as_str() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_lock_constraint::machine::Platform;

    #[test]
    fn what_was_seen_is_an_env_toml() {
        let gpu = |name: &str| find_gpu(name).expect("known");
        let seen = Seen {
            platform: Some(Platform::LinuxX86_64),
            libc: Some(Libc::Glibc("2.35".parse().expect("valid"))),
            driver: Some("535.104.05".parse().expect("valid")),
            gpus: vec![gpu("RTX 3090"), Gpu { name: "Unheard Of".to_owned(), ..gpu("9.0") }],
            python: Some("3.11.7".parse().expect("valid")),
            ..Seen::default()
        };
        assert_eq!(
            table(&seen),
            "[machine]\nplatform = \"linux-x86_64\"\nglibc = \"2.35\"\ndriver = \"535.104.05\"\ngpus = [\"RTX 3090\", \"9.0\"]\n\n# [environment]\n# python = \"3.11.7\"\n"
        );
        let text = format!(
            "{}\n[environment]\nname = \"x\"\npython = \"3.11\"\ndependencies = [\"x\"]\n",
            table(&seen)
        );
        let read = cuda_lock_formats::manifest::Manifest::parse_bytes(text.as_bytes(), "env.toml");
        assert!(read.is_ok(), "{text}");
    }
}
