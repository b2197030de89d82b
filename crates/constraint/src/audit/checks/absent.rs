//! Lines for which there is no build, and why.

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding, Severity};
use crate::audit::installer::known::{self, Standing};
use crate::audit::installer::{Missing, Unfit};
use crate::audit::question::LocationFault;
use crate::audit::sink::Sink;
use crate::machine::{Brand, Platform};
use crate::name::Name;
use crate::rules::torch::backend_cuda;
use crate::rules::{broken, index};
use crate::version::{DistVersion, local_label, without_upper_bounds};
use crate::wheel::{ReleaseFit, Why};

/// What is asked for and not there.
pub(in crate::audit) fn missing(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (name, line, why) in &case.installed.missing {
        if let Some(finding) = off_platform(case, *name, *line, why) {
            sink.push(finding);
        }
        let version = pinned(case, *name, *line);
        let found = match why {
            Missing::Project => Some(not_found(case, *name, version.as_ref(), None)),
            Missing::Version(newest) => {
                Some(not_found(case, *name, version.as_ref(), newest.as_ref()))
            }
            Missing::Unfit(build) => {
                let unfit = build.unfit.as_ref();
                unfit.and_then(|unfit| misfit(case, *name, &build.version, unfit))
            }
        };
        if let Some(finding) = found {
            sink.push(finding.about(*name).at(*line));
        }
    }
}

/// Wheels that lines name by URL or path, and that do not fit the target.
pub(in crate::audit) fn misnamed_wheels(case: &Case<'_>, sink: &mut Sink<'_>) {
    for misfit in &case.misnamed {
        let (file, why) = (&misfit.file, &misfit.why);
        let code = code_of(why);
        if code == Code::PythonUnsupported && !case.question.python_known {
            continue;
        }
        let finding = Finding::new(code, format!("{file} cannot be installed: {why}"))
            .about(misfit.name)
            .at(Some(misfit.line))
            .because(FactText::new(format!("{file}: {why}"), "the file name of the wheel"))
            .otherwise(format!("ERROR: {file} is not a supported wheel on this platform."))
            .advise("take the wheel for this Python and platform");
        sink.push(finding);
    }
}

/// Requirements that point at what is no wheel, or at a folder that is not here.
pub(in crate::audit) fn bad_locations(case: &Case<'_>, sink: &mut Sink<'_>) {
    for bad in &case.question.surroundings.bad_locations {
        let (shown, target) = (&bad.shown, &bad.target);
        let finding = match bad.fault {
            LocationFault::NoWheelName => Finding::new(
                Code::PlatformUnsupported,
                format!("{shown} is not the name of a wheel that any Python accepts"),
            ),
            LocationFault::OfAnotherMachine => Finding::new(
                Code::Syntax,
                format!(
                    "{shown} points at {target}, which is a folder of the machine that wrote the file"
                ),
            )
            .advise("write NAME==VERSION; `pip list --format=freeze` does"),
        };
        sink.push(finding.at_place(bad.place));
    }
}

