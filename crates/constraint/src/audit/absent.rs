//! Lines for which there is no build, and why.

use pep440_rs::{Operator, Version as Pep440, VersionSpecifiers};

use super::finding::{FactText, Finding, Severity};
use super::judge::Case;
use super::known::{self, Standing};
use super::pick::{Missing, Unfit, label_of};
use super::table::Code;
use crate::machine::{Brand, Platform};
use crate::name::Name;
use crate::rules::torch::backend_cuda;
use crate::rules::{broken, index, library};
use crate::version::{DistVersion, without_upper_bounds};
use crate::wheel::{ReleaseFit, Why};

/// Adds a finding for everything that is asked for and not there.
pub(super) fn judge(case: &mut Case<'_>) {
    let mut findings = Vec::new();
    for (name, line, why) in &case.installed.missing {
        findings.extend(off_platform(case, *name, *line, why));
        let version = pinned(case, *name, *line);
        findings.extend(
            match why {
                Missing::Project => Some(not_found(case, *name, version.as_ref(), None)),
                Missing::Version(newest) => {
                    Some(not_found(case, *name, version.as_ref(), newest.as_ref()))
                }
                Missing::Unfit(build) => build
                    .unfit
                    .as_ref()
                    .and_then(|unfit| misfit(case, *name, &build.version, unfit)),
            }
            .map(|mut finding| {
                finding.line = *line;
                finding
            }),
        );
    }
    case.findings.extend(findings);
}

/// The one version that a line pins for `name`.
fn pinned(case: &Case<'_>, name: Name, line: Option<usize>) -> Option<Pep440> {
    let lines = &case.question.lines;
    let own = line.and_then(|line| lines.get(line)).filter(|line| line.requirement.name == name);
    let line = own.or_else(|| lines.iter().find(|line| line.requirement.name == name))?;
    let exact = |operator: &Operator| matches!(operator, Operator::Equal | Operator::ExactEqual);
    line.requirement.specifiers.iter().find(|s| exact(s.operator())).map(|s| s.version().clone())
}

fn indexes(case: &Case<'_>) -> String {
    let names = case.question.indexes.iter().filter_map(|id| case.question.source(*id));
    let names: Vec<&str> = names.map(|source| source.name.as_str()).collect();
    if names.is_empty() { "no index".to_owned() } else { names.join(", ") }
}

