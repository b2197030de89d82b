//! What must happen at run time before onnxruntime-gpu finds its CUDA libraries: installing them is not enough on Linux,
//! because the provider library has no path to the wheels that bring them.

use super::build::Build;
use super::onnxruntime::{self, Target};
use super::span::{Found, find};
use super::torch::{TORCH, accelerator, carries_libraries};
use crate::machine::{Libraries, Platform};
use crate::matrix::rows::onnxruntime::Preload;
use crate::matrix::{self, rows};
use crate::name::Name;

/// The part of a solved environment that decides how libraries are found.
#[derive(Clone, Copy)]
pub struct Stack<'a> {
    /// The build of onnxruntime-gpu.
    pub runtime: Build<'a>,
    /// The build of torch, if any.
    pub torch: Option<Build<'a>>,
    /// Operating system and processor.
    pub platform: Platform,
    /// Where the CUDA libraries come from.
    pub libraries: Libraries,
}

/// Something a program has to do, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A stable identifier: `import-torch-first`, `preload-dlls`, `library-path`, `verify-provider`.
    pub code: &'static str,
    /// What to do and why.
    pub text: String,
    /// Folders of site-packages that the step is about.
    pub folders: Vec<String>,
    /// Public sources.
    pub sources: Vec<String>,
}

/// The steps for a solved stack, in the order they are done.
///
/// With libraries of the system none is needed to find them; the last step, which verifies the result, always stands.
#[must_use]
pub fn steps(stack: &Stack) -> Vec<Step> {
    if stack.runtime.name.as_str() != onnxruntime::GPU {
        return Vec::new();
    }
    let (Some(target), Some(libraries)) =
        (onnxruntime::target(&stack.runtime), onnxruntime::libraries(&stack.runtime))
    else {
        return Vec::new();
    };
    let mut steps = Vec::new();
    if stack.libraries == Libraries::Wheels {
        steps.push(find_libraries(stack, &target, libraries));
    }
    steps.push(verify(&stack.runtime, libraries));
    steps
}

fn find_libraries(
    stack: &Stack,
    target: &Target,
    libraries: &'static rows::onnxruntime::Libraries,
) -> Step {
    let torch = stack.torch.filter(|torch| same_cuda(torch, stack.platform, target.cuda_major));
    let missing = match torch {
        Some(torch) => missing(&torch, stack.platform, target, libraries),
        None => libraries.linked.iter().map(String::as_str).collect(),
    };
    let can_preload = match libraries.preload {
        Preload::None => false,
        Preload::Component => wheels(libraries, target).all(|wheel| !wheel.shared_folder),
        Preload::All => true,
    };
    match torch {
        Some(torch) if missing.is_empty() => import_torch(&torch, libraries),
        _ if can_preload => preload(stack, torch.as_ref(), target, &missing, libraries),
        _ => library_path(stack, torch.as_ref(), target, &missing, libraries),
    }
}

/// The wheels of the components that the provider links.
fn wheels(
    libraries: &'static rows::onnxruntime::Libraries,
    target: &Target,
) -> impl Iterator<Item = &'static rows::onnxruntime::Wheel> {
    libraries.linked.iter().filter_map(|component| onnxruntime::wheel(component, target))
}

/// Whether a build is a torch of this CUDA major version.
pub(super) fn same_cuda(build: &Build, platform: Platform, cuda_major: u64) -> bool {
    build.name.as_str() == TORCH
        && accelerator(build, platform)
            .is_some_and(|accelerator| accelerator.cuda.major() == cuda_major)
}

/// Whether importing torch loads the library of a wheel, which it brings along.
pub(super) fn loads(torch: &Build, platform: Platform, cuda_major: u64, wheel: Name) -> bool {
    if carries_libraries(torch, platform) {
        return false;
    }
    let components = links(torch).map_or(&[][..], |found| &found.row.components);
    components.iter().any(|component| {
        let mut rows = matrix::onnxruntime().wheel.iter();
        rows.any(|row| {
            row.component == *component
                && row.cuda_major == cuda_major
                && row.wheel == wheel
                && requires(torch, component, row.wheel.as_str())
        })
    })
}

/// The variable that the loader of a platform reads.
pub(super) fn path_variable(platform: Platform) -> &'static str {
    if platform.is_linux() { "LD_LIBRARY_PATH" } else { "PATH" }
}

