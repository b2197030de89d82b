//! From what a reader gives to what is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;

use cuda_lock_constraint::audit::{
    BadLocation, BaseImage, Line, LocationFault, OtherPython, Place, Question,
};
use cuda_lock_constraint::machine::Platform;
use cuda_lock_constraint::requirement::{Requirement, RequirementCache};
use cuda_lock_constraint::rules::companion::family;
use cuda_lock_constraint::rules::image::{Image, ImageError, parse_image};
use cuda_lock_constraint::rules::index;
use cuda_lock_constraint::rules::installer::assumed_python;
use cuda_lock_constraint::target::Target;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_constraint::wheel::WheelName;
use cuda_lock_formats::input::{
    Entry, Environment, Group, Input, Kind, Location, Origin, PythonRequest, SourceTarget, Span,
};
use pep440_rs::{Operator, Version as Pep440, VersionSpecifiers};

use super::around;
use super::folder;
use super::indexes::Indexes;
use super::installed::is_of_conda;
use super::machine::Given;

/// One environment of a file, ready to be judged.
pub struct Asked {
    /// The question.
    pub question: Question,
    /// Where each line of the question stands.
    pub spans: Vec<Span>,
    /// The entry of each line of the question: a place in [`Input::entries`], or in [`Input::constraints`] for a bound.
    pub entries: Vec<usize>,
    /// The environment: a place in [`Input::environments`].
    pub environment: usize,
    /// What the environment is called in the file.
    pub name: String,
    /// Where the marks of the question stand.
    pub marks: Vec<Span>,
    /// Where its image is named.
    pub image: Option<Span>,
    /// What cannot be judged.
    pub unchecked: BTreeSet<String>,
}

/// The environments of a file that something is installed into, or that have an image.
pub fn ask(input: &Input, given: &Given, indexes: &mut Indexes) -> Vec<Asked> {
    (0..input.environments.len())
        .filter_map(|place| {
            let environment = input.environments.get(place)?;
            let mine = |(_, entry): &(usize, &Entry)| {
                entry.environment == place && entry.group != Group::Build
            };
            let entries: Vec<Numbered<'_>> =
                input.entries.iter().enumerate().filter(mine).collect();
            let bounds: Vec<Numbered<'_>> =
                input.constraints.iter().enumerate().filter(mine).collect();
            if entries.is_empty() && bounds.is_empty() && environment.image.is_none() {
                return None;
            }
            let mut asked = Reader { input, given, environment }.read(&entries, &bounds, indexes);
            asked.environment = place;
            Some(asked)
        })
        .collect()
}

/// An entry with its place in the input.
type Numbered<'a> = (usize, &'a Entry);

struct Reader<'a> {
    input: &'a Input,
    given: &'a Given,
    environment: &'a Environment,
}

