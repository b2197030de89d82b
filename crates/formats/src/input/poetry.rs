//! The tables of Poetry in pyproject.toml.

use std::collections::BTreeMap;

use super::build::{Builder, extras};
use super::link;
use super::model::{Entry, Group, NamedIndex, Origin, PythonRequest, Source, SourceTarget};
use super::pyproject::location;
use super::specifier;
use super::text::Mapped;
use super::toml_doc::{Doc, Value, get, get_str, is_true, items};

/// Reads `tool.poetry`.
pub(super) fn read(builder: &mut Builder<'_>, doc: &Doc<'_>, table: &Value<'_>) {
    for source in items(table, &["source"]) {
        let priority = get_str(source, &["priority"]).unwrap_or_default();
        let named = NamedIndex {
            name: get_str(source, &["name"]).unwrap_or_default().to_owned(),
            url: get_str(source, &["url"]).unwrap_or_default().to_owned(),
            explicit: priority == "explicit",
            default: priority == "default" || is_true(source, &["default"]),
            flat: false,
            span: get(source, &["url"]).map_or_else(|| doc.span(source), |url| doc.span(url)),
        };
        builder.options().named.push(named);
    }
    dependencies(builder, doc, get(table, &["dependencies"]), &Group::Main);
    dependencies(builder, doc, get(table, &["dev-dependencies"]), &Group::Group("dev".to_owned()));
    if let Some(groups) = get(table, &["group"]) {
        for (name, group) in doc.entries(groups) {
            dependencies(
                builder,
                doc,
                get(group, &["dependencies"]),
                &Group::Group(name.as_str().to_owned()),
            );
        }
    }
    optional_extras(builder, doc, table);
}

fn dependencies(
    builder: &mut Builder<'_>,
    doc: &Doc<'_>,
    table: Option<&Value<'_>>,
    group: &Group,
) {
    let Some(table) = table else { return };
    for (name, value) in doc.entries(table) {
        if name.as_str() == "python" {
            python(builder, doc, value);
            continue;
        }
        let several = value.get_ref().as_array();
        let alternatives: Vec<&Value<'_>> =
            several.map_or_else(|| vec![value], |all| all.iter().collect());
        for alternative in alternatives {
            let entry = dependency(builder, doc, &name, alternative);
            builder.input.entries.push(Entry { group: group.clone(), ..entry });
        }
    }
}

fn python(builder: &mut Builder<'_>, doc: &Doc<'_>, value: &Value<'_>) {
    let Some(text) = doc.string(value) else { return };
    let translated = specifier::to_pep440(text.as_str(), Origin::Poetry);
    let specifiers = translated.map_or_else(
        || text.as_str().to_owned(),
        |all| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    );
    builder.input.python = Some(PythonRequest { specifiers, span: text.whole() });
}

fn dependency(builder: &mut Builder<'_>, doc: &Doc<'_>, name: &Mapped, value: &Value<'_>) -> Entry {
    let mut span = name.whole();
    span.end = span.end.max(doc.span(value).end);
    let mut entry = builder.entry(name.as_str(), Origin::Poetry, span);
    entry.name_span = name.whole();
    if let Some(version) = doc.string(value).or_else(|| doc.string(get(value, &["version"])?)) {
        set_version(&mut entry, &version);
    }
    if let Some(markers) = get(value, &["markers"]).and_then(|m| doc.string(m)) {
        builder.apply_marker(&mut entry, &markers);
    }
    entry.extras = extras(items(value, &["extras"]).iter().filter_map(|e| e.get_ref().as_str()));
    entry.optional = is_true(value, &["optional"]);
    entry.editable = is_true(value, &["develop"]);
    entry.location = location(value);
    if let Some(url) = get_str(value, &["url"]) {
        entry.locked = link::read(url).wheel.map(|(_, version)| version);
    }
    if let Some(source) = get_str(value, &["source"]) {
        let target = SourceTarget::Index(source.to_owned());
        entry.sources.push(Source { target, marker: None, extra: None, group: None });
    }
    entry
}

/// Sets the specifier. The version part is known where it is one exact version.
pub(super) fn set_version(entry: &mut Entry, version: &Mapped) {
    let text = version.as_str();
    entry.specifier =
        if text.trim() == "*" { String::new() } else { text.split_whitespace().collect() };
    entry.specifier_span = Some(version.whole());
    let exact = text.trim_start_matches(['=', ' ']);
    if !exact.is_empty() && !exact.contains(['^', '~', '<', '>', '*', ',', '|', '!', ' ']) {
        entry.version_span = Some(version.span(text.len() - exact.len(), text.len()));
    }
}

/// Marks what belongs to extras: an optional dependency is installed with any extra that names it.
fn optional_extras(builder: &mut Builder<'_>, doc: &Doc<'_>, table: &Value<'_>) {
    let Some(extras) = get(table, &["extras"]) else { return };
    let mut by_name: BTreeMap<cuda_lock_constraint::name::Name, String> = BTreeMap::new();
    for (extra, _) in doc.entries(extras) {
        for item in items(extras, &[extra.as_str()]) {
            let name =
                item.get_ref().as_str().and_then(|n| cuda_lock_constraint::name::Name::new(n).ok());
            if let Some(name) = name {
                by_name.entry(name).or_insert_with(|| extra.as_str().to_owned());
            }
        }
    }
    for entry in
        builder.input.entries.iter_mut().filter(|e| e.optional && e.origin == Origin::Poetry)
    {
        if let Some(extra) = entry.name.and_then(|name| by_name.get(&name)) {
            entry.group = Group::Extra(extra.clone());
        }
    }
}
