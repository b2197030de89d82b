use super::*;

fn name(text: &str) -> Name {
    text.parse().expect("valid")
}

fn v(text: &str) -> SystemVersion {
    text.parse().expect("valid")
}

fn build(text: &str) -> DistVersion {
    DistVersion::new(text.parse().expect("valid"), SourceId(0))
}

/// What a requirement says, as `CUDA >=12.4, <12.5`.
fn says(requirement: &str) -> String {
    let split = requirement.find(['=', '<', '>', '~', '!']).unwrap_or(requirement.len());
    let (project, specifiers) = requirement.split_at(split);
    let limits = layer_of_requirement(name(project), &specifiers.parse().expect("valid"));
    let limits: Vec<String> =
        limits.iter().map(|limit| format!("{} {}", limit.package, limit.range)).collect();
    limits.join("; ")
}

#[test]
fn requirements_on_nvidia_wheels_name_cuda_and_cudnn() {
    for (requirement, expected) in [
        ("nvidia-cuda-runtime-cu12==12.4.127", "CUDA >=12.4, <12.5"),
        ("nvidia-cuda-runtime-cu12", "CUDA >=12, <13"),
        ("nvidia-cuda-runtime-cu12~=12.0", "CUDA >=12.0, <13"),
        ("nvidia-cuda-runtime-cu12>=12.1,<12.5", "CUDA >=12.1, <12.5"),
        ("nvidia-cuda-runtime~=13.0", "CUDA >=13.0, <14"),
        ("nvidia-cuda-runtime==13.0.96", "CUDA >=13.0, <13.1"),
        ("cuda-toolkit==13.0.2", "CUDA >=13.0, <13.1"),
        ("cuda-toolkit==12.*", "CUDA >=12, <13"),
        ("cuda-toolkit<14,>=13", "CUDA >=13, <14"),
        ("cuda-toolkit", ""),
        ("nvidia-cudnn-cu12==9.1.0.70", "CUDA >=12, <13; cuDNN 9.1.0.70"),
        ("nvidia-cudnn-cu12~=9.0", "CUDA >=12, <13; cuDNN >=9.0, <10"),
        ("nvidia-cudnn-cu13<10,>=9.12", "CUDA >=13, <14; cuDNN >=9.12, <10"),
        ("nvidia-cudnn-cu11", "CUDA >=11, <12"),
        ("nvidia-cublas-cu12==12.4.5.8", "CUDA >=12, <13"),
        ("nvidia-cublas<=13.1.1.3,>=13.1.0.3", "CUDA >=13, <14"),
        ("nvidia-cublas", ""),
        ("nvidia-cufft==12.0.0.61", "CUDA >=13, <14"),
        ("nvidia-cufft>=12", ""),
        ("nvidia-nvjitlink<14,>=13.5.37", "CUDA >=13, <14"),
        ("nvidia-nccl-cu12==2.21.5", "CUDA >=12, <13"),
        ("tensorrt-cu12<11", "CUDA >=12, <13"),
        ("tensorrt<10.13", ""),
        ("tensorrt>=10.0.1,<12", "CUDA >=12, <14"),
        ("numpy>=1", ""),
    ] {
        assert_eq!(says(requirement), expected, "{requirement}");
    }
}

