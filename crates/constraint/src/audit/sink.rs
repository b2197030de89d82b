//! Where checks put what they find: severity is decided here, and what has one cause becomes one finding.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Doubt, Finding, Severity, Target};
use super::question::Question;
use crate::name::Name;
use crate::package::Package;
use crate::rules::library;

/// Collects findings.
pub(super) struct Sink<'a> {
    question: &'a Question,
    findings: Vec<Finding>,
}

impl<'a> Sink<'a> {
    pub(super) fn new(question: &'a Question) -> Self {
        Self { question, findings: Vec::new() }
    }

    /// Takes a finding, and decides how much it counts.
    pub(super) fn push(&mut self, mut finding: Finding) {
        finding.severity = severity(self.question, &finding);
        self.findings.push(finding);
    }

    /// The findings by line, the serious ones of a line first. `brings` tells what each build requires.
    pub(super) fn finish(self, brings: &BTreeMap<Name, BTreeSet<Name>>) -> Vec<Finding> {
        let mut findings = folded(merged(self.findings), brings);
        findings.sort_by(|a, b| {
            let key = |finding: &Finding| {
                (
                    finding.line().unwrap_or(usize::MAX),
                    std::cmp::Reverse(finding.severity),
                    finding.code.as_str(),
                )
            };
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        findings
    }
}

/// How much a finding counts: as its code says, unless it hangs on something that is not known.
fn severity(question: &Question, finding: &Finding) -> Severity {
    let own = finding.code.page().severity;
    match finding.doubt {
        Doubt::None => own,
        Doubt::IndexElsewhere => index_elsewhere(question),
        Doubt::HasGpu if question.wants_gpu() => own,
        Doubt::HasGpu | Doubt::Elsewhere => own.min(Severity::Warning),
        Doubt::NeedsNoGpu if question.wants_gpu() => own,
        Doubt::NeedsNoGpu | Doubt::Optional => own.min(Severity::Note),
        Doubt::Said(severity) => severity,
    }
}

/// How much it counts that a build exists and the file does not say where. A file that records what is installed need not
/// say so, and with a driver the question is whether it runs; a file that is to be installed as it stands must.
fn index_elsewhere(question: &Question) -> Severity {
    if question.closed || question.machine.driver.is_some() {
        return Severity::Note;
    }
    // Nobody writes libraries down by hand: they come from a list of what is installed.
    let recorded =
        question.lines.iter().any(|line| library::is_brought_along(line.requirement.name));
    if recorded || question.wants_gpu() || question.surroundings.shell {
        Severity::Warning
    } else {
        Severity::Error
    }
}

/// The same fault of the same build is one finding, with all the facts.
fn merged(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings {
        match kept.iter_mut().find(|known| is_same(known, &finding)) {
            Some(known) => add(known, finding),
            None => kept.push(finding),
        }
    }
    kept
}

fn is_same(known: &Finding, other: &Finding) -> bool {
    if known.code != other.code {
        return false;
    }
    // Two that install the same files, and what one of them wrote over, are one fault.
    if let (Some(Target::Shared(Package::Provider(_))), Some(Target::Overwritten)) =
        (known.target, other.target)
    {
        return other.involved().all(|name| known.involved().any(|own| own == name));
    }
    if known.package != other.package {
        return false;
    }
    match (known.target, other.target) {
        (Some(Target::Libraries), Some(Target::Libraries)) => {
            !known.against.is_disjoint(&other.against)
        }
        (Some(Target::Requirements), Some(Target::Requirements)) => {
            known.clash.is_some() && other.clash.is_some()
        }
        // What a build asks of one GPU or of the driver is one fault, whichever of its parts asks.
        (Some(Target::Machine(one)), Some(Target::Machine(two))) => one == two,
        (one, two) => one == two && known.message == other.message,
    }
}

/// Adds what another finding of the same fault says. What depended on something may be certain now.
fn add(known: &mut Finding, other: Finding) {
    known.severity = known.severity.max(other.severity);
    known.against.extend(other.against);
    if let Some(name) = known.package {
        known.against.remove(&name);
    }
    known.sharing.extend(other.sharing);
    for fact in other.facts {
        if !known.facts.contains(&fact) {
            known.facts.push(fact);
        }
    }
    if known.message == other.message || !matches!(known.target, Some(Target::Requirements)) {
        return;
    }
    if let (Some(known), Some(other)) = (&mut known.clash, other.clash) {
        for (mine, theirs) in
            [(&mut known.others, other.others), (&mut known.because, other.because)]
        {
            for text in theirs {
                if !mine.contains(&text) {
                    mine.push(text);
                }
            }
        }
    }
    if let Some(clash) = &known.clash {
        known.message = clash.message();
    }
}

/// A fault that a build has because another one brings it along is a fault of that other one.
fn folded(findings: Vec<Finding>, brings: &BTreeMap<Name, BTreeSet<Name>>) -> Vec<Finding> {
    let mut reach: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
    let bringers: BTreeSet<Name> = findings.iter().flat_map(Finding::involved).collect();
    for name in bringers {
        reach.insert(name, reached(name, brings));
    }
    let folds_into = |part: &Finding, whole: &Finding| {
        let (Some(name), true) = (part.package, part.target == whole.target) else { return false };
        let machine_or_layer = matches!(part.target, Some(Target::Machine(_) | Target::Shared(_)));
        part.code == whole.code
            && machine_or_layer
            && library::is_library(name)
            && part.package != whole.package
            && whole.package.is_some_and(|whole| !library::is_library(whole))
            && whole.involved().any(|by| reach.get(&by).is_some_and(|all| all.contains(&name)))
    };
    let into: Vec<Option<usize>> = findings
        .iter()
        .map(|part| findings.iter().position(|whole| folds_into(part, whole)))
        .collect();
    let mut out: Vec<Finding> = findings;
    for (part, whole) in into.iter().enumerate() {
        let Some(whole) = whole else { continue };
        let shared: Vec<Name> =
            out.get(part).map(|part| part.faulty().collect()).unwrap_or_default();
        if let Some(whole) = out.get_mut(*whole) {
            whole.sharing.extend(shared);
        }
    }
    let mut is_part = into.into_iter();
    out.retain(|_| is_part.next().flatten().is_none());
    let mut out = among_libraries(out);
    for finding in &mut out {
        if !finding.sharing.is_empty() {
            let names: Vec<String> = finding.sharing.iter().map(Name::to_string).collect();
            finding.facts.push(super::finding::FactText::new(
                format!("the same holds for {}", super::finding::listed(&names)),
                "the rules for these builds",
            ));
        }
    }
    out
}

/// Libraries without the program that needs them: the first of them stands for all.
fn among_libraries(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    for finding in findings {
        let is_library = finding.package.is_some_and(library::is_library);
        let machine = matches!(finding.target, Some(Target::Machine(_)));
        let known = kept.iter_mut().find(|known| {
            is_library
                && machine
                && known.code == finding.code
                && known.target == finding.target
                && known.package.is_some_and(library::is_library)
        });
        match known {
            Some(known) => known.sharing.extend(finding.faulty()),
            None => kept.push(finding),
        }
    }
    kept
}

/// Everything that a build brings along.
fn reached(name: Name, brings: &BTreeMap<Name, BTreeSet<Name>>) -> BTreeSet<Name> {
    let mut seen = BTreeSet::new();
    let mut next = vec![name];
    while let Some(name) = next.pop() {
        for other in brings.get(&name).into_iter().flatten() {
            if seen.insert(*other) {
                next.push(*other);
            }
        }
    }
    seen
}
