use proptest::prelude::*;

use super::key::VENDOR_WORDS;
use super::*;

fn found(text: &str) -> String {
    match find_gpu(text) {
        Ok(gpu) => format!("{} {:?}", gpu.capability, gpu.brand),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_product_resolves_to_its_own_capability() {
    for row in &matrix::products().product {
        for name in &row.names {
            // Words that do not count are told apart by spaces.
            let spaced = name
                .to_lowercase()
                .split([' ', '-'])
                .any(|word| word == "mobile" || VENDOR_WORDS.contains(&word));
            let glued = if spaced { name.clone() } else { name.replace(' ', "") };
            for text in [name.clone(), format!("NVIDIA {name}"), name.to_lowercase(), glued] {
                let gpu = find_gpu(&text).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(gpu.capability, row.capability.clone(), "{text}");
                assert_eq!(gpu.name, text);
            }
        }
    }
}

#[test]
fn every_meaning_of_an_ambiguous_name_can_be_written() {
    for row in &matrix::products().ambiguous {
        for choice in &row.choices {
            let gpu = find_gpu(&choice.name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(gpu.capability, choice.capability.clone(), "{}", choice.name);
        }
    }
}

#[test]
fn every_later_product_and_instance_names_a_product() {
    for row in &matrix::products().first_driver {
        for name in &row.names {
            assert!(find_gpu(name).is_ok(), "{name}");
            assert_eq!(first_driver(name).map(|row| row.branch), Some(row.branch), "{name}");
        }
    }
    for row in &matrix::products().instance {
        for pattern in &row.instances {
            let instance = pattern.replace('*', "4xlarge");
            assert!(find_gpu(&instance).is_ok(), "{instance}");
        }
    }
}

#[test]
fn names_are_found_as_people_and_tools_write_them() {
    for (text, capability) in [
        ("RTX 3090", "8.6"),
        ("rtx3090", "8.6"),
        ("GeForce RTX 3090 24GB", "8.6"),
        ("NVIDIA GeForce RTX 3050 Laptop GPU", "8.6"),
        ("A100-SXM4-40GB", "8.0"),
        ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "8.0"),
        ("NVIDIA H100 80GB HBM3 MIG 3g.40gb", "9.0"),
        ("H100 PCIe 80GB", "9.0"),
        ("H100 80 GB", "9.0"),
        ("T4", "7.5"),
        ("Tesla T4", "7.5"),
        ("GRID T4-16Q", "7.5"),
        ("NVIDIA A10-24Q", "8.6"),
        ("Tesla V100-SXM2-16GB", "7.0"),
        ("Quadro RTX 6000", "7.5"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
        ("TITAN X (Pascal)", "6.1"),
        ("GTX TITAN X", "5.2"),
        ("DGX Spark", "12.1"),
        ("Jetson AGX Orin", "8.7"),
        ("Orin", "8.7"),
        ("AGX Orin", "8.7"),
        ("Xavier", "7.2"),
        ("Thor", "11.0"),
        ("8.6", "8.6"),
        ("sm_86", "8.6"),
        ("sm90a", "9.0"),
        ("compute_120", "12.0"),
        ("compute capability 7.5", "7.5"),
        ("CC 8.9", "8.9"),
        ("Hopper", "9.0"),
        ("g4dn.xlarge", "7.5"),
        ("Standard_NC40ads_H100_v5", "9.0"),
        ("a2-highgpu-8g", "8.0"),
    ] {
        let gpu = find_gpu(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(gpu.capability.as_str(), capability, "{text}");
    }
}

#[test]
fn misleading_names_are_not_fooled() {
    for (text, capability) in [
        ("GeForce RTX 2050", "8.6"),
        ("GeForce MX570", "8.6"),
        ("GeForce MX450", "7.5"),
        ("GeForce MX350", "6.1"),
        ("GeForce RTX 3050 A Laptop GPU", "8.9"),
        ("GTX 1650", "7.5"),
        ("Jetson T4000", "11.0"),
        ("Jetson T5000", "11.0"),
        ("A100", "8.0"),
        ("A30", "8.0"),
        ("A10", "8.6"),
        ("A16", "8.6"),
        ("A2", "8.6"),
        ("A40", "8.6"),
        ("GB10", "12.1"),
        ("GB200", "10.0"),
        ("GB300", "10.3"),
        ("GTX 960M", "5.0"),
        ("GTX 970M", "5.2"),
        ("Quadro P2200", "6.1"),
        ("Quadro GP100", "6.0"),
        ("RTX A6000", "8.6"),
    ] {
        let gpu = find_gpu(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(gpu.capability.as_str(), capability, "{text}");
    }
}

#[test]
fn product_lines_are_known() {
    for (text, brand) in [
        ("RTX 3090", Brand::GeForce),
        ("TITAN RTX", Brand::GeForce),
        ("L40S", Brand::DataCenter),
        ("RTX A6000", Brand::Professional),
        ("Jetson Orin Nano", Brand::Jetson),
        ("8.6", Brand::Unknown),
        ("g5.xlarge", Brand::DataCenter),
    ] {
        assert_eq!(find_gpu(text).map(|gpu| gpu.brand), Ok(brand), "{text}");
    }
}

#[test]
fn unknown_and_ambiguous_names_say_what_to_write() {
    insta::assert_snapshot!(found("RTX 3990"), @"no GPU is known as 'RTX 3990': did you mean GeForce RTX 3090, GeForce RTX 3050 or GeForce RTX 3060? A compute capability such as 8.6 will do as well");
    insta::assert_snapshot!(found("3090"), @"no GPU is known as '3090': did you mean GeForce RTX 3090 or A3000? A compute capability such as 8.6 will do as well");
    insta::assert_snapshot!(found("2x RTX 3090"), @"no GPU is known as '2x RTX 3090': did you mean GeForce RTX 3090, GeForce RTX 3050 or GeForce RTX 3060? A compute capability such as 8.6 will do as well");
    insta::assert_snapshot!(found("TITAN X"), @"'TITAN X' can mean several GPUs: GeForce GTX TITAN X (5.2), TITAN X (Pascal) (6.1); write the full name, or the compute capability");
    insta::assert_snapshot!(found("NVIDIA RTX 6000"), @"'NVIDIA RTX 6000' can mean several GPUs: Quadro RTX 6000 (7.5), RTX 6000 Ada Generation (8.9), RTX PRO 6000 Blackwell (12.0); write the full name, or the compute capability");
    insta::assert_snapshot!(found("GT 1030"), @"'GT 1030' can mean several GPUs: GeForce GT 1030 (GK107) (3.0), GeForce GT 1030 (GP108) (6.1); write the full name, or the compute capability");
    insta::assert_snapshot!(found("Ampere"), @"'Ampere' can mean several GPUs: Ampere (8.0), Ampere (8.6), Ampere (8.7); write the full name, or the compute capability");
    insta::assert_snapshot!(found("8.4"), @"no GPU has compute capability 8.4; there are 8.0, 8.6, 8.7, 8.9");
    insta::assert_snapshot!(found("Radeon RX 7900"), @"no GPU is known as 'Radeon RX 7900': write the product's name, such as RTX 3090, or its compute capability, such as 8.6");
    insta::assert_snapshot!(found(""), @"no GPU is known as '': write the product's name, such as RTX 3090, or its compute capability, such as 8.6");
    insta::assert_snapshot!(found("99.0"), @"99.0 Unknown");
}

proptest! {
    #[test]
    fn no_text_makes_the_search_panic(text in "\\PC*") {
        let _ = find_gpu(&text);
    }
}
