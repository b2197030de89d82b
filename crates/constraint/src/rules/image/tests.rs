use proptest::prelude::*;

use super::*;
use crate::rules::products::find_gpu;

const LINUX: Platform = Platform::LinuxX86_64;

fn v(text: &str) -> SystemVersion {
    text.parse().expect("valid")
}

fn read(reference: &str) -> String {
    match parse_image(reference, LINUX) {
        Ok(image) => format!(
            "CUDA {} cuDNN {} {} {} glibc {} python {} {:?}",
            image.cuda,
            image.cudnn.map_or_else(|| "-".to_owned(), |found| found.to_string()),
            image.flavour,
            image.os,
            image.glibc.map_or_else(|| "-".to_owned(), |found| found.to_string()),
            image.python.map_or_else(|| "-".to_owned(), |found| found.to_string()),
            image.standing
        ),
        Err(error) => error.to_string(),
    }
}

#[test]
fn tags_say_what_the_image_contains() {
    insta::assert_snapshot!(read("nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04"), @"CUDA 12.4.1 cuDNN 9.1.0.70 cudnn-runtime ubuntu22.04 glibc 2.35 python 3.10 Supported");
    insta::assert_snapshot!(read("registry.example:5000/mirror/nvidia/cuda:11.8.0-cudnn8-devel-ubuntu20.04@sha256:00"), @"CUDA 11.8.0 cuDNN 8.9.6.50 cudnn8-devel ubuntu20.04 glibc 2.31 python 3.8 Supported");
    insta::assert_snapshot!(read("nvidia/cuda:12.3.2-cudnn9-runtime-ubuntu22.04"), @"CUDA 12.3.2 cuDNN 9.0.0.312 cudnn9-runtime ubuntu22.04 glibc 2.35 python 3.10 Supported");
    insta::assert_snapshot!(read("nvidia/cuda:10.2-cudnn8-runtime-ubuntu18.04"), @r#"CUDA 10.2 cuDNN 8.6.0.163 cudnn8-runtime ubuntu18.04 glibc 2.27 python 3.6 Gone { listed_until: "2023-04-11" }"#);
    insta::assert_snapshot!(read("nvidia/cuda:10.2-cudnn7-runtime-ubuntu18.04"), @r#"CUDA 10.2 cuDNN - cudnn7-runtime ubuntu18.04 glibc 2.27 python 3.6 Gone { listed_until: "2023-04-11" }"#);
    insta::assert_snapshot!(read("nvidia/cuda:13.0.0-tensorrt-runtime-ubuntu24.04"), @"CUDA 13.0.0 cuDNN - tensorrt-runtime ubuntu24.04 glibc 2.39 python 3.12 Unsupported");
    insta::assert_snapshot!(read("nvidia/cuda:12.9.1-base-ubi9"), @"CUDA 12.9.1 cuDNN - base ubi9 glibc 2.34 python 3.9 Supported");
    insta::assert_snapshot!(read("nvidia/cuda:9.1-runtime-ubuntu17.04"), @r#"CUDA 9.1 cuDNN - runtime ubuntu17.04 glibc 2.24 python 3.5 Gone { listed_until: "2023-04-11" }"#);
    insta::assert_snapshot!(read("nvidia/cuda:99.0.0-cudnn-runtime-ubuntu99.04"), @"CUDA 99.0.0 cuDNN - cudnn-runtime ubuntu99.04 glibc - python - Unsupported");
}

#[test]
fn tags_that_do_not_exist_name_those_that_do() {
    insta::assert_snapshot!(read("nvidia/cuda:12.4.1"), @"'12.4.1' does not end with an operating system, as tags of nvidia/cuda do; did you mean 12.4.1-base-ubuntu22.04, 12.4.1-base-ubuntu20.04, 12.4.1-devel-ubuntu22.04?");
    insta::assert_snapshot!(read("nvidia/cuda:12.4.1-runtime"), @"'12.4.1-runtime' does not end with an operating system, as tags of nvidia/cuda do; did you mean 12.4.1-runtime-ubuntu22.04, 12.4.1-runtime-ubuntu20.04, 12.4.0-runtime-ubuntu22.04?");
    insta::assert_snapshot!(read("nvidia/cuda:12.4.0-cudnn-runtime-ubuntu22.04"), @"nvidia/cuda has no tag '12.4.0-cudnn-runtime-ubuntu22.04': CUDA 12.4.0 on ubuntu22.04 has base, devel, runtime; did you mean 12.4.1-cudnn-runtime-ubuntu22.04, 12.9.0-cudnn-runtime-ubuntu22.04, 12.8.0-cudnn-runtime-ubuntu22.04?");
    insta::assert_snapshot!(read("nvidia/cuda:12.2.1-runtime-ubuntu22.04"), @"nvidia/cuda has no tag '12.2.1-runtime-ubuntu22.04': there is no image of CUDA 12.2.1; did you mean 12.2.2-runtime-ubuntu22.04, 12.2.0-runtime-ubuntu22.04, 12.9.1-runtime-ubuntu22.04?");
    insta::assert_snapshot!(read("nvidia/cuda:13.0.0-runtime-ubuntu20.04"), @"nvidia/cuda has no tag '13.0.0-runtime-ubuntu20.04': CUDA 13.0.0 has images for amzn2023, azl3, cm2, oraclelinux8, oraclelinux9, rockylinux10, rockylinux8, rockylinux9, ubi10, ubi8, ubi9, ubuntu22.04, ubuntu24.04; did you mean 12.0.0-runtime-ubuntu20.04, 13.0.0-runtime-ubuntu24.04, 13.0.0-runtime-ubuntu22.04?");
    insta::assert_snapshot!(read("nvidia/cuda:12.4.1-cudnn9-runtime-ubuntu22.04"), @"nvidia/cuda has no tag '12.4.1-cudnn9-runtime-ubuntu22.04': CUDA 12.4.1 on ubuntu22.04 has base, cudnn-devel, cudnn-runtime, devel, runtime; did you mean 12.4.1-cudnn-runtime-ubuntu22.04, 12.8.1-cudnn-runtime-ubuntu22.04, 12.6.1-cudnn-runtime-ubuntu22.04?");
    insta::assert_snapshot!(read("nvidia/cuda:latest"), @"nvidia/cuda has no tag 'latest': tags begin with the CUDA version");
    insta::assert_snapshot!(read("nvidia/cuda"), @"'nvidia/cuda' has no tag: write one such as nvidia/cuda:13.3.1-runtime-ubuntu26.04");
    insta::assert_snapshot!(read("nvidia/cuda@sha256:00"), @"'nvidia/cuda@sha256:00' has no tag: write one such as nvidia/cuda:13.3.1-runtime-ubuntu26.04");
    insta::assert_snapshot!(read("pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime"), @"'pytorch/pytorch:2.4.1-cuda12.4-cudnn9-runtime' is not an nvidia/cuda image: only their tags say which CUDA and cuDNN they contain; write cuda, cudnn and glibc in [machine] instead");
}

#[test]
fn every_tag_of_the_matrix_is_read() {
    for tag in all_tags() {
        let image =
            parse_image(&format!("nvidia/cuda:{tag}"), LINUX).unwrap_or_else(|e| panic!("{e}"));
        assert!(image.glibc.is_some(), "{tag}");
    }
}

fn starts(tag: &str, gpu: &str, driver: &str) -> bool {
    let image = parse_image(&format!("nvidia/cuda:{tag}"), LINUX).expect("exists");
    let gpu = find_gpu(gpu).expect("known");
    image_driver(&image, &gpu, LINUX).expect("known").allows(&v(driver))
}

#[test]
fn geforce_is_not_listed_from_12_5_on() {
    assert!(starts("12.4.1-base-ubuntu22.04", "RTX 3090", "535.104.05"));
    assert!(!starts("12.5.0-base-ubuntu22.04", "RTX 3090", "535.104.05"));
    assert!(starts("12.5.0-base-ubuntu22.04", "A100", "535.104.05"));
    assert!(starts("12.5.0-base-ubuntu22.04", "RTX A6000", "535.104.05"));
    // A branch between the listed ones has to support the image's CUDA itself.
    assert!(!starts("12.5.0-base-ubuntu22.04", "A100", "545.23.08"));
    assert!(starts("12.5.0-base-ubuntu22.04", "RTX 3090", "555.42.02"));
    // What is known of one system holds for those of other distributions, and for later patch releases.
    assert!(starts("12.4.1-base-ubi8", "RTX 3090", "535.104.05"));
    assert!(starts("13.0.2-base-ubuntu24.04", "A100", "535.104.05"));
    // Up to 11.4 only data-center GPUs are listed.
    assert!(!starts("11.4.2-base-ubuntu20.04", "RTX 2080", "450.80.02"));
    assert!(starts("11.4.2-base-ubuntu20.04", "V100", "450.80.02"));
}

#[test]
fn the_fact_says_which_drivers_start_the_image() {
    let image = parse_image("nvidia/cuda:12.8.1-base-ubuntu22.04", LINUX).expect("exists");
    let text = |gpu: &str| {
        let gpu = find_gpu(gpu).expect("known");
        image_driver(&image, &gpu, LINUX).expect("known").fact.text.clone()
    };
    insta::assert_snapshot!(text("H100"), @"nvidia/cuda:12.8.1-base-ubuntu22.04 starts on drivers >= 570.26, and on R470, R535, R550, R560, R565");
    insta::assert_snapshot!(text("RTX 4090"), @"nvidia/cuda:12.8.1-base-ubuntu22.04 starts on drivers >= 570.26; the older branches that it allows are not for this product line");
}

proptest! {
    #[test]
    fn no_reference_makes_the_parser_panic(text in "\\PC*", tag in "\\PC*") {
        let _ = parse_image(&text, LINUX);
        let _ = parse_image(&format!("nvidia/cuda:{tag}"), LINUX);
    }
}
