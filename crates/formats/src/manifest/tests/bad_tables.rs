//! Wrong values in the other tables: the message, its position, its help.

use super::errors;

#[test]
fn a_negative_opset() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[model]
opset = -1
"#;
    insta::assert_snapshot!(errors(text), @"env.toml:7:9: error: `opset` is -1, expected a whole number of at least 1");
}

#[test]
fn a_huge_opset() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[model]
opset = 99999999999999999999
"#;
    insta::assert_snapshot!(errors(text), @"env.toml:7:9: error: `opset` is 99999999999999999999, expected a whole number of at least 1");
}

#[test]
fn an_opset_beside_a_model() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[model]
onnx = "m.onnx"
opset = 17
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:8:9: error: `opset` is read from the file that `onnx` names
      help: keep `onnx` or `opset`
    ");
}

#[test]
fn a_target_name_that_is_no_file_name() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[target."a/b"]
driver = "470.103.01"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:6:9: error: 'a/b' is not a target name
      help: it becomes part of file names: use up to 64 letters, digits, '-' and '_'
    ");
}

#[test]
fn a_target_that_is_no_table() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[target]
edge = "T4"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:8: error: `target.edge` is a string, expected a table
      help: write it as edge = { platform = "linux-x86_64" }
    "#);
}

#[test]
fn a_url_without_a_host() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
url = "https://"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:7: error: invalid URL "https://": empty host
      help: write the whole address, such as "https://index.example/simple"
    "#);
}

#[test]
fn a_url_of_another_scheme() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
url = "ftp://me:s3cret@index.example/simple"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:7:7: error: a URL of scheme 'ftp' cannot be fetched
      help: use http, https, file
    ");
}

#[test]
fn an_index_without_url() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
name = "corp"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:6:1: error: `url` is missing in [[index]]
      help: add url = "https://index.example/simple"
    "#);
}

#[test]
fn index_as_a_table() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[index]
name = "corp"
url = "https://index.example"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:6:1: error: `index` is a table, expected a list of tables
      help: write it as [[index]]
    ");
}

#[test]
fn two_indexes_of_one_name() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
name = "a"
url = "https://a.example"
[[index]]
name = "a"
url = "https://b.example"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:10:8: error: two indexes are called 'a'
      help: give one of them another name
    ");
}

#[test]
fn two_defaults() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
url = "https://a.example"
default = true
[[index]]
url = "https://b.example"
default = true
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:11:11: error: another index is the default already
      help: keep `default = true` at one [[index]]
    ");
}

#[test]
fn explicit_and_default() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
name = "a"
url = "https://a.example"
default = true
explicit = true
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:10:12: error: an index cannot be both `explicit` and `default`
      help: an explicit index is asked only for packages that [sources] takes from it
    ");
}

#[test]
fn a_source_that_misses_its_index() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
name = "corp"
url = "https://a.example"
[sources]
torch = { index = "crop" }
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:10:19: error: there is no index called 'crop'
      help: did you mean 'corp'?
    ");
}

#[test]
fn an_unknown_resolution() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[options]
resolution = "highst"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:14: error: unknown value "highst" for `resolution`: use "highest", "lowest" or "lowest-direct"
      help: did you mean "highest"?
    "#);
}

#[test]
fn a_day_that_does_not_exist() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[options]
exclude-newer = "2026-02-30"
"#;
    insta::assert_snapshot!(errors(text), @r#"env.toml:7:17: error: invalid date "2026-02-30": write a day, such as 2026-11-01, or a timestamp with its offset, such as 2026-11-01T12:00:00Z"#);
}

#[test]
fn a_relative_date() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[options]
exclude-newer = "7 days"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:17: error: invalid date "7 days": write a day, such as 2026-11-01, or a timestamp with its offset, such as 2026-11-01T12:00:00Z
      help: a span of time would mean another day at every run, so it is not accepted
    "#);
}

#[test]
fn a_chain_of_substitutes() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[options]
substitute = { a = "b", b = "c" }
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:7:20: error: b stands in for a, but is itself substituted
      help: name the package that is installed in the end
    ");
}