fn not_found(
    case: &Case<'_>,
    name: Name,
    version: Option<&Pep440>,
    newest: Option<&Pep440>,
) -> Finding {
    let what = version.map_or_else(|| name.to_string(), |version| format!("{name} {version}"));
    let asked = indexes(case);
    let mut finding = Finding {
        code: Code::VersionNotFound,
        severity: Severity::Error,
        package: Some(name),
        message: format!("{what} is not on {asked}"),
        line: None,
        facts: vec![FactText::new(
            format!("{what} is not listed"),
            format!("index pages of {asked}"),
        )],
        symptom: Some(format!(
            "ERROR: No matching distribution found for {}",
            spelled(name, version)
        )),
        fix: newest.map(|newest| format!("the newest release there is {newest}")),
    };
    let of_question = case.question.indexes.iter().filter_map(|id| case.question.source(*id));
    let names: Vec<&str> = of_question.map(|source| source.name.as_str()).collect();
    if let [only] = names.as_slice()
        && let Some(fact) = index::does_not_list(only, name)
    {
        finding.code = Code::IndexMissing;
        finding.message = format!("{what} is not on {only}: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        finding.fix = Some(
            "use --extra-index-url instead of --index-url, so that PyPI is asked as well"
                .to_owned(),
        );
        return finding;
    }
    let Some(version) = version else { return finding };
    if let Some(fact) = names.iter().find_map(|index| index::nightly_gone(index, version)) {
        finding.message = format!("{what} cannot be found any more: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        finding.fix = Some("take a newer nightly build, or the release".to_owned());
        return finding;
    }
    if let Some(fact) = broken::deleted(name, version) {
        finding.code = Code::of(fact.rule);
        finding.message = format!("{what} cannot be found: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        return finding;
    }
    let platform = case.question.target.platform;
    let label = label_of(version);
    let never = case.question.indexes.iter().find_map(|id| {
        let backend = case.question.backend(*id)?;
        let same = label.as_deref().is_none_or(|label| label == backend);
        (same && case.picker.standing(name, version, backend) == Standing::Never).then_some(backend)
    });
    if let Some(backend) = never {
        finding.code = Code::IndexMissing;
        finding.message = format!(
            "{name} {} was not built for {backend} on {platform}",
            version.clone().without_local()
        );
        finding.facts = vec![FactText::new(
            format!("the index of {backend} has no {name} {}", version.clone().without_local()),
            "builds that PyTorch has published",
        )];
        finding.fix = Some(builds_text(version, platform));
        return finding;
    }
    if let Some(label) = label {
        finding.code = Code::IndexMissing;
        finding.message = format!(
            "{what} has a local label, and no index of the file has such a build ({asked})"
        );
        finding.facts = vec![FactText::new(
            "PyPI takes no versions with a local label",
            "PEP 440, local version identifiers",
        )];
        let known = backend_cuda(&label).and_then(|_| index::pytorch(&label));
        finding.fix = Some(match known {
            Some(_) if case.picker.standing(name, version, &label) == Standing::Never => {
                format!(
                    "there is no {label} build of {name} {} either",
                    version.clone().without_local()
                )
            }
            Some(known) => format!("add --extra-index-url {}", known.url.trim_end_matches('/')),
            None => "name the index that has it, or pin the version without its label".to_owned(),
        });
        let exists = case.picker.standing(name, version, &label) == Standing::There;
        if exists && !case.question.surroundings.names_index {
            finding.severity = unnamed_index(case);
            finding.message = format!(
                "{what} is on PyTorch's index for {label}, and the file names no index: the installer must be told of it elsewhere"
            );
        }
        return finding;
    }
    if let Some(fact) = index::only_there(name, version) {
        finding.code = Code::IndexMissing;
        finding.severity = unnamed_index(case);
        finding.message = format!("{what} is not on {asked}: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        return finding;
    }
    let elsewhere =
        case.picker.on_pypi(name).is_some_and(|project| project.versions.contains(version));
    if elsewhere {
        finding.code = Code::IndexMissing;
        finding.message = format!("{what} is on PyPI, and the file asks only {asked}");
        finding.fix = Some("use --extra-index-url instead of --index-url".to_owned());
    }
    finding
}

/// How much it counts that a build exists and the file does not say where. A file that records what is installed need not
/// say so, and with a driver the question is whether it runs; a file that is to be installed as it stands must.
fn unnamed_index(case: &Case<'_>) -> Severity {
    let question = case.question;
    if question.closed || question.machine.driver.is_some() {
        return Severity::Note;
    }
    // Nobody writes these down by hand: they come from a list of what is installed.
    let recorded = question.lines.iter().any(|line| {
        let name = line.requirement.name;
        library::is_library(name) || name.as_str() == "triton"
    });
    let has_gpu = question.machine.gpus.is_some() || !question.unknown_gpus.is_empty();
    if recorded || has_gpu || question.surroundings.shell {
        Severity::Warning
    } else {
        Severity::Error
    }
}

/// A version that is not there, of a project that had no files for this platform at that time: that is the reason.
fn off_platform(
    case: &Case<'_>,
    name: Name,
    line: Option<usize>,
    why: &Missing,
) -> Option<Finding> {
    let version = pinned(case, name, line)?;
    if !matches!(why, Missing::Version(_)) || label_of(&version).is_some() {
        return None;
    }
    let project = case.picker.on_pypi(name)?;
    let at = project.versions.binary_search(&version).unwrap_or_else(|place| place);
    // The release before, or the first one of all.
    let nearest = at.checked_sub(1).unwrap_or(at);
    let tags = case.picker.tags().with_plain_linux(true);
    let misfit = |index: usize| -> Option<Why> {
        let fit = ReleaseFit::of(&project.files.files(index), &tags);
        if fit.best.is_some() || fit.sdist.is_some() {
            return None;
        }
        let (_, why) = fit.nearest_miss()?;
        matches!(why, Why::Platform(_)).then_some(why)
    };
    let why = misfit(nearest)?;
    let fits = |index: &usize| {
        let fit = ReleaseFit::of(&project.files.files(*index), &tags);
        fit.rejected.iter().all(|(_, why)| !matches!(why, Why::Platform(_))) || fit.best.is_some()
    };
    let first = (nearest..project.versions.len()).find(fits).and_then(|i| project.versions.get(i));
    let platform = case.question.target.platform;
    let since = first.map_or_else(
        || format!("no release of {name} has files for {platform}"),
        |first| format!("{name} has files for {platform} since {first}"),
    );
    let known = project.versions.get(nearest)?;
    Some(Finding {
        code: Code::PlatformUnsupported,
        severity: Severity::Error,
        package: Some(name),
        message: format!("{name} {version} has no file for {platform}: {since}"),
        line,
        facts: vec![FactText::new(
            format!("{name} {known}: {why}"),
            format!("file names of {name} {known}"),
        )],
        symptom: Some(format!("ERROR: No matching distribution found for {name}")),
        fix: jetson(case),
    })
}

/// Where builds for a Jetson are.
fn jetson(case: &Case<'_>) -> Option<String> {
    let is_jetson =
        case.question.machine.gpus.iter().flatten().any(|gpu| gpu.brand == Brand::Jetson);
    is_jetson.then(|| "take a wheel that is built for the JetPack of the device".to_owned())
}

fn spelled(name: Name, version: Option<&Pep440>) -> String {
    version.map_or_else(|| name.to_string(), |version| format!("{name}=={version}"))
}

/// The backends that a release of torch was built for.
fn builds_text(version: &Pep440, platform: Platform) -> String {
    let release = version.only_release();
    let mut backends: Vec<&str> = index::pytorch_backends().iter().map(String::as_str).collect();
    backends.retain(|backend| known::torch(&release, backend, platform) == Standing::There);
    if backends.is_empty() {
        "take another release".to_owned()
    } else {
        format!("torch {release} was built for {}", backends.join(", "))
    }
}

fn misfit(case: &Case<'_>, name: Name, build: &DistVersion, unfit: &Unfit) -> Option<Finding> {
    let title = format!("{name} {build}");
    let python = &case.question.target.python;
    let mut severity = Severity::Error;
    let (code, message, fact) = match unfit {
        // Whoever locks such a release has decided against its guess about later Pythons.
        Unfit::Python(specifiers) if case.question.closed && only_too_new(specifiers, case) => {
            severity = Severity::Warning;
            (
                Code::PythonUnsupported,
                format!(
                    "{title} says that it is for Python {specifiers}; pip will not install it on {python}"
                ),
                FactText::new(
                    format!("{title} requires Python {specifiers}"),
                    format!("Requires-Python of {title}"),
                ),
            )
        }
        Unfit::Python(specifiers) => (
            Code::PythonUnsupported,
            format!("{title} needs Python {specifiers}, and this is {python}"),
            FactText::new(
                format!("{title} requires Python {specifiers}"),
                format!("Requires-Python of {title}"),
            ),
        ),
        Unfit::File(file, why) => {
            let fact = FactText::new(format!("{file}: {why}"), format!("file names of {title}"));
            let code = match why {
                Why::Python(_)
                | Why::Python2
                | Why::Implementation
                | Why::FreeThreaded
                | Why::Gil => Code::PythonUnsupported,
                Why::Glibc(_) => Code::GlibcTooOld,
                _ => Code::PlatformUnsupported,
            };
            let target = format!("Python {python} on {}", case.question.target.platform);
            (code, format!("{title} has no file for {target}: {why}"), fact)
        }
    };
    if code == Code::PythonUnsupported && !case.question.python_known {
        return None;
    }
    Some(Finding {
        code,
        severity,
        package: Some(name),
        message,
        line: None,
        facts: vec![fact],
        symptom: Some(format!("ERROR: No matching distribution found for {name}=={build}")),
        fix: None,
    })
}

/// Whether nothing but an upper bound of a `Requires-Python` excludes the Python of the target.
fn only_too_new(specifiers: &str, case: &Case<'_>) -> bool {
    specifiers.parse().is_ok_and(|specifiers: VersionSpecifiers| {
        without_upper_bounds(&specifiers).contains(&case.question.target.python_version())
    })
}

/// The finding for a wheel that does not fit the target.
pub(super) fn misfit_of_wheel(
    case_python_known: bool,
    file: &str,
    why: &Why,
) -> Option<(Code, String)> {
    let code = match why {
        Why::Python(_) | Why::Python2 | Why::Implementation | Why::FreeThreaded | Why::Gil => {
            Code::PythonUnsupported
        }
        Why::Glibc(_) => Code::GlibcTooOld,
        _ => Code::PlatformUnsupported,
    };
    (code != Code::PythonUnsupported || case_python_known)
        .then(|| (code, format!("{file} cannot be installed: {why}")))
}