/// The one version that a line pins for `name`.
fn pinned(case: &Case<'_>, name: Name, line: Option<usize>) -> Option<Pep440> {
    let lines = &case.question.lines;
    let own = line.and_then(|line| lines.get(line)).filter(|line| line.requirement.name == name);
    let line = own.or_else(|| lines.iter().find(|line| line.requirement.name == name))?;
    line.requirement.pinned().cloned()
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
    let mut finding = Finding::new(Code::VersionNotFound, format!("{what} is not on {asked}"))
        .because(FactText::new(format!("{what} is not listed"), format!("index pages of {asked}")))
        .otherwise(format!("ERROR: No matching distribution found for {}", spelled(name, version)));
    finding.fix = newest.map(|newest| format!("the newest release there is {newest}"));
    let of_question = case.question.indexes.iter().filter_map(|id| case.question.source(*id));
    let names: Vec<&str> = of_question.map(|source| source.name.as_str()).collect();
    if let [only] = names.as_slice()
        && let Some(fact) = index::does_not_list(only, name)
    {
        finding.code = Code::IndexMissing;
        finding.message = format!("{what} is not on {only}: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        return finding
            .advise("use --extra-index-url instead of --index-url, so that PyPI is asked as well");
    }
    let Some(version) = version else { return finding };
    if let Some(fact) = names.iter().find_map(|index| index::nightly_gone(index, version)) {
        finding.message = format!("{what} cannot be found any more: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        return finding.advise("take a newer nightly build, or the release");
    }
    if let Some(fact) = broken::deleted(name, version) {
        finding.code = Code::of(fact.rule);
        finding.message = format!("{what} cannot be found: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        return finding;
    }
    if let Some(found) = never_built(case, name, version, &finding) {
        return found;
    }
    if let Some(label) = local_label(version) {
        return labelled(case, name, version, &label, finding);
    }
    if let Some(fact) = index::only_there(name, version) {
        finding.code = Code::IndexMissing;
        finding.message = format!("{what} is not on {asked}: {}", fact.text);
        finding.facts = vec![FactText::of(&fact)];
        return finding.unless(Doubt::IndexElsewhere);
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

/// A release that was not built for the backend of an index that the file names.
fn never_built(
    case: &Case<'_>,
    name: Name,
    version: &Pep440,
    finding: &Finding,
) -> Option<Finding> {
    let platform = case.question.target.platform;
    let label = local_label(version);
    let backend = case.question.indexes.iter().find_map(|id| {
        let backend = case.question.backend(*id)?;
        let same = label.as_deref().is_none_or(|label| label == backend);
        (same && case.picker.standing(name, version, backend) == Standing::Never).then_some(backend)
    })?;
    let public = version.clone().without_local();
    let mut finding = finding.clone();
    finding.code = Code::IndexMissing;
    finding.message = format!("{name} {public} was not built for {backend} on {platform}");
    finding.facts = vec![FactText::new(
        format!("the index of {backend} has no {name} {public}"),
        "builds that PyTorch has published",
    )];
    Some(finding.advise(builds_text(version, platform)))
}

/// A version with a local label, which no index of the file has.
fn labelled(
    case: &Case<'_>,
    name: Name,
    version: &Pep440,
    label: &str,
    mut finding: Finding,
) -> Finding {
    let (what, asked) = (format!("{name} {version}"), indexes(case));
    finding.code = Code::IndexMissing;
    finding.message =
        format!("{what} has a local label, and no index of the file has such a build ({asked})");
    finding.facts = vec![FactText::new(
        "PyPI takes no versions with a local label",
        "PEP 440, local version identifiers",
    )];
    let known = backend_cuda(label).and_then(|_| index::pytorch(label));
    let standing = case.picker.standing(name, version, label);
    finding.fix = Some(match known {
        Some(_) if standing == Standing::Never => {
            format!(
                "there is no {label} build of {name} {} either",
                version.clone().without_local()
            )
        }
        Some(known) => format!("add --extra-index-url {}", known.url.trim_end_matches('/')),
        None => "name the index that has it, or pin the version without its label".to_owned(),
    });
    if standing == Standing::There && !case.question.surroundings.names_index {
        finding.message = format!(
            "{what} is on PyTorch's index for {label}, and the file names no index: the installer must be told of it elsewhere"
        );
        return finding.unless(Doubt::IndexElsewhere);
    }
    finding
}

/// A version that is not there, of a project that had no files for this platform at that time: that is the reason.
fn off_platform(
    case: &Case<'_>,
    name: Name,
    line: Option<usize>,
    why: &Missing,
) -> Option<Finding> {
    let version = pinned(case, name, line)?;
    if !matches!(why, Missing::Version(_)) || local_label(&version).is_some() {
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
    let mut finding = Finding::new(
        Code::PlatformUnsupported,
        format!("{name} {version} has no file for {platform}: {since}"),
    )
    .about(name)
    .at(line)
    .because(FactText::new(
        format!("{name} {known}: {why}"),
        format!("file names of {name} {known}"),
    ))
    .otherwise(format!("ERROR: No matching distribution found for {name}"));
    finding.fix = jetson(case);
    Some(finding)
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
    let python = case.question.target.asked_python();
    let mut doubt = Doubt::None;
    let (code, message, fact) = match unfit {
        // Whoever locks such a release has decided against its guess about later Pythons.
        Unfit::Python(specifiers) if case.question.closed && only_too_new(specifiers, case) => {
            doubt = Doubt::Said(Severity::Warning);
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
            let target = format!("Python {python} on {}", case.question.target.platform);
            (code_of(why), format!("{title} has no file for {target}: {why}"), fact)
        }
    };
    if code == Code::PythonUnsupported && !case.question.python_known {
        return None;
    }
    let symptom = format!("ERROR: No matching distribution found for {name}=={build}");
    Some(Finding::new(code, message).because(fact).otherwise(symptom).unless(doubt))
}

/// Whether nothing but an upper bound of a `Requires-Python` excludes the Python of the target.
fn only_too_new(specifiers: &str, case: &Case<'_>) -> bool {
    specifiers.parse().is_ok_and(|specifiers: VersionSpecifiers| {
        without_upper_bounds(&specifiers).contains(&case.question.target.python_version())
    })
}

/// The code of a file that does not fit.
fn code_of(why: &Why) -> Code {
    match why {
        Why::Python(_) | Why::Python2 | Why::Implementation | Why::FreeThreaded | Why::Gil => {
            Code::PythonUnsupported
        }
        Why::Glibc(_) => Code::GlibcTooOld,
        _ => Code::PlatformUnsupported,
    }
}