#[test]
fn no_index_at_all() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[options]
only-indexes = []
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:7:16: error: `only-indexes` is empty: nothing could be fetched
      help: name an index, or remove the key
    ");
}

#[test]
fn a_backend_with_a_dot() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[pytorch]
backends = ["cu12.4", "rocm"]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:13: error: unknown backend "cu12.4"
      help: did you mean "cu124"?
    env.toml:7:23: error: unknown backend "rocm"
      help: write "cpu", or "cu" and the CUDA version without its dot, such as "cu126"
    "#);
}

#[test]
fn backends_true() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[pytorch]
backends = true
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:12: error: `backends` is true, expected a list of strings, or false
      help: for example backends = ["cu118", "cpu"]
    "#);
}

#[test]
fn an_ignore_without_reason() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[audit]
ignore = [{ code = "driver-floor" }]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:11: error: `reason` is missing in [[audit.ignore]]
      help: add reason = "the driver is updated next week"
    "#);
}

#[test]
fn a_level_that_does_not_exist() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[audit]
levels = { unpinned = "error" }
"#;
    insta::assert_snapshot!(errors(text), @r#"env.toml:7:23: error: unknown value "error" for `levels`: use "allow", "warn" or "deny""#);
}

#[test]
fn a_bad_name_in_metadata() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[metadata."flash attn"]
requires-dist = ["torch"]
"#;
    insta::assert_snapshot!(errors(text), @"env.toml:6:11: error: 'flash attn' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends");
}

#[test]
fn indexes_that_do_not_exist() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[sources]
torch = { index = "pytorch-cu12" }
[options]
only-indexes = ["pipy", "elsewhere"]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:19: error: there is no index called 'pytorch-cu12'
      help: did you mean 'pytorch-cu102'?
    env.toml:9:17: error: there is no index called 'pipy'
      help: did you mean 'pypi'?
    env.toml:9:25: error: there is no index called 'elsewhere'
      help: add [[index]] with name = "elsewhere" and its url
    "#);
}

#[test]
fn a_source_as_a_string() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[sources]
torch = "corp"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:9: error: `sources.torch` is a string, expected a table
      help: write it as torch = { index = "corp" }
    "#);
}

#[test]
fn an_unknown_key_in_an_index() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[[index]]
url = "https://a.example"
priority = "primary"
"#;
    insta::assert_snapshot!(errors(text), @"
    env.toml:8:1: error: unknown key `priority` in [[index]]
      help: known keys: `name`, `url`, `explicit`, `default`, `format`
    ");
}

#[test]
fn a_bad_override_and_a_bad_constraint() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[options]
overrides = ["numpy<"]
constraints = ["[x]"]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:21: error: invalid requirement "numpy<": expected a version after '<'
    env.toml:8:17: error: invalid requirement "[x]": expected a package name at the start of the requirement
    "#);
}

#[test]
fn levels_as_a_list() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[audit]
levels = ["x"]
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:7:10: error: `levels` is a list, expected a table of values from "allow", "warn" or "deny"
      help: for example levels = { driver-floor = "warn" }
    "#);
}

#[test]
fn a_string_over_several_lines() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["""
torch
>=>2"""]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"env.toml:5:3: error: invalid requirement "torch\n>=>2": expected a version after '>='"#);
}

#[test]
fn a_string_with_escapes() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["tor\u0063h = 2"]
[machine]
platform = "linux-x86_64"
"#;
    insta::assert_snapshot!(errors(text), @r#"
    env.toml:3:17: error: invalid requirement "torch = 2": expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end
      help: an exact version is written with two equal signs: "torch==2"
    "#);
}

#[test]
fn a_backend_of_tomorrow_is_known() {
    let text = r#"[environment]
python = "3.11"
dependencies = ["torch"]
[machine]
platform = "linux-x86_64"
[sources]
torch = { index = "pytorch-cu150" }
"#;
    assert_eq!(errors(text), "no error");
}
