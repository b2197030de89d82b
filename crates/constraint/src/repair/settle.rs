//! From an answer to edits that an installer follows.
//!
//! An installer does not solve for CUDA: of an unpinned line, or of what METADATA brings along, it takes the newest. The
//! edits are therefore audited, and where the installer would take something else than the answer and that is an error, the
//! line is narrowed or one is added, until no error is left.

use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::Version as Pep440;

use super::edit::{Edit, amended};
use super::relax::{Relaxed, Search};
use super::{Repair, Wanted, wording};
use crate::audit::{Code, Finding, Question, Severity, Verdict, audit};
use crate::name::Name;
use crate::requirement::RequirementCache;
use crate::solve::{Solution, SourceKind, is_url_source};
use crate::version::DistVersion;

/// Rounds of narrowing: each makes a whole layer of an environment follow the answer.
const ROUNDS: usize = 6;

/// Edits that lead an installer to an answer; `None` when none that were tried do.
pub(super) fn settle(search: &mut Search<'_>, relaxed: &Relaxed) -> Option<Repair> {
    let (wanted, scope) = (search.wanted, search.scope.clone());
    let mut settling = Settling { search, solution: &relaxed.solution, edits: Vec::new() };
    settling.moves();
    let before = settling.search.verdict;
    let known: BTreeSet<_> = errors(before, wanted).flat_map(Finding::keys).collect();
    let aims = |finding: &Finding| scope.aims(finding, wanted);
    let aimed: BTreeSet<_> =
        before.findings.iter().filter(|f| aims(f)).flat_map(Finding::keys).collect();
    // What was an error must be gone, and not be called a warning instead.
    let is_left = |finding: &Finding| {
        aims(finding)
            || (finding.severity > Severity::Note && finding.keys().any(|key| aimed.contains(&key)))
    };
    let is_new = |finding: &&Finding| {
        wanted.mends(finding) && finding.keys().any(|key| !known.contains(&key))
    };
    let mut verdict = settling.judged();
    for _ in 0..ROUNDS {
        let left: Vec<&Finding> =
            verdict.findings.iter().filter(|f| is_left(f) || is_new(f)).collect();
        if left.is_empty() || !settling.narrow(&verdict, &left) {
            break;
        }
        verdict = settling.judged();
    }
    let left = |verdict: &Verdict| -> BTreeSet<_> {
        verdict
            .findings
            .iter()
            .filter(|f| is_left(f) || is_new(f))
            .flat_map(Finding::keys)
            .collect()
    };
    let after = left(&verdict);
    if settling.shorten(|verdict| left(verdict).is_subset(&after)) {
        verdict = settling.judged();
    }
    let cured: Vec<usize> = before
        .findings
        .iter()
        .enumerate()
        .filter(|(_, finding)| aims(finding) && finding.keys().all(|key| !after.contains(&key)))
        .map(|(place, _)| place)
        .collect();
    if let Some(new) = verdict.findings.iter().find(is_new) {
        let text = format!("with {}: {}", settling.summary(), new.message);
        settling.search.obstacles.push(text);
        return None;
    }
    if cured.is_empty() || settling.edits.is_empty() {
        if let Some(left) = verdict.findings.iter().find(|finding| is_left(finding)) {
            let text = format!("an installer would still meet {}: {}", left.code, left.message);
            settling.search.obstacles.push(text);
        }
        return None;
    }
    let builds = relaxed.solution.builds.iter().map(|(n, c)| (*n, c.version.clone())).collect();
    let steps = verdict.steps.iter().map(|step| step.text.clone()).collect();
    Some(Repair { edits: settling.edits, builds, cured, steps })
}

fn errors<'v>(verdict: &'v Verdict, wanted: Wanted<'v>) -> impl Iterator<Item = &'v Finding> {
    verdict.findings.iter().filter(move |finding| wanted.mends(finding))
}

struct Settling<'s, 'a> {
    search: &'s mut Search<'a>,
    solution: &'s Solution,
    edits: Vec<Edit>,
}

impl Settling<'_, '_> {
    fn question(&self) -> &Question {
        self.search.question
    }

    /// The lines that do not allow the answer, and the indexes that it needs.
    fn moves(&mut self) {
        let mut edits: Vec<Edit> =
            self.search.removed.iter().map(|line| Edit::Remove { line: *line }).collect();
        for (place, line) in self.question().lines.iter().enumerate() {
            if line.wheel.is_some() || self.search.removed.contains(&place) {
                continue;
            }
            let Some(chosen) = self.chosen(line.requirement.name) else { continue };
            let Some(version) = chosen.version() else { continue };
            if let Some(now) = wording::allowing(&line.requirement, version) {
                edits.push(Edit::Versions { line: place, now });
            }
        }
        self.edits = edits;
        let moved: Vec<Name> = self.edits.iter().filter_map(|edit| self.name_of(edit)).collect();
        for name in moved {
            self.ask_index(name, &BTreeSet::new());
        }
    }

