use super::*;
use crate::rules::products::find_gpu;

const LINUX: Platform = Platform::LinuxX86_64;

fn v(text: &str) -> SystemVersion {
    text.parse().expect("valid")
}

fn text(name: &str) -> String {
    let gpu = find_gpu(name).expect("known");
    driver_branches(&gpu, LINUX).map(|limit| limit.fact.text.clone()).unwrap_or_default()
}

#[test]
fn branches_begin_and_end_with_the_architecture() {
    insta::assert_snapshot!(text("GTX 1080"), @"GTX 1080 (Pascal 6.1) is not supported by drivers from R590 on");
    insta::assert_snapshot!(text("RTX 3090"), @"RTX 3090 (Ampere 8.6) is supported by drivers from R455 on");
    insta::assert_snapshot!(text("RTX 5090"), @"RTX 5090 (Blackwell 12.0) is supported by drivers from R570 on");
    insta::assert_snapshot!(text("L40S"), @"L40S (Ada Lovelace 8.9) is supported by drivers from R535 on");
    insta::assert_snapshot!(text("NVIDIA L40"), @"NVIDIA L40 (Ada Lovelace 8.9) is supported by drivers from R520 on");
    insta::assert_snapshot!(text("Jetson AGX Orin"), @"");
}

#[test]
fn windows_drivers_of_the_last_kepler_branch_are_within_its_range() {
    let gpu = find_gpu("K80").expect("known");
    let limit = driver_branches(&gpu, Platform::WindowsX86_64).expect("bounded");
    assert!(limit.allows(&v("475.14")) && !limit.allows(&v("496.13")));
    assert!(driver_branches(&gpu, Platform::MacosArm64).is_none());
}

#[test]
fn toolkits_target_a_window_of_capabilities() {
    let targets = |cuda: &str, capability: &str| {
        toolkit_window(&v(cuda)).expect("known").allows(&v(capability))
    };
    for (capability, first, before, last, after) in [
        ("3.7", "9.0", "8.0", "11.8", "12.0"),
        ("7.0", "9.0", "8.0", "12.9", "13.0"),
        ("7.5", "10.0", "9.2", "13.5", "9.0"),
        ("8.6", "11.1", "11.0", "13.5", "11.0"),
        ("8.9", "11.8", "11.7", "13.5", "11.7"),
        ("12.0", "12.8", "12.6", "13.5", "12.6"),
        ("10.3", "12.9", "12.8", "13.5", "12.8"),
        ("11.0", "13.0", "12.9", "13.5", "12.9"),
        ("10.7", "13.4", "13.3", "13.5", "13.3"),
    ] {
        assert!(targets(first, capability) && targets(last, capability), "{capability}");
        assert!(!targets(after, capability), "{capability} {after}");
        if capability != "3.7" {
            assert!(!targets(before, capability), "{capability} {before}");
        }
    }
    insta::assert_snapshot!(
        toolkit_floor(&v("13.0")).expect("known").fact.text,
        @"CUDA 13.0 has no code for GPUs below compute capability 7.5; the last for 7.0 (Volta) is CUDA 12.9"
    );
}

#[test]
fn the_window_as_a_range_is_the_set_of_targeted_capabilities() {
    for cuda in crate::rules::driver::known_cuda() {
        let limit = toolkit_window(&cuda).expect("known");
        for row in &matrix::gpus().capability {
            assert_eq!(
                limit.allows(&row.capability.clone()),
                targets(&cuda, row),
                "{cuda} {row:?}"
            );
        }
    }
}
