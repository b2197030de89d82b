//! Whole sets of pins, judged by every rule together.

use std::collections::BTreeSet;

use super::testing::{Pin, linux, machine, violations};
use crate::machine::{Libraries, Machine, Platform};
use crate::matrix;
use crate::name::Name;
use crate::rules::onnx_model::Model;

/// Sets are judged with the libraries of the system, so that the wheels need not be listed.
fn system() -> Machine {
    Machine { libraries: Libraries::System, ..machine() }
}

fn judged(pins: &[Pin]) -> Vec<&'static str> {
    violations(pins, &system(), None).into_iter().collect()
}

fn pair(torch: &str, runtime: &str) -> Vec<&'static str> {
    judged(&[
        Pin::pypi("torch", torch),
        Pin::pypi("onnxruntime-gpu", runtime),
        Pin::pypi("numpy", "1.26.4"),
    ])
}

#[test]
fn cuda_13_sets_that_load() {
    for torch in ["2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0", "2.9.1+cu130", "2.10.0+cu130"] {
        for runtime in ["1.28.0", "1.29.0", "1.30.0", "1.31.1"] {
            assert!(pair(torch, runtime).is_empty(), "{torch} with {runtime}");
        }
    }
}

#[test]
fn cuda_12_sets_that_load() {
    for torch in
        ["2.4.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.10.0", "2.11.0+cu128", "2.14.1+cu126"]
    {
        for runtime in ["1.19.2", "1.21.0", "1.22.0", "1.23.2", "1.24.4", "1.26.0"] {
            assert!(pair(torch, runtime).is_empty(), "{torch} with {runtime}");
        }
    }
}

#[test]
fn cuda_11_sets_that_load() {
    for torch in ["2.0.1", "2.1.2+cu118", "2.2.2+cu118", "2.3.1+cu118"] {
        for runtime in ["1.15.1", "1.16.3", "1.18.1"] {
            assert!(pair(torch, runtime).is_empty(), "{torch} with {runtime}");
        }
    }
}

#[test]
fn torch_with_cuda_12_and_cudnn_8_has_its_partner_on_a_feed_only() {
    let torch = Pin::pypi("torch", "2.3.1");
    for runtime in ["1.16.3", "1.18.1", "1.19.2", "1.26.0", "1.31.1"] {
        let runtime = Pin::pypi("onnxruntime-gpu", runtime);
        assert!(!judged(&[torch.clone(), runtime]).is_empty());
    }
    let on_feed = |version| Pin::feed("onnxruntime-gpu", version, "onnxruntime-cuda-12");
    assert!(judged(&[torch.clone(), on_feed("1.18.0")]).is_empty());
    assert_eq!(judged(&[torch, on_feed("1.18.1")]), ["cudnn-mismatch"]);
}

#[test]
fn what_resolvers_answer_today() {
    let answers: [(&str, &str, &[&str]); 12] = [
        (
            "1.13.1",
            "2.11.0",
            &[
                "backend-mismatch",
                "companion-mismatch",
                "cuda-major-mismatch",
                "cudnn-mismatch",
                "numpy-abi",
            ],
        ),
        (
            "2.0.1",
            "2.11.0",
            &[
                "backend-mismatch",
                "companion-mismatch",
                "cuda-major-mismatch",
                "cudnn-mismatch",
                "numpy-abi",
            ],
        ),
        (
            "2.1.2",
            "2.11.0",
            &[
                "backend-mismatch",
                "companion-mismatch",
                "cuda-major-mismatch",
                "cudnn-mismatch",
                "numpy-abi",
            ],
        ),
        (
            "2.2.2",
            "2.11.0",
            &[
                "backend-mismatch",
                "companion-mismatch",
                "cuda-major-mismatch",
                "cudnn-mismatch",
                "numpy-abi",
            ],
        ),
        (
            "2.3.1",
            "2.11.0",
            &["backend-mismatch", "companion-mismatch", "cuda-major-mismatch", "cudnn-mismatch"],
        ),
        ("2.4.0", "2.11.0", &["backend-mismatch", "companion-mismatch", "cuda-major-mismatch"]),
        ("2.4.1", "2.11.0", &["backend-mismatch", "companion-mismatch", "cuda-major-mismatch"]),
        ("2.5.1", "2.11.0", &["backend-mismatch", "companion-mismatch", "cuda-major-mismatch"]),
        ("2.6.0", "2.11.0", &["backend-mismatch", "companion-mismatch", "cuda-major-mismatch"]),
        ("2.8.0", "2.11.0", &["backend-mismatch", "companion-mismatch", "cuda-major-mismatch"]),
        ("2.11.0", "2.11.1", &["companion-mismatch"]),
        ("2.15.0", "2.11.1", &[]),
    ];
    for (torch, torchaudio, expected) in answers {
        let pins = [
            Pin::pypi("torch", torch),
            Pin::pypi("torchaudio", torchaudio),
            Pin::pypi("onnxruntime-gpu", "1.31.1"),
            Pin::pypi("numpy", "2.4.6"),
        ];
        assert_eq!(judged(&pins), expected, "torch {torch}");
    }
}

