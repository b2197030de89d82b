//! `cuda-lock audit`: would what files install run on that machine?

mod around;
mod ask;
mod indexes;
mod levels;
mod machine;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cuda_lock_constraint::audit::{FactText, Finding, Severity, Verdict, audit, find_code};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{FetcherConfig, Mode};
use cuda_lock_formats::input::{DiskLoader, Input, Level, ProblemCode, Span, read};

use crate::args::{Audit, AuditFormat};
use crate::exit::Exit;
use crate::fetching;
use crate::output::audit::{self as output, Checked, Report, Reported};
use crate::output::message;
use crate::output::progress::Progress;
use ask::{Asked, Noted, ask};
use indexes::Indexes;
use machine::Given;

/// Runs the command.
pub fn run(args: &Audit) -> Exit {
    if let Some(code) = &args.explain {
        return explain(code);
    }
    match judge(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn explain(code: &str) -> Exit {
    if let Some(row) = find_code(code) {
        output::line(row.page());
        return Exit::Ok;
    }
    message::error(format_args!("there is no code '{code}'"));
    message::help(format_args!("the codes are {}", levels::all_codes()));
    Exit::BadInput
}

/// A file that was read, with its environments.
struct ReadFile {
    input: Input,
    asked: Vec<Asked>,
}

fn judge(args: &Audit) -> Result<Exit, Exit> {
    let given = machine::given(args)?;
    let levels = levels::Levels::new(args, &given.settings)?;
    let mut indexes =
        Indexes::new(args.default_index.as_deref(), &args.only_index).map_err(|why| {
            message::error(why);
            Exit::BadInput
        })?;
    let mut files = Vec::new();
    for path in &args.files {
        let (bytes, name) = contents(path)?;
        let input = read(&bytes, &name, &DiskLoader);
        let asked = ask(&input, &given, &mut indexes);
        files.push(ReadFile { input, asked });
    }
    let progress = Arc::new(Progress::new(true));
    let fetcher = fetching::open(config(args, &indexes), &progress)?;
    let mut report = Report { machine: shown_machine(&given), ..Report::default() };
    for file in &mut files {
        report
            .sources
            .push(file.input.files.iter().map(|f| (f.name.clone(), Arc::clone(&f.text))).collect());
        let place = report.sources.len() - 1;
        problems(&file.input, place, &mut report);
        hashes(&file.input, place, &mut report);
        for asked in &mut file.asked {
            asked.question.sources.clone_from(&indexes.sources);
            asked.question.unasked.clone_from(&indexes.unasked);
            let verdict = audit(&asked.question, &*fetcher);
            gather(&file.input, asked, verdict, place, &mut report);
        }
    }
    progress.clear();
    fetcher.finish();
    levels.apply(&mut report);
    report.sort();
    let failed = report.findings.iter().any(|found| found.severity == Severity::Error);
    match args.format {
        AuditFormat::Text => output::text::print(&report),
        AuditFormat::Json => output::json::print(&report),
        AuditFormat::Sarif => output::sarif::print(&report),
        AuditFormat::Github => output::github::print(&report),
        AuditFormat::Markdown => output::markdown::print(&report),
    }
    Ok(if failed { Exit::No } else { Exit::Ok })
}

fn contents(path: &Path) -> Result<(Vec<u8>, String), Exit> {
    if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        return match std::io::stdin().lock().read_to_end(&mut bytes) {
            Ok(_) => Ok((bytes, "<stdin>".to_owned())),
            Err(why) => {
                message::error(format_args!("standard input: {why}"));
                Err(Exit::BadInput)
            }
        };
    }
    fs_err::read(path).map(|bytes| (bytes, path.display().to_string())).map_err(|why| {
        message::error(why);
        Exit::BadInput
    })
}

fn config(args: &Audit, indexes: &Indexes) -> FetcherConfig {
    let mut config = FetcherConfig::new(indexes.configs.clone());
    config.cache_dir.clone_from(&args.network.cache_dir);
    config.no_cache = args.network.no_cache;
    config.mode = match (args.network.offline, args.network.refresh) {
        (true, _) => Mode::Offline,
        (false, true) => Mode::Refresh,
        (false, false) => Mode::Online,
    };
    // An index that does not answer is said to be unchecked; nobody should wait long for that.
    config.patience.retries = 1;
    config.patience.connect = Duration::from_secs(5);
    config.with_environment()
}

/// What is wrong with the files as text.
fn problems(input: &Input, place: usize, report: &mut Report) {
    for problem in &input.problems {
        if problem.code == ProblemCode::Empty {
            report.unchecked.insert(problem.message.clone());
            continue;
        }
        let severity = match problem.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Note,
        };
        let finding = Finding {
            code: "syntax",
            severity,
            package: None,
            message: problem.message.clone(),
            line: None,
            facts: Vec::new(),
            symptom: None,
            fix: problem.help.clone(),
        };
        report.findings.push(reported(input, finding, Some(problem.span), place));
    }
}

