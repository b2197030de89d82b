//! What packages need of each other, and where their builds are.

use super::case::checked;

#[test]
fn fam_03() {
    insta::assert_snapshot!(checked("FAM-03"), @r#"
    error: torch==2.6.0+cu124 and torchvision==0.21.0+cu126 do not go together

      torch 2.6.0+cu124 is built for CUDA 12.4
          local version label cu124
      torchvision 0.21.0+cu126 is built for CUDA 12.6
          local version label cu126
      torch and everything that is built for it must be of one CUDA

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.6.0+cu126" instead of "torch==2.6.0+cu124"  gives torch 2.6.0+cu126, torchvision 0.21.0+cu126
      2. env.toml:6: dependencies "torchvision==0.21.0" instead of "torchvision==0.21.0+cu126"  gives torch 2.6.0+cu124, torchvision 0.21.0
    "#);
}

#[test]
fn fam_04() {
    insta::assert_snapshot!(checked("FAM-04"), @r#"
    error: torch==1.13.1 and torchaudio==2.1.0 do not go together

      torchaudio 2.1.0 needs torch==2.1.0
          METADATA of torchaudio 2.1.0: torch (==2.1.0)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.1.0" instead of "torch==1.13.1"  gives torch 2.1.0, torchaudio 2.1.0
      2. env.toml:7: dependencies "torchaudio==0.13.1" instead of "torchaudio==2.1.0"  gives torch 1.13.1, torchaudio 0.13.1
    "#);
}

#[test]
fn fam_09() {
    insta::assert_snapshot!(checked("FAM-09"), @r#"
    error: torchvision==0.14.1+cu118 cannot be installed

      there is no torchvision==0.14.1+cu118; the nearest are 0.14.1 and 0.15.0

    help: this change makes it solvable (it was tried):
      1. env.toml:6: dependencies "torchvision==0.15.1+cu118" instead of "torchvision==0.14.1+cu118"  gives torchvision 0.15.1+cu118
    "#);
}

#[test]
fn fam_10() {
    insta::assert_snapshot!(checked("FAM-10"), @r#"
    error: torchvision==0.20.1 does not go with Python 3.13

      torchvision 0.20.1 has wheels for Python 3.9 to 3.12
          file names of torchvision 0.20.1 on the index

    help: any one of these makes it solvable (each was tried):
      1. env.toml:3: python "3.12" instead of "3.13"  gives torchvision 0.20.1
      2. env.toml:6: dependencies "torchvision==0.21.0" instead of "torchvision==0.20.1"
         env.toml:7: dependencies "torchaudio==2.6.0" instead of "torchaudio==2.5.1"
         env.toml:5: dependencies "torch==2.6.0" instead of "torch==2.5.1"  gives torchvision 0.21.0, torchaudio 2.6.0, torch 2.6.0
    "#);
}

#[test]
fn idx_01() {
    insta::assert_snapshot!(checked("IDX-01"), @r#"
    error: torch==2.0.1+cu118 cannot be installed

      there is no torch==2.0.1+cu118; the nearest are 2.0.1 and 2.1.0

    note: torch==2.0.1+cu118 is a build of the index pytorch-cu118, which env.toml leaves out

    help: any one of these makes it solvable (each was tried):
      1. env.toml:13: [pytorch] backends ["cu118"] instead of false  gives torch 2.0.1+cu118
      2. env.toml:5: dependencies remove "torch==2.0.1+cu118"
    "#);
}

#[test]
fn idx_02() {
    insta::assert_snapshot!(checked("IDX-02"), @r#"
    error: torch==2.0.1+cu121 cannot be installed

      there is no torch==2.0.1+cu121; the nearest are 2.0.1 and 2.1.0

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.1.0" instead of "torch==2.0.1+cu121"  gives torch 2.1.0
    "#);
}

#[test]
fn idx_04() {
    insta::assert_snapshot!(checked("IDX-04"), @r#"
    error: torch==2.1.2+cu118 does not go with platform macos-arm64

      torch 2.1.2+cu118 has wheels only for linux-x86_64 and windows-x86_64

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==2.1.2" instead of "torch==2.1.2+cu118"  gives torch 2.1.2
    "#);
}

#[test]
fn idx_05() {
    insta::assert_snapshot!(checked("IDX-05"), @r#"
    error: torch==1.8.2+cu111 cannot be installed

      there is no torch==1.8.2+cu111; the nearest are 1.8.1+cu111 and 1.9.0

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "torch==1.13.0" instead of "torch==1.8.2+cu111"  gives torch 1.13.0
    "#);
}

#[test]
fn idx_07() {
    insta::assert_snapshot!(checked("IDX-07"), @r#"
    error: [pytorch] backends = ["cu124"] and torch==2.7.0 do not go together

      torch 2.7.0 is built for the CPU
          torch 2.7.0 from PyPI is built for the CPU on windows-x86_64; torch/version.py and libtorch_python.so of one wheel per release and platform, 1.8.0 to 2.15.0

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.4.1+cu124" instead of "torch==2.7.0"  gives torch 2.4.1+cu124
      2. env.toml:16: [pytorch] backends ["cu124", "cu128"] instead of ["cu124"]  gives torch 2.7.0+cu128
    "#);
}

#[test]
fn conda_05() {
    insta::assert_snapshot!(checked("CONDA-05"), @r#"
    error: torch==2.5.1+cu121 cannot be installed

      there is no torch==2.5.1+cu121; the nearest are 2.5.1 and 2.6.0

    note: torch==2.5.1+cu121 is a build of the index pytorch-cu121, which env.toml leaves out

    help: any one of these makes it solvable (each was tried):
      1. env.toml:14: [pytorch] backends ["cu121"] instead of false  gives torch 2.5.1+cu121
      2. env.toml:5: dependencies "torch==2.5.1" instead of "torch==2.5.1+cu121"  gives torch 2.5.1
    "#);
}

#[test]
fn ext_03() {
    insta::assert_snapshot!(checked("EXT-03"), @r#"
    error: xformers==0.0.22.post4 cannot be installed

      there is no xformers==0.0.22.post4; the nearest are 0.0.22 and 0.0.22.post7

    help: this change makes it solvable (it was tried):
      1. env.toml:6: dependencies "xformers==0.0.22" instead of "xformers==0.0.22.post4"  gives xformers 0.0.22
    "#);
}

#[test]
fn ext_07() {
    insta::assert_snapshot!(checked("EXT-07"), @r#"
    error: vllm==0.7.2 and xformers==0.0.29.post3 do not go together

      vllm 0.7.2 needs xformers==0.0.28.post3
          METADATA of vllm 0.7.2: xformers==0.0.28.post3

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "xformers==0.0.28.post3" instead of "xformers==0.0.29.post3"  gives vllm 0.7.2, xformers 0.0.28.post3
      2. env.toml:5: dependencies remove "vllm==0.7.2"  gives xformers 0.0.29.post3
    "#);
}

#[test]
fn ext_08() {
    insta::assert_snapshot!(checked("EXT-08"), @r#"
    error: torch==2.11.0+cu129 and vllm==0.21.0 do not go together

      torch 2.11.0+cu129 is built for CUDA 12.9
          local version label cu129
      vllm 0.21.0 is built for CUDA 13
          vllm 0.21.0 is built for torch 2.11.0 with CUDA 13.0; torch/version.py and libtorch_python.so of one wheel per release and platform, 1.8.0 to 2.15.0
      torch and everything that is built for it must be of one CUDA

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.11.0" instead of "torch==2.11.0+cu129"
         env.toml:3: python "3.12" instead of "3.13"  gives torch 2.11.0, vllm 0.21.0
      2. env.toml:6: dependencies remove "vllm==0.21.0"  gives torch 2.11.0+cu129
    "#);
}

#[test]
fn ext_11() {
    insta::assert_snapshot!(checked("EXT-11"), @r#"
    error: torch==1.13.1+cu117 and xformers==0.0.17 do not go together

      xformers 0.0.17 needs torch==2.0.0
          METADATA of xformers 0.0.17: torch (==2.0.0)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.0.0" instead of "torch==1.13.1+cu117"  gives torch 2.0.0, xformers 0.0.17
      2. env.toml:6: dependencies remove "xformers==0.0.17"  gives torch 1.13.1+cu117
    "#);
}

#[test]
fn ext_12() {
    insta::assert_snapshot!(checked("EXT-12"), @r#"
    error: bitsandbytes==0.38.1 and torch==2.1.0+cu121 do not go together

      bitsandbytes 0.38.1 is built for the CPU or CUDA 11.0 to 12.0
          bitsandbytes 0.38.1 has kernels for CUDA 11.0, 11.1, 11.4, 11.5, 11.7, 11.8, 12.0; bitsandbytes-foundation/bitsandbytes#427 (nothing above CUDA 12.0); the versions below are taken from 0.41.1
      torch 2.1.0+cu121 is built for CUDA 12.1
          local version label cu121
      torch and everything that is built for it must be of one CUDA

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.1.0+cu118" instead of "torch==2.1.0+cu121"  gives bitsandbytes 0.38.1, torch 2.1.0+cu118
      2. env.toml:6: dependencies "bitsandbytes==0.41.3" instead of "bitsandbytes==0.38.1"  gives bitsandbytes 0.41.3, torch 2.1.0+cu121
    "#);
}

#[test]
fn loc_06() {
    insta::assert_snapshot!(checked("LOC-06"), @r#"
    error: torch==2.7.1+cu126 cannot be installed

      there is no torch==2.7.1+cu126; the nearest are 2.7.1 and 2.8.0

    note: torch==2.7.1+cu126 is a build of the index pytorch-cu126, which env.toml leaves out

    help: any one of these makes it solvable (each was tried):
      1. env.toml:14: [pytorch] backends ["cu126"] instead of false  gives torch 2.7.1+cu126
      2. env.toml:6: dependencies "torch==2.7.1" instead of "torch==2.7.1+cu126"  gives torch 2.7.1
    "#);
}

#[test]
fn syn_02() {
    insta::assert_snapshot!(checked("SYN-02"), @r#"
    error: setuptools==49.6.0.post20201009 cannot be installed

      there is no setuptools==49.6.0.post20201009; the nearest are 49.6.0 and 50.0.0

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "setuptools==49.6.0" instead of "setuptools==49.6.0.post20201009"  gives setuptools 49.6.0
    "#);
}

#[test]
fn syn_07() {
    insta::assert_snapshot!(checked("SYN-07"), @r#"
    error: pytorch==2.0.1 cannot be installed

      there is no pytorch==2.0.1; the newest is 1.0.2

    help: this change makes it solvable (it was tried):
      1. env.toml:6: dependencies remove "pytorch==2.0.1"
    "#);
}
