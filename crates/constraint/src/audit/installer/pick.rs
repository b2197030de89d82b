//! Which build an installer takes for one name: the highest version on all the indexes of the file that fits.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pep440_rs::{Operator, Version as Pep440};
use rustc_hash::FxHashMap;

use super::known::{self, Standing};
use crate::audit::question::Question;
use crate::catalog::{Catalog, CatalogError, File, Project};
use crate::machine::Platform;
use crate::name::Name;
use crate::requirement::Requirement;
use crate::rules::torch::TORCH;
use crate::rules::{companion, index};
use crate::version::{DistVersion, Range, SourceId, Version, local_label, python_range};
use crate::wheel::{ReleaseFit, Tags, Why};

/// A build that an installer takes.
#[derive(Clone, Debug)]
pub(in crate::audit) struct Picked {
    pub(in crate::audit) version: DistVersion,
    /// Its file; `None` when its index was not read.
    pub(in crate::audit) file: Option<File>,
    /// The reason given when it is yanked.
    pub(in crate::audit) yanked: Option<Arc<str>>,
    /// Set when the build is there but does not fit the target.
    pub(in crate::audit) unfit: Option<Unfit>,
}

impl Picked {
    /// Whether only the Python or the glibc keeps it from being installed: then what it would do on the machine is worth
    /// judging as well.
    pub(in crate::audit) fn runs_elsewhere(&self) -> bool {
        match &self.unfit {
            Some(Unfit::File(_, why)) => matches!(
                why,
                Why::Python(_)
                    | Why::Python2
                    | Why::Implementation
                    | Why::FreeThreaded
                    | Why::Gil
                    | Why::Glibc(_)
            ),
            Some(Unfit::Python(_)) => true,
            None => false,
        }
    }
}

/// Why a build does not fit.
#[derive(Clone, Debug)]
pub(in crate::audit) enum Unfit {
    /// No file fits; the nearest miss.
    File(String, Why),
    /// `Requires-Python`.
    Python(Arc<str>),
}

/// Why there is no build.
#[derive(Clone, Debug)]
pub(in crate::audit) enum Missing {
    /// No index has the project.
    Project,
    /// No version is in the range; the newest one that exists.
    Version(Option<Pep440>),
    /// There are versions, and none fits the target: the one that is nearest to it, with the file that was looked at.
    Unfit(Box<Picked>),
}

/// What is taken for a name.
#[derive(Clone, Debug)]
pub(in crate::audit) enum Pick {
    Build(Box<Picked>),
    None(Missing),
    /// It cannot be told: why.
    Unknown(String),
}

/// A wish for one distribution.
pub(in crate::audit) struct Wish<'a> {
    pub(in crate::audit) name: Name,
    pub(in crate::audit) range: &'a Range,
    /// Whether a line pins exactly one version.
    pub(in crate::audit) exact: bool,
    /// Whether a line names a pre-release.
    pub(in crate::audit) prerelease: bool,
    /// The one index it must come from.
    pub(in crate::audit) source: Option<SourceId>,
    /// Builds that were tried and lead to a conflict.
    pub(in crate::audit) not: &'a BTreeSet<DistVersion>,
}

/// Picks builds, and remembers what it read.
pub(in crate::audit) struct Picker<'a> {
    pub(in crate::audit) question: &'a Question,
    catalog: &'a dyn Catalog,
    tags: Tags,
    pages: RefCell<FxHashMap<(SourceId, Name), Page>>,
    /// Indexes that did not answer; they are not asked again.
    silent: RefCell<BTreeMap<SourceId, String>>,
    /// Names of which something could not be read.
    unread: RefCell<BTreeSet<Name>>,
    unchecked: RefCell<BTreeSet<String>>,
}

#[derive(Clone)]
enum Page {
    Project(Arc<Project>),
    Absent,
    Unread,
}

/// A release on one index, or one that is only known by facts.
struct Candidate {
    version: DistVersion,
    page: Option<(Arc<Project>, usize)>,
}

impl<'a> Picker<'a> {
    pub(in crate::audit) fn new(question: &'a Question, catalog: &'a dyn Catalog) -> Self {
        Self {
            question,
            catalog,
            tags: Tags::for_target(&question.target),
            pages: RefCell::default(),
            silent: RefCell::default(),
            unread: RefCell::default(),
            unchecked: RefCell::default(),
        }
    }

    pub(in crate::audit) fn tags(&self) -> &Tags {
        &self.tags
    }

    pub(in crate::audit) fn catalog(&self) -> &dyn Catalog {
        self.catalog
    }

    /// Starts reading the pages of a name that will be asked for.
    pub(in crate::audit) fn expect(&self, name: Name) {
        for source in &self.question.indexes {
            let quiet =
                self.question.unasked.contains(source) || self.silent.borrow().contains_key(source);
            if !quiet && !self.pages.borrow().contains_key(&(*source, name)) {
                self.catalog.expect_project(*source, name, Box::new(|_| {}));
            }
        }
    }

