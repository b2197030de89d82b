//! What the machine is: its driver, GPU, glibc, Python and platform.

use super::case::checked;

#[test]
fn drv_01() {
    insta::assert_snapshot!(checked("DRV-01"), @r#"
    error: torch==2.1.0+cu121 does not go with driver 470.86

      CUDA 12.1 to 12.9 needs driver >=525.60.13
          CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)
      torch 2.1.0+cu121 needs CUDA >=12.1,<13
          torch 2.1.0+cu121 is a build for CUDA 12.1; local version label cu121

    help: any one of these makes it solvable (each was tried):
      1. env.toml:12: [machine] driver "525.60.13" or newer instead of "470.86"  gives torch 2.1.0+cu121
      2. env.toml:5: dependencies "torch==2.1.0+cu118" instead of "torch==2.1.0+cu121"
         env.toml:6: dependencies "torchvision==0.16.0+cu118" instead of "torchvision==0.16.0+cu121"  gives torch 2.1.0+cu118, torchvision 0.16.0+cu118
    "#);
}

#[test]
fn drv_03() {
    insta::assert_snapshot!(checked("DRV-03"), @r#"
    error: vllm==0.7.3 does not go with driver 510.108.03

      CUDA 12.4 needs driver >=525.60.13
          CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)
      vllm 0.7.3 needs torch==2.5.1
          METADATA of vllm 0.7.3: torch==2.5.1
      torch 2.5.1 needs CUDA 12.4
          METADATA of torch 2.5.1: nvidia-cuda-runtime-cu12 (==12.4.127)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:11: [machine] driver "525.60.13" or newer instead of "510.108.03"  gives vllm 0.7.3
      2. env.toml:5: dependencies remove "vllm==0.7.3"
    "#);
}

#[test]
fn drv_06() {
    insta::assert_snapshot!(checked("DRV-06"), @r#"
    error: torch>=2.1.2 does not go with Python 3.10 and driver 515.65.01

      CUDA 12.1 to 13.0 needs driver >=525.60.13
          CUDA 12.x needs driver >= 525.60.13 on Linux; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=525, <580)
      torch 2.1.2 to 2.14.1 needs CUDA 12.1 to 13.0
          METADATA of torch 2.4.1: nvidia-cuda-runtime-cu12 (==12.1.105)
      torch 2.15.0 has wheels for Python 3.11 to 3.13
          file names of torch 2.15.0 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch>=2.0.1" instead of "torch>=2.1.2"  gives torch 2.0.1
      2. env.toml:12: [machine] driver "525.60.13" or newer instead of "515.65.01"  gives torch 2.10.0
      3. env.toml:16: [pytorch] backends ["cu118"] instead of false  gives torch 2.7.1+cu118
    "#);
}