    /// The build of a name in the answer. What was not solved for is no answer, though something else may have drawn it in.
    fn chosen(&self, name: Name) -> Option<&DistVersion> {
        if self.search.skip.contains(&name) {
            return None;
        }
        self.solution.builds.get(&name).map(|chosen| &chosen.version)
    }

    fn name_of(&self, edit: &Edit) -> Option<Name> {
        match edit {
            Edit::Versions { line, .. } | Edit::Extras { line, .. } => {
                self.question().lines.get(*line).map(|line| line.requirement.name)
            }
            Edit::Add { name, .. } => Some(*name),
            Edit::Remove { .. } | Edit::AskIndex { .. } => None,
        }
    }

    /// Adds the index that has what was chosen for a name, unless the file asks it. `lacking` are the names that the indexes
    /// of the file were found not to have.
    fn ask_index(&mut self, name: Name, lacking: &BTreeSet<Name>) {
        let Some(source) = self.chosen(name).map(DistVersion::source) else { return };
        let known = self.question().indexes.contains(&source)
            || is_url_source(source)
            || self
                .edits
                .iter()
                .any(|e| matches!(e, Edit::AskIndex { source: s, .. } if *s == source));
        let pypi = self
            .question()
            .sources
            .get(usize::from(source.0))
            .is_none_or(|source| source.kind == SourceKind::PyPi);
        // What PyPI has, the index that replaces it may have as well.
        if known || (pypi && !lacking.contains(&name)) {
            return;
        }
        let near = self.line_for(name);
        self.edits.push(Edit::AskIndex { source, near });
    }