    fn page(&self, source: SourceId, name: Name) -> Page {
        if self.question.unasked.contains(&source) || self.silent.borrow().contains_key(&source) {
            return Page::Unread;
        }
        if let Some(known) = self.pages.borrow().get(&(source, name)) {
            return known.clone();
        }
        let page = match self.catalog.project(source, name) {
            Ok(Some(project)) => Page::Project(project),
            Ok(None) => Page::Absent,
            Err(error) => {
                let index = self.question.source(source).map_or("an index", |s| s.name.as_str());
                self.not_read(name, format!("{name} on {index}: {error}"));
                if matches!(error, CatalogError::Network(_)) {
                    self.silent.borrow_mut().insert(source, error.to_string());
                }
                Page::Unread
            }
        };
        self.pages.borrow_mut().insert((source, name), page.clone());
        page
    }

    /// Keeps why something of a name could not be read.
    pub(in crate::audit) fn not_read(&self, name: Name, why: String) {
        self.unread.borrow_mut().insert(name);
        self.unchecked.borrow_mut().insert(why);
    }

    /// Whether something of a name could not be read: then it may be there.
    pub(in crate::audit) fn may_be_there(&self, name: Name) -> bool {
        self.unread.borrow().contains(&name)
    }

    /// What could not be judged, and why.
    pub(in crate::audit) fn unchecked(&self) -> BTreeSet<String> {
        self.unchecked.borrow().clone()
    }

    /// The indexes that did not answer, with the error.
    pub(in crate::audit) fn silent(&self) -> BTreeMap<SourceId, String> {
        self.silent.borrow().clone()
    }

    /// Whether an index was not asked, or did not answer.
    pub(in crate::audit) fn is_unread(&self, source: SourceId) -> bool {
        self.question.unasked.contains(&source) || self.silent.borrow().contains_key(&source)
    }

    /// The page of PyPI, whether or not the file asks it.
    pub(in crate::audit) fn on_pypi(&self, name: Name) -> Option<Arc<Project>> {
        match self.page(self.question.pypi()?, name) {
            Page::Project(project) => Some(Arc::clone(&project)),
            Page::Absent | Page::Unread => None,
        }
    }

    /// The files of a release, with its fit.
    fn fit(&self, source: SourceId, files: &[File]) -> ReleaseFit {
        // A direct reference is no source of the question: what it names is taken as it is.
        let plain = self.question.source(source).is_none_or(|source| source.plain_linux);
        ReleaseFit::of(files, &self.tags.with_plain_linux(plain))
    }

    /// What an installer takes.
    pub(in crate::audit) fn pick(&self, wish: &Wish<'_>) -> Pick {
        let indexes: Vec<SourceId> = match wish.source {
            Some(source) => vec![source],
            None => self.question.indexes.clone(),
        };
        let mut unread = Vec::new();
        let mut candidates = Vec::new();
        let mut newest: Option<Pep440> = None;
        let mut found_project = false;
        let mut has_stable = false;
        for source in indexes {
            match self.page(source, wish.name) {
                Page::Project(project) => {
                    found_project = true;
                    for (index, version) in project.versions.iter().enumerate() {
                        newest = newest.max(Some(version.clone()));
                        let build = DistVersion::new(version.clone(), source);
                        let inside = wish.range.contains(&Version::Dist(build.clone()));
                        if inside && !wish.not.contains(&build) {
                            has_stable |= version.is_stable();
                            let page = Some((Arc::clone(&project), index));
                            candidates.push(Candidate { version: build, page });
                        }
                    }
                }
                Page::Absent => {}
                Page::Unread => unread.push(source),
            }
        }
        unread.retain(|source| !self.lacks(*source, wish));
        for source in &unread {
            let found = self.by_facts(*source, wish);
            has_stable |= !found.is_empty();
            candidates.extend(found);
        }
        // pip takes the highest version; of equal ones the first index wins.
        // What a nightly index has are pre-releases, although facts name releases in their stead.
        candidates.sort_by(|a, b| {
            let nightly = |c: &Candidate| c.page.is_none() && self.is_nightly(c.version.source());
            let by_version = b.version.version().cmp(&a.version.version());
            nightly(a)
                .cmp(&nightly(b))
                .then(by_version)
                .then(a.version.source().cmp(&b.version.source()))
        });
        let prereleases = self.question.prereleases || wish.prerelease || !has_stable;
        let mut misfit: Option<Picked> = None;
        for candidate in &candidates {
            let Some(version) = candidate.version.version() else { continue };
            if !prereleases && version.any_prerelease() {
                continue;
            }
            let picked = self.judge(candidate, wish);
            match picked {
                Some(picked) if picked.unfit.is_none() => return Pick::Build(Box::new(picked)),
                Some(picked) => {
                    let nearness_of = |build: &Picked| build.unfit.as_ref().map(nearness);
                    let nearer = |known: &Picked| nearness_of(&picked) > nearness_of(known);
                    if misfit.as_ref().is_none_or(nearer) {
                        misfit = Some(picked);
                    }
                }
                None => {}
            }
        }
        if let Some(picked) = misfit {
            return Pick::None(Missing::Unfit(Box::new(picked)));
        }
        let doubtful = unread.iter().any(|source| {
            let Some(backend) = self.question.backend(*source) else {
                return !self.is_gone(*source, wish);
            };
            let standing =
                self.pinned(wish).map(|version| self.standing(wish.name, &version, backend));
            standing != Some(Standing::Never)
        });
        if doubtful {
            let names: Vec<&str> = unread
                .iter()
                .filter_map(|source| self.question.source(*source))
                .map(|source| source.name.as_str())
                .collect();
            return Pick::Unknown(format!(
                "{}: {} could not be asked",
                wish.name,
                names.join(", ")
            ));
        }
        if found_project || !unread.is_empty() || wish.exact {
            Pick::None(Missing::Version(newest))
        } else {
            Pick::None(Missing::Project)
        }
    }

