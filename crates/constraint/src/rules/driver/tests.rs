use super::*;
use crate::rules::image::{image_driver, parse_image};
use crate::rules::library::library_constraints;
use crate::rules::machine_code::{MachineCode, Verdict};
use crate::rules::products::find_gpu;
use crate::version::{DistVersion, SourceId};

const LINUX: Platform = Platform::LinuxX86_64;
const WINDOWS: Platform = Platform::WindowsX86_64;

fn v(text: &str) -> SystemVersion {
    text.parse().expect("valid")
}

fn gpu(name: &str) -> Gpu {
    find_gpu(name).expect("known")
}

fn starts(cuda: &str, driver: &str) -> bool {
    driver_floor(&v(cuda), LINUX).expect("known").allows(&v(driver))
}

fn drives(gpu: &Gpu, driver: &str) -> bool {
    gpu::driver_branches(gpu, LINUX).is_none_or(|limit| limit.allows(&v(driver)))
}

fn compat(cuda: &str, driver: &str, name: &str) -> Option<String> {
    forward_compat(&v(cuda), &v(driver), &gpu(name), LINUX).map(|found| found.package)
}

/// True when every constraint of a wheel on the first GPU holds.
fn library_runs(name: &str, version: &str, capability: &str) -> bool {
    let version = DistVersion::new(version.parse().expect("valid"), SourceId(0));
    library_constraints(name.parse().expect("valid"), &version, 1)
        .iter()
        .filter(|constraint| constraint.package == Package::Gpu(0))
        .all(|constraint| constraint.range.contains(&v(capability).into()))
}

#[test]
fn verdict_1_a_3090_on_r535_runs_torch_built_with_cuda_12_4() {
    let gpu = gpu("RTX 3090");
    assert_eq!(cuda_of_driver(&v("535.104.05"), LINUX), Some(v("12.2")));
    assert!(drives(&gpu, "535.104.05") && starts("12.4", "535.104.05"));
    let code = MachineCode::parse(["sm_80", "sm_86"]).expect("valid");
    let verdict = code.runs_on(&gpu.capability, &v("12.4"), Some(&v("535.104.05")), LINUX);
    assert_eq!(verdict, Verdict::Native);
}

#[test]
fn verdict_2_a_5090_finds_no_kernel_in_torch_built_with_cuda_12_1() {
    let gpu = gpu("RTX 5090");
    assert_eq!(cuda_of_driver(&v("570.124.06"), LINUX), Some(v("12.8")));
    assert!(drives(&gpu, "570.124.06") && starts("12.1", "570.124.06"));
    let code = MachineCode::parse(["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"])
        .expect("valid");
    let verdict = code.runs_on(&gpu.capability, &v("12.1"), Some(&v("570.124.06")), LINUX);
    assert_eq!(verdict, Verdict::NoKernel);
}

#[test]
fn verdict_3_a_v100_runs_cudnn_up_to_9_10() {
    let gpu = gpu("V100");
    assert!(drives(&gpu, "580.65.06") && starts("12.6", "580.65.06"));
    assert!(library_runs("nvidia-cudnn-cu12", "9.10.2.21", "7.0"));
    assert!(!library_runs("nvidia-cudnn-cu12", "9.11.0.98", "7.0"));
    assert!(library_runs("nvidia-cudnn-cu12", "9.11.0.98", "7.5"));
}

#[test]
fn verdict_4_r590_does_not_drive_a_v100() {
    assert!(!drives(&gpu("V100"), "590.44.01"));
    assert!(drives(&gpu("T4"), "590.44.01"));
}

#[test]
fn verdict_5_a_t4_on_r470_needs_the_forward_compatibility_package_for_cuda_12() {
    for minor in ["12.0", "12.4", "12.8"] {
        assert!(!starts(minor, "470.103.01"), "{minor}");
        let package = format!("cuda-compat-{}", minor.replace('.', "-"));
        assert_eq!(compat(minor, "470.103.01", "T4"), Some(package));
    }
    assert_eq!(compat("12.9", "470.103.01", "T4"), None);
    assert_eq!(compat("12.4", "470.103.01", "RTX 2080"), None);
    assert!(forward_compat(&v("12.4"), &v("470.103.01"), &gpu("T4"), WINDOWS).is_none());
}