impl Reader<'_> {
    fn read(
        &self,
        entries: &[Numbered<'_>],
        bounds: &[Numbered<'_>],
        indexes: &mut Indexes,
    ) -> Asked {
        let mut unchecked = BTreeSet::new();
        let mut marks = Marks::default();
        let (image, base_image) = self.image(&mut unchecked, &mut marks, !entries.is_empty());
        let machine = self.given.machine(image.as_ref());
        let (python, python_known) = self.python(image.as_ref());
        if !python_known {
            unchecked.insert(format!(
                "Python is not given: read for {python}, and nothing is said about it"
            ));
        }
        if self.given.platform.is_none() {
            unchecked.insert(format!("the platform is not given: read for {}", machine.platform));
        }
        for (name, why) in &self.given.unknown_gpus {
            unchecked.insert(format!("GPU code for {name}: {why}"));
        }
        if machine.driver.is_none() {
            unchecked.insert("the driver: none is given".to_owned());
        }
        if machine.gpus.is_none() && self.given.unknown_gpus.is_empty() {
            unchecked.insert("GPU code: no GPU is given".to_owned());
        }
        let target =
            Target { libc: machine.libc.clone(), ..Target::new(machine.platform, &python) };
        let mut lines = Lines {
            input: self.input,
            markers: RequirementCache::new(target.marker_environment()),
            lines: Vec::new(),
            spans: Vec::new(),
            entries: Vec::new(),
            at: 0,
            marks,
            bad_locations: Vec::new(),
            unchecked,
            seen: BTreeMap::new(),
        };
        let mut all = Vec::new();
        let (mut extra, mut listed, mut seen) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (bound, entries) in [(false, entries), (true, bounds)] {
            for (place, entry) in entries {
                lines.at = *place;
                let Some(options) = self.input.indexes_of(entry) else { continue };
                // Most entries of a file have the same options.
                if seen.insert(entry.indexes) {
                    let chosen = indexes.choose(options);
                    for id in chosen.all {
                        if listed.insert(id) {
                            all.push(id);
                        }
                    }
                    extra.extend(chosen.extra);
                    for address in chosen.unreadable {
                        lines.unchecked.insert(format!(
                            "the index '{address}': it cannot be read as an address"
                        ));
                    }
                }
                lines.entry(entry, bound, indexes);
            }
        }
        let options = self.input.indexes.first();
        let written = self.base_image();
        let mut surroundings = around::surroundings(
            self.input,
            self.environment,
            written.map(|image| image.reference.as_str()),
        );
        surroundings.base_image = base_image;
        surroundings.undeclared_utf8 =
            around::undeclared_utf8(self.input).map(|span| lines.marks.add(span));
        surroundings.bad_locations = std::mem::take(&mut lines.bad_locations);
        let question = Question {
            target,
            python_known,
            machine,
            unknown_gpus: self.given.unknown_gpus.iter().map(|(name, _)| name.clone()).collect(),
            model: self.given.model,
            image,
            sources: Vec::new(),
            indexes: all,
            extra,
            unasked: BTreeSet::new(),
            local: indexes.local.clone(),
            lines: lines.lines,
            closed: self.closed(),
            prereleases: options.is_some_and(|options| options.pre),
            surroundings,
            folder: folder::folder(self.input),
        };
        Asked {
            question,
            spans: lines.spans,
            entries: lines.entries,
            environment: 0,
            name: self.environment.name.clone(),
            marks: lines.marks.spans,
            image: written.map(|image| image.span),
            unchecked: lines.unchecked,
        }
    }

    /// Whether everything that is installed is listed.
    fn closed(&self) -> bool {
        match self.input.kind {
            Kind::PipList
            | Kind::JsonList
            | Kind::CondaList
            | Kind::CondaExplicit
            | Kind::UvLock
            | Kind::PoetryLock
            | Kind::PdmLock
            | Kind::Pylock
            | Kind::SitePackages => true,
            _ => self.input.indexes.first().is_some_and(|options| options.require_hashes),
        }
    }

    /// The image that everything is installed into, and the one that the file names.
    fn image(
        &self,
        unchecked: &mut BTreeSet<String>,
        marks: &mut Marks,
        installs: bool,
    ) -> (Option<Image>, Option<BaseImage>) {
        if let Some(image) = &self.given.image {
            return (Some(image.clone()), None);
        }
        let Some(written) = self.base_image() else { return (None, None) };
        let reference = written.reference.clone();
        let platform = self.given.platform.unwrap_or(Platform::LinuxX86_64);
        let parsed = parse_image(&reference, platform);
        let (unreadable, lacks_python) = match &parsed {
            Ok(_) => (None, installs && !self.installs_python()),
            Err(ImageError::OtherRepository(_)) => {
                unchecked.insert(format!("what the image {reference} contains"));
                (None, false)
            }
            Err(why) => (Some(why.to_string()), false),
        };
        let other_python = around::other_python(self.input, self.environment, &reference)
            .map(|(system, other, span)| OtherPython { system, other, place: marks.add(span) });
        (parsed.ok(), Some(BaseImage { reference, unreadable, lacks_python, other_python }))
    }

    /// The image of the environment, or of the stage that it starts from.
    fn base_image(&self) -> Option<&cuda_lock_formats::input::Image> {
        let mut environment = self.environment;
        for _ in 0..self.input.environments.len() {
            if let Some(image) = &environment.image {
                return Some(image);
            }
            environment = self.input.environments.get(environment.parent?)?;
        }
        None
    }

    /// Whether a Python is installed: by the system's packages, or by a command of another installer.
    fn installs_python(&self) -> bool {
        let mut environment = Some(self.environment);
        for _ in 0..=self.input.environments.len() {
            let Some(here) = environment else { return false };
            let python = |name: &str| name.starts_with("python") || name.contains("conda");
            if here.python.is_some()
                || here.system_packages.iter().any(|package| python(&package.name))
            {
                return true;
            }
            environment = here.parent.and_then(|parent| self.input.environments.get(parent));
        }
        around::brings_python(self.input)
    }

    /// The interpreter, and whether it is known.
    fn python(&self, image: Option<&Image>) -> (Pep440, bool) {
        if let Some(python) = &self.given.python {
            return (python.clone(), true);
        }
        let stated =
            self.environment.python.as_ref().or(self.input.python.as_ref()).and_then(exact_python);
        let of_image = || {
            let reference = &self.base_image()?.reference;
            let (repository, tag) = reference.rsplit_once(':')?;
            let version = tag.split('-').next()?;
            (repository.rsplit('/').next()? == "python").then(|| Pep440::from_str(version).ok())?
        };
        let of_system = || Pep440::from_str(image?.python.as_ref()?.as_str()).ok();
        if let Some(python) = stated.or_else(of_image).or_else(of_system) {
            return (python, true);
        }
        (assumed_python(), false)
    }
}

/// The one Python of a request: `==3.10.*`, `==3.11`, `~=3.10`.
fn exact_python(request: &PythonRequest) -> Option<Pep440> {
    let specifiers = VersionSpecifiers::from_str(&request.specifiers).ok()?;
    let exact = |operator: &Operator| {
        matches!(operator, Operator::Equal | Operator::EqualStar | Operator::ExactEqual)
    };
    specifiers
        .iter()
        .find(|specifier| exact(specifier.operator()) && specifier.version().release().len() >= 2)
        .map(|specifier| specifier.version().clone())
}

struct Lines<'a> {
    input: &'a Input,
    markers: RequirementCache,
    lines: Vec<Line>,
    spans: Vec<Span>,
    entries: Vec<usize>,
    /// The place of the entry that is read.
    at: usize,
    marks: Marks,
    bad_locations: Vec<BadLocation>,
    unchecked: BTreeSet<String>,
    /// Releases of locks by name: a lock may hold several for other platforms.
    seen: BTreeMap<String, String>,
}

