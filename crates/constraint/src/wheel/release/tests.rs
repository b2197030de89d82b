use super::*;
use crate::catalog::CoreMetadata;
use crate::machine::{Libc, Platform};
use crate::target::Target;

fn files(names: &[&str]) -> Vec<File> {
    let file = |name: &&str| File {
        filename: (*name).to_owned(),
        url: format!("https://index.example/{name}"),
        sha256: None,
        size: None,
        requires_python: None,
        yanked: None,
        upload_time: None,
        core_metadata: CoreMetadata::No,
    };
    names.iter().map(file).collect()
}

fn tags(glibc: Option<&str>) -> Tags {
    let libc = glibc.map(|text| Libc::Glibc(text.parse().expect("valid")));
    let python = "3.11.4".parse().expect("valid");
    Tags::for_target(&Target { libc, ..Target::new(Platform::LinuxX86_64, &python) })
}

const TORCH: [&str; 8] = [
    "torch-2.9.1.tar.gz",
    "torch-2.9.1-cp310-cp310-manylinux_2_28_x86_64.whl",
    "torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl",
    "torch-2.9.1-1-cp311-cp311-manylinux_2_28_x86_64.whl",
    "torch-2.9.1-cp313-cp313-manylinux_2_28_x86_64.whl",
    "torch-2.9.1-cp313-cp313t-manylinux_2_28_x86_64.whl",
    "torch-2.9.1-cp314-cp314-win_amd64.whl",
    "torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64-cu129.whl",
];

#[test]
fn the_highest_build_of_the_best_tags_is_taken() {
    let fit = ReleaseFit::of(&files(&TORCH), &tags(Some("2.31")));
    let (index, name) = fit.best.as_ref().expect("one fits");
    assert_eq!((*index, name.build.as_ref().map(|build| build.number)), (3, Some(1)));
    assert_eq!(fit.sdist, Some(0));
    assert_eq!(fit.pythons.to_string(), "3.10 to 3.11, 3.13");
    assert_eq!(fit.glibc.as_ref().map(ToString::to_string).as_deref(), Some("2.28"));
    let rejected: Vec<String> =
        fit.rejected.iter().map(|(index, why)| format!("{index}: {why}")).collect();
    insta::assert_snapshot!(rejected.join("\n"), @r"
    1: it is for Python 3.10
    4: it is for Python 3.13
    5: it is for Python 3.13
    6: it is for Windows on x86-64
    7: it is a variant wheel (PEP 825), for the variant 'cu129'
    ");
    assert!(fit.nearest_miss().is_none());
}

#[test]
fn an_old_glibc_learns_what_is_needed() {
    let fit = ReleaseFit::of(&files(&TORCH), &tags(Some("2.17")));
    assert!(fit.best.is_none() && fit.pythons.is_empty());
    assert_eq!(fit.glibc.as_ref().map(ToString::to_string).as_deref(), Some("2.28"));
    let (index, why) = fit.nearest_miss().expect("none fits");
    assert_eq!((index, why), (2, Why::Glibc((2, 28))));
}

#[test]
fn the_lowest_glibc_of_the_wheels_counts() {
    let names = [
        "a-1-cp311-cp311-manylinux_2_28_x86_64.whl",
        "a-1-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "a-1-cp310-cp310-manylinux_2_5_x86_64.whl",
    ];
    let glibc = |known, names: &[&str]| {
        let fit = ReleaseFit::of(&files(names), &tags(known));
        (fit.best.map(|(index, _)| index), fit.glibc.map(|version| version.to_string()))
    };
    assert_eq!(glibc(Some("2.31"), &names), (Some(0), Some("2.17".into())));
    assert_eq!(glibc(Some("2.12"), &names), (None, Some("2.17".into())));
    assert_eq!(glibc(None, &names), (Some(1), Some("2.17".into())));
    let pure = [names[0], "a-1-py3-none-any.whl"];
    assert_eq!(glibc(Some("2.31"), &pure), (Some(0), None));
    // The build that is taken is the compiled one, so its glibc is needed.
    assert_eq!(glibc(None, &pure), (Some(0), Some("2.28".into())));
}

#[test]
fn ties_are_broken_by_name_and_other_files_are_told_apart() {
    let names = [
        "b-1-py3-none-any.whl",
        "B-1-py3-none-any.whl",
        "a-1.zip",
        "a-1.tar.gz",
        "a-1.win32-py3.11.exe",
        "a-1-py3-none.whl",
    ];
    let mut forward = files(&names);
    let fit = ReleaseFit::of(&forward, &tags(None));
    assert_eq!(fit.best.as_ref().map(|(index, _)| *index), Some(1));
    assert_eq!(fit.sdist, Some(3));
    assert_eq!(fit.rejected[0], (4, Why::Kind));
    assert_eq!(fit.rejected[1].0, 5);
    forward.reverse();
    let fit = ReleaseFit::of(&forward, &tags(None));
    assert_eq!((fit.best.map(|(index, _)| index), fit.sdist), (Some(4), Some(2)));
}

#[test]
fn a_macos_that_is_left_open_becomes_part_of_the_answer() {
    let numpy = [
        "numpy-2.4.1-cp312-cp312-macosx_14_0_arm64.whl",
        "numpy-2.4.1-cp312-cp312-macosx_11_0_arm64.whl",
        "numpy-2.4.1-cp312-cp312-macosx_10_13_x86_64.whl",
    ];
    let judge = |platform, macos: Option<&str>, names: &[&str]| {
        let macos = macos.map(|text| text.parse().expect("valid"));
        let python = "3.12.4".parse().expect("valid");
        let target = Target { macos, ..Target::new(platform, &python) };
        let fit = ReleaseFit::of(&files(names), &Tags::for_target(&target));
        (fit.best.map(|best| best.0), fit.macos.map(|lowest| lowest.to_string()))
    };
    let floor = |text: &str| Some(text.to_owned());
    assert_eq!(judge(Platform::MacosArm64, None, &numpy), (Some(1), floor("11.0")));
    assert_eq!(judge(Platform::MacosArm64, Some("14.0"), &numpy), (Some(0), floor("11.0")));
    assert_eq!(judge(Platform::MacosX86_64, None, &numpy), (Some(2), floor("10.13")));
    // What is there only for a newer one is no fit, and says for which.
    assert_eq!(judge(Platform::MacosArm64, Some("13.0"), &numpy[..1]), (None, floor("14.0")));
    assert_eq!(judge(Platform::MacosArm64, None, &numpy[..1]), (Some(0), floor("14.0")));
    // A wheel for every platform asks nothing.
    assert_eq!(judge(Platform::MacosArm64, None, &["a-1-py3-none-any.whl"]), (Some(0), None));
}
