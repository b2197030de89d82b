use proptest::prelude::*;

use super::*;

const LINUX: Platform = Platform::LinuxX86_64;

fn v(text: &str) -> SystemVersion {
    text.parse().expect("valid")
}

fn runs(targets: &[&str], capability: &str) -> Verdict {
    let code = MachineCode::parse(targets).expect("valid");
    code.runs_on(&v(capability), &v("12.8"), None, LINUX)
}

#[test]
fn cubins_carry_to_later_minors_of_their_major() {
    assert_eq!(runs(&["sm_80"], "8.6"), Verdict::Native);
    assert_eq!(runs(&["sm_86"], "8.0"), Verdict::NoKernel);
    assert_eq!(runs(&["sm_70"], "7.5"), Verdict::Native);
    assert_eq!(runs(&["sm_120"], "12.1"), Verdict::Native);
    assert_eq!(runs(&["sm_100"], "12.0"), Verdict::NoKernel);
    assert_eq!(runs(&["sm_90"], "10.0"), Verdict::NoKernel);
}

#[test]
fn ptx_carries_to_every_later_capability() {
    assert!(matches!(runs(&["compute_90"], "12.0"), Verdict::Jit { .. }));
    assert!(matches!(runs(&["compute_107"], "11.0"), Verdict::Jit { .. }));
    assert_eq!(runs(&["compute_90"], "8.9"), Verdict::NoKernel);
}

#[test]
fn specific_targets_do_not_carry() {
    assert_eq!(runs(&["sm_90a"], "9.0"), Verdict::Native);
    assert_eq!(runs(&["sm_90a", "compute_90a"], "10.0"), Verdict::NoKernel);
    assert_eq!(runs(&["sm_120a"], "12.1"), Verdict::NoKernel);
    assert_eq!(runs(&["sm_120f"], "12.1"), Verdict::Native);
    assert_eq!(runs(&["sm_100f"], "10.7"), Verdict::Native);
    assert_eq!(runs(&["sm_103f"], "10.0"), Verdict::NoKernel);
    // A family that the matrix does not know is taken for its own capability alone.
    assert_eq!(runs(&["sm_140f"], "14.0"), Verdict::Native);
    assert_eq!(runs(&["sm_140f"], "14.1"), Verdict::NoKernel);
}

#[test]
fn tegra_code_runs_on_tegra_alone() {
    assert_eq!(runs(&["sm_80", "sm_86"], "8.7"), Verdict::NoKernel);
    assert_eq!(runs(&["sm_87"], "8.7"), Verdict::Native);
    assert_eq!(runs(&["sm_87"], "8.9"), Verdict::NoKernel);
    assert!(matches!(runs(&["sm_80", "compute_80"], "8.7"), Verdict::Jit { .. }));
}

#[test]
fn an_older_driver_is_told_which_one_compiles_the_ptx() {
    let code = MachineCode::parse(["sm_80", "compute_90"]).expect("valid");
    let verdict = |driver: &str| code.runs_on(&v("12.0"), &v("12.6"), Some(&v(driver)), LINUX);
    assert!(matches!(verdict("570.124.06"), Verdict::Jit { .. }));
    let Verdict::PtxTooNew { driver } = verdict("550.54.14") else { panic!("too old") };
    assert!(driver.contains(&v("555.42.02").into()) && !driver.contains(&v("550.54.14").into()));
}

#[test]
fn the_limit_quotes_the_targets() {
    let code = MachineCode::parse(["compute_90", "sm_90", "sm_80", "sm_80"]).expect("valid");
    let native = code.gpu_limit("torch 2.4.1", &["the wheel".to_owned()], false);
    let all = code.gpu_limit("torch 2.4.1", &["the wheel".to_owned()], true);
    insta::assert_snapshot!(native.fact.text, @"torch 2.4.1 has GPU code for sm_80, sm_90, compute_90 (PTX)");
    assert!(!native.allows(&v("12.0")) && all.allows(&v("12.0")) && !all.allows(&v("7.5")));
}

#[test]
fn other_texts_are_no_targets() {
    for text in ["", "sm_", "sm_8", "sm_86x", "86", "sm_a", "compute_12345", "sm_8é", "SM_86"] {
        assert!(MachineCode::parse([text]).is_err(), "{text:?}");
    }
    insta::assert_snapshot!(
        MachineCode::parse(["gfx90a"]).expect_err("ROCm"),
        @"'gfx90a' is not a GPU target: expected one such as sm_86, sm_90a or compute_120"
    );
}

fn any_target() -> impl Strategy<Value = String> {
    let known: Vec<String> =
        known_capabilities().iter().map(|c| format!("{}{}", c.major(), c.minor())).collect();
    (prop::sample::select(known), prop::sample::select(vec!["sm_", "compute_"]), "[af]?")
        .prop_map(|(digits, prefix, suffix)| format!("{prefix}{digits}{suffix}"))
}

proptest! {
    #[test]
    fn ranges_agree_with_verdicts(targets in prop::collection::vec(any_target(), 0..6)) {
        let code = MachineCode::parse(&targets).expect("valid");
        let coverage = code.coverage();
        for capability in known_capabilities() {
            let native = coverage.native.contains(&capability.clone().into());
            let jit = coverage.jit.contains(&capability.clone().into());
            match code.runs_on(&capability, &v("12.8"), None, LINUX) {
                Verdict::Native => prop_assert!(native && !jit, "{} {capability}", code),
                Verdict::Jit { .. } => prop_assert!(jit && !native, "{} {capability}", code),
                _ => prop_assert!(!native && !jit, "{} {capability}", code),
            }
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _ = MachineCode::parse([&text]);
    }
}