#[test]
fn verdict_6_a_k80_ends_at_r470_and_cuda_11_8() {
    let gpu = gpu("K80");
    assert!(drives(&gpu, "470.256.02") && !drives(&gpu, "495.29.05"));
    assert!(starts("11.8", "470.256.02"));
    let code = MachineCode::parse(["sm_37"]).expect("valid");
    let verdict = code.runs_on(&gpu.capability, &v("11.8"), None, LINUX);
    assert_eq!(verdict, Verdict::Native);
    assert!(!starts("12.0", "470.256.02"));
    assert_eq!(compat("12.0", "470.256.02", "K80"), None);
    assert!(!gpu::toolkit_floor(&v("12.0")).expect("known").allows(&gpu.capability));
}

#[test]
fn verdict_7_an_a100_on_r450_cannot_read_the_ptx_of_cuda_11_8() {
    let gpu = gpu("A100");
    let driver = v("450.80.02");
    assert_eq!(cuda_of_driver(&driver, LINUX), Some(v("11.0")));
    assert!(starts("11.8", "450.80.02"));
    let ptx = MachineCode::parse(["compute_80"]).expect("valid");
    let verdict = ptx.runs_on(&gpu.capability, &v("11.8"), Some(&driver), LINUX);
    assert!(matches!(verdict, Verdict::PtxTooNew { .. }), "{verdict:?}");
    let cubin = MachineCode::parse(["sm_80"]).expect("valid");
    let verdict = cubin.runs_on(&gpu.capability, &v("11.8"), Some(&driver), LINUX);
    assert_eq!(verdict, Verdict::Native);
}

fn image_starts(tag: &str, name: &str, driver: &str) -> bool {
    let image = parse_image(&format!("nvidia/cuda:{tag}"), LINUX).expect("exists");
    image_driver(&image, &gpu(name), LINUX).expect("known").allows(&v(driver))
}

#[test]
fn verdict_8_a_gtx_1080_on_r535_starts_the_12_4_1_image_but_not_12_8_1() {
    assert!(!image_starts("12.8.1-runtime-ubuntu22.04", "GTX 1080", "535.104.05"));
    assert!(image_starts("12.4.1-runtime-ubuntu22.04", "GTX 1080", "535.104.05"));
}

#[test]
fn verdict_9_an_h100_on_r535_starts_the_13_0_0_image() {
    assert!(image_starts("13.0.0-runtime-ubuntu24.04", "H100", "535.104.05"));
    assert_eq!(compat("13.0", "535.104.05", "H100").as_deref(), Some("cuda-compat-13-0"));
}

#[test]
fn verdict_10_a_gb10_runs_cubins_for_12_0_and_none_for_10_0() {
    let capability = gpu("GB10").capability;
    let run = |target: &str| {
        let code = MachineCode::parse([target]).expect("valid");
        code.runs_on(&capability, &v("12.8"), None, LINUX)
    };
    assert_eq!(run("sm_120"), Verdict::Native);
    assert_eq!(run("sm_100"), Verdict::NoKernel);
}

#[test]
fn verdict_11_r570_and_r575_run_cuda_13_only_with_the_package_on_data_center_gpus() {
    for driver in ["570.124.06", "575.57.08"] {
        assert!(!starts("13.0", driver), "{driver}");
        assert_eq!(compat("13.0", driver, "L40S").as_deref(), Some("cuda-compat-13-0"));
        assert_eq!(compat("13.0", driver, "RTX 4090"), None);
    }
}

#[test]
fn floors_differ_by_cuda_version_and_system() {
    let floor = |cuda: &str, platform| {
        driver_floor(&v(cuda), platform).map(|limit| limit.fact.text.clone()).unwrap_or_default()
    };
    insta::assert_snapshot!(floor("12.4", LINUX), @"CUDA 12.x needs driver >= 525.60.13 on Linux");
    insta::assert_snapshot!(floor("12.4", WINDOWS), @"CUDA 12.x needs driver >= 528.33 on Windows");
    insta::assert_snapshot!(floor("11.0", LINUX), @"CUDA 11.0 needs driver >= 450.36.06 on Linux");
    insta::assert_snapshot!(floor("11.1.1", LINUX), @"CUDA 11.x needs driver >= 450.80.02 on Linux");
    insta::assert_snapshot!(floor("10.2.89", LINUX), @"CUDA 10.2 needs driver >= 440.33 on Linux");
    insta::assert_snapshot!(floor("12.4", Platform::MacosArm64), @"");
    insta::assert_snapshot!(floor("8.0", LINUX), @"");
}

