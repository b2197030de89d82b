use super::*;

fn target(platform: Platform, python: &str, libc: Option<&str>) -> Target {
    Target {
        libc: libc.map(|text| Libc::Glibc(text.parse().expect("valid"))),
        ..Target::new(platform, &python.parse().expect("valid"))
    }
}

fn linux(python: &str) -> Tags {
    Tags::for_target(&target(Platform::LinuxX86_64, python, Some("2.31")))
}

fn check(tags: Tags, wheel: &str) -> Compatibility {
    let name = WheelName::parse(&format!("a-1-{wheel}.whl")).expect("a wheel's name");
    tags.compatibility(&name)
}

/// Every wheel fits, and each better than the next.
fn descending(tags: Tags, wheels: &[&str]) {
    let priorities: Vec<_> = wheels
        .iter()
        .map(|wheel| match check(tags, wheel) {
            Compatibility::Compatible(priority) => priority,
            Compatibility::Incompatible(why) => panic!("{wheel}: {why}"),
        })
        .collect();
    for (pair, names) in priorities.windows(2).zip(wheels.windows(2)) {
        assert!(pair[0] > pair[1], "{} should beat {}", names[0], names[1]);
    }
}

fn why(tags: Tags, wheel: &str) -> String {
    match check(tags, wheel) {
        Compatibility::Compatible(_) => panic!("{wheel} fits"),
        Compatibility::Incompatible(why) => why.to_string(),
    }
}

#[test]
fn tags_rank_as_cpython_ranks_them() {
    descending(
        linux("3.11.4"),
        &[
            "cp311-cp311-manylinux_2_28_x86_64",
            "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64",
            "cp311-cp311-manylinux2014_x86_64",
            "cp311-cp311-manylinux1_x86_64",
            "cp311-abi3-manylinux_2_17_x86_64",
            "cp311-none-manylinux_2_17_x86_64",
            "cp310-abi3-manylinux_2_28_x86_64",
            "cp37.cp38-abi3-manylinux_2_28_x86_64",
            "cp32-abi3-manylinux_2_17_x86_64",
            "py311-none-manylinux_2_17_x86_64",
            "py2.py3-none-manylinux_2_17_x86_64",
            "py310-none-manylinux_2_17_x86_64",
            "py30-none-manylinux_2_17_x86_64",
            "cp311-none-any",
            "py311-none-any",
            "py3-none-any",
            "py310-none-any",
        ],
    );
}

#[test]
fn what_does_not_fit_says_why() {
    let tags = linux("3.11.4");
    for (wheel, expected) in [
        ("cp312-cp312-manylinux_2_17_x86_64", "it is for Python 3.12"),
        ("cp312-abi3-manylinux_2_17_x86_64", "it is for Python 3.12 and later"),
        ("py312-none-any", "it is for Python 3.12 and later"),
        ("cp310-none-any", "it is for Python 3.10"),
        ("py2-none-any", "it is for Python 2"),
        ("pp310-pypy310_pp73-manylinux_2_17_x86_64", "it is not for CPython"),
        ("cp311-cp311d-manylinux_2_17_x86_64", "it is not for CPython"),
        ("cp311-cp311-any", "it is not for CPython"),
        (
            "cp311-cp311t-manylinux_2_17_x86_64",
            "it is for free-threaded Python, and the target's has the GIL",
        ),
        ("cp311-cp311-manylinux_2_34_x86_64", "it needs glibc 2.34 or later"),
        ("cp311-cp311-manylinux_2_35_x86_64.manylinux_2_34_x86_64", "it needs glibc 2.34 or later"),
        ("cp312-cp312-manylinux_2_34_x86_64", "it is for Python 3.12"),
        (
            "cp311-cp311-musllinux_1_2_x86_64",
            "it is for Linux on x86-64 with musl 1.2 or later, and the target has another C library",
        ),
        (
            "cp311-cp311-manylinux_2_17_aarch64",
            "it is for Linux on 64-bit Arm with glibc 2.17 or later",
        ),
        ("cp312-cp312-win_amd64", "it is for Windows on x86-64"),
        (
            "cp311-cp311-linux_x86_64",
            "its platform tag names Linux without a C library, which only some indexes are trusted with",
        ),
    ] {
        assert_eq!(why(tags, wheel), expected, "{wheel}");
    }
    assert_eq!(why(linux("4.0.0"), "py3-none-any"), "it is for Python 3.0 and later");
}

#[test]
fn plain_linux_is_the_last_choice_where_the_source_is_trusted() {
    descending(
        linux("3.11.4").with_plain_linux(true),
        &["cp311-cp311-manylinux1_x86_64", "cp311-cp311-linux_x86_64", "py3-none-any"],
    );
}

#[test]
fn free_threaded_builds_have_abis_of_their_own() {
    let free =
        Target { free_threaded: true, ..target(Platform::LinuxX86_64, "3.15.0", Some("2.31")) };
    let free = Tags::for_target(&free);
    descending(
        free,
        &[
            "cp315-cp315t-manylinux_2_17_x86_64",
            "cp315-abi3.abi3t-manylinux_2_17_x86_64",
            "cp314-abi3t-manylinux_2_17_x86_64",
            "py3-none-any",
        ],
    );
    let gil = "it is for Python with the GIL, and the target's is free-threaded";
    assert_eq!(why(free, "cp315-cp315-manylinux_2_17_x86_64"), gil);
    assert_eq!(why(free, "cp39-abi3-manylinux_2_17_x86_64"), gil);
}