    /// Whether a release was built for a backend: by the facts, or by the torch that its METADATA on PyPI pins.
    pub(in crate::audit) fn standing(
        &self,
        name: Name,
        version: &Pep440,
        backend: &str,
    ) -> Standing {
        let platform = self.question.target.platform;
        let known = known::standing(name, version, backend, platform);
        let labelled = companion::family(name).is_some_and(|family| family.labelled);
        if known != Standing::Unknown || !labelled || platform.is_macos() {
            return known;
        }
        let torch = self.torch_of(name, version);
        torch.map_or(Standing::Unknown, |torch| known::torch(&torch, backend, platform))
    }

    /// The torch that METADATA of a release on PyPI pins.
    fn torch_of(&self, name: Name, version: &Pep440) -> Option<Pep440> {
        let public = version.clone().without_local();
        let project = self.on_pypi(name)?;
        let index = project.versions.binary_search(&public).ok()?;
        let mut files = project.files.files(index).into_iter();
        let file = files.find(|file| file.filename.ends_with(".whl"))?;
        let metadata = self.catalog.metadata(self.question.pypi()?, name, &file).ok()?;
        let requirements = metadata.requires_dist.iter();
        let torch = requirements
            .filter_map(|line| line.parse::<Requirement>().ok())
            .find(|requirement| requirement.name.as_str() == TORCH)?;
        let exact = torch.specifiers.iter().find(|s| *s.operator() == Operator::Equal)?;
        Some(exact.version().only_release())
    }

    /// Whether an index is known not to have what is wished for, without being read.
    fn lacks(&self, source: SourceId, wish: &Wish<'_>) -> bool {
        let name = self.question.source(source).map_or("", |source| &source.name);
        index::does_not_list(name, wish.name).is_some()
            || self
                .pinned(wish)
                .is_some_and(|version| index::nightly_gone(name, &version).is_some())
    }

    /// Whether the build that is pinned is one that the index listed once, and lists no more.
    fn is_gone(&self, source: SourceId, wish: &Wish<'_>) -> bool {
        let label = self.pinned(wish).and_then(|version| local_label(&version));
        let name = self.question.source(source).map_or("", |source| &source.name);
        label.is_some_and(|label| index::is_gone(name, &label))
    }

    /// Whether the index of a backend has a distribution only with the label of the backend here.
    fn is_labelled(&self, name: Name, backend: &str) -> bool {
        let bare_cpu = backend == "cpu"
            && matches!(
                self.question.target.platform,
                Platform::MacosArm64 | Platform::MacosX86_64 | Platform::LinuxAarch64
            );
        !bare_cpu && companion::family(name).is_some_and(|family| family.labelled)
    }

    fn is_nightly(&self, source: SourceId) -> bool {
        self.question.source(source).is_some_and(|source| source.name.contains("/nightly/"))
    }

    /// The one version of a wish.
    fn pinned(&self, wish: &Wish<'_>) -> Option<Pep440> {
        if !wish.exact {
            return None;
        }
        let (low, _) = wish.range.iter().next()?;
        match low {
            std::ops::Bound::Included(Version::Dist(low)) => low.version().cloned(),
            _ => None,
        }
    }

