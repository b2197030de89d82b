//! From what a source distribution says to its metadata, or to why it has none that can be relied on.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{BuildNeed, FromSdist, Grade, Metadata, Silence};
use cuda_lock_constraint::matrix::{self, rows::sdists::Need};
use cuda_lock_constraint::name::Name;
use toml::Table;

use super::super::headers::{Core, parse};
use super::members::Members;
use super::requires_txt;
use super::setup_py::{self, SetupPy};

/// What it says, and why that is not enough, if it is not.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) metadata: Option<Metadata>,
    pub(super) doubt: Option<Silence>,
    /// More about the doubt.
    pub(super) detail: Option<String>,
}

/// What the header of PKG-INFO promises (PEP 643).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// All that matters here.
    All,
    /// All but the requirements of extras.
    ButExtras,
    /// Nothing: a build may find other requirements.
    Dynamic,
    /// Nothing: it is of a version that cannot.
    Old,
}

impl Promise {
    fn of(core: &Core) -> Self {
        let mut numbers =
            core.version.split('.').map(|part| part.trim().parse::<u64>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let is_dynamic = |field: &str| core.dynamic.iter().any(|d| d.eq_ignore_ascii_case(field));
        if version < (2, 2) {
            Self::Old
        } else if is_dynamic("Requires-Dist") {
            Self::Dynamic
        } else if is_dynamic("Provides-Extra") {
            Self::ButExtras
        } else {
            Self::All
        }
    }
}

/// Whether a PKG-INFO promises the requirements.
pub(super) fn is_promised(pkg_info: &[u8]) -> bool {
    parse(pkg_info)
        .is_ok_and(|core| matches!(Promise::of(&core), Promise::All | Promise::ButExtras))
}

/// Whether a pyproject.toml names a build backend that does not read setup.py.
pub(super) fn names_other_backend(pyproject: &[u8]) -> bool {
    let backend = table(pyproject).as_ref().and_then(backend);
    backend.is_some_and(|module| module != "setuptools")
}

fn table(pyproject: &[u8]) -> Option<Table> {
    std::str::from_utf8(pyproject).ok()?.parse().ok()
}

/// The top-level module of the build backend.
fn backend(pyproject: &Table) -> Option<String> {
    let backend = pyproject.get("build-system")?.get("build-backend")?.as_str()?;
    Some(backend.split(['.', ':']).next().unwrap_or(backend).to_owned())
}

/// What the build asks for.
fn build_requires(pyproject: &Table) -> Vec<Name> {
    let listed = pyproject.get("build-system").and_then(|build| build.get("requires"));
    let texts = listed.and_then(toml::Value::as_array).into_iter().flatten();
    texts.filter_map(|text| name_of(text.as_str()?)).collect()
}

/// The name at the beginning of a requirement.
fn name_of(requirement: &str) -> Option<Name> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let end = requirement.find(|c| !is_of_name(c)).unwrap_or(requirement.len());
    Name::new(requirement.get(..end)?).ok()
}

/// Judges what was found.
pub(super) fn judge(project: Name, version: &str, members: &Members) -> Verdict {
    let pyproject = members.pyproject.as_deref().and_then(table);
    let setup =
        members.setup_py.as_deref().map(|text| setup_py::read(&String::from_utf8_lossy(text)));
    let needs = needs(pyproject.as_ref(), setup.as_ref());
    if pyproject.as_ref().is_some_and(is_stub) {
        return Verdict { metadata: None, doubt: Some(Silence::Stub), detail: None };
    }
    let core = members.pkg_info.as_deref().map(parse);
    let (core, detail) = match core {
        Some(Ok(core)) => (Some(core), None),
        Some(Err(error)) => (None, Some(error.to_string())),
        None => (None, None),
    };
    let promise = core.as_ref().map(Promise::of);
    let graded = |grade, extras_open| {
        let needs = needs.clone();
        Some(Box::new(FromSdist { grade, extras_open, needs }))
    };
    if let (Some(core), Some(promise @ (Promise::All | Promise::ButExtras))) = (&core, promise) {
        let metadata = Metadata {
            source: graded(Grade::Promised, promise == Promise::ButExtras),
            ..core.metadata.clone()
        };
        return guarded(metadata, None, setup.as_ref(), Promise::All);
    }
    let stated = Metadata {
        name: project.to_string(),
        version: version.to_owned(),
        ..core.as_ref().map(|core| core.metadata.clone()).unwrap_or_default()
    };
    if let Some((metadata, open)) = pyproject.as_ref().and_then(|p| of_project_table(p, &stated)) {
        let metadata = Metadata { source: graded(Grade::Promised, open), ..metadata };
        return Verdict { metadata: Some(metadata), doubt: None, detail: None };
    }
    let Some(recorded) = recorded(members, stated) else {
        return Verdict { metadata: None, doubt: Some(Silence::NothingRecorded), detail };
    };
    let doubt = doubt(&recorded, promise, setup.as_ref());
    let metadata = Metadata { source: graded(Grade::Recorded, false), ..recorded };
    guarded(metadata, doubt, setup.as_ref(), promise.unwrap_or(Promise::Old))
}

/// A placeholder requires nothing, and its setup.py does not let itself be called. One that calls pip requires what
/// nothing records.
fn guarded(
    metadata: Metadata,
    doubt: Option<Silence>,
    setup: Option<&SetupPy>,
    promise: Promise,
) -> Verdict {
    let open = promise != Promise::All;
    if open && setup.is_some_and(|setup| setup.installs) {
        return Verdict { metadata: None, doubt: Some(Silence::Installs), detail: None };
    }
    let guards = open && setup.is_some_and(|setup| setup.guards_itself);
    if guards && metadata.requires_dist.is_empty() {
        return Verdict { metadata: None, doubt: Some(Silence::Placeholder), detail: None };
    }
    Verdict { metadata: Some(metadata), doubt, detail: None }
}