#[test]
fn old_pythons_have_the_pymalloc_abi() {
    descending(linux("3.7.9"), &["cp37-cp37m-manylinux1_x86_64", "cp36-abi3-manylinux1_x86_64"]);
    assert_eq!(why(linux("3.7.9"), "cp37-cp37-manylinux1_x86_64"), "it is not for CPython");
}

#[test]
fn an_open_glibc_takes_everything_and_prefers_what_needs_least() {
    let tags = Tags::for_target(&target(Platform::LinuxX86_64, "3.11.4", None));
    descending(
        tags,
        &[
            "cp39-abi3-manylinux_2_17_x86_64",
            "cp311-cp311-manylinux_2_28_x86_64",
            "cp311-cp311-manylinux_2_39_x86_64",
            "cp311-none-any",
            "py3-none-any",
        ],
    );
    assert!(why(tags, "cp311-cp311-musllinux_1_2_x86_64").contains("another C library"));
}

#[test]
fn musl_takes_musl() {
    let libc = Some(Libc::Musl("1.2".parse().expect("valid")));
    let target = Target { libc, ..target(Platform::LinuxAarch64, "3.12.1", None) };
    let tags = Tags::for_target(&target);
    descending(
        tags,
        &["cp312-cp312-musllinux_1_2_aarch64", "cp312-cp312-musllinux_1_1_aarch64", "py3-none-any"],
    );
    assert_eq!(why(tags, "cp312-cp312-musllinux_1_3_aarch64"), "it needs musl 1.3 or later");
    assert!(why(tags, "cp312-cp312-manylinux2014_aarch64").contains("another C library"));
}

/// What a macOS of this version takes is what `packaging.tags.mac_platforms` lists for it.
#[test]
fn macos_by_processor_and_version() {
    let at = |platform, macos: Option<&str>| {
        let macos = macos.map(|text| text.parse().expect("valid"));
        Tags::for_target(&Target { macos, ..target(platform, "3.12.1", None) })
    };
    let fits = |tags: Tags, platform: &str| {
        matches!(check(tags, &format!("cp312-cp312-{platform}")), Compatibility::Compatible(_))
    };
    let arm = at(Platform::MacosArm64, Some("14.4"));
    for yes in ["14_0_arm64", "11_0_universal2", "10_9_universal2", "12_0_arm64"] {
        assert!(fits(arm, &format!("macosx_{yes}")), "{yes}");
    }
    for no in ["15_0_arm64", "13_3_arm64", "14_0_x86_64", "10_16_arm64", "11_0_intel"] {
        assert!(!fits(arm, &format!("macosx_{no}")), "{no}");
    }
    let intel = at(Platform::MacosX86_64, Some("12.0"));
    for yes in ["12_0_x86_64", "10_9_x86_64", "10_6_intel", "10_9_universal2", "11_0_universal2"] {
        assert!(fits(intel, &format!("macosx_{yes}")), "{yes}");
    }
    for no in ["13_0_x86_64", "11_0_arm64", "12_3_x86_64"] {
        assert!(!fits(intel, &format!("macosx_{no}")), "{no}");
    }
    // Left open, the one that asks least is best.
    descending(
        at(Platform::MacosArm64, None),
        &[
            "cp312-cp312-macosx_11_0_arm64",
            "cp312-cp312-macosx_10_13_universal2",
            "cp312-cp312-macosx_12_0_arm64",
            "cp312-cp312-macosx_14_0_arm64",
            "cp312-cp312-macosx_26_0_arm64",
            "py3-none-any",
        ],
    );
    descending(
        at(Platform::MacosX86_64, None),
        &[
            "cp312-cp312-macosx_10_9_x86_64",
            "cp312-cp312-macosx_10_13_universal2",
            "cp312-cp312-macosx_11_0_x86_64",
            "py3-none-any",
        ],
    );
}

#[test]
fn macos_and_windows() {
    let macos = Some("13.2".parse().expect("valid"));
    let mac = Target { macos, ..target(Platform::MacosArm64, "3.11.4", None) };
    let mac = Tags::for_target(&mac);
    descending(
        mac,
        &[
            "cp311-cp311-macosx_13_0_arm64",
            "cp311-cp311-macosx_12_0_arm64",
            "cp311-cp311-macosx_12_0_universal2",
            "cp311-cp311-macosx_11_0_arm64",
            "cp311-cp311-macosx_10_9_universal2",
            "py3-none-any",
        ],
    );
    assert_eq!(why(mac, "cp311-cp311-macosx_14_0_arm64"), "it needs macOS 14.0 or later");
    assert_eq!(
        why(mac, "cp311-cp311-macosx_10_9_x86_64"),
        "it is for macOS 10.9 or later on x86-64"
    );
    let windows = Tags::for_target(&target(Platform::WindowsX86_64, "3.11.4", None));
    descending(windows, &["cp311-cp311-win_amd64", "py3-none-win_amd64", "py3-none-any"]);
    assert_eq!(why(windows, "cp311-cp311-win32"), "it is for Windows on 32-bit x86");
}