impl Lines<'_> {
    fn entry(&mut self, entry: &Entry, bound: bool, indexes: &mut Indexes) {
        if entry.origin.is_conda() {
            self.unchecked
                .insert(format!("conda package {}: conda channels are not read", entry.raw_name));
            self.conda(entry, bound);
            return;
        }
        let Some(name) = entry.name else {
            if entry.location.is_some() {
                self.location(entry);
            }
            return;
        };
        let text = requirement_text(entry);
        let Ok(requirement) = text.parse::<Requirement>() else {
            self.unchecked.insert(format!("{text}: it cannot be read as a requirement"));
            return;
        };
        if !self.markers.applies(&requirement, None) {
            return;
        }
        if entry.origin == Origin::Installed {
            self.installed(entry, requirement, indexes);
            return;
        }
        if entry.location.is_some() {
            self.location(entry);
            return;
        }
        if let Some(version) = &entry.locked {
            let first =
                self.seen.entry(name.to_string()).or_insert_with(|| version.clone()).clone();
            if first != *version {
                self.unchecked.insert(format!(
                    "{name} {version}: the lock holds {first} as well, which is judged"
                ));
                return;
            }
        }
        let mut undefined_index = None;
        let source = match self.source(entry, indexes, &mut undefined_index) {
            Wanted::Anywhere => None,
            Wanted::From(source) => Some(source),
            Wanted::Elsewhere => {
                self.unchecked.insert(format!("{name}: it comes from a folder or a repository"));
                return;
            }
        };
        self.push(
            entry,
            Line { bound, source, undefined_index, ..Line::new(Arc::new(requirement)) },
        );
    }

    /// A conda package is judged by what is known of the channels.
    fn conda(&mut self, entry: &Entry, bound: bool) {
        let Some(name) = entry.name else { return };
        let specifiers =
            entry.specifiers().map_or_else(String::new, |specifiers| specifiers.to_string());
        let Ok(requirement) = format!("{name}{specifiers}").parse::<Requirement>() else { return };
        let channels = match &entry.channel {
            Some(channel) => vec![channel.clone()],
            None => self.input.indexes_of(entry).map(|o| o.channels.clone()).unwrap_or_default(),
        };
        let line = Line { bound, channels: Some(channels), ..Line::new(Arc::new(requirement)) };
        self.push(entry, line);
    }

    /// What is installed comes from nowhere else, wherever it came from once.
    fn installed(&mut self, entry: &Entry, requirement: Requirement, indexes: &mut Indexes) {
        let folder = self.input.files.first().map(|file| file.name.clone()).unwrap_or_default();
        let conda = is_of_conda(entry);
        if conda && family(requirement.name).is_some() {
            self.unchecked.insert(format!(
                "{}: conda installed it, and which CUDA it was built for is not in its METADATA",
                requirement.name
            ));
        }
        if self.seen.insert(requirement.name.to_string(), String::new()).is_some() {
            return;
        }
        let source = indexes.installed(Path::new(&folder), conda);
        self.push(entry, Line { source, ..Line::new(Arc::new(requirement)) });
    }

    fn push(&mut self, entry: &Entry, mut line: Line) {
        let asked = self.input.indexes_of(entry).is_some_and(|options| options.require_hashes);
        line.lacks_hash = asked && entry.hashes.is_empty() && entry.origin == Origin::Pip;
        self.lines.push(line);
        self.spans.push(entry.span);
        self.entries.push(self.at);
    }

    /// The index that an entry must come from here.
    fn source(
        &self,
        entry: &Entry,
        indexes: &mut Indexes,
        undefined: &mut Option<String>,
    ) -> Wanted {
        let input = self.input;
        for source in &entry.sources {
            let applies = source.marker.as_ref().is_none_or(|marker| {
                let text = format!("x ; {marker}");
                text.parse::<Requirement>().is_ok_and(|probe| self.markers.applies(&probe, None))
            });
            if !applies || source.extra.is_some() || source.group.is_some() {
                continue;
            }
            match &source.target {
                SourceTarget::Index(name) => {
                    let options = input.indexes_of(entry);
                    let named = options
                        .and_then(|options| options.named.iter().find(|named| named.name == *name))
                        .filter(|named| !named.url.is_empty());
                    if named.is_none()
                        && !options.is_some_and(|o| o.named.iter().any(|n| n.name == *name))
                    {
                        *undefined = Some(name.clone());
                    }
                    let known = || index::by_name(name).map(|known| known.url);
                    let id = match named {
                        Some(named) => indexes.at(&named.url, named.flat),
                        None => known().and_then(|url| indexes.at(&url, false)),
                    };
                    return id.map_or(Wanted::Anywhere, Wanted::From);
                }
                SourceTarget::Registry(url) => {
                    return indexes.at(url, false).map_or(Wanted::Anywhere, Wanted::From);
                }
                SourceTarget::Location(_) | SourceTarget::Workspace => return Wanted::Elsewhere,
            }
        }
        Wanted::Anywhere
    }

    /// A wheel at a URL or a path is judged by its name; what else a line points at is not read.
    fn location(&mut self, entry: &Entry) {
        let shown = if entry.raw_name.is_empty() { "a requirement" } else { &entry.raw_name };
        let (text, local) = match &entry.location {
            Some(Location::Url(url)) => (url.as_str(), url.starts_with("file:")),
            Some(Location::Path(path)) => (path.as_str(), true),
            Some(Location::Vcs { url, .. }) => {
                self.unchecked.insert(format!("{shown}: it is built from {url}"));
                return;
            }
            None => return,
        };
        let file = text
            .split(['#', '?'])
            .next()
            .unwrap_or(text)
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(text);
        let file = file.replace("%2B", "+").replace("%2b", "+");
        if let Ok(wheel) = WheelName::parse(&file) {
            let text = format!("{}=={}", wheel.name, wheel.version);
            if let Ok(requirement) = text.parse::<Requirement>() {
                let line = Line { wheel: Some(file), ..Line::new(Arc::new(requirement)) };
                self.push(entry, line);
            }
        } else if file.ends_with(".whl") {
            self.bad_location(entry, &file, text, LocationFault::NoWheelName);
        } else if local
            && text.starts_with("file:")
            && !std::path::Path::new(text.trim_start_matches("file://")).exists()
        {
            self.bad_location(entry, shown, text, LocationFault::OfAnotherMachine);
        } else {
            self.unchecked.insert(format!("{shown}: it comes from {text}"));
        }
    }
}

