//! The matrices of this side of the stack: every row can be read and has a source.

use std::str::FromStr;

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use crate::machine::Platform;
use crate::matrix;
use crate::matrix::rows::torch::MachineCode;
use crate::name::Name;
use crate::version::SystemVersion;

fn sourced(source: &[String]) {
    assert!(!source.is_empty());
    assert!(source.iter().all(|text| !text.trim().is_empty()), "{source:?}");
}

fn name(text: &str) {
    assert_eq!(Name::new(text).map(Name::as_str), Ok(text), "written in its normalised form");
}

fn span(from: &str, to: &str) {
    let read = |text: &str| Pep440::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert!(read(from) <= read(to), "{from} to {to}");
}

fn system(text: &str) {
    assert!(text.parse::<SystemVersion>().is_ok(), "{text}");
}

fn specifiers(text: &str) {
    assert!(VersionSpecifiers::from_str(text).is_ok(), "{text}");
}

fn platform(text: &str) {
    assert!(Platform::ALL.iter().any(|platform| platform.as_str() == text), "{text}");
}

fn machine_code(rows: &[MachineCode]) {
    for row in rows {
        sourced(&row.source);
        span(&row.from, &row.to);
        platform(&row.platform);
        system(&row.toolkit);
        assert!(!row.cubins.is_empty());
        for (prefix, targets) in [("sm_", &row.cubins), ("compute_", &row.ptx)] {
            for target in targets {
                let number = target.strip_prefix(prefix).unwrap_or_else(|| panic!("{target}"));
                let number = number.strip_suffix('a').unwrap_or(number);
                assert!((30..300).contains(&number.parse::<u64>().expect("a number")), "{target}");
            }
        }
        for gap in &row.gaps {
            assert!(gap.contains(": ") && gap.contains(" of "), "{gap}");
        }
    }
}

#[test]
fn torch_rows() {
    let file = matrix::torch();
    for row in &file.pypi {
        sourced(&row.source);
        span(&row.from, &row.to);
        platform(&row.platform);
        system(&row.cuda);
    }
    for row in &file.variant {
        sourced(&row.source);
        span(&row.from, &row.to);
        system(&row.cuda);
        let cuda = crate::rules::torch::backend_cuda(&row.backend).expect("a backend");
        assert_eq!(cuda.to_string(), row.cuda);
        row.cudnn.iter().for_each(|text| system(text));
        row.bundled.iter().for_each(|text| platform(text));
    }
    for row in &file.links {
        sourced(&row.source);
        span(&row.from, &row.to);
    }
    file.foreign_label.iter().for_each(|row| sourced(&row.source));
    for row in &file.toolkit_pin {
        sourced(&row.source);
        name(&row.name);
    }
    sourced(&file.cpu_build.source);
    machine_code(&file.machine_code);
}

#[test]
fn companion_rows() {
    let file = matrix::companions();
    for row in &file.family {
        sourced(&row.source);
        name(&row.name);
    }
    for row in &file.torch {
        sourced(&row.source);
        name(&row.name);
        span(&row.version, &row.version);
        specifiers(&row.torch);
        assert!(row.text.starts_with(&format!("{} {}", row.name, row.version)), "{}", row.text);
    }
    for row in &file.cuda_choice {
        sourced(&row.source);
        name(&row.name);
        span(&row.from, &row.to);
        row.cuda.iter().for_each(|text| system(text));
    }
    for row in &matrix::bound().bound {
        sourced(&row.source);
        assert!(row.cuda_major.is_some() || row.cudnn.is_some());
        row.cudnn.iter().for_each(|text| system(text));
        row.platforms.iter().for_each(|text| platform(text));
        name(&row.name);
        span(&row.from, &row.to);
    }
}

#[test]
fn onnxruntime_rows() {
    let file = matrix::onnxruntime();
    for row in &file.build {
        sourced(&row.source);
        span(&row.from, &row.to);
        assert!(crate::rules::index::by_name(&row.origin).is_some(), "{}", row.origin);
    }
    for row in &file.libraries {
        sourced(&row.source);
        span(&row.from, &row.to);
    }
    for row in &file.wheel {
        sourced(&row.source);
        name(&row.wheel);
        specifiers(&row.specifier);
    }
    for row in &file.tensorrt {
        sourced(&row.source);
        span(&row.from, &row.to);
        row.wheels.iter().for_each(|text| name(text));
    }
    file.symptom.iter().for_each(|row| sourced(&row.source));
    sourced(&file.silent_fallback.source);
    machine_code(&file.machine_code);
    for row in &file.machine_code {
        assert!(crate::rules::index::by_name(&row.build).is_some(), "{}", row.build);
    }
}

