//! Wrong files, environments and machines: the message, its position, its help.

use super::errors;

#[test]
fn an_empty_file() {
    let text = "";
    insta::assert_snapshot!(errors(text), @"
    env.toml: error: the file is empty
      help: `cuda-lock init` writes one to start from
    ");
}

#[test]
fn broken_toml() {
    let text = r#"[environment
python = "3.11"
"#;
    insta::assert_snapshot!(errors(text), @"env.toml:1:13: error: invalid TOML: unclosed table, expected `]`");
}

#[test]
fn a_key_twice() {
    let text = r#"[environment]
python = "3.11"
python = "3.12"
"#;
    insta::assert_snapshot!(errors(text), @"env.toml:3:1: error: invalid TOML: duplicate key");
}

#[test]
fn an_unclosed_string() {
    let text = r#"[environment]
python = "3.11
dependencies = []
"#;
    insta::assert_snapshot!(errors(text), @r#"env.toml:2:15: error: invalid TOML: invalid basic string, expected `"`"#);
}

#[test]
fn a_misspelt_table() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machin]
platform = "linux-x86_64"
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:4:2: error: unknown key `machin`
      help: did you mean `machine`?
    ");
}

#[test]
fn misspelt_keys_are_all_reported() {
    let text = r#"[environment]
pyhton = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
drivers = "535.104.05"
gpu = ["T4"]
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:2:1: error: unknown key `pyhton` in [environment]
      help: did you mean `python`?
    env.toml:6:1: error: unknown key `drivers` in [machine]
      help: did you mean `driver`?
    env.toml:7:1: error: unknown key `gpu` in [machine]
      help: did you mean `gpus`?
    ");
}

#[test]
fn a_key_in_the_wrong_table() {
    let text = r#"[environment]
driver = "535.104.05"
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:2:1: error: unknown key `driver` in [environment]
      help: `driver` belongs in [machine]
    ");
}

#[test]
fn a_key_that_nobody_knows() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
colour = "red"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:6:1: error: unknown key `colour` in [machine]
      help: known keys: `platform`, `glibc`, `musl`, `macos`, `driver`, `gpus`, `cuda`, `cudnn`, `libraries`, `image`
    ");
}

#[test]
fn a_missing_python() {
    let text = r#"[environment]
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:1:1: error: `python` is missing in [environment]
      help: add python = "3.11"
    "#);
}

#[test]
fn a_missing_environment() {
    let text = r#"[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:1:1: error: `environment` is missing
      help: add a table [environment]
    ");
}

#[test]
fn a_missing_platform() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:1:1: error: no `platform` in [machine]
      help: add platform = "linux-x86_64"
    "#);
}

#[test]
fn python_as_a_number() {
    let text = r#"[environment]
python = 3.10
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:2:10: error: `python` is a float, expected a string
      help: write it in quotes: python = "3.10"
    "#);
}

#[test]
fn python_without_a_minor_version() {
    let text = r#"[environment]
python = "3"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:2:10: error: invalid Python version "3"
      help: write a version, such as "3.11", or a range, such as ">=3.10,<3.13"
    "#);
}

#[test]
fn python_in_another_syntax() {
    let text = r#"[environment]
python = "^3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:2:10: error: invalid Python version "^3.11"
      help: write a version, such as "3.11", or a range, such as ">=3.10,<3.13"
    "#);
}

#[test]
fn an_unknown_platform() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:5:12: error: unknown value "linux-x64" for `platform`: use "linux-x86_64", "linux-aarch64", "windows-x86_64", "macos-arm64" or "macos-x86_64"
      help: did you mean "linux-x86_64"?
    "#);
}

#[test]
fn one_equal_sign() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch=2.3"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:23: error: invalid requirement "torch=2.3": expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end
      help: an exact version is written with two equal signs: "torch==2.3"
    "#);
}

#[test]
fn a_requirement_with_a_bad_version() {
    let text = r#"[environment]
python = "3.11"
dependencies = [
  "numpy",
  "torch >= two",
]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"env.toml:5:10: error: invalid requirement "torch >= two": '>=two' is not a version specifier: it has no version of PEP 440"#);
}

#[test]
fn two_bad_requirements() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch >", "numpy[", "onnx"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:25: error: invalid requirement "torch >": expected a version after '>'
    env.toml:3:34: error: invalid requirement "numpy[": '[' is never closed
    "#);
}