#[test]
fn a_cuda_major_version_of_the_future_needs_a_branch_of_the_future() {
    let newest = matrix::driver().branch.last().expect("not empty");
    let next = SystemVersion::new(newest.cuda.major() + 1, 0);
    let limit = driver_floor(&next, LINUX).expect("known");
    assert!(!limit.allows(&newest.linux));
    assert!(limit.allows(&branch_number(newest.branch + 1)));
}

#[test]
fn windows_numbers_that_drifted_stay_in_their_branch() {
    let cuda = |driver: &str| cuda_of_driver(&v(driver), WINDOWS).map(|found| found.to_string());
    assert_eq!(cuda("576.02").as_deref(), Some("12.9"));
    assert_eq!(cuda("522.06").as_deref(), Some("11.8"));
    assert_eq!(cuda("560.76").as_deref(), Some("12.6"));
    assert_eq!(cuda("390.10").as_deref(), Some("9.1"));
    assert_eq!(cuda("340.1"), None);
}

#[test]
fn every_published_driver_supports_the_cuda_of_its_branch() {
    for row in &matrix::driver().branch {
        for (driver, platform) in [(Some(&row.linux), LINUX), (row.windows.as_ref(), WINDOWS)] {
            let Some(driver) = driver else { continue };
            assert_eq!(cuda_of_driver(driver, platform), Some(row.cuda.clone()), "{driver}");
        }
        let full = full_support_driver(&row.cuda, LINUX);
        assert_eq!(full, Some(row.linux.clone()));
    }
}

#[test]
fn ptx_of_two_toolkits_with_one_isa_needs_one_driver() {
    let limit = |cuda: &str| ptx_driver(&v(cuda), LINUX).expect("known");
    assert!(limit("12.6").allows(&v("555.42.02")));
    assert!(!limit("12.8").allows(&v("565.57.01")));
    assert!(limit("9.2").allows(&v("396.26")) && !limit("9.2").allows(&v("390.46")));
    insta::assert_snapshot!(
        limit("12.8").fact.text,
        @"PTX from CUDA 12.8 (PTX ISA 8.7) needs driver >= 570.26 on Linux, whose compiler reads it"
    );
}

#[test]
fn the_runtime_constrains_the_driver_and_every_gpu() {
    let constraints = cuda_constraints(&v("13.0"), LINUX, 2);
    let packages: Vec<_> = constraints.iter().map(|found| found.package).collect();
    assert_eq!(packages, [Package::Driver, Package::Gpu(0), Package::Gpu(1)]);
    assert!(!constraints[1].range.contains(&v("7.0").into()));
    assert!(constraints[1].range.contains(&v("12.1").into()));
}

#[test]
fn the_lowest_driver_of_every_rule_is_a_known_one() {
    for platform in [LINUX, WINDOWS] {
        let drivers = known_drivers(platform);
        assert!(drivers.is_sorted_by(|a, b| a < b));
        for cuda in known_cuda() {
            let lowest = lowest_driver(&cuda, platform).expect("known");
            assert!(drivers.contains(&lowest), "{cuda} {lowest}");
            let limit = ptx_driver(&cuda, platform).expect("known");
            assert!(drivers.iter().any(|driver| limit.allows(driver)), "{cuda}");
        }
        for capability in gpu::known_capabilities() {
            let gpu = find_gpu(capability.as_str()).expect("known");
            let Some(limit) = gpu::driver_branches(&gpu, platform) else { continue };
            assert!(drivers.iter().any(|driver| limit.allows(driver)), "{capability}");
        }
    }
    assert!(known_drivers(Platform::MacosArm64).is_empty());
}

#[test]
fn known_versions_of_cuda_are_ascending() {
    let known = known_cuda();
    assert!(known.len() > 25 && known.is_sorted_by(|a, b| a < b));
}
