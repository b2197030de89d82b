//! pyproject.toml: PEP 621, PEP 735, and the tables of uv, PDM and Hatch. Poetry's and pixi's have their own readers.

use super::build::Builder;
use super::model::{
    Entry, Group, Level, Location, NamedIndex, Origin, ProblemCode, PythonRequest, Source,
    SourceTarget,
};
use super::toml_doc::{Doc, Value, get, get_str, is_true, items};
use super::{link, pixi, poetry};

/// Reads the file at `file`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    read_text(builder, &text, file);
}

/// Reads a text in which every byte stands where it stands in the file.
pub(super) fn read_text(builder: &mut Builder<'_>, text: &str, file: usize) {
    let doc = Doc::parse(builder, text, file);
    let root = doc.root();
    if let Some(python) = get(root, &["project", "requires-python"]) {
        builder.input.python = doc
            .string(python)
            .map(|text| PythonRequest { specifiers: text.as_str().to_owned(), span: text.whole() });
    }
    requirements(builder, &doc, root, &["project", "dependencies"], &Group::Main);
    if let Some(extras) = get(root, &["project", "optional-dependencies"]) {
        for (name, _) in doc.entries(extras) {
            requirements(
                builder,
                &doc,
                extras,
                &[name.as_str()],
                &Group::Extra(name.as_str().to_owned()),
            );
        }
    }
    groups(builder, &doc, root);
    requirements(builder, &doc, root, &["build-system", "requires"], &Group::Build);
    if let Some(uv) = get(root, &["tool", "uv"]) {
        read_uv(builder, &doc, uv);
    }
    read_pdm(builder, &doc, root);
    if let Some(envs) = get(root, &["tool", "hatch", "envs"]) {
        for (name, env) in doc.entries(envs) {
            let group = Group::Group(name.as_str().to_owned());
            requirements(builder, &doc, env, &["dependencies"], &group);
            requirements(builder, &doc, env, &["extra-dependencies"], &group);
        }
    }
    if let Some(table) = get(root, &["tool", "poetry"]) {
        poetry::read(builder, &doc, table);
    }
    if let Some(table) = get(root, &["tool", "pixi"]) {
        pixi::read(builder, &doc, table);
    }
    builder.input.entries.sort_by_key(|entry| entry.span);
}

/// Adds the requirements at a path of keys.
fn requirements(
    builder: &mut Builder<'_>,
    doc: &Doc<'_>,
    from: &Value<'_>,
    path: &[&str],
    group: &Group,
) {
    for entry in read_all(builder, doc, from, path) {
        let entry = Entry { group: group.clone(), ..entry };
        builder.input.entries.push(entry);
    }
}

fn read_all(
    builder: &mut Builder<'_>,
    doc: &Doc<'_>,
    from: &Value<'_>,
    path: &[&str],
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for item in items(from, path) {
        match doc.string(item) {
            Some(text) => entries.extend(builder.requirement(&text, Origin::Project)),
            None => not_a_requirement(builder, doc, item),
        }
    }
    entries
}

fn not_a_requirement(builder: &mut Builder<'_>, doc: &Doc<'_>, item: &Value<'_>) {
    let message = "expected a requirement in quotes, such as \"numpy>=1.26\"";
    builder.problem(doc.span(item), ProblemCode::Syntax, Level::Error, message, None);
}

fn groups(builder: &mut Builder<'_>, doc: &Doc<'_>, root: &Value<'_>) {
    let Some(groups) = get(root, &["dependency-groups"]) else { return };
    for (name, _) in doc.entries(groups) {
        let group = name.as_str().to_owned();
        for item in items(groups, &[name.as_str()]) {
            if let Some(text) = doc.string(item) {
                let entry = builder.requirement(&text, Origin::Project);
                builder
                    .input
                    .entries
                    .extend(entry.map(|e| Entry { group: Group::Group(group.clone()), ..e }));
            } else if let Some(included) = get_str(item, &["include-group"]) {
                builder
                    .input
                    .group_includes
                    .entry(group.clone())
                    .or_default()
                    .push(included.to_owned());
            } else {
                not_a_requirement(builder, doc, item);
            }
        }
    }
}

