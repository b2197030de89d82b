//! What an answer says of source distributions: what is built when it is installed, and which newer releases were passed
//! over for want of metadata.

use cuda_lock_constraint::catalog::BuildNeed;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::rules::torch::TORCH;
use cuda_lock_constraint::solve::Solution;
use cuda_lock_formats::pylock::{LockedBuild, LockedPassed, Pylock};

/// The newer releases that were not taken. A pin that an earlier lock keeps is not looked past, so what that lock says of
/// it still holds.
#[must_use]
pub fn over(solution: &Solution, lock: Option<&Pylock>) -> Vec<LockedPassed> {
    let mut all: Vec<LockedPassed> = solution
        .passed_over
        .iter()
        .map(|passed| LockedPassed {
            name: passed.name.to_string(),
            version: passed.taken.to_string(),
            text: passed.to_string(),
        })
        .collect();
    let kept =
        lock.and_then(|lock| lock.tool.as_ref()).into_iter().flat_map(|tool| &tool.passed_over);
    for passed in kept {
        let chosen = solution.build(&passed.name).and_then(|chosen| chosen.version.version());
        let stays = chosen.is_some_and(|version| version.to_string() == passed.version);
        if stays && !all.iter().any(|known| known.name == passed.name) {
            all.push(passed.clone());
        }
    }
    all.sort();
    all
}

/// The packages that are built when they are installed.
#[must_use]
pub fn built(solution: &Solution) -> Vec<LockedBuild> {
    let cuda = solution.layer(Package::Cuda).map(ToString::to_string);
    let torch = solution.build(TORCH).map(|chosen| chosen.version.to_string());
    let need = |need: &BuildNeed| match need {
        BuildNeed::Compiler => "a C++ compiler".to_owned(),
        BuildNeed::Rust => "a Rust compiler".to_owned(),
        BuildNeed::Nvcc => match &cuda {
            Some(cuda) => format!("nvcc of CUDA {cuda}"),
            None => "nvcc".to_owned(),
        },
        BuildNeed::Torch => match &torch {
            Some(torch) => format!("{TORCH} {torch} installed before"),
            None => format!("{TORCH} installed before"),
        },
    };
    solution
        .builds
        .iter()
        .filter(|(_, chosen)| !chosen.file.filename.ends_with(".whl"))
        .map(|(name, chosen)| {
            let source = chosen.metadata.source.as_deref();
            LockedBuild {
                name: name.to_string(),
                requirements: source.map(|source| source.grade.to_string()).unwrap_or_default(),
                needs: source.iter().flat_map(|source| &source.needs).map(need).collect(),
                in_environment: source
                    .is_some_and(|source| source.needs.contains(&BuildNeed::Torch)),
            }
        })
        .collect()
}