#[test]
fn the_wheels_that_torch_does_not_bring_are_missing() {
    let mut pins = vec![Pin::pypi("torch", "2.15.0"), Pin::pypi("onnxruntime-gpu", "1.31.1")];
    let wheels = [
        ("nvidia-cublas", "13.5.0.31"),
        ("nvidia-cuda-runtime", "13.2.75"),
        ("nvidia-cudnn-cu13", "9.26.0.51"),
        ("nvidia-cufft", "12.2.0.46"),
        ("nvidia-cuda-nvrtc", "13.2.78"),
    ];
    pins.extend(wheels.map(|(name, version)| Pin::pypi(name, version)));
    let missing = violations(&pins, &machine(), None);
    assert_eq!(missing, BTreeSet::from(["missing-library"]));
    pins.push(Pin::pypi("nvidia-curand", "10.4.2.51"));
    assert!(violations(&pins, &machine(), None).is_empty());
}

#[test]
fn companions_follow_the_build_of_their_torch() {
    let torchvision = || Pin::pypi("torchvision", "0.24.1").requiring(&["numpy", "torch==2.9.1"]);
    assert!(judged(&[Pin::pypi("torch", "2.9.1"), torchvision()]).is_empty());
    assert!(judged(&[Pin::pypi("torch", "2.9.1+cu128"), torchvision()]).is_empty());
    assert_eq!(judged(&[Pin::pypi("torch", "2.9.1+cu126"), torchvision()]), ["backend-mismatch"]);
    assert_eq!(judged(&[Pin::pypi("torch", "2.9.1+cpu"), torchvision()]), ["backend-mismatch"]);
    let labelled = Pin::pypi("torchvision", "0.21.0+cu126");
    assert_eq!(judged(&[Pin::pypi("torch", "2.6.0+cu124"), labelled]), ["backend-mismatch"]);
}

#[test]
fn a_companion_of_tomorrow_follows_the_label() {
    let torchvision = || Pin::pypi("torchvision", "0.40.0").requiring(&["torch==3.0.0"]);
    assert!(judged(&[Pin::pypi("torch", "3.0.0"), torchvision()]).is_empty());
    assert_eq!(judged(&[Pin::pypi("torch", "3.0.0+cu140"), torchvision()]), ["backend-mismatch"]);
}

#[test]
fn old_companions_belong_to_one_torch_on_every_platform() {
    let text = Pin::pypi("torchtext", "0.18.0");
    assert!(judged(&[Pin::pypi("torch", "2.3.1"), text.clone()]).is_empty());
    assert_eq!(judged(&[Pin::pypi("torch", "2.4.0"), text]), ["companion-mismatch"]);
    let audio = Pin::pypi("torchaudio", "0.13.1");
    assert_eq!(judged(&[Pin::pypi("torch", "2.0.0"), audio]).first(), Some(&"companion-mismatch"));
}

#[test]
fn kernels_for_a_list_of_cuda_versions() {
    let set = |torch, bitsandbytes| {
        judged(&[Pin::pypi("torch", torch), Pin::pypi("bitsandbytes", bitsandbytes)])
    };
    assert!(set("2.7.1", "0.45.0").is_empty());
    assert_eq!(set("2.8.0", "0.45.0"), ["companion-mismatch"]);
    assert!(set("2.8.0+cpu", "0.45.0").is_empty());
    assert!(set("2.9.1+cu129", "0.50.2").is_empty());
    assert_eq!(set("2.1.0+cu121", "0.38.1"), ["companion-mismatch"]);
    assert_eq!(set("2.5.1+cu124", "0.41.1"), ["companion-mismatch"]);
}