    /// The build that an index which was not read is known to have, or, for a pin with a label, must have.
    fn by_facts(&self, source: SourceId, wish: &Wish<'_>) -> Vec<Candidate> {
        let backend = self.question.backend(source);
        let as_build = |version: Pep440| {
            let build = DistVersion::new(version, source);
            let ok =
                wish.range.contains(&Version::Dist(build.clone())) && !wish.not.contains(&build);
            ok.then_some(Candidate { version: build, page: None })
        };
        let found = match (self.pinned(wish), backend) {
            (Some(version), Some(backend)) => {
                let label = local_label(&version);
                if label.as_deref().is_some_and(|label| label != backend) {
                    return Vec::new();
                }
                let standing = self.standing(wish.name, &version, backend);
                match standing {
                    Standing::There => vec![known::labelled(&version, backend)],
                    Standing::Unknown
                        if label.is_none() && self.is_labelled(wish.name, backend) =>
                    {
                        vec![known::labelled(&version, backend)]
                    }
                    Standing::Unknown => vec![Some(version)],
                    Standing::Never => Vec::new(),
                }
            }
            (Some(version), None)
                if local_label(&version).is_some() && !self.is_gone(source, wish) =>
            {
                vec![Some(version)]
            }
            // A page of all backends: pip takes the label that sorts highest.
            (Some(version), None) if local_label(&version).is_none() => {
                let name = self.question.source(source).map_or("", |source| &source.name);
                let backends = index::by_name(name).map_or(&[][..], |known| &known.row.backends);
                backends
                    .iter()
                    .filter(|backend| {
                        self.standing(wish.name, &version, backend) == Standing::There
                    })
                    .map(|backend| known::labelled(&version, backend))
                    .collect()
            }
            (None, Some(backend)) if wish.name.as_str() == TORCH => {
                let releases = known::torch_releases(backend, wish.range);
                releases.iter().map(|release| known::labelled(release, backend)).collect()
            }
            _ => Vec::new(),
        };
        found.into_iter().flatten().filter_map(as_build).collect()
    }

    /// The build of a candidate; `None` when an installer passes it over without a word.
    fn judge(&self, candidate: &Candidate, wish: &Wish<'_>) -> Option<Picked> {
        let version = candidate.version.clone();
        let Some((project, index)) = &candidate.page else {
            let unfit = self.unfit_by_pypi(wish.name, &version);
            return Some(Picked { version, file: None, yanked: None, unfit });
        };
        let mut files = project.files.files(*index);
        let all_yanked = !files.is_empty() && files.iter().all(|file| file.yanked.is_some());
        if all_yanked && !wish.exact {
            return None;
        }
        let yanked = if all_yanked { files.first().and_then(|f| f.yanked.clone()) } else { None };
        if !all_yanked {
            files.retain(|file| file.yanked.is_none());
        }
        let fit = self.fit(version.source(), &files);
        let chosen = fit.best.as_ref().map(|best| best.0).or(fit.sdist);
        let Some(file) = chosen.and_then(|at| files.get(at)) else {
            let (at, why) = fit.nearest_miss()?;
            let file = files.get(at).cloned();
            let name = file.as_ref().map(|file| file.filename.clone()).unwrap_or_default();
            let unfit = Some(Unfit::File(name, why));
            return Some(Picked { version, file, yanked, unfit });
        };
        let unfit =
            file.requires_python.as_ref().and_then(|specifiers| self.wrong_python(specifiers));
        Some(Picked { version, file: Some(file.clone()), yanked, unfit })
    }

    fn wrong_python(&self, specifiers: &Arc<str>) -> Option<Unfit> {
        let range = python_range(&specifiers.parse().ok()?);
        let fits = range.contains(&self.question.target.python_version());
        (!fits && self.question.python_known).then(|| Unfit::Python(Arc::clone(specifiers)))
    }

    /// The builds of one release are made for the same Pythons on every index; PyPI's page says for which.
    pub(in crate::audit) fn unfit_by_pypi(
        &self,
        name: Name,
        version: &DistVersion,
    ) -> Option<Unfit> {
        if !self.question.python_known || !companion::family(name).is_some_and(|f| f.labelled) {
            return None;
        }
        let project = self.on_pypi(name)?;
        let public = version.version()?.clone().without_local();
        let index = project.versions.binary_search(&public).ok()?;
        let files = project.files.files(index);
        let fit = ReleaseFit::of(&files, &self.tags.with_plain_linux(true));
        let known = !fit.pythons.is_empty();
        if !known || fit.python_range().contains(&self.question.target.python_version()) {
            return None;
        }
        let miss = fit.rejected.iter().find(|(_, why)| matches!(why, Why::Python(_)))?;
        let file = files.get(miss.0).map(|file| file.filename.clone()).unwrap_or_default();
        Some(Unfit::File(file, Why::Python(fit.pythons)))
    }
}

fn nearness(unfit: &Unfit) -> u8 {
    match unfit {
        Unfit::File(_, why) => why.nearness(),
        Unfit::Python(_) => 7,
    }
}