/// The components that the provider links and `import torch` does not load.
fn missing(
    torch: &Build,
    platform: Platform,
    target: &Target,
    libraries: &'static rows::onnxruntime::Libraries,
) -> Vec<&'static str> {
    if !platform.is_linux() {
        // torch's folder is searched for DLLs once torch is imported, and it has all of them.
        return Vec::new();
    }
    let links = links(torch);
    // Whether the libraries inside a wheel that carries them can serve another is not known, so they are not counted on.
    let loaded: &[String] = match links {
        Some(found) if !carries_libraries(torch, platform) => &found.row.components,
        _ => &[],
    };
    // A library that the METADATA does not bring lies inside torch, without a name that others find.
    let required = |component: &str| match onnxruntime::wheel(component, target) {
        Some(wheel) => torch.metadata.is_none() || requires(torch, component, wheel.wheel.as_str()),
        None => true,
    };
    let brings =
        |component: &str| loaded.iter().any(|link| link == component) && required(component);
    libraries.linked.iter().map(String::as_str).filter(|component| !brings(component)).collect()
}

/// Whether the METADATA asks for a wheel, by name or through the metapackage of the toolkit.
fn requires(torch: &Build, component: &str, wheel: &str) -> bool {
    let toolkit =
        |name: &str| matrix::torch().toolkit_pin.iter().any(|pin| pin.name.as_str() == name);
    torch.base_requirements(|name| name == wheel || toolkit(name)).any(|requirement| {
        requirement.name.as_str() == wheel
            // The extras of the metapackage are called like the components.
            || requirement.extras.iter().any(|extra| extra.as_str() == component)
    })
}

fn links(torch: &Build) -> Option<Found<rows::torch::Links>> {
    find(&matrix::torch().links, &torch.release()?, |_| true)
}

fn import_torch(torch: &Build, libraries: &rows::onnxruntime::Libraries) -> Step {
    let links = links(torch);
    let mut sources = libraries.source.clone();
    sources.extend(links.into_iter().flat_map(|found| found.row.source.clone()));
    Step {
        code: "import-torch-first",
        text: format!(
            "Import torch before the first InferenceSession: {} loads the CUDA libraries that \
             onnxruntime-gpu needs and does not look for itself{}.",
            torch.title(),
            links.map_or_else(String::new, |found| found.fit.assumption())
        ),
        folders: Vec::new(),
        sources,
    }
}

fn preload(
    stack: &Stack,
    torch: Option<&Build>,
    target: &Target,
    missing: &[&str],
    libraries: &rows::onnxruntime::Libraries,
) -> Step {
    let why = reason(stack, torch, target, missing);
    Step {
        code: "preload-dlls",
        text: format!("Call onnxruntime.preload_dlls() before the first InferenceSession: {why}"),
        folders: Vec::new(),
        sources: libraries.source.clone(),
    }
}

fn library_path(
    stack: &Stack,
    torch: Option<&Build>,
    target: &Target,
    missing: &[&str],
    libraries: &'static rows::onnxruntime::Libraries,
) -> Step {
    let mut folders: Vec<String> =
        wheels(libraries, target).map(|wheel| wheel.folder.clone()).collect();
    folders.sort_unstable();
    folders.dedup();
    let variable = path_variable(stack.platform);
    let why = reason(stack, torch, target, missing);
    Step {
        code: "library-path",
        text: format!(
            "Before Python starts, put these folders of site-packages on {variable}: {}. {why}",
            folders.join(", ")
        ),
        folders,
        sources: libraries.source.clone(),
    }
}

/// Why the plain import does not find the libraries.
fn reason(stack: &Stack, torch: Option<&Build>, target: &Target, missing: &[&str]) -> String {
    let runtime = stack.runtime.title();
    let Some(torch) = torch else {
        return format!(
            "{runtime} does not look into the folders where the nvidia wheels install, and no torch for CUDA {} is \
             there to load them.",
            target.cuda_major
        );
    };
    let names: Vec<&str> = missing
        .iter()
        .map(|component| {
            onnxruntime::wheel(component, target)
                .map_or("the parts of cuDNN", |wheel| &wheel.soname)
        })
        .collect();
    let certainty = match links(torch) {
        Some(found) if !carries_libraries(torch, stack.platform) => {
            format!("does not load{}", found.fit.assumption())
        }
        _ => "is not known to load".to_owned(),
    };
    format!("{runtime} links {}, which importing {} {certainty}.", names.join(", "), torch.title())
}