#[test]
fn drv_08() {
    insta::assert_snapshot!(checked("DRV-08"), @r#"
    error: torch==2.12.0+cu130 does not go with driver 576.52

      CUDA 13.0 to 13.5 needs driver >=580
          CUDA 13.x needs driver >= 580 on Windows; docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html Table 1 (>=580)
      torch 2.12.0+cu130 needs CUDA 13
          torch 2.12.0+cu130 is a build for CUDA 13.0; local version label cu130

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.12.0+cu126" instead of "torch==2.12.0+cu130"  gives torch 2.12.0+cu126
      2. env.toml:10: [machine] driver "580.0" or newer instead of "576.52"  gives torch 2.12.0+cu130
    "#);
}

#[test]
fn gpun_02() {
    insta::assert_snapshot!(checked("GPUN-02"), @r#"
    error: torch==2.0.1+cu118 does not go with GPU RTX 5090 (compute capability 12.0)

      torch 2.0.1+cu118 has no code for the RTX 5090 (compute capability 12.0)
          torch 2.0.1+cu118 has GPU code for sm_37, sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, sm_90; pytorch/builder release/2.0..2.5 manywheel/build_cuda.sh

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.7.0+cu128" instead of "torch==2.0.1+cu118"  gives torch 2.7.0+cu128
    "#);
}

#[test]
fn gpun_03() {
    insta::assert_snapshot!(checked("GPUN-03"), @r#"
    error: torch==1.13.1+cu117 does not go with GPU H100 (compute capability 9.0)

      torch 1.13.1+cu117 has no code for the H100 (compute capability 9.0)
          torch 1.13.1+cu117 has GPU code for sm_37, sm_50, sm_60, sm_70, sm_75, sm_80, sm_86; arch string in libtorch_python.so of the PyPI wheels

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.0.1+cu118" instead of "torch==1.13.1+cu117"  gives torch 2.0.1+cu118
    "#);
}

#[test]
fn gpun_05() {
    insta::assert_snapshot!(checked("GPUN-05"), @r#"
    error: torch==1.8.1 does not go with GPU A100 (compute capability 8.0)

      torch 1.8.1 has no code for the A100 (compute capability 8.0)
          torch 1.8.1 has GPU code for sm_37, sm_50, sm_60, sm_70; arch string in libtorch_python.so of the PyPI wheels

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==1.13.0" instead of "torch==1.8.1"  gives torch 1.13.0
      2. env.toml:16: [pytorch] backends ["cu111"] instead of false  gives torch 1.8.1+cu111
    "#);
}

#[test]
fn gpun_06() {
    insta::assert_snapshot!(checked("GPUN-06"), @r#"
    error: torch==1.10.1 does not go with GPU A100 (compute capability 8.0)

      torch 1.10.1 has no code for the A100 (compute capability 8.0)
          torch 1.10.1 has GPU code for sm_37, sm_50, sm_60, sm_70; arch string in libtorch_python.so of the PyPI wheels

    help: this change makes it solvable (it was tried):
      1. env.toml:15: [pytorch] backends ["cu111"] instead of false  gives torch 1.10.1+cu111
    "#);
}

#[test]
fn gpun_08() {
    insta::assert_snapshot!(checked("GPUN-08"), @r#"
    error: onnxruntime-gpu==1.23.0 does not go with GPU RTX PRO 4500 Blackwell (compute capability 12.0)

      onnxruntime-gpu 1.23.0 has no code for the RTX PRO 4500 Blackwell (compute capability 12.0)
          onnxruntime-gpu 1.23.0 has GPU code for sm_52, sm_61, sm_75, sm_86, sm_89, compute_90a (PTX); .nv_fatbin of the CUDA provider library, one wheel per release

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.23.2" instead of "onnxruntime-gpu==1.23.0"  gives onnxruntime-gpu 1.23.2
    "#);
}

#[test]
fn gpuo_01() {
    insta::assert_snapshot!(checked("GPUO-01"), @r#"
    error: torch==2.8.* does not go with GPU P100 (compute capability 6.0)

      torch 2.8.0 has no code for the P100 (compute capability 6.0)
          torch 2.8.0+cu128 has GPU code for sm_70, sm_75, sm_80, sm_86, sm_90, sm_100, sm_120; arch string in libtorch_python.so of the PyPI wheels

    help: this change makes it solvable (it was tried):
      1. env.toml:15: [pytorch] backends ["cu128", "cu126"] instead of ["cu128"]  gives torch 2.8.0+cu126
    "#);
}

#[test]
fn gpuo_03() {
    insta::assert_snapshot!(checked("GPUO-03"), @r#"
    error: torch==2.8.0+cu128 does not go with GPU GTX 1080 (compute capability 6.1)

      torch 2.8.0+cu128 has no code for the GTX 1080 (compute capability 6.1)
          torch 2.8.0+cu128 has GPU code for sm_70, sm_75, sm_80, sm_86, sm_90, sm_100, sm_120; arch string in libtorch_python.so of the PyPI wheels

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.8.0+cu126" instead of "torch==2.8.0+cu128"
         env.toml:6: dependencies "torchaudio==2.8.0+cu126" instead of "torchaudio==2.8.0+cu128"  gives torch 2.8.0+cu126, torchaudio 2.8.0+cu126
    "#);
}

#[test]
fn gpuo_04() {
    insta::assert_snapshot!(checked("GPUO-04"), @r#"
    error: torch==2.7.1+cu118 does not go with GPU K80 (compute capability 3.7)

      torch 2.7.1+cu118 has no code for the K80 (compute capability 3.7)
          torch 2.7.1+cu118 has GPU code for sm_50, sm_60, sm_70, sm_75, sm_80, sm_86, sm_90; nelson-liu/pytorch-manylinux-binaries#13 (no kernel image on a K80)

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.3.1+cu118" instead of "torch==2.7.1+cu118"  gives torch 2.3.1+cu118
    "#);
}

#[test]
fn gpuo_06() {
    insta::assert_snapshot!(checked("GPUO-06"), @r#"
    error: torch==2.11.0+cu128 does not go with GPU V100 (compute capability 7.0)

      torch 2.11.0+cu128 has no code for the V100 (compute capability 7.0)
          torch 2.11.0+cu128 has GPU code for sm_75, sm_80, sm_86, sm_90, sm_100, sm_120; pytorch/pytorch#175253 (RELEASE.md for 2.11); pytorch/pytorch#172352

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.11.0+cu126" instead of "torch==2.11.0+cu128"  gives torch 2.11.0+cu126
    "#);
}

#[test]
fn win_01() {
    insta::assert_snapshot!(checked("WIN-01"), @r#"
    error: torch does not go with Python 3.10 and GPU RTX 3060

      the machine has RTX 3060, which a build for the CPU does not use
          lllyasviel/Paints-UNDO#6
      torch 1.11.0 to 2.14.1 is built for the CPU
          torch 2.14.1 from PyPI is built for the CPU on windows-x86_64; torch/version.py and libtorch_python.so of one wheel per release and platform, 1.8.0 to 2.15.0
      torch 1.8.0 to 1.10.2 and 2.15.0 have no wheels for Python 3.10
          file names on the index: torch 2.15.0 has wheels for Python 3.11 to 3.13

    help: any one of these makes it solvable (each was tried):
      1. env.toml:14: [pytorch] backends ["cu130"] instead of false  gives torch 2.13.0+cu130
      2. env.toml:5: dependencies remove "torch"
    "#);
}

#[test]
fn win_07() {
    insta::assert_snapshot!(checked("WIN-07"), @r#"
    error: tensorflow-gpu==2.12.0 cannot be installed

      tensorflow-gpu is retired: from 2.12 on it is an empty source distribution that fails to build; use tensorflow, on Linux with its extra and-cuda

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "tensorflow-gpu==2.10.1" instead of "tensorflow-gpu==2.12.0"  gives tensorflow-gpu 2.10.1
    "#);
}

#[test]
fn glibc_01() {
    insta::assert_snapshot!(checked("GLIBC-01"), @r#"
    error: onnxruntime-gpu==1.19.0 does not go with glibc 2.17

      onnxruntime-gpu 1.19.0 has wheels for glibc >= 2.27
          file names of onnxruntime-gpu 1.19.0 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.16.3" instead of "onnxruntime-gpu==1.19.0"  gives onnxruntime-gpu 1.16.3
      2. env.toml:10: [machine] glibc "2.27" or newer instead of "2.17"  gives onnxruntime-gpu 1.19.0
    "#);
}

#[test]
fn glibc_02() {
    insta::assert_snapshot!(checked("GLIBC-02"), @r#"
    error: onnxruntime==1.18.0 does not go with glibc 2.17

      onnxruntime 1.18.0 has wheels for glibc >= 2.27
          file names of onnxruntime 1.18.0 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime==1.16.3" instead of "onnxruntime==1.18.0"  gives onnxruntime 1.16.3
      2. env.toml:10: [machine] glibc "2.27" or newer instead of "2.17"  gives onnxruntime 1.18.0
    "#);
}

#[test]
fn py_01() {
    insta::assert_snapshot!(checked("PY-01"), @r#"
    error: onnxruntime-gpu==1.16.3 does not go with Python 3.12

      onnxruntime-gpu 1.16.3 has wheels for Python 3.8 to 3.11
          file names of onnxruntime-gpu 1.16.3 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.17.0" instead of "onnxruntime-gpu==1.16.3"  gives onnxruntime-gpu 1.17.0
      2. env.toml:3: python "3.11" instead of "3.12"  gives onnxruntime-gpu 1.16.3
    "#);
}

#[test]
fn py_02() {
    insta::assert_snapshot!(checked("PY-02"), @r#"
    error: torch==2.0.1 does not go with Python 3.12

      torch 2.0.1 has no wheels for Python 3.12
          file names on the index: torch 2.0.1+cpu has wheels for Python 3.10 to 3.11

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.2.2+cpu" instead of "torch==2.0.1"  gives torch 2.2.2+cpu
      2. env.toml:3: python "3.11" instead of "3.12"  gives torch 2.0.1+cpu
    "#);
}

#[test]
fn py_03() {
    insta::assert_snapshot!(checked("PY-03"), @r#"
    error: torch==2.1.2 does not go with Python 3.12

      torch 2.1.2 has wheels for Python 3.8 to 3.11
          file names of torch 2.1.2 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.2.0" instead of "torch==2.1.2"  gives torch 2.2.0
      2. env.toml:3: python "3.11" instead of "3.12"  gives torch 2.1.2
    "#);
}

#[test]
fn py_06() {
    insta::assert_snapshot!(checked("PY-06"), @r#"
    error: onnxruntime==1.19.2 does not go with Python 3.13

      onnxruntime 1.19.2 has wheels for Python 3.8 to 3.12
          file names of onnxruntime 1.19.2 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime==1.20.0" instead of "onnxruntime==1.19.2"  gives onnxruntime 1.20.0
      2. env.toml:3: python "3.12" instead of "3.13"  gives onnxruntime 1.19.2
    "#);
}

#[test]
fn arm_02() {
    insta::assert_snapshot!(checked("ARM-02"), @r#"
    error: onnxruntime-gpu does not go with platform linux-aarch64 and Python 3.10

      onnxruntime-gpu >=1.29.0 has wheels for Python 3.11 to 3.13
          file names of onnxruntime-gpu 1.31.1 on the index
      onnxruntime-gpu 1.11.0 to 1.28.0 has wheels only for linux-x86_64 and windows-x86_64

    help: any one of these makes it solvable (each was tried):
      1. env.toml:3: python "3.11" instead of "3.10"  gives onnxruntime-gpu 1.31.1
      2. env.toml:5: dependencies "onnxruntime" instead of "onnxruntime-gpu"  gives onnxruntime 1.23.2
    "#);
}

#[test]
fn arm_04() {
    insta::assert_snapshot!(checked("ARM-04"), @r#"
    error: torch==2.9.1 does not go with GPU GB200

      the machine has GB200, which a build for the CPU does not use
          lllyasviel/Paints-UNDO#6
      torch 2.9.1 is built for the CPU
          torch 2.9.1 from PyPI is built for the CPU on linux-aarch64; torch/version.py and libtorch_python.so of one wheel per release and platform, 1.8.0 to 2.15.0

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.11.0" instead of "torch==2.9.1"  gives torch 2.11.0
      2. env.toml:15: [pytorch] backends ["cu130"] instead of false  gives torch 2.9.1+cu130
    "#);
}

#[test]
fn lock_07() {
    insta::assert_snapshot!(checked("LOCK-07"), @r#"
    error: torch==2.8.0+cu128 does not go with platform macos-arm64

      torch 2.8.0+cu128 has wheels only for linux-x86_64 and windows-x86_64

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.8.0" instead of "torch==2.8.0+cu128"  gives torch 2.8.0
    "#);
}
