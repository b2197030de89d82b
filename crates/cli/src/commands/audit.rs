//! `cuda-lock audit`: would what files install run on that machine?

mod around;
mod ask;
mod folder;
mod gather;
mod indexes;
mod installed;
mod levels;
mod machine;
mod mend;
mod subject;
mod write;

use std::sync::Arc;
use std::time::Duration;

use cuda_lock_commands::{Failure, plan};
use cuda_lock_constraint::audit::{Code, Severity, audit};
use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::repair::look_ahead;
use cuda_lock_fetcher::{Fetcher, FetcherConfig};
use cuda_lock_formats::input::Input;

use crate::args::{Audit, AuditFormat};
use crate::exit::Exit;
use crate::output::audit::{self as output, Report};
use crate::output::progress::Progress;
use ask::{Asked, ask};
use indexes::Indexes;
use installed::WithInstalled;
use levels::Levels;
use machine::Given;
use mend::{Case, Mended};
use subject::{Overlay, Subject};

/// Runs the command.
///
/// # Errors
/// When there is no report.
pub fn run(args: &Audit) -> Result<Exit, Failure> {
    match &args.explain {
        Some(code) => explain(code),
        None => judge(args),
    }
}

fn explain(code: &str) -> Result<Exit, Failure> {
    let code = Code::find(code).ok_or_else(|| {
        Failure::argument(format!("there is no code '{code}'"))
            .with_help(format!("the codes are {}", levels::all_codes()))
    })?;
    output::line(code.markdown());
    Ok(Exit::Ok)
}

/// What all files of a run share.
struct Auditor<'a> {
    args: &'a Audit,
    given: &'a Given,
    levels: Levels,
    indexes: Indexes,
    catalog: Arc<dyn Catalog>,
}

fn judge(args: &Audit) -> Result<Exit, Failure> {
    write::check(args)?;
    let given = machine::given(args)?;
    let levels = Levels::new(args, &given.settings)?;
    let mut indexes =
        Indexes::new(args.default_index.as_deref(), &args.only_index).map_err(Failure::argument)?;
    indexes.reach(plan::known()?);
    let subjects = subject::all(args)?;
    let mut overlay = Overlay::default();
    let inputs: Vec<(Input, Vec<Asked>)> = subjects
        .iter()
        .map(|subject| {
            let input = subject.read(&overlay);
            let asked = ask(&input, &given, &mut indexes);
            (input, asked)
        })
        .collect();
    if !args.no_solve {
        indexes.add_known();
    }
    let progress = Arc::new(Progress::new(true));
    let fetcher = Fetcher::new(config(args, &indexes), progress.clone());
    let fetcher = Arc::new(fetcher.map_err(Failure::system)?);
    let mut catalog = WithInstalled::new(fetcher.clone());
    for (input, _) in &inputs {
        catalog.add(input, &mut indexes);
    }
    let catalog: Arc<dyn Catalog> = Arc::new(catalog);
    let mut auditor = Auditor { args, given: &given, levels, indexes, catalog };
    let mut report = Report { machine: given.shown(), ..Report::default() };
    report.unchecked.extend(given.remarks.iter().cloned());
    for (subject, (input, asked)) in subjects.iter().zip(inputs) {
        auditor.judge(subject, &mut overlay, (input, asked), &mut report);
    }
    if args.fix || args.diff {
        write::changes(&overlay, &mut report);
    }
    if args.fix {
        // What is reported is what is left.
        let changes = std::mem::take(&mut report.changes);
        report = Report {
            machine: given.shown(),
            changes,
            remarks: report.remarks,
            ..Report::default()
        };
        report.unchecked.extend(given.remarks.iter().cloned());
        for subject in &subjects {
            let input = subject.read(&overlay);
            let asked = ask(&input, &given, &mut auditor.indexes);
            auditor.judge_only(&input, asked, &mut report);
        }
    }
    // A damaged copy of a page shows as releases without files: what was judged by it was not judged.
    report.unchecked.extend(auditor.catalog.fault().map(|fault| fault.to_string()));
    progress.clear();
    fetcher.finish();
    auditor.levels.apply(&mut report);
    report.sort();
    let failed = report.findings.iter().any(|found| found.severity == Severity::Error);
    if args.fix {
        write::write(&overlay)?;
    }
    print(args, &overlay, &report);
    Ok(if failed { Exit::No } else { Exit::Ok })
}

