//! The shared libraries of a folder of installed packages: what they ask for, and what of it is there.

use std::collections::{BTreeMap, BTreeSet};

use cuda_lock_constraint::audit::{Code, FactText, Finding, Severity, Verdict};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::library;
use cuda_lock_formats::input::{Damaged, Entry, Input, Kind, Library, Unresolved, unresolved};

use super::ask::Asked;

/// What the source of a fact is called.
const SECTION: &str = "dynamic section of the file";

/// Corrects a verdict by what the files say: adds what is missing, and drops what is there after all.
pub fn judge(input: &Input, asked: &Asked, verdict: &mut Verdict) {
    if input.kind != Kind::SitePackages {
        return;
    }
    damaged(input, asked, verdict);
    // The libraries of an image are not in the folder.
    if asked.question.image.is_some() {
        return;
    }
    let missing: Vec<Unresolved<'_>> =
        unresolved(&input.libraries).into_iter().filter(|found| is_of_cuda(found.soname)).collect();
    let lacking: BTreeSet<Name> = missing.iter().filter_map(|m| owner(input, m.library)).collect();
    let served: BTreeSet<Name> = input
        .libraries
        .iter()
        .filter(|found| found.needed.iter().any(|name| is_of_cuda(name)))
        .filter_map(|found| owner(input, found))
        .filter(|name| !lacking.contains(name))
        .collect();
    // A rule that goes by names of wheels is not heard where every file is there.
    verdict.findings.retain(|finding| {
        finding.code != Code::LibraryMissing
            || finding.package.is_none_or(|package| !served.contains(&package))
    });
    let mut groups: BTreeMap<(Option<Name>, Code), Vec<&Unresolved<'_>>> = BTreeMap::new();
    for found in &missing {
        groups.entry((owner(input, found.library), code(found))).or_default().push(found);
    }
    for ((package, code), found) in groups {
        let facts = facts(&found);
        let speaks_of = |finding: &Finding| {
            let mut texts = finding.facts.iter().map(|fact| fact.text.as_str());
            texts.any(|text| found.iter().any(|one| text.contains(one.soname)))
        };
        let known = verdict.findings.iter_mut().find(|finding| {
            finding.code == code
                && package.is_some()
                && finding.package == package
                && speaks_of(finding)
        });
        match known {
            // What depended on something unknown is seen now.
            Some(finding) => {
                finding.severity = Severity::Error;
                finding.facts.extend(facts);
            }
            None => verdict.findings.push(lacks(asked, package, code, &found, facts)),
        }
    }
}

/// Whether a name is one of NVIDIA's libraries that come with wheels or the toolkit; those of the driver do not.
fn is_of_cuda(soname: &str) -> bool {
    !library::suppliers(soname).is_empty() || stem_is_supplied(soname)
}

/// Whether another version of the library is supplied by a wheel: `libcublas.so.11` is known by `libcublas.so.12`.
fn stem_is_supplied(soname: &str) -> bool {
    let Some((stem, version)) = soname.split_once(".so.") else { return false };
    let major: Option<u32> = version.split('.').next().and_then(|text| text.parse().ok());
    let Some(major) = major else { return false };
    // Neighbours in both directions: majors of CUDA, of cuDNN and of the single libraries.
    let near = major.saturating_sub(3)..=major.saturating_add(3);
    near.into_iter().any(|major| {
        let names = [format!("{stem}.so.{major}"), format!("{stem}.so.{major}.0")];
        names.iter().any(|name| !library::suppliers(name).is_empty())
    })
}

/// The distribution that a library belongs to: by RECORD, else by the name of its folder.
fn owner(input: &Input, library: &Library) -> Option<Name> {
    if let Some(entry) = library.owner.and_then(|place| input.entries.get(place)) {
        return entry.name;
    }
    let folder = Name::new(library.path.split('/').next()?).ok()?;
    input.entries.iter().filter_map(|entry| entry.name).find(|name| *name == folder)
}

fn code(found: &Unresolved<'_>) -> Code {
    match found.others.first() {
        None => Code::LibraryMissing,
        Some(_) if found.soname.starts_with("libcudnn") => Code::CudnnMismatch,
        Some(_) => Code::CudaMajorMismatch,
    }
}