#[test]
fn every_component_that_a_provider_needs_has_a_wheel() {
    let file = matrix::onnxruntime();
    for libraries in &file.libraries {
        for component in libraries.linked.iter().chain(&libraries.on_demand) {
            let known = file.wheel.iter().any(|wheel| &wheel.component == component);
            assert!(known || component == "cudnn-sublibraries", "{component}");
        }
    }
    for links in &matrix::torch().links {
        for component in &links.components {
            assert!(file.wheel.iter().any(|wheel| &wheel.component == component), "{component}");
        }
    }
}

#[test]
fn other_rows() {
    for row in &matrix::owners().owner {
        sourced(&row.source);
        name(&row.module);
        row.distributions.iter().for_each(|text| name(text));
    }
    for row in &matrix::owners().moved {
        sourced(&row.source);
        specifiers(&row.versions);
    }
    for row in &matrix::owners().dependent {
        sourced(&row.source);
        name(&row.name);
        name(&row.requires);
    }
    for row in &matrix::numpy_abi().rule {
        sourced(&row.source);
        specifiers(&row.versions);
        specifiers(&row.numpy);
        row.platforms.iter().for_each(|text| platform(text));
    }
    for row in &matrix::broken().release {
        sourced(&row.source);
        specifiers(&row.versions);
        row.platforms.iter().for_each(|text| platform(text));
    }
    for row in &matrix::broken().deleted {
        sourced(&row.source);
        name(&row.name);
        span(&row.version, &row.version);
    }
    for row in &matrix::indexes().index {
        sourced(&row.source);
        assert!(row.url.starts_with("https://"), "{}", row.url);
        row.distributions.iter().for_each(|text| name(text));
    }
}

#[test]
fn onnx_rows() {
    let file = matrix::onnx();
    for (from, to, source) in [
        file.runtime.iter().map(|r| (&r.from, &r.to, &r.source)).collect::<Vec<_>>(),
        file.exporter.iter().map(|r| (&r.from, &r.to, &r.source)).collect(),
        file.library.iter().map(|r| (&r.from, &r.to, &r.source)).collect(),
    ]
    .concat()
    {
        sourced(source);
        span(from, to);
    }
    assert!(file.opset_ir.iter().map(|row| row.opset).is_sorted());
    file.opset_ir.iter().for_each(|row| sourced(&row.source));
    file.symptom.iter().for_each(|row| sourced(&row.source));
}

#[test]
fn rows_about_what_surrounds_a_file() {
    for row in &matrix::companions().prebuilt {
        sourced(&row.source);
        name(&row.name);
        span(&row.from, &row.to);
        row.torch.iter().for_each(|text| span(text, text));
    }
    for row in &matrix::companions().elsewhere {
        sourced(&row.source);
        name(&row.name);
    }
    for row in &matrix::bound().cpu_only {
        sourced(&row.source);
        name(&row.name);
        specifiers(&row.versions);
        row.platforms.iter().for_each(|text| platform(text));
    }
    for row in &matrix::indexes().lost {
        sourced(&row.source);
        name(&row.wheel);
        specifiers(&row.torch);
        assert!(
            matrix::indexes().index.iter().any(|index| index.name == row.index),
            "{}",
            row.index
        );
    }
    for row in &matrix::indexes().only_there {
        sourced(&row.source);
        name(&row.name);
        specifiers(&row.versions);
    }
    for row in &matrix::indexes().listing {
        sourced(&row.source);
        row.names.iter().for_each(|text| name(text));
        assert!(
            matrix::indexes().index.iter().any(|index| index.name == row.index),
            "{}",
            row.index
        );
    }
    for row in &matrix::indexes().nightly {
        sourced(&row.source);
        assert!(row.keeps > 0 && row.oldest > 20_000_000);
    }
    for row in &matrix::torch().arm {
        sourced(&row.source);
        span(&row.from, &row.to);
    }
    for row in &matrix::owners().installs {
        sourced(&row.source);
        name(&row.name);
        name(&row.installs);
    }
    for row in &matrix::python().pip {
        sourced(&row.source);
        span(&row.pip, &row.pip);
        assert!(row.os.is_some() != row.python.is_some(), "{}", row.brought_by);
    }
    matrix::python().platform_tag.iter().for_each(|row| sourced(&row.source));
    matrix::images().vendor.iter().for_each(|row| sourced(&row.source));
    matrix::driver().package.iter().for_each(|row| sourced(&row.source));
}

#[test]
fn conda_rows() {
    let file = matrix::conda();
    for row in &file.package {
        sourced(&row.source);
        name(&row.name);
        name(&row.distribution);
    }
    for row in &file.ended {
        sourced(&row.source);
        span(&row.last, &row.last);
    }
    for row in &file.selector {
        sourced(&row.source);
        span(&row.from, &row.to);
        row.cuda.iter().for_each(|text| system(text));
    }
    for row in &file.cpu_only {
        sourced(&row.source);
        specifiers(&row.versions);
    }
    file.unaware.iter().for_each(|row| sourced(&row.source));
    file.needs.iter().for_each(|row| sourced(&row.source));
}