fn print(args: &Audit, overlay: &Overlay, report: &Report) {
    if args.diff {
        write::diff(overlay);
        output::text::print_to_stderr(report);
        return;
    }
    if args.fix && write::has_stdin(args) {
        write::stdin(overlay);
        output::text::print_to_stderr(report);
        return;
    }
    match args.format {
        AuditFormat::Text => output::text::print(report),
        AuditFormat::Json => output::json::print(report),
        AuditFormat::Sarif => output::sarif::print(report),
        AuditFormat::Github => output::github::print(report),
        AuditFormat::Markdown => output::markdown::print(report),
    }
}

impl Auditor<'_> {
    /// Judges one file, and looks for a fix of each of its environments. With `--fix` and `--diff` the fixes are made in
    /// `overlay`, one after the other.
    fn judge(
        &mut self,
        subject: &Subject,
        overlay: &mut Overlay,
        (mut input, mut all): (Input, Vec<Asked>),
        report: &mut Report,
    ) {
        let makes = self.args.fix || self.args.diff;
        if makes && !overlay.files.is_empty() {
            // A file that is included twice may have been mended already.
            input = subject.read(overlay);
            all = ask(&input, self.given, &mut self.indexes);
        }
        let place = gather::input(&input, report);
        for at in 0..all.len() {
            let Some(asked) = all.get_mut(at) else { continue };
            self.complete(asked);
            let sources = self.indexes.for_solving(&asked.question.indexes);
            look_ahead(&asked.question, &sources, &self.catalog);
            let verdict = audit(&asked.question, &*self.catalog);
            let mut fixes = Vec::new();
            if !self.args.no_solve {
                let case = Case { subject, overlay, input: &input, asked, verdict: &verdict };
                let Mended { fixes: found, texts, remarks } = self.mend(case);
                fixes = found;
                report.remarks.extend(remarks);
                if makes && !texts.is_empty() {
                    for (name, old, new) in texts {
                        let first =
                            overlay.files.get(&name).map_or(old, |(first, _)| first.clone());
                        overlay.files.insert(name, (first, new));
                    }
                    // The places in the file have moved.
                    gather::verdict(&input, asked, verdict, fixes, place, report);
                    input = subject.read(overlay);
                    all = ask(&input, self.given, &mut self.indexes);
                    continue;
                }
            }
            gather::verdict(&input, asked, verdict, fixes, place, report);
        }
    }

    /// Judges without looking for fixes.
    fn judge_only(&self, input: &Input, all: Vec<Asked>, report: &mut Report) {
        let place = gather::input(input, report);
        for mut asked in all {
            self.complete(&mut asked);
            let verdict = audit(&asked.question, &*self.catalog);
            gather::verdict(input, &asked, verdict, Vec::new(), place, report);
        }
    }

    /// Tells a question the indexes that were numbered after it.
    fn complete(&self, asked: &mut Asked) {
        asked.question.sources.clone_from(&self.indexes.sources);
        asked.question.unasked.clone_from(&self.indexes.unasked);
    }
}

fn config(args: &Audit, indexes: &Indexes) -> FetcherConfig {
    let mut config = FetcherConfig::new(indexes.configs.clone());
    args.network.typed().apply(&mut config);
    // An index that does not answer is said to be unchecked; nobody should wait long for that.
    config.patience.retries = 0;
    config.patience.connect = Duration::from_millis(2500);
    config.with_environment()
}