/// Lines without a hash in a file that requires them.
fn hashes(input: &Input, place: usize, report: &mut Report) {
    for entry in &input.entries {
        let requires = input.indexes_of(entry).is_some_and(|options| options.require_hashes);
        if !requires
            || !entry.hashes.is_empty()
            || entry.origin != cuda_lock_formats::input::Origin::Pip
        {
            continue;
        }
        let finding = Finding {
            code: "hash-missing",
            severity: Severity::Error,
            package: entry.name,
            message: format!("{} has no --hash, and the file requires hashes", entry.raw_name),
            line: None,
            facts: vec![FactText::new(
                "as soon as one line has a hash, pip requires them of all",
                "pip documentation, secure installs",
            )],
            symptom: Some("ERROR: In --require-hashes mode, all requirements must have their versions pinned and hashed".to_owned()),
            fix: Some("add the hashes of this line, or remove all hashes".to_owned()),
        };
        report.findings.push(reported(input, finding, Some(entry.span), place));
    }
}

fn gather(input: &Input, asked: &Asked, verdict: Verdict, place: usize, report: &mut Report) {
    for Noted { code, message, help, severity, span } in &asked.noted {
        let finding = Finding {
            code,
            severity: *severity,
            package: None,
            message: message.clone(),
            line: None,
            facts: Vec::new(),
            symptom: None,
            fix: help.clone(),
        };
        report.findings.push(reported(input, finding, *span, place));
    }
    for finding in verdict.findings {
        let span = finding.line.and_then(|line| asked.spans.get(line)).copied();
        let image = || {
            let code = finding.code;
            let images = input.environments.iter().filter_map(|e| e.image.as_ref());
            (code == "image-driver").then(|| images.map(|image| image.span).next()).flatten()
        };
        let span = span.or_else(image);
        report.findings.push(reported(input, finding, span, place));
    }
    report.unchecked.extend(asked.unchecked.iter().cloned());
    report.unchecked.extend(verdict.unchecked);
    let names: BTreeSet<_> = verdict.checked.into_iter().collect();
    for (name, version) in names {
        let index = source_name(asked, version.source());
        report.checked.insert(Checked {
            file: report
                .sources
                .get(place)
                .and_then(|files| files.first())
                .map(|f| f.0.clone())
                .unwrap_or_default(),
            environment: asked.name.clone(),
            package: name,
            version: version.to_string(),
            index,
        });
    }
}

fn source_name(asked: &Asked, id: SourceId) -> Option<String> {
    asked.question.sources.get(usize::from(id.0)).map(|source| source.name.clone())
}

fn reported(input: &Input, finding: Finding, span: Option<Span>, place: usize) -> Reported {
    let position = span.map(|span| input.position(span));
    Reported {
        code: finding.code.to_owned(),
        severity: finding.severity,
        package: finding.package,
        message: finding.message,
        source: (place, span.map_or(0, |span| span.file)),
        span: span.map(|span| span.start..span.end),
        position: position.map(|position| (position.line, position.column)),
        facts: finding.facts,
        symptom: finding.symptom,
        fix: finding.fix,
    }
}

fn shown_machine(given: &Given) -> Vec<(&'static str, String)> {
    let mut shown = Vec::new();
    let mut add = |key, value: Option<String>| {
        if let Some(value) = value {
            shown.push((key, value));
        }
    };
    add("platform", given.platform.map(|platform| platform.to_string()));
    add("python", given.python.as_ref().map(ToString::to_string));
    add("driver", given.driver.as_ref().map(ToString::to_string));
    let names: Vec<String> = given
        .gpus
        .iter()
        .flatten()
        .map(|gpu| gpu.name.clone())
        .chain(given.unknown_gpus.iter().map(|(name, _)| name.clone()))
        .collect();
    add("gpus", (!names.is_empty()).then(|| names.join(", ")));
    add("image", given.image.as_ref().map(|image| image.tag.clone()));
    add(
        "glibc",
        match &given.libc {
            Some(cuda_lock_constraint::machine::Libc::Glibc(version)) => Some(version.to_string()),
            _ => None,
        },
    );
    shown
}
