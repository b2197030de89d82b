//! What holds between the rows of the matrices of this side of the stack.

use crate::matrix;
use crate::matrix::rows::torch::MachineCode;
use crate::rules::index;

fn machine_code(rows: &[MachineCode]) {
    for row in rows {
        assert!(!row.cubins.is_empty());
        for (prefix, targets) in [("sm_", &row.cubins), ("compute_", &row.ptx)] {
            for target in targets {
                let number = target.strip_prefix(prefix).unwrap_or_else(|| panic!("{target}"));
                let number = number.strip_suffix('a').unwrap_or(number);
                assert!((30..300).contains(&number.parse::<u64>().expect("a number")), "{target}");
            }
        }
    }
}

#[test]
fn targets_of_machine_code_are_targets() {
    machine_code(&matrix::torch().machine_code);
    machine_code(&matrix::onnxruntime().machine_code);
}

#[test]
fn texts_of_companions_name_the_release() {
    for row in matrix::companions().torch.iter() {
        assert!(row.text.starts_with(&format!("{} {}", row.name, row.version)), "{}", row.text);
    }
}

#[test]
fn every_bound_row_binds_something() {
    for row in matrix::bound().bound.iter() {
        assert!(row.cuda_major.is_some() || row.cudnn.is_some(), "{row:?}");
    }
}

#[test]
fn origins_and_indexes_are_known() {
    let file = matrix::onnxruntime();
    let builds = file.build.iter().map(|row| &row.origin);
    for name in builds.chain(file.machine_code.iter().map(|row| &row.build)) {
        assert!(index::by_name(name).is_some(), "{name}");
    }
    let indexes = matrix::indexes();
    let lost = indexes.lost.iter().map(|row| &row.index);
    for name in lost.chain(indexes.listing.iter().map(|row| &row.index)) {
        assert!(indexes.index.iter().any(|index| index.name == *name), "{name}");
    }
    for row in &indexes.index {
        assert!(row.url.starts_with("https://"), "{}", row.url);
    }
    for row in &indexes.nightly {
        assert!(row.keeps > 0 && row.oldest > 20_000_000);
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
fn opsets_are_in_order() {
    assert!(matrix::onnx().opset_ir.iter().map(|row| row.opset).is_sorted());
}

#[test]
fn a_pip_is_brought_by_a_system_or_a_python() {
    for row in &matrix::python().pip {
        assert!(row.os.is_some() != row.python.is_some(), "{}", row.brought_by);
    }
}
