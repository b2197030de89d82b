//! Reads `[tool.cuda-lock]`.

use std::str::FromStr;

use cuda_lock_constraint::machine::{Libraries, Platform};
use cuda_lock_constraint::version::SystemVersion;
use serde_spanned::Spanned;
use toml::de::DeValue;

use super::read::Fields;
use super::{
    LockMetadata, LockedBuild, LockedConstraint, LockedIndex, LockedMachine, LockedPassed,
};
use crate::document::Report;

/// `None` when something that is needed is missing, which is reported.
pub(super) fn read<'t>(
    value: &'t Spanned<DeValue<'t>>,
    report: &mut Report,
) -> Option<LockMetadata> {
    let Some(table) = value.get_ref().as_table() else {
        report.error(value.span(), "`tool.cuda-lock` is not a table");
        return None;
    };
    let mut at = Fields { table, place: "[tool.cuda-lock]", home: value.span(), report };
    let manifest = at.required("manifest");
    let matrices = at.required("matrices");
    let python = at.required("python");
    let machine = match at.child("machine", "[tool.cuda-lock.machine]") {
        Some(mut fields) => read_machine(&mut fields),
        None => {
            if !table.contains_key("machine") {
                at.missing("machine");
            }
            None
        }
    };
    let indexes = at.tables("indexes").unwrap_or_default();
    let indexes = indexes
        .into_iter()
        .filter_map(|(home, table)| {
            let mut at = Fields { table, place: "an index", home, report: at.report };
            let (name, url) = (at.required("name"), at.required("url"));
            let flat = at.text("format").is_some_and(|format| *format.get_ref() == "flat");
            Some(LockedIndex { name: own(name?), url: own(url?), flat })
        })
        .collect();
    let built = at.tables("built").unwrap_or_default();
    let built = built
        .into_iter()
        .filter_map(|(home, table)| {
            let mut at =
                Fields { table, place: "a package that is built", home, report: at.report };
            let (name, requirements) = (at.required("name"), at.required("requirements"));
            Some(LockedBuild {
                name: own(name?),
                requirements: own(requirements?),
                needs: at.texts("needs"),
                in_environment: at.table.contains_key("in-environment"),
            })
        })
        .collect();
    let passed_over = at.tables("passed-over").unwrap_or_default();
    let passed_over = passed_over
        .into_iter()
        .filter_map(|(home, table)| {
            let mut at = Fields { table, place: "a release", home, report: at.report };
            let (name, version, text) =
                (at.required("name"), at.required("version"), at.required("text"));
            Some(LockedPassed { name: own(name?), version: own(version?), text: own(text?) })
        })
        .collect();
    let constraints = at.tables("constraints").unwrap_or_default();
    let constraints = constraints
        .into_iter()
        .filter_map(|(home, table)| {
            let mut at = Fields { table, place: "a constraint", home, report: at.report };
            let (subject, package) = (at.required("subject"), at.required("package"));
            let (range, reason) = (at.required("range"), at.required("reason"));
            Some(LockedConstraint {
                subject: own(subject?),
                package: own(package?),
                range: own(range?),
                reason: own(reason?),
                sources: at.texts("sources"),
            })
        })
        .collect();
    Some(LockMetadata {
        manifest: own(manifest?),
        matrices: own(matrices?),
        target: at.owned("target"),
        python: own(python?),
        requirements: at.texts("requirements"),
        exclude_newer: at.time("exclude-newer"),
        indexes,
        machine: machine?,
        cuda: version(&mut at, "cuda"),
        cudnn: version(&mut at, "cudnn"),
        minimum_driver: version(&mut at, "minimum-driver"),
        capabilities: versions(&mut at, "capabilities"),
        loading: at.texts("loading"),
        built,
        passed_over,
        constraints,
    })
}

fn own(text: Spanned<&str>) -> String {
    text.into_inner().to_owned()
}

fn read_machine(at: &mut Fields<'_, '_>) -> Option<LockedMachine> {
    let platform = at.required("platform")?;
    let known = Platform::ALL.into_iter().find(|known| known.as_str() == *platform.get_ref());
    if known.is_none() {
        at.report.error(platform.span(), format!("unknown platform \"{}\"", platform.get_ref()));
    }
    let system = at.text("libraries").is_some_and(|from| *from.get_ref() == "system");
    Some(LockedMachine {
        platform: known?,
        glibc: version(at, "glibc"),
        musl: version(at, "musl"),
        driver: version(at, "driver"),
        gpus: at.table.contains_key("gpus").then(|| at.texts("gpus")),
        libraries: if system { Libraries::System } else { Libraries::Wheels },
        image: at.owned("image"),
    })
}

fn version(at: &mut Fields<'_, '_>, key: &str) -> Option<SystemVersion> {
    let text = at.text(key)?;
    let version = SystemVersion::from_str(text.get_ref());
    version.map_err(|error| at.report.error(text.span(), error.to_string()).done()).ok()
}

fn versions(at: &mut Fields<'_, '_>, key: &str) -> Vec<SystemVersion> {
    let texts = at.texts(key);
    texts
        .iter()
        .filter_map(|text| {
            let version = SystemVersion::from_str(text);
            let home = at.home.clone();
            version.map_err(|error| at.report.error(home, error.to_string()).done()).ok()
        })
        .collect()
}