/// What was recorded when it was made; `None` when nothing was.
fn recorded(members: &Members, stated: Metadata) -> Option<Metadata> {
    if !stated.requires_dist.is_empty() {
        return Some(stated);
    }
    match &members.requires_txt {
        Some(text) => {
            let found = requires_txt::read(&String::from_utf8_lossy(text));
            let (requires_dist, provides_extra) = (found.requires_dist, found.provides_extra);
            Some(Metadata { requires_dist, provides_extra, ..stated })
        }
        // setuptools writes no requires.txt when nothing is required.
        None => members.egg_info.then_some(stated),
    }
}

/// Why what was recorded may not hold on another machine.
fn doubt(
    recorded: &Metadata,
    promise: Option<Promise>,
    setup: Option<&SetupPy>,
) -> Option<Silence> {
    if recorded.requires_dist.iter().any(|text| name_of(text).is_some_and(names_a_cuda)) {
        return Some(Silence::CudaOfMaker);
    }
    if setup.is_some_and(|setup| setup.computes) {
        return Some(Silence::Computed);
    }
    (promise == Some(Promise::Dynamic)).then_some(Silence::Dynamic)
}

/// `…-cu12`, `…-cuda12x`.
fn names_a_cuda(name: Name) -> bool {
    let last = name.as_str().rsplit('-').next().unwrap_or_default();
    let digits = last.strip_prefix("cuda").or_else(|| last.strip_prefix("cu"));
    let digits = digits.map(|digits| digits.strip_suffix('x').unwrap_or(digits));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether the build fetches a wheel from a vendor's index instead of building one.
fn is_stub(pyproject: &Table) -> bool {
    let (backend, requires) = (backend(pyproject), build_requires(pyproject));
    matrix::sdists().backend.iter().filter(|row| row.stub).any(|row| {
        backend.as_deref() == Some(&row.module)
            || Name::new(&row.module).is_ok_and(|name| requires.contains(&name))
    })
}

/// `[project]` of pyproject.toml, where it is static (PEP 621), and whether the extras are not.
fn of_project_table(pyproject: &Table, stated: &Metadata) -> Option<(Metadata, bool)> {
    let project = pyproject.get("project")?.as_table()?;
    let name = project.get("name")?.as_str()?;
    if Name::new(name) != Name::new(&stated.name) {
        return None;
    }
    let texts = |value: Option<&toml::Value>| -> Option<Vec<String>> {
        let list = value.map(toml::Value::as_array).unwrap_or(Some(const { &Vec::new() }))?;
        list.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let dynamic = texts(project.get("dynamic"))?;
    let is_dynamic = |field: &str| dynamic.iter().any(|dynamic| dynamic == field);
    if is_dynamic("dependencies") {
        return None;
    }
    let mut requires_dist: Vec<Arc<str>> =
        texts(project.get("dependencies"))?.into_iter().map(Arc::from).collect();
    let mut provides_extra = Vec::new();
    let extras =
        project.get("optional-dependencies").map(toml::Value::as_table).unwrap_or_default();
    for (extra, list) in extras.into_iter().flatten() {
        for text in texts(Some(list))? {
            let text = match text.split_once(';') {
                Some((requirement, marker)) => {
                    format!("{} ; ({}) and extra == \"{extra}\"", requirement.trim(), marker.trim())
                }
                None => format!("{text} ; extra == \"{extra}\""),
            };
            requires_dist.push(text.into());
        }
        provides_extra.push(extra.clone());
    }
    let python = project.get("requires-python").and_then(toml::Value::as_str).map(Arc::from);
    let metadata = Metadata {
        name: name.to_owned(),
        version: project
            .get("version")
            .and_then(toml::Value::as_str)
            .map_or_else(|| stated.version.clone(), str::to_owned),
        requires_dist,
        requires_python: python.or_else(|| stated.requires_python.clone()),
        provides_extra,
        source: None,
    };
    Some((metadata, is_dynamic("optional-dependencies")))
}

/// What a build needs, as far as the files show.
fn needs(pyproject: Option<&Table>, setup: Option<&SetupPy>) -> BTreeSet<BuildNeed> {
    let rows = matrix::sdists();
    let backend = pyproject.and_then(backend);
    let mut found: Vec<Need> = Vec::new();
    let backends = rows.backend.iter().filter(|row| backend.as_deref() == Some(&row.module));
    found.extend(backends.flat_map(|row| &row.needs));
    let requires = pyproject.map(build_requires).unwrap_or_default();
    for row in &rows.required {
        let is_required = Name::new(&row.name).is_ok_and(|name| requires.contains(&name));
        let is_imported = setup.is_some_and(|setup| setup.imports.contains(&row.name));
        if is_required || is_imported {
            found.extend(&row.needs);
        }
    }
    if let Some(setup) = setup {
        let marks = rows.mark.iter().filter(|row| setup.words.binary_search(&row.name).is_ok());
        found.extend(marks.flat_map(|row| &row.needs));
    }
    let need = |need| match need {
        Need::Compiler => BuildNeed::Compiler,
        Need::Nvcc => BuildNeed::Nvcc,
        Need::Torch => BuildNeed::Torch,
        Need::Rust => BuildNeed::Rust,
    };
    found.into_iter().map(need).collect()
}