#[test]
fn a_requirement_with_a_bad_marker() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch; python_versio > '3'"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"env.toml:3:25: error: invalid requirement "torch; python_versio > '3'": 'python_versio' is not a marker variable (PEP 508)"#);
}

#[test]
fn a_pip_option_as_requirement() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["-r other.txt"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:18: error: invalid requirement "-r other.txt": '-r' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
      help: options of pip have their own keys: [[index]], [options] constraints
    "#);
}

#[test]
fn an_empty_requirement() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch", " "]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:26: error: the requirement is empty
      help: write a package name, such as "torch>=2.3"
    "#);
}

#[test]
fn dependencies_as_a_string() {
    let text = r#"[environment]
python = "3.11"
dependencies = "torch"
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:16: error: `dependencies` is a string, expected a list of strings
      help: write it as a list: dependencies = ["torch"]
    "#);
}

#[test]
fn dependencies_as_a_table() {
    let text = r#"[environment]
python = "3.11"
dependencies = { torch = "2.3" }
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:16: error: `dependencies` is a table, expected a list of strings
      help: for example dependencies = ["torch>=2.3"]
    "#);
}

#[test]
fn nothing_to_install() {
    let text = r#"[environment]
python = "3.11"
dependencies = []
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:4:1: error: there is nothing to install: no `dependencies`
      help: add dependencies = ["torch>=2.3"] to [environment]
    "#);
}

#[test]
fn a_driver_without_its_parts() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
driver = "535"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:10: error: invalid `driver` "535"
      help: write the whole version, such as driver = "535.104.05"
    "#);
}

#[test]
fn a_driver_as_a_number() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
driver = 535.104
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:10: error: `driver` is a float, expected a string
      help: write it in quotes: driver = "535.104"
    "#);
}

#[test]
fn a_driver_with_letters() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
driver = "v535.104"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:10: error: invalid `driver` "v535.104"
      help: write the whole version, such as driver = "535.104.05"
    "#);
}

#[test]
fn a_huge_driver() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
driver = "99999999999999999999.1"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:10: error: invalid `driver` "99999999999999999999.1"
      help: write the whole version, such as driver = "535.104.05"
    "#);
}

#[test]
fn glibc_and_musl() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
glibc = "2.31"
musl = "1.2"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:7:8: error: `glibc` and `musl` exclude each other
      help: keep the one that the machine has
    ");
}

#[test]
fn glibc_on_windows() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "windows-x86_64"
glibc = "2.31"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:6:9: error: `glibc` is about Linux, but platform is windows-x86_64
      help: remove `glibc`
    ");
}

#[test]
fn an_image_on_windows() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "windows-x86_64"
image = "nvidia/cuda:12.4.1-runtime-ubuntu22.04"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:9: error: a container image runs Linux, but platform is windows-x86_64
      help: remove `image`, or set platform = "linux-x86_64"
    "#);
}

#[test]
fn glibc_of_a_target_on_macos() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "macos-arm64"
[target.a]
glibc = "2.31"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:7:9: error: `glibc` is about Linux, but platform is macos-arm64
      help: remove `glibc`
    ");
}

#[test]
fn a_capability_as_a_number() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
gpus = [8.9]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:9: error: `gpus` holds a float, expected strings
      help: write it in quotes: "8.9"
    "#);
}

#[test]
fn a_gpu_without_a_name() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
gpus = ["T4", ""]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:15: error: the GPU has no name
      help: write a product name, such as "RTX 3090", or a compute capability, such as "8.6"
    "#);
}

#[test]
fn a_bad_cuda_range() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
cuda = ">=twelve"
"#;
    insta::assert_snapshot!(errors(text), @"env.toml:6:8: error: invalid `cuda`: '>=twelve' is not a version range: write it as '>=12,<13', '==12.4.*' or '12.4'");
}

#[test]
fn a_cuda_range_without_versions() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
cuda = ">=13,<12"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:8: error: `cuda` ">=13,<12" allows no version
      help: the bounds exclude each other
    "#);
}

#[test]
fn unknown_libraries() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
libraries = "wheel"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:13: error: unknown value "wheel" for `libraries`: use "wheels" or "system"
      help: did you mean "wheels"?
    "#);
}