fn read_uv(builder: &mut Builder<'_>, doc: &Doc<'_>, uv: &Value<'_>) {
    requirements(builder, doc, uv, &["dev-dependencies"], &Group::Group("dev".to_owned()));
    let overrides = read_all(builder, doc, uv, &["override-dependencies"]);
    builder.input.overrides.extend(overrides);
    let constraints = read_all(builder, doc, uv, &["constraint-dependencies"]);
    builder.input.constraints.extend(constraints);
    for set in items(uv, &["conflicts"]) {
        let members = set.get_ref().as_array().into_iter().flat_map(|a| a.iter());
        let members: Vec<Group> = members
            .filter_map(|member| {
                let extra = get_str(member, &["extra"]).map(|e| Group::Extra(e.to_owned()));
                extra.or_else(|| get_str(member, &["group"]).map(|g| Group::Group(g.to_owned())))
            })
            .collect();
        builder.input.conflicts.push(members);
    }
    for index in items(uv, &["index"]) {
        let url = get(index, &["url"]).unwrap_or(index);
        let named = NamedIndex {
            name: get_str(index, &["name"]).unwrap_or_default().to_owned(),
            url: url.get_ref().as_str().unwrap_or_default().to_owned(),
            explicit: is_true(index, &["explicit"]),
            default: is_true(index, &["default"]),
            flat: get_str(index, &["format"]) == Some("flat"),
            span: doc.span(url),
        };
        builder.options().named.push(named);
    }
    for table in [Some(uv), get(uv, &["pip"])].into_iter().flatten() {
        let strings = |key: &str| -> Vec<String> {
            items(table, &[key])
                .iter()
                .filter_map(|v| v.get_ref().as_str())
                .map(str::to_owned)
                .collect()
        };
        let options = builder.options();
        options.index_url =
            strings("index-url").into_iter().next_back().or_else(|| options.index_url.take());
        options.extra_index_urls.extend(strings("extra-index-url"));
        options.find_links.extend(strings("find-links"));
        options.no_index |= is_true(table, &["no-index"]);
        options.pre |= get_str(table, &["prerelease"]) == Some("allow");
        if let Some(backend) = get_str(table, &["torch-backend"]) {
            options.torch_backend = Some(backend.to_owned());
        }
    }
    if let Some(sources) = get(uv, &["sources"]) {
        for (name, _) in doc.entries(sources) {
            let found: Vec<Source> =
                items(sources, &[name.as_str()]).into_iter().filter_map(uv_source).collect();
            attach(builder, name.as_str(), &found);
        }
    }
}

/// One table of `tool.uv.sources`.
fn uv_source(table: &Value<'_>) -> Option<Source> {
    let text = |key: &str| get_str(table, &[key]).map(str::to_owned);
    let target = if let Some(index) = text("index") {
        SourceTarget::Index(index)
    } else if is_true(table, &["workspace"]) {
        SourceTarget::Workspace
    } else {
        SourceTarget::Location(location(table)?)
    };
    Some(Source { target, marker: text("marker"), extra: text("extra"), group: text("group") })
}

/// The `git`, `url` or `path` of a table, as uv, Poetry and pixi write them.
pub(super) fn location(table: &Value<'_>) -> Option<Location> {
    let text = |key: &str| get_str(table, &[key]).map(str::to_owned);
    if let Some(git) = text("git") {
        let url = if link::is_vcs(&git) { git } else { format!("git+{git}") };
        let reference = ["rev", "tag", "branch"].into_iter().find_map(text);
        return Some(Location::Vcs { url, reference, subdirectory: text("subdirectory") });
    }
    text("url").map(Location::Url).or_else(|| text("path").map(Location::Path))
}

/// Adds sources to every entry with that name.
fn attach(builder: &mut Builder<'_>, name: &str, sources: &[Source]) {
    let Ok(name) = cuda_lock_constraint::name::Name::new(name) else { return };
    for entry in builder.input.entries.iter_mut().filter(|e| e.name == Some(name)) {
        entry.sources.extend_from_slice(sources);
    }
}

fn read_pdm(builder: &mut Builder<'_>, doc: &Doc<'_>, root: &Value<'_>) {
    for source in items(root, &["tool", "pdm", "source"]) {
        let Some(url) = get(source, &["url"]) else { continue };
        let name = get_str(source, &["name"]).unwrap_or_default();
        let named = NamedIndex {
            name: name.to_owned(),
            url: url.get_ref().as_str().unwrap_or_default().to_owned(),
            explicit: !items(source, &["include_packages"]).is_empty(),
            // PDM replaces PyPI by the source of that name.
            default: name == "pypi",
            flat: get_str(source, &["type"]) == Some("find_links"),
            span: doc.span(url),
        };
        builder.options().named.push(named);
    }
    if let Some(groups) = get(root, &["tool", "pdm", "dev-dependencies"]) {
        for (name, _) in doc.entries(groups) {
            requirements(
                builder,
                doc,
                groups,
                &[name.as_str()],
                &Group::Group(name.as_str().to_owned()),
            );
        }
    }
}
