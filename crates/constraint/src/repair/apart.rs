//! Faults that have nothing to do with each other: where no change mends all of them, each is mended by itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::edit::{Edit, amended};
use super::relax::Search;
use super::{Outcome, Repair, Wanted, attempts};
use crate::audit::{Finding, Question, Verdict, audit};
use crate::catalog::Catalog;
use crate::name::Name;
use crate::solve::Source;
use crate::target::Target;

/// Looks for a repair of each group of faults in turn, and puts those that there are together.
pub(super) fn mend(
    question: &Question,
    verdict: &Verdict,
    sources: &[Source],
    catalog: &Arc<dyn Catalog>,
    (wanted, target): (Wanted<'_>, Target),
    outcome: &mut Outcome,
) {
    let groups = groups(verdict, wanted);
    if groups.len() < 2 {
        return;
    }
    let all: BTreeSet<Name> = groups.iter().flatten().copied().collect();
    let mut changed = question.clone();
    let mut now = verdict.clone();
    let mut whole: Option<Repair> = None;
    for group in groups {
        let mut search = Search::new(&changed, &now, sources, catalog, wanted);
        search.target = target.clone();
        search.narrow_to(group, &all);
        let found = attempts(&mut search);
        outcome.solves += search.solves;
        outcome.stopped |= search.stopped;
        let Some(found) = found.filter(|found| is_of_file(found, question)) else { continue };
        changed = amended(&changed, &found.edits);
        now = audit(&changed, &**catalog);
        let known = whole.get_or_insert_with(|| Repair {
            edits: Vec::new(),
            builds: found.builds.clone(),
            cured: Vec::new(),
            steps: Vec::new(),
        });
        known.edits.extend(found.edits);
        known.builds.extend(found.builds);
        known.steps = found.steps;
    }
    let Some(mut whole) = whole else { return };
    let left: BTreeSet<_> =
        now.findings.iter().filter(|f| wanted.mends(f)).flat_map(Finding::keys).collect();
    let before = verdict.findings.iter().enumerate().filter(|(_, f)| wanted.mends(f));
    let known: BTreeSet<_> = before.clone().flat_map(|(_, finding)| finding.keys()).collect();
    let cured = before.filter(|(_, finding)| finding.keys().all(|key| !left.contains(&key)));
    whole.cured = cured.map(|(place, _)| place).collect();
    if left.is_subset(&known) && !whole.cured.is_empty() {
        outcome.repair = Some(whole);
    }
}

/// Whether all edits are about lines of the file, and not about lines that an edit before has added.
fn is_of_file(repair: &Repair, question: &Question) -> bool {
    repair.edits.iter().all(|edit| match edit {
        Edit::Versions { line, .. } | Edit::Extras { line, .. } | Edit::Remove { line } => {
            *line < question.lines.len()
        }
        Edit::Add { near, .. } | Edit::AskIndex { near, .. } => *near < question.lines.len(),
    })
}

/// The distributions of findings, those of one group taking part in a finding together; in the order of the findings.
fn groups(verdict: &Verdict, wanted: Wanted<'_>) -> Vec<BTreeSet<Name>> {
    let mut groups: Vec<BTreeSet<Name>> = Vec::new();
    for finding in verdict.findings.iter().filter(|finding| wanted.mends(finding)) {
        let mut names: BTreeSet<Name> = finding.involved().collect();
        if names.is_empty() {
            continue;
        }
        let (touched, rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| !group.is_disjoint(&names));
        names.extend(touched.into_iter().flatten());
        groups = rest;
        groups.push(names);
    }
    groups
}