#[test]
fn two_owners_of_one_module() {
    let pins = [Pin::pypi("onnxruntime", "1.31.1"), Pin::pypi("onnxruntime-gpu", "1.31.1")];
    assert_eq!(judged(&pins), ["module-clash"]);
}

#[test]
fn two_frameworks_of_different_cuda() {
    let with = |torch, other: Pin| judged(&[Pin::pypi("torch", torch), other]);
    assert_eq!(with("2.15.0", Pin::pypi("ctranslate2", "4.8.5")), ["cuda-major-mismatch"]);
    assert!(with("2.10.0", Pin::pypi("ctranslate2", "4.8.5")).is_empty());
    assert_eq!(with("2.4.0", Pin::pypi("ctranslate2", "4.4.0")), ["cudnn-mismatch"]);
    assert_eq!(with("2.9.1", Pin::pypi("tensorrt-cu13", "10.13.3.9")), ["cuda-major-mismatch"]);
    assert!(with("2.15.0", Pin::pypi("cupy-cuda13x", "14.2.0")).is_empty());
    let vllm = || Pin::pypi("vllm", "0.21.0").requiring(&["torch==2.11.0", "torchaudio==2.11.0"]);
    assert_eq!(with("2.11.0+cu129", vllm()), ["backend-mismatch"]);
    assert!(with("2.11.0", vllm()).is_empty());
    assert_eq!(with("2.4.0", Pin::pypi("tensorflow", "2.17.0")), ["cudnn-mismatch"]);
    assert!(with("2.7.1", Pin::pypi("tensorflow", "2.18.0")).is_empty());
}

#[test]
fn windows_from_pypi_is_the_cpu() {
    let windows = Machine { platform: Platform::WindowsX86_64, ..system() };
    let judged = |pins: &[Pin]| violations(pins, &windows, None);
    let torchvision = Pin::pypi("torchvision", "0.24.1").requiring(&["torch==2.9.1"]);
    assert!(judged(&[Pin::pypi("torch", "2.9.1"), torchvision.clone()]).is_empty());
    let mixed = judged(&[Pin::pypi("torch", "2.9.1+cu128"), torchvision]);
    assert_eq!(mixed, BTreeSet::from(["backend-mismatch"]));
    let xformers = Pin::pypi("xformers", "0.0.23.post1").requiring(&["torch==2.1.2"]);
    let cpu = judged(&[Pin::pypi("torch", "2.1.2"), xformers.clone()]);
    assert_eq!(cpu, BTreeSet::from(["backend-mismatch"]));
    assert!(judged(&[Pin::pypi("torch", "2.1.2+cu121"), xformers]).is_empty());
    let cuda = [Pin::pypi("torch", "2.9.1+cu128"), Pin::pypi("onnxruntime-gpu", "1.26.0")];
    assert!(judged(&cuda).is_empty());
}

#[test]
fn models_too_new_for_the_runtime() {
    let judged = |pins: &[Pin], model| violations(pins, &system(), Some(&model));
    let runtime = |version| Pin::pypi("onnxruntime", version);
    let opset = |opset| Model { opset: Some(opset), ir: None };
    assert!(judged(&[runtime("1.31.1")], opset(26)).is_empty());
    assert_eq!(judged(&[runtime("1.31.1")], opset(27)), BTreeSet::from(["opset-too-new"]));
    let exported = [Pin::pypi("torch", "2.9.1+cpu"), runtime("1.17.1")];
    assert!(judged(&exported, opset(17)).contains("ir-too-new"));
    let older = [Pin::pypi("torch", "2.4.0+cpu"), runtime("1.17.1")];
    assert!(!judged(&older, opset(17)).contains("ir-too-new"));
}