    /// The line that names a distribution, or one of those that need it.
    fn line_for(&self, name: Name) -> usize {
        let lines = &self.question().lines;
        let mut seen = BTreeSet::from([name]);
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            let own =
                |bound| lines.iter().position(|l| l.requirement.name == name && l.bound == bound);
            if let Some(place) = own(false) {
                return place;
            }
            let needed_by = self.solution.builds.get(&name).map(|chosen| &chosen.required_by);
            for by in needed_by.into_iter().flatten().flatten() {
                if seen.insert(*by) {
                    next.push(*by);
                }
            }
        }
        lines.iter().rposition(|line| !line.bound).unwrap_or(0)
    }

    fn judged(&self) -> Verdict {
        let question = amended(self.question(), &self.edits);
        audit(&question, &**self.search.catalog)
    }

    /// Leaves out every added line without which the files are as good. True when there was one.
    fn shorten(&mut self, as_good: impl Fn(&Verdict) -> bool) -> bool {
        let before = self.edits.len();
        let mut at = 0;
        while at < self.edits.len() {
            if !matches!(self.edits.get(at), Some(Edit::Add { .. })) {
                at += 1;
                continue;
            }
            let edit = self.edits.remove(at);
            if !as_good(&self.judged()) {
                self.edits.insert(at, edit);
                at += 1;
            }
        }
        self.edits.len() < before
    }

    /// Makes the installer follow the answer where an error is left. False when there is nothing more to do.
    fn narrow(&mut self, verdict: &Verdict, left: &[&Finding]) -> bool {
        let differs = |name: &Name, build: &DistVersion| {
            verdict.checked.get(name).is_none_or(|taken| taken.version() != build.version())
        };
        let builds: BTreeMap<Name, DistVersion> = self
            .solution
            .builds
            .iter()
            .map(|(name, chosen)| (*name, chosen.version.clone()))
            .filter(|(name, build)| differs(name, build))
            .collect();
        let named: BTreeSet<Name> = left.iter().filter_map(|finding| finding.package).collect();
        let part: BTreeSet<Name> = left.iter().flat_map(|finding| finding.involved()).collect();
        let takes_part = |name: &Name| {
            let chosen = self.solution.builds.get(name);
            // What a build lacks is added once the installer takes that build.
            let follows = |by: &Name| {
                let build = self.chosen(*by).and_then(DistVersion::version);
                verdict.checked.get(by).and_then(DistVersion::version) == build
            };
            let by_named = !verdict.checked.contains_key(name)
                && chosen.is_some_and(|chosen| {
                    let mut by = chosen.required_by.iter().flatten();
                    by.any(|by| named.contains(by) && follows(by))
                });
            part.contains(name) || by_named
        };
        let mut names: Vec<Name> = builds.keys().filter(|name| takes_part(name)).copied().collect();
        let before = self.edits.clone();
        let absent = [Code::IndexMissing, Code::VersionNotFound];
        let lacking: BTreeSet<Name> = left
            .iter()
            .filter(|finding| absent.contains(&finding.code))
            .filter_map(|finding| finding.package)
            .collect();
        for name in &lacking {
            self.ask_index(*name, &lacking);
        }
        if self.edits != before {
            return true;
        }
        if let Some(edit) = self.extras(&names, verdict) {
            self.edits.insert(0, edit);
            return true;
        }
        for name in &names {
            self.follow(*name, verdict);
        }
        if self.edits == before {
            names = builds.keys().copied().collect();
            for name in &names {
                self.follow(*name, verdict);
            }
        }
        self.edits != before
    }

    /// Extras of a line that bring all of `names` that its build needs and nothing brings yet. A file that lists everything
    /// that is installed is to name them itself.
    fn extras(&self, names: &[Name], verdict: &Verdict) -> Option<Edit> {
        if self.question().closed {
            return None;
        }
        let requirements = RequirementCache::new(self.question().target.marker_environment());
        let lines = self.question().lines.iter().enumerate();
        lines.filter(|(_, line)| !line.bound && line.wheel.is_none()).find_map(|(place, line)| {
            let name = line.requirement.name;
            let had = self
                .edits
                .iter()
                .any(|edit| matches!(edit, Edit::Extras { line, .. } if *line == place));
            let build = self.solution.builds.get(&name).filter(|_| !had)?;
            let needs = |other: &&Name| {
                let chosen = self.solution.builds.get(other);
                !verdict.checked.contains_key(other)
                    && chosen.is_some_and(|chosen| chosen.required_by.contains(&Some(name)))
            };
            let lacking: BTreeSet<Name> = names.iter().filter(needs).copied().collect();
            let mut brought = BTreeSet::new();
            let mut now: BTreeSet<Name> = line.requirement.extras.iter().copied().collect();
            for extra in build.metadata.provides_extra.iter().filter_map(|e| Name::new(e).ok()) {
                let lines = build.metadata.requires_dist.iter();
                let of_extra = lines
                    .filter_map(|text| requirements.get(text).ok())
                    .filter(|r| requirements.applies(r, Some(extra)))
                    .map(|requirement| requirement.name);
                let reached = self.reached(of_extra.collect());
                let found: Vec<Name> = reached.intersection(&lacking).copied().collect();
                if !found.is_empty() {
                    brought.extend(found);
                    now.insert(extra);
                }
            }
            let enough = !lacking.is_empty() && lacking.is_subset(&brought);
            enough.then(|| Edit::Extras { line: place, now: now.into_iter().collect() })
        })
    }

    /// Names, and everything that their builds in the answer need.
    fn reached(&self, mut next: Vec<Name>) -> BTreeSet<Name> {
        let mut seen = BTreeSet::new();
        while let Some(name) = next.pop() {
            if seen.insert(name) {
                let needs = self.solution.builds.get(&name).map(|chosen| &chosen.requires);
                next.extend(needs.into_iter().flatten());
            }
        }
        seen
    }

    /// Pins or bounds one name so that the installer takes what was chosen.
    fn follow(&mut self, name: Name, verdict: &Verdict) {
        let Some(chosen) = self.chosen(name).and_then(DistVersion::version).cloned() else {
            return;
        };
        let today = verdict.checked.get(&name).and_then(DistVersion::version);
        let exact = today.is_none() && self.question().closed || self.pins_exactly();
        let versions =
            if exact { wording::exactly(&chosen) } else { wording::apart(&chosen, today) };
        let line = |bound: bool| {
            let mut lines = self.question().lines.iter();
            lines.position(|line| {
                line.requirement.name == name && line.bound == bound && line.wheel.is_none()
            })
        };
        match line(false) {
            Some(line) => {
                let now = self.narrowed(line, &chosen, &versions);
                self.edits.retain(
                    |edit| !matches!(edit, Edit::Versions { line: known, .. } if *known == line),
                );
                self.edits.push(Edit::Versions { line, now });
            }
            None => {
                let near = self.line_for(name);
                self.edits.retain(|edit| !matches!(edit, Edit::Add { name: n, .. } if *n == name));
                self.edits.push(Edit::Add { name, versions, near });
            }
        }
        self.ask_index(name, &BTreeSet::new());
    }

    /// The specifiers of a line with one more bound; a pin replaces them all.
    fn narrowed(&self, line: usize, chosen: &Pep440, versions: &str) -> String {
        let known = self.question().lines.get(line).map(|line| &line.requirement.specifiers);
        let Some(known) = known.filter(|_| !versions.starts_with("==")) else {
            return versions.to_owned();
        };
        let same_side = |known: &str| known.chars().next() == versions.chars().next();
        let mut parts: Vec<String> = known
            .iter()
            .filter(|specifier| specifier.contains(chosen))
            .map(|specifier| specifier.to_string().replace(' ', ""))
            .filter(|known| !same_side(known))
            .collect();
        parts.push(versions.to_owned());
        parts.join(",")
    }

    /// Whether the file pins most of what it names.
    fn pins_exactly(&self) -> bool {
        let direct = || self.question().lines.iter().filter(|line| !line.bound);
        let exact = direct().filter(|line| line.requirement.is_exact()).count();
        self.question().closed || exact * 2 > direct().count()
    }

    fn summary(&self) -> String {
        let texts: Vec<String> = self
            .edits
            .iter()
            .filter_map(|edit| match edit {
                Edit::Versions { now, .. } => Some(format!("{}{now}", self.name_of(edit)?)),
                Edit::Add { name, versions, .. } => Some(format!("{name}{versions}")),
                Edit::Extras { .. } | Edit::Remove { .. } | Edit::AskIndex { .. } => None,
            })
            .collect();
        let more = texts.len().saturating_sub(3);
        let shown: Vec<String> = texts.into_iter().take(3).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }
}
