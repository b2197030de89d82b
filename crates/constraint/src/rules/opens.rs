//! Libraries that a build opens by name while its METADATA does not bring them: who supplies them, and how they are found.
//!
//! onnxruntime-gpu has rules of its own ([`super::onnxruntime`], [`super::loading`]): what it opens differs from index to
//! index. Everything else of this kind is a row of `matrices/opens.toml`.

use super::build::Build;
use super::library;
use super::loading::{self, Step};
use super::rule::Rule;
use super::span::{Fit, Found, find};
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::{Libraries, Machine, Platform};
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;

/// The row of a build, when it would open its libraries on this machine.
fn row(build: &Build, machine: &Machine) -> Option<Found<rows::opens::Opens>> {
    let rows = matrix::opens().opens.of(build.name);
    if rows.is_empty() {
        return None;
    }
    let found = find(rows, &build.release()?, |row| row.platforms.contains(&machine.platform))?;
    if found.row.ends && matches!(found.fit, Fit::Older(_)) {
        return None;
    }
    let uses_gpu = match &machine.gpus {
        Some(gpus) => !gpus.is_empty(),
        None => found.row.only_gpu || machine.driver.is_some(),
    };
    uses_gpu.then_some(found)
}

/// The wheels that bring what a build opens, when libraries come from wheels.
#[must_use]
pub fn constraints(build: &Build, machine: &Machine) -> Vec<Constraint> {
    if machine.libraries != Libraries::Wheels {
        return Vec::new();
    }
    let Some(found) = row(build, machine) else { return Vec::new() };
    let mut constraints: Vec<Constraint> = Vec::new();
    for file in &found.row.opens {
        let Some((wheel, versions)) = library::supplying(file, found.row.cuda_major) else {
            continue;
        };
        let package = Package::dist(wheel);
        if let Some(known) = constraints.iter_mut().find(|known| known.package == package) {
            known.range = known.range.intersection(&versions);
            continue;
        }
        let what = format!("opens {file}, which {wheel} brings; its METADATA does not ask for it");
        constraints.push(build.constraint(
            package,
            versions,
            Force::Requires,
            fact(build, found, &what),
        ));
    }
    constraints
}

/// What a build opens that no wheel has, where the libraries are to come from wheels.
#[must_use]
pub fn unsupplied(build: &Build, machine: &Machine) -> Option<Fact> {
    if machine.libraries != Libraries::Wheels {
        return None;
    }
    let found = row(build, machine)?;
    let lacking: Vec<&str> = found
        .row
        .opens
        .iter()
        .filter(|file| library::supplying(file, found.row.cuda_major).is_none())
        .map(String::as_str)
        .collect();
    let what = format!("opens {}, which no wheel brings", lacking.join(" and "));
    (!lacking.is_empty()).then(|| fact(build, found, &what))
}

/// The CUDA major version whose wheels bring what a build opens.
#[must_use]
pub fn cuda_major(build: &Build, machine: &Machine) -> Option<u64> {
    row(build, machine)?.row.cuda_major
}

/// That a build runs on the CPU because nothing of what has its GPU code is `there`, and what to do.
#[must_use]
pub fn alone(build: &Build, there: impl Fn(Name) -> bool) -> Option<(Fact, &'static str)> {
    let release = build.release()?;
    let row = matrix::opens().alone.of(build.name).iter().find(|row| release >= row.from)?;
    let fact = Fact {
        rule: Rule::CpuBuild,
        text: format!("{} {}", build.title(), row.text),
        sources: row.source.clone(),
        symptom: None,
    };
    (!row.unless.iter().any(|name| there(*name))).then_some((fact, row.fix.as_str()))
}

fn fact(build: &Build, found: Found<rows::opens::Opens>, what: &str) -> Fact {
    Fact {
        rule: Rule::MissingLibrary,
        text: format!("{} {what}{}", build.title(), found.fit.assumption()),
        sources: found.row.source.clone(),
        symptom: Some(found.row.symptom.clone()),
    }
}

/// What must happen so that a build finds its libraries in the wheels among `builds`. `None` when it looks there by itself, or
/// opens nothing here.
#[must_use]
pub fn step(build: &Build, builds: &[Build], machine: &Machine) -> Option<Step> {
    if machine.libraries != Libraries::Wheels {
        return None;
    }
    let found = row(build, machine)?;
    let major = found.row.cuda_major.filter(|_| !found.row.finds)?;
    let torch = builds.iter().find(|other| loading::same_cuda(other, machine.platform, major));
    let mut folders: Vec<String> = Vec::new();
    let mut loaded = true;
    for file in &found.row.opens {
        let Some((wheel, _)) = library::supplying(file, Some(major)) else { continue };
        let version = builds.iter().find(|other| other.name == wheel).map(|other| other.version);
        let Some(path) = version.and_then(|version| library::library_path(wheel, version)) else {
            continue;
        };
        let by_torch = |torch: &Build| {
            library::is_main_file(wheel, file)
                && loading::loads(torch, machine.platform, major, wheel)
        };
        loaded &= torch.is_some_and(by_torch);
        let folder = format!("{path}/{}", folder_of(machine.platform));
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        return None;
    }
    let (title, name) = (build.title(), build.name);
    let files = found.row.opens.join(", ");
    let sources = found.row.source.clone();
    Some(match torch.filter(|_| loaded) {
        Some(torch) => Step {
            code: "import-torch-first",
            text: format!(
                "Import torch before {name} uses the GPU: {} loads {files}, which {title} opens by name and does not look for itself.",
                torch.title()
            ),
            folders: Vec::new(),
            sources,
        },
        None => Step {
            code: "library-path",
            text: format!(
                "Before Python starts, put these folders of site-packages on {}: {}. {title} opens {files} by name and does not look into the folders where the nvidia wheels install.",
                loading::path_variable(machine.platform),
                folders.join(", ")
            ),
            folders,
            sources,
        },
    })
}