impl Lines<'_> {
    fn bad_location(&mut self, entry: &Entry, shown: &str, target: &str, fault: LocationFault) {
        let place = self.marks.add(entry.span);
        let (shown, target) = (shown.to_owned(), target.to_owned());
        self.bad_locations.push(BadLocation { shown, target, fault, place });
    }
}

/// Places in the files that findings point at and that are no lines.
#[derive(Default)]
struct Marks {
    spans: Vec<Span>,
}

impl Marks {
    fn add(&mut self, span: Span) -> Place {
        self.spans.push(span);
        Place::Mark(self.spans.len() - 1)
    }
}

enum Wanted {
    Anywhere,
    From(SourceId),
    Elsewhere,
}

/// The entry by PEP 508.
fn requirement_text(entry: &Entry) -> String {
    let mut text = entry.name.map_or_else(|| entry.raw_name.clone(), |name| name.to_string());
    if !entry.extras.is_empty() {
        let extras: Vec<&str> = entry.extras.iter().map(|extra| extra.as_str()).collect();
        text.push_str(&format!("[{}]", extras.join(",")));
    }
    match (&entry.locked, entry.specifiers()) {
        (Some(version), _) => text.push_str(&format!("=={version}")),
        (None, Some(specifiers)) => text.push_str(&specifiers.to_string()),
        (None, None) => text.push_str(&entry.specifier),
    }
    if let Some(marker) = &entry.marker {
        text.push_str(" ; ");
        text.push_str(marker);
    }
    text
}
