//! Fetches projects and what their newest wheels need, as a solver would, and says how long that took:
//!
//! `cargo run --example crawl -- https://index.example/simple/ CACHE_DIR online torch numpy`
//!
//! Run it twice to see what the cache does; `offline` and `refresh` instead of `online` show the other modes. Markers are
//! not evaluated: what is needed only with an extra is left out, everything else is followed. `--pins FILE` names a
//! requirements.txt: then only the projects and versions in it are looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use cuda_lock_constraint::catalog::{Catalog, File, Project};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Fetcher, FetcherConfig, Mode, Silent, SourceConfig, SourceFormat};

const SOURCE: SourceId = SourceId(0);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url: url::Url = arguments.next().ok_or("the URL of an index is missing")?.parse()?;
    let cache = arguments.next().ok_or("the cache folder is missing")?;
    let mode = match arguments.next().as_deref() {
        Some("online") => Mode::Online,
        Some("offline") => Mode::Offline,
        Some("refresh") => Mode::Refresh,
        _ => return Err("the mode is online, offline or refresh".into()),
    };
    let (mut roots, mut pins) = (Vec::new(), BTreeMap::new());
    while let Some(argument) = arguments.next() {
        if argument == "--pins" {
            let text = std::fs::read_to_string(arguments.next().unwrap_or_default())?;
            for (name, version) in text.lines().filter_map(|line| line.trim().split_once("==")) {
                let name = name.split('[').next().unwrap_or_default();
                pins.insert(Name::new(name)?, version.parse::<pep440_rs::Version>()?);
            }
        } else {
            roots.push(Name::new(&argument)?);
        }
    }

    let started = Instant::now();
    let source = SourceConfig {
        id: SOURCE,
        name: "index".to_owned(),
        url: url.into(),
        format: SourceFormat::Simple,
        forbidden_means_absent: false,
    };
    let mut config = FetcherConfig::new(vec![source]).with_environment();
    config.cache_dir = Some(cache.into());
    config.mode = mode;
    let fetcher = Fetcher::new(config, Arc::new(Silent))?;
    let (projects, read) = crawl(&fetcher, roots, &pins)?;
    let answered = started.elapsed();
    let stats = fetcher.stats();
    drop(fetcher);
    let written = started.elapsed();
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{projects} projects, {read} METADATA in {answered:?}, cache written after {written:?}"
    )?;
    writeln!(out, "{stats:?}")?;
    Ok(())
}

fn crawl(
    fetcher: &Fetcher,
    roots: Vec<Name>,
    pins: &BTreeMap<Name, pep440_rs::Version>,
) -> Result<(usize, usize), Box<dyn std::error::Error>> {
    let mut seen: BTreeSet<Name> = roots.iter().copied().collect();
    let (mut level, mut read) = (roots, 0);
    while !level.is_empty() {
        for name in &level {
            fetcher.expect_project(SOURCE, *name, Box::new(|_| {}));
        }
        let mut files: Vec<(Name, File)> = Vec::new();
        for name in &level {
            let Some(project) = fetcher.project(SOURCE, *name)? else { continue };
            if let Some(file) = wheel(&project, pins.get(name)) {
                fetcher.expect_metadata(SOURCE, *name, &file, Box::new(|_| {}));
                files.push((*name, file));
            }
        }
        level.clear();
        for (name, file) in files {
            let metadata = fetcher.metadata(SOURCE, name, &file)?;
            read += 1;
            for needed in metadata.requires_dist.iter().filter(|text| !text.contains("extra ==")) {
                let end = needed.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
                let needed = needed.get(..end.unwrap_or(needed.len())).unwrap_or_default();
                let wanted = |name: &Name| pins.is_empty() || pins.contains_key(name);
                level.extend(
                    Name::new(needed).ok().filter(wanted).filter(|name| seen.insert(*name)),
                );
            }
        }
    }
    Ok((seen.len(), read))
}

/// A wheel of the version, or of the newest final one; one for Linux on x86-64 if there is such.
fn wheel(project: &Project, version: Option<&pep440_rs::Version>) -> Option<File> {
    let index = match version {
        Some(version) => project.versions.binary_search(version).ok()?,
        None => project.versions.iter().rposition(|version| !version.any_prerelease())?,
    };
    let fits = |file: &File| {
        let name = &file.filename;
        name.ends_with("any.whl") || name.contains("linux") && name.ends_with("x86_64.whl")
    };
    let rank = |file: &File| {
        (!fits(file), !file.filename.contains("cp311"), file.filename.contains("musl"))
    };
    let wheels =
        project.files.files(index).into_iter().filter(|file| file.filename.ends_with(".whl"));
    wheels.min_by_key(rank)
}