#[test]
fn every_fact_can_be_quoted() {
    let machine = machine();
    let model = Model { opset: Some(17), ir: None };
    let bound = matrix::bound().bound.iter().map(|row| (row.name, &row.span.from));
    let choices = matrix::companions().cuda_choice.iter().map(|row| (row.name, &row.span.from));
    let companions = matrix::companions().torch.iter().map(|row| (row.name, &row.version));
    let fixed = ["torch", "onnxruntime-gpu", "onnx"].map(|name| Name::new(name).expect("valid"));
    let version = "1.18.1".parse().expect("valid");
    let all =
        bound.chain(choices).chain(companions).chain(fixed.iter().map(|name| (*name, &version)));
    for (name, version) in all {
        let pin = Pin::pypi(name.as_str(), &version.to_string());
        let mut constraints = super::constraints(&pin.build(), &machine, Some(&model));
        // Some rows speak of the libraries of the system.
        constraints.extend(super::constraints(&pin.build(), &system(), Some(&model)));
        assert!(!constraints.is_empty(), "{name} {version}");
        let advice = crate::rules::advice::constraints(&pin.build(), None);
        for constraint in constraints.into_iter().chain(advice) {
            let crate::constraint::Reason::Matrix(fact) = constraint.reason else { panic!("fact") };
            assert!(!fact.sources.is_empty() && !fact.text.is_empty(), "{fact:?}");
            let symptom = fact.symptom.as_deref().unwrap_or_default();
            assert!(!fact.text.contains('{') && !symptom.contains('{'), "{fact:?}");
        }
    }
    assert_eq!(linux(), machine.platform);
}

#[test]
fn facts_read_as_sentences() {
    let texts = |pin: Pin| -> String {
        let constraints = super::constraints(&pin.build(), &system(), None);
        let text = |c: &crate::constraint::Constraint| match &c.reason {
            crate::constraint::Reason::Matrix(fact) => format!("[{}] {}", fact.rule, fact.text),
            other => panic!("a fact, not {other:?}"),
        };
        constraints.iter().map(text).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(texts(Pin::pypi("torch", "2.2.2")), @r"
    [backend-mismatch] torch 2.2.2 from PyPI is built for CUDA 12.1 on linux-x86_64
    [cuda-major-mismatch] torch 2.2.2 from PyPI is built for CUDA 12.1 on linux-x86_64
    [cudnn-mismatch] torch 2.2.2 is built with cuDNN 8
    [numpy-abi] torch before 2.3 is built against NumPy 1, and its METADATA does not bound numpy
    ");
    insta::assert_snapshot!(texts(Pin::pypi("torchvision", "0.24.1").requiring(&["torch==2.9.1"])), @"[backend-mismatch] torchvision 0.24.1 belongs to torch 2.9.1, which from PyPI is built for CUDA 12.8 on linux-x86_64");
    insta::assert_snapshot!(texts(Pin::pypi("torchaudio", "2.11.0")), @r"
    [companion-mismatch] torchaudio 2.11.0 needs the stable ABI of torch 2.11 or newer, built with its own CUDA 13.0; its METADATA names no torch at all
    [backend-mismatch] torchaudio 2.11.0 from PyPI is built for CUDA 13.0, and compares it with that of torch
    ");
    insta::assert_snapshot!(texts(Pin::pypi("vllm", "0.21.0").requiring(&["torch==2.11.0"])), @"[backend-mismatch] vllm 0.21.0 is built for torch 2.11.0 with CUDA 13.0");
    insta::assert_snapshot!(texts(Pin::pypi("bitsandbytes", "0.45.0")), @"[companion-mismatch] bitsandbytes 0.45.0 has kernels for CUDA 11.7, 11.8, 12.0, 12.1, 12.2, 12.3, 12.4, 12.5, 12.6");
    insta::assert_snapshot!(texts(Pin::feed("onnxruntime-gpu", "1.28.0", "onnxruntime-cuda-12")), @r"
    [cuda-major-mismatch] onnxruntime-gpu 1.28.0 from onnxruntime-cuda-12 is built for CUDA 12 and cuDNN 9 (the cuDNN of these builds is not recorded; every CUDA 12 build since 1.18.1 uses cuDNN 9)
    [cudnn-mismatch] onnxruntime-gpu 1.28.0 from onnxruntime-cuda-12 is built for CUDA 12 and cuDNN 9 (the cuDNN of these builds is not recorded; every CUDA 12 build since 1.18.1 uses cuDNN 9)
    [module-clash] onnxruntime-gpu installs the import package onnxruntime, which one distribution must have to itself: several distributions install the folder onnxruntime/ and overwrite each other, and no installer notices
    ");
}
