//! pixi.toml, and the table of pixi in pyproject.toml.

use super::build::{Builder, extras};
use super::model::{Entry, Group, Origin, Setting, Source, SourceTarget};
use super::poetry::set_version;
use super::pyproject::location;
use super::text::Mapped;
use super::toml_doc::{Doc, Value, get, get_str, items};

/// Reads pixi.toml.
pub(super) fn read_file(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    let doc = Doc::parse(builder, &text, file);
    read(builder, &doc, doc.root());
    builder.input.entries.sort_by_key(|entry| entry.span);
}

/// Reads the table that holds `workspace`, `dependencies`, `feature` and so on.
pub(super) fn read(builder: &mut Builder<'_>, doc: &Doc<'_>, table: &Value<'_>) {
    for head in ["workspace", "project"] {
        for channel in items(table, &[head, "channels"]) {
            let name = channel.get_ref().as_str().or_else(|| get_str(channel, &["channel"]));
            builder.options().channels.extend(name.map(str::to_owned));
        }
    }
    feature(builder, doc, table, &Group::Main);
    if let Some(features) = get(table, &["feature"]) {
        for (name, value) in doc.entries(features) {
            feature(builder, doc, value, &Group::Group(name.as_str().to_owned()));
        }
    }
}

fn feature(builder: &mut Builder<'_>, doc: &Doc<'_>, table: &Value<'_>, group: &Group) {
    options(builder, doc, table);
    dependencies(builder, doc, table, group, None);
    if let Some(targets) = get(table, &["target"]) {
        for (platform, value) in doc.entries(targets) {
            dependencies(builder, doc, value, group, marker(platform.as_str()));
        }
    }
    if let Some(requirements) = get(table, &["system-requirements"]) {
        for (key, value) in doc.entries(requirements) {
            let text = doc.string(value).or_else(|| doc.string(get(value, &["version"])?));
            if let Some(text) = text {
                let key = format!("system-requirements.{}", key.as_str());
                builder.target().variables.push(Setting {
                    key,
                    value: text.as_str().to_owned(),
                    span: text.whole(),
                });
            }
        }
    }
}

fn options(builder: &mut Builder<'_>, doc: &Doc<'_>, table: &Value<'_>) {
    let Some(pypi) = get(table, &["pypi-options"]) else { return };
    let strings = |key: &str| -> Vec<Mapped> {
        items(pypi, &[key]).into_iter().filter_map(|v| doc.string(v)).collect()
    };
    let (index, extra) = (strings("index-url"), strings("extra-index-urls"));
    let options = builder.options();
    for url in index.iter().chain(&extra) {
        options.spans.entry(url.as_str().to_owned()).or_insert_with(|| url.whole());
    }
    options.index_url =
        index.last().map(|url| url.as_str().to_owned()).or_else(|| options.index_url.take());
    options.extra_index_urls.extend(extra.iter().map(|url| url.as_str().to_owned()));
}

/// The platform of a `target` table as a marker.
fn marker(platform: &str) -> Option<String> {
    let (system, machine) = match platform.split_once('-') {
        Some((system, "64")) => (system, if system == "win" { "AMD64" } else { "x86_64" }),
        Some((system, machine)) => (system, machine),
        None => (platform, ""),
    };
    let system = match system {
        "linux" => "sys_platform == \"linux\"",
        "osx" => "sys_platform == \"darwin\"",
        "win" => "sys_platform == \"win32\"",
        "unix" => "sys_platform != \"win32\"",
        _ => return None,
    };
    Some(if machine.is_empty() {
        system.to_owned()
    } else {
        format!("{system} and platform_machine == \"{machine}\"")
    })
}

fn dependencies(
    builder: &mut Builder<'_>,
    doc: &Doc<'_>,
    table: &Value<'_>,
    group: &Group,
    marker: Option<String>,
) {
    let tables = [
        ("dependencies", Origin::Conda),
        ("host-dependencies", Origin::Conda),
        ("pypi-dependencies", Origin::Pip),
    ];
    for (key, origin) in tables {
        let Some(found) = get(table, &[key]) else { continue };
        for (name, value) in doc.entries(found) {
            let mut span = name.whole();
            span.end = span.end.max(doc.span(value).end);
            let mut entry = builder.entry(name.as_str(), origin, span);
            entry.name_span = name.whole();
            if let Some(version) =
                doc.string(value).or_else(|| doc.string(get(value, &["version"])?))
            {
                set_version(&mut entry, &version);
                if origin == Origin::Pip
                    && !entry.specifier.is_empty()
                    && !entry.specifier.starts_with(['=', '<', '>', '~', '!'])
                {
                    entry.specifier.insert_str(0, "==");
                }
            }
            entry.extras =
                extras(items(value, &["extras"]).iter().filter_map(|e| e.get_ref().as_str()));
            entry.channel = get_str(value, &["channel"]).map(str::to_owned);
            entry.build = get_str(value, &["build"]).map(str::to_owned);
            entry.location = location(value);
            if let Some(index) = get_str(value, &["index"]) {
                let target = SourceTarget::Registry(index.to_owned());
                entry.sources.push(Source { target, marker: None, extra: None, group: None });
            }
            entry.marker.clone_from(&marker);
            builder.input.entries.push(Entry { group: group.clone(), ..entry });
        }
    }
}