#[test]
fn a_build_constrains_cuda_cudnn_gpus_and_its_folder() {
    let show = |project: &str, version: &str| {
        let found = library_constraints(name(project), &build(version), 1);
        let found: Vec<String> =
            found.iter().map(|c| format!("{} {}", c.package, c.range)).collect();
        found.join("\n")
    };
    insta::assert_snapshot!(show("nvidia-cudnn-cu12", "9.11.0.98"), @r"
    CUDA >=12, <13
    cuDNN 9.11.0.98
    GPU >=7.5
    import package nvidia-cudnn nvidia-cudnn-cu12
    ");
    insta::assert_snapshot!(show("nvidia-cudnn-cu12", "8.9.7.29"), @r"
    CUDA >=12, <13
    cuDNN 8.9.7.29
    GPU >=5.0
    GPU <10.0
    import package nvidia-cudnn nvidia-cudnn-cu12
    ");
    insta::assert_snapshot!(show("nvidia-cuda-runtime-cu12", "12.4.127"), @"CUDA >=12.4, <12.5");
    insta::assert_snapshot!(show("nvidia-cublas", "13.1.0.3"), @r"
    CUDA >=13, <14
    GPU >=7.5
    ");
    insta::assert_snapshot!(show("nvidia-nccl-cu12", "2.28.3"), @r"
    CUDA >=12, <13
    GPU >=6.0
    import package nvidia-nccl nvidia-nccl-cu12
    ");
    insta::assert_snapshot!(show("nvidia-nccl-cu12", "2.27.5"), @r"
    CUDA >=12, <13
    GPU >=5.0
    import package nvidia-nccl nvidia-nccl-cu12
    ");
    insta::assert_snapshot!(show("tensorrt-cu12", "10.4.0"), @r"
    CUDA >=12, <13
    GPU >=7.0
    ");
    insta::assert_snapshot!(show("numpy", "2.0"), @"");
}

#[test]
fn the_floor_of_a_library_is_said_in_words() {
    let found = library_constraints(name("nvidia-cudnn-cu12"), &build("9.11.0.98"), 1);
    let texts: Vec<String> = found
        .iter()
        .filter_map(|c| match &c.reason {
            crate::constraint::Reason::Matrix(fact) => Some(fact.text.clone()),
            _ => None,
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @r"
    nvidia-cudnn-cu12 belongs to CUDA 12
    the version of nvidia-cudnn-cu12 is the cuDNN version
    nvidia-cudnn-cu12 9.11 and later has code only for GPUs of compute capability 7.5 or newer
    nvidia-cudnn-cu11, nvidia-cudnn-cu12, nvidia-cudnn-cu13 install the same files (nvidia/cudnn/lib/libcudnn.so.9) with different contents; the last one installed wins
    ");
}

#[test]
fn wheels_of_cuda_12_are_not_for_jetson() {
    let runs = |project: &str, version: &str, capability: &str| {
        let found = library_constraints(name(project), &build(version), 1);
        let mut gpus = found.iter().filter(|c| c.package == Package::Gpu(0));
        gpus.all(|c| c.range.contains(&v(capability).into()))
    };
    assert!(!runs("nvidia-cublas-cu12", "12.6.4.1", "8.7"));
    assert!(runs("nvidia-cublas-cu12", "12.6.4.1", "8.6"));
    assert!(runs("nvidia-cublas", "13.1.0.3", "11.0"));
}

#[test]
fn two_cudnn_wheels_exclude_each_other() {
    let owner = |project: &str, version: &str| {
        let found = library_constraints(name(project), &build(version), 0);
        let provider = Package::Provider(name("nvidia.cudnn"));
        found.into_iter().find(|c| c.package == provider).map(|c| c.range).expect("owned")
    };
    let (twelve, thirteen) =
        (owner("nvidia-cudnn-cu12", "9.28.0.42"), owner("nvidia-cudnn-cu13", "9.28.1.4"));
    assert!(twelve.is_disjoint(&thirteen));
}

#[test]
fn sonames_have_suppliers() {
    let supplied =
        |file: &str| suppliers(file).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(supplied("libcudart.so.12"), "nvidia-cuda-runtime-cu12");
    assert_eq!(supplied("libcudart.so.13"), "nvidia-cuda-runtime");
    assert_eq!(supplied("libcurand.so.10"), "nvidia-curand-cu11 nvidia-curand-cu12 nvidia-curand");
    assert_eq!(supplied("libcudnn.so.9"), "nvidia-cudnn-cu11 nvidia-cudnn-cu12 nvidia-cudnn-cu13");
    assert_eq!(supplied("cudart64_110.dll"), "nvidia-cuda-runtime-cu11");
    assert_eq!(supplied("libcuda.so.1"), "");
    let cudnn = name("nvidia-cudnn-cu12");
    assert!(files(cudnn, &build("8.9.7.29")).contains(&"libcudnn.so.8"));
    assert!(!files(cudnn, &build("9.1.0.70")).contains(&"libcudnn.so.8"));
    assert_eq!(library_path(cudnn, &build("9.1.0.70")), Some("nvidia/cudnn"));
    assert_eq!(library_path(name("nvidia-cublas"), &build("13.1.0.3")), Some("nvidia/cu13"));
}

#[test]
fn empty_packages_name_the_real_one() {
    let (real, fact) = placeholder(name("nvidia-cuda-runtime-cu13")).expect("listed");
    assert_eq!(real, name("nvidia-cuda-runtime"));
    insta::assert_snapshot!(
        fact.text,
        @"nvidia-cuda-runtime-cu13 is an empty package: the library is published as nvidia-cuda-runtime"
    );
    assert!(placeholder(name("nvidia-cudnn-cu13")).is_none());
}

#[test]
fn a_cudnn_serves_programs_built_with_the_same_major_and_no_newer_minor() {
    let limit = cudnn_abi(&v("9.1.0.70"));
    assert!(limit.allows(&v("9.1.0")) && limit.allows(&v("9.28.1.4")));
    assert!(
        !limit.allows(&v("9.0.0.312"))
            && !limit.allows(&v("8.9.7.29"))
            && !limit.allows(&v("10.0"))
    );
    let known = known_cudnn();
    assert!(known.len() > 60 && known.is_sorted_by(|a, b| a < b));
}

mod agreement {
    use proptest::prelude::*;

    use super::*;

    fn specifier() -> impl Strategy<Value = String> {
        let operators = vec!["==", ">=", "<=", ">", "<", "!=", "~="];
        (prop::sample::select(operators), 11u64..15, 0u64..4, prop::option::of(0u64..4)).prop_map(
            |(operator, major, minor, patch)| match patch {
                Some(patch) => format!("{operator}{major}.{minor}.{patch}"),
                None => format!("{operator}{major}.{minor}"),
            },
        )
    }

    proptest! {
        // The layer of every version that satisfies a requirement is in the range that the requirement gives.
        #[test]
        fn no_satisfying_version_is_lost(
            specifiers in prop::collection::vec(specifier(), 1..4),
            major in 11u64..15, minor in 0u64..5, patch in 0u64..5,
        ) {
            let specifiers: VersionSpecifiers = specifiers.join(",").parse().expect("valid");
            let version = Pep440::new([major, minor, patch]);
            if specifiers.contains(&version) {
                let two = SystemVersion::new(major, minor);
                prop_assert!(layer_range(&specifiers, 2).contains(&two.into()));
                let one: SystemVersion = major.to_string().parse().expect("valid");
                prop_assert!(layer_range(&specifiers, 1).contains(&one.into()));
                let all: SystemVersion = version.to_string().parse().expect("valid");
                prop_assert!(layer_range(&specifiers, 4).contains(&all.into()));
            }
        }
    }
}

#[test]
fn wheels_bring_layers_by_the_files_they_supply() {
    let layer = |text: &str| brings(name(text));
    for wheel in ["nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"] {
        assert_eq!(layer(wheel), Some(Package::Cudnn), "{wheel}");
    }
    for wheel in
        ["nvidia-cuda-runtime-cu12", "nvidia-cuda-runtime", "nvidia-cublas-cu11", "nvidia-cublas"]
    {
        assert_eq!(layer(wheel), Some(Package::Cuda), "{wheel}");
    }
    for other in [
        "nvidia-nccl-cu12",
        "nvidia-cuda-nvrtc-cu12",
        "cuda-toolkit",
        "torch",
        "nvidia-cudnn-frontend",
    ] {
        assert_eq!(layer(other), None, "{other}");
    }
    assert!(is_brought_along(name("triton")) && is_brought_along(name("nvidia-nccl-cu12")));
    assert!(!is_brought_along(name("torch")));
}