/// The folder of a wheel that holds its libraries.
fn folder_of(platform: Platform) -> &'static str {
    if platform.is_linux() { "lib" } else { "bin" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::products;
    use crate::rules::stack::testing::{Pin, machine};

    fn with_gpu() -> Machine {
        Machine { gpus: Some(vec![products::find_gpu("RTX 3090").expect("known")]), ..machine() }
    }

    fn wheels(name: &str, version: &str, machine: &Machine) -> Vec<String> {
        let found = constraints(&Pin::pypi(name, version).build(), machine);
        found.iter().map(|c| c.package.to_string()).collect()
    }

    #[test]
    fn ctranslate2_needs_cublas_and_its_older_releases_cudnn() {
        let machine = with_gpu();
        assert_eq!(wheels("ctranslate2", "4.8.5", &machine), ["nvidia-cublas-cu12"]);
        let older = ["nvidia-cublas-cu12", "nvidia-cudnn-cu12"];
        assert_eq!(wheels("ctranslate2", "4.4.0", &machine), older);
        assert_eq!(wheels("ctranslate2", "4.6.0", &machine), older);
        let oldest = ["nvidia-cublas-cu11", "nvidia-cudnn-cu11"];
        assert_eq!(wheels("ctranslate2", "3.20.0", &machine), oldest);
    }

    #[test]
    fn what_also_runs_on_the_cpu_needs_nothing_without_a_gpu() {
        let without = Machine { gpus: Some(Vec::new()), ..machine() };
        assert!(wheels("ctranslate2", "4.8.5", &without).is_empty());
        assert!(wheels("ctranslate2", "4.8.5", &machine()).is_empty());
        assert!(wheels("cupy-cuda12x", "13.6.0", &without).is_empty());
        assert_eq!(wheels("cupy-cuda12x", "13.6.0", &machine()).len(), 7);
        let system = Machine { libraries: Libraries::System, ..with_gpu() };
        assert!(wheels("cupy-cuda12x", "13.6.0", &system).is_empty());
    }

    #[test]
    fn cupy_of_cuda_13_needs_wheels_without_a_suffix() {
        let found = wheels("cupy-cuda13x", "14.2.0", &machine());
        assert!(!found.iter().any(|name| name.contains("-cu1")), "{found:?}");
        assert_eq!(found.len(), 7);
    }

    #[test]
    fn no_wheel_has_what_paddle_opens() {
        let machine = machine();
        let paddle = Pin::pypi("paddlepaddle-gpu", "2.6.2");
        assert!(constraints(&paddle.build(), &machine).is_empty());
        let fact = unsupplied(&paddle.build(), &machine).expect("nothing supplies it");
        assert!(fact.text.contains("libcublas.so and libcudnn.so"), "{}", fact.text);
        assert!(unsupplied(&Pin::pypi("paddlepaddle-gpu", "3.1.0").build(), &machine).is_none());
        assert!(unsupplied(&Pin::pypi("ctranslate2", "4.8.5").build(), &with_gpu()).is_none());
    }

    #[test]
    fn torch_of_the_same_cuda_loads_cublas_and_no_parts_of_cudnn() {
        let machine = with_gpu();
        let torch = Pin::pypi("torch", "2.6.0")
            .requiring(&["nvidia-cublas-cu12==12.4.5.8", "nvidia-cudnn-cu12==9.1.0.70"]);
        let cublas = Pin::pypi("nvidia-cublas-cu12", "12.4.5.8");
        let cudnn = Pin::pypi("nvidia-cudnn-cu12", "9.1.0.70");
        let code = |version: &str, torch: Option<&Pin>| {
            let build = Pin::pypi("ctranslate2", version);
            let mut all = vec![build.build(), cublas.build(), cudnn.build()];
            all.extend(torch.map(Pin::build));
            step(&build.build(), &all, &machine).map(|step| step.code)
        };
        assert_eq!(code("4.8.5", Some(&torch)), Some("import-torch-first"));
        assert_eq!(code("4.6.0", Some(&torch)), Some("library-path"));
        assert_eq!(code("4.8.5", None), Some("library-path"));
        let cupy = Pin::pypi("cupy-cuda12x", "14.2.0");
        assert!(step(&cupy.build(), &[cupy.build(), cublas.build()], &machine).is_none());
    }
}