fn facts(found: &[&Unresolved<'_>]) -> Vec<FactText> {
    let mut by_library: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in found {
        by_library.entry(&one.library.path).or_default().push(one.soname);
    }
    by_library
        .into_iter()
        .map(|(path, names)| {
            FactText::new(format!("{path} asks for {}", names.join(", ")), SECTION)
        })
        .collect()
}

/// Names of TensorRT: only its own provider asks for them.
fn is_optional(soname: &str) -> bool {
    soname.starts_with("libnvinfer") || soname.starts_with("libnvonnxparser")
}

fn lacks(
    asked: &Asked,
    package: Option<Name>,
    code: Code,
    found: &[&Unresolved<'_>],
    mut facts: Vec<FactText>,
) -> Finding {
    let names: BTreeSet<&str> = found.iter().map(|one| one.soname).collect();
    let others: BTreeSet<&str> = found.iter().flat_map(|one| one.others.iter().copied()).collect();
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    let subject = match package {
        Some(name) => asked_title(asked, name),
        None => found.first().map(|one| one.library.path.clone()).unwrap_or_default(),
    };
    let message = if others.is_empty() {
        format!("{subject} asks for libraries that are not installed: {}", list(&names))
    } else {
        format!("{subject} asks for {}, and {} is installed", list(&names), list(&others))
    };
    facts.extend(
        others.iter().map(|name| FactText::new(format!("{name} is installed"), "the folder")),
    );
    let suppliers: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| library::suppliers(name).into_iter().next())
        .map(|name| name.as_str())
        .collect();
    let fix = (!suppliers.is_empty()).then(|| format!("install {}", list(&suppliers)));
    let optional = names.iter().all(|name| is_optional(name));
    let first = names.iter().next().copied().unwrap_or_default();
    Finding {
        code,
        severity: if optional { Severity::Note } else { Severity::Error },
        package,
        message,
        line: package.and_then(|name| line_of(asked, name)),
        facts,
        symptom: Some(format!(
            "{first}: cannot open shared object file: No such file or directory"
        )),
        fix,
    }
}

fn line_of(asked: &Asked, name: Name) -> Option<usize> {
    asked.question.lines.iter().position(|line| line.requirement.name == name)
}

fn asked_title(asked: &Asked, name: Name) -> String {
    let line = line_of(asked, name).and_then(|line| asked.question.lines.get(line));
    let version = line.and_then(|line| line.requirement.specifiers.iter().next());
    version.map_or_else(|| name.to_string(), |pin| format!("{name} {}", pin.version()))
}

/// Files that are gone, or that another distribution wrote over.
fn damaged(input: &Input, asked: &Asked, verdict: &mut Verdict) {
    let mut groups: BTreeMap<(usize, bool), Vec<&Damaged>> = BTreeMap::new();
    for found in &input.damaged {
        // A file of another size that nobody else lists was changed on purpose: stripped, or patched.
        if found.gone || found.rival.is_some() {
            groups.entry((found.entry, found.gone)).or_default().push(found);
        }
    }
    for ((entry, gone), files) in groups {
        let Some(entry) = input.entries.get(entry) else { continue };
        let title = title(entry);
        let rival = files.iter().find_map(|file| input.entries.get(file.rival?)).map(self::title);
        let (first, count) = (files.first().map_or("", |file| file.path.as_str()), files.len());
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        let (code, text) = match (gone, &rival) {
            (true, _) => {
                (Code::LibraryMissing, format!("{title} installed {first}{more}, which is gone"))
            }
            (false, rival) => {
                let rival = rival.clone().unwrap_or_default();
                (Code::ModuleClash, format!("{rival} wrote over {first}{more} of {title}"))
            }
        };
        let known = verdict.findings.iter_mut().find(|finding| {
            finding.code == code && code == Code::ModuleClash && finding.message.contains(&title)
        });
        let fact = FactText::new(text.clone(), "RECORD");
        if let Some(finding) = known {
            finding.facts.push(fact);
            continue;
        }
        verdict.findings.push(Finding {
            code,
            severity: Severity::Error,
            package: entry.name,
            message: text,
            line: entry.name.and_then(|name| line_of(asked, name)),
            facts: vec![fact],
            symptom: None,
            fix: Some(format!(
                "pip install --force-reinstall --no-deps {}=={}",
                entry.raw_name,
                entry.locked.clone().unwrap_or_default()
            )),
        });
    }
}

fn title(entry: &Entry) -> String {
    format!("{} {}", entry.raw_name, entry.locked.as_deref().unwrap_or_default())
}