/// `get_available_providers()` and `get_device()` tell what was compiled in; only a session tells what runs.
fn verify(runtime: &Build, libraries: &rows::onnxruntime::Libraries) -> Step {
    let row = &matrix::onnxruntime().silent_fallback;
    let driver = libraries.driver_library.as_ref().map_or_else(String::new, |library| {
        format!(" It links {library}, so without a driver it never loads.")
    });
    Step {
        code: "verify-provider",
        text: format!(
            "Check session.get_providers()[0] once with {}: {}.{driver}",
            runtime.title(),
            row.text
        ),
        folders: Vec::new(),
        sources: row.source.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    fn first(runtime: &str, torch: Option<&str>, platform: Platform) -> Step {
        let runtime = Pin::pypi(onnxruntime::GPU, runtime);
        let torch = torch.map(|version| Pin::pypi("torch", version));
        let stack = Stack {
            runtime: runtime.build(),
            torch: torch.as_ref().map(Pin::build),
            platform,
            libraries: Libraries::Wheels,
        };
        steps(&stack).swap_remove(0)
    }

    #[test]
    fn torch_first_where_torch_loads_everything() {
        for (runtime, torch) in
            [("1.31.1", "2.11.0"), ("1.28.0", "2.14.1"), ("1.26.0", "2.10.0"), ("1.19.2", "2.4.1")]
        {
            assert_eq!(
                first(runtime, Some(torch), linux()).code,
                "import-torch-first",
                "{runtime}"
            );
        }
    }

    #[test]
    fn torch_without_curand_is_not_enough() {
        let step = first("1.31.1", Some("2.15.0"), linux());
        assert_eq!(step.code, "preload-dlls");
        insta::assert_snapshot!(step.text, @"Call onnxruntime.preload_dlls() before the first InferenceSession: onnxruntime-gpu 1.31.1 links libcurand.so.10, which importing torch 2.15.0 does not load.");
    }

    #[test]
    fn nvrtc_needs_preloading() {
        assert_eq!(first("1.22.0", Some("2.8.0"), linux()).code, "preload-dlls");
        assert_eq!(first("1.23.2", Some("2.8.0"), linux()).code, "import-torch-first");
    }

    #[test]
    fn the_parts_of_cudnn_need_a_path() {
        let step = first("1.20.0", Some("2.6.0"), linux());
        assert_eq!(step.code, "library-path");
        insta::assert_snapshot!(step.text, @"Before Python starts, put these folders of site-packages on LD_LIBRARY_PATH: nvidia/cublas/lib, nvidia/cuda_nvrtc/lib, nvidia/cuda_runtime/lib, nvidia/cudnn/lib, nvidia/cufft/lib, nvidia/curand/lib. onnxruntime-gpu 1.20.0 links the parts of cuDNN, libnvrtc.so.12, which importing torch 2.6.0 does not load.");
    }

    #[test]
    fn without_torch_of_that_cuda_preload() {
        assert_eq!(first("1.31.1", None, linux()).code, "preload-dlls");
        assert_eq!(first("1.31.1", Some("2.15.0+cpu"), linux()).code, "preload-dlls");
        assert_eq!(first("1.18.1", None, linux()).code, "library-path");
    }

    #[test]
    fn libraries_inside_a_torch_wheel_are_not_counted_on() {
        let bundled = first("1.18.1", Some("2.1.2+cu118"), linux());
        assert_eq!(bundled.code, "library-path");
        assert!(
            bundled.text.ends_with("torch 2.1.2+cu118 is not known to load."),
            "{}",
            bundled.text
        );
        let newer = first("1.31.1", Some("2.16.0+cu132"), linux());
        assert!(newer.text.contains("taken from 2.15.0"), "{}", newer.text);
        assert_eq!(first("1.18.1", Some("2.3.1+cu118"), linux()).code, "import-torch-first");
        let windows = first("1.26.0", Some("2.9.1+cu128"), Platform::WindowsX86_64);
        assert_eq!(windows.code, "import-torch-first");
    }

    #[test]
    fn libraries_of_the_system_are_found() {
        let runtime = Pin::pypi(onnxruntime::GPU, "1.31.1");
        let stack = Stack {
            runtime: runtime.build(),
            torch: None,
            platform: linux(),
            libraries: Libraries::System,
        };
        let codes: Vec<&str> = steps(&stack).iter().map(|step| step.code).collect();
        assert_eq!(codes, ["verify-provider"]);
        insta::assert_snapshot!(steps(&stack)[0].text, @"Check session.get_providers()[0] once with onnxruntime-gpu 1.31.1: a CUDA provider that cannot load is only logged, the session runs on the CPU, and get_available_providers() still lists CUDA. It links libcuda.so.1, so without a driver it never loads.");
    }
}
