//! What the layers of one process need of each other: CUDA, cuDNN, NumPy, libraries, import packages.

use super::case::checked;

#[test]
fn ort_02() {
    insta::assert_snapshot!(checked("ORT-02"), @r#"
    error: onnxruntime-gpu==1.20.1 cannot be installed

      there is no onnxruntime-gpu==1.20.1; the nearest are 1.20.0 and 1.20.2

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.20.2" instead of "onnxruntime-gpu==1.20.1"  gives onnxruntime-gpu 1.20.2
    "#);
}

#[test]
fn ort_04() {
    insta::assert_snapshot!(checked("ORT-04"), @r#"
    error: nvidia-cudnn-cu12==8.9.2.26 and onnxruntime-gpu==1.18.1 do not go together

      onnxruntime-gpu 1.18.1 of the index onnxruntime-cuda-12 needs nvidia-cudnn-cu12 >=9.0,<10
          onnxruntime-gpu 1.18.1 opens libcudnn.so.9, which nvidia-cudnn-cu12 brings; its METADATA asks for it in extras at most; sonames needed by onnxruntime-gpu 1.19.0 to 1.31.1, and the layout of the nvidia wheels of CUDA 12 and 13
      onnxruntime-gpu 1.18.1 of the index test needs CUDA 11
          onnxruntime-gpu 1.18.1 from PyPI is built for CUDA 11 and cuDNN 8; DT_NEEDED and PTX ISA of one wheel per platform and release

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.18.0" instead of "onnxruntime-gpu==1.18.1"  gives nvidia-cudnn-cu12 8.9.2.26, onnxruntime-gpu 1.18.0
      2. env.toml:6: dependencies "nvidia-cudnn-cu12==9.0.0.312" instead of "nvidia-cudnn-cu12==8.9.2.26"  gives nvidia-cudnn-cu12 9.0.0.312, onnxruntime-gpu 1.18.1
    "#);
}

#[test]
fn ort_07() {
    insta::assert_snapshot!(checked("ORT-07"), @r#"
    error: onnxruntime-gpu==1.22.0 does not go with CUDA 13.0

      onnxruntime-gpu 1.22.0 needs CUDA 12
          onnxruntime-gpu 1.22.0 from PyPI is built for CUDA 12 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "onnxruntime-gpu==1.27.0" instead of "onnxruntime-gpu==1.22.0"  gives onnxruntime-gpu 1.27.0
      2. env.toml:12: [machine] libraries "wheels" instead of "system"
         env.toml:11: [machine] cuda remove "13.0"  gives onnxruntime-gpu 1.22.0
    "#);
}

#[test]
fn ort_08() {
    insta::assert_snapshot!(checked("ORT-08"), @r#"
    error: onnxruntime-gpu==1.17.1 does not go with cuDNN 9.1

      onnxruntime-gpu 1.17.1 needs cuDNN 8
          onnxruntime-gpu 1.17.1 from PyPI is built for CUDA 11 and cuDNN 8; DT_NEEDED and PTX ISA of one wheel per platform and release

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.19.0" instead of "onnxruntime-gpu==1.17.1"  gives onnxruntime-gpu 1.19.0
      2. env.toml:15: [machine] libraries "wheels" instead of "system"
         env.toml:13: [machine] cuda remove "12.4"
         env.toml:14: [machine] cudnn remove "9.1"  gives onnxruntime-gpu 1.17.1
    "#);
}

#[test]
fn ort_10() {
    insta::assert_snapshot!(checked("ORT-10"), @r#"
    error: onnxruntime-gpu==1.17.0 and torch==2.5.1 do not go together

      onnxruntime-gpu 1.17.0 needs CUDA 11
          onnxruntime-gpu 1.17.0 from PyPI is built for CUDA 11 and cuDNN 8; DT_NEEDED and PTX ISA of one wheel per platform and release
      torch 2.5.1 needs CUDA 12.4
          METADATA of torch 2.5.1: nvidia-cuda-runtime-cu12 (==12.4.127)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.0.1" instead of "torch==2.5.1"  gives onnxruntime-gpu 1.17.0, torch 2.0.1
      2. env.toml:6: dependencies "onnxruntime-gpu==1.19.0" instead of "onnxruntime-gpu==1.17.0"  gives onnxruntime-gpu 1.19.0, torch 2.5.1
    "#);
}

#[test]
fn ort_12() {
    insta::assert_snapshot!(checked("ORT-12"), @r#"
    error: onnxruntime-gpu==1.23.2 does not go with CUDA 13.1

      onnxruntime-gpu 1.23.2 needs CUDA 12
          onnxruntime-gpu 1.23.2 from PyPI is built for CUDA 12 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.27.0" instead of "onnxruntime-gpu==1.23.2"  gives onnxruntime-gpu 1.27.0
      2. env.toml:11: [machine] libraries "wheels" instead of "system"
         env.toml:10: [machine] cuda remove "13.1"  gives onnxruntime-gpu 1.23.2
    "#);
}

#[test]
fn both_01() {
    insta::assert_snapshot!(checked("BOTH-01"), @r#"
    error: onnxruntime==1.23.2 and onnxruntime-gpu==1.23.2 do not go together

      onnxruntime and onnxruntime-gpu each install the import package onnxruntime and overwrite each other: only one of them can be there
          file lists and CRCs of the wheels: 285 to 318 shared paths with onnxruntime-gpu

    help: this change makes it solvable (it was tried):
      1. env.toml: [options] substitute add { onnxruntime = "onnxruntime-gpu" }  gives onnxruntime-gpu 1.23.2
    "#);
}

#[test]
fn both_05() {
    insta::assert_snapshot!(checked("BOTH-05"), @r#"
    error: onnxruntime==1.17.0 and onnxruntime-gpu==1.17.0 do not go together

      onnxruntime and onnxruntime-gpu each install the import package onnxruntime and overwrite each other: only one of them can be there
          file lists and CRCs of the wheels: 285 to 318 shared paths with onnxruntime-gpu

    help: this change makes it solvable (it was tried):
      1. env.toml: [options] substitute add { onnxruntime = "onnxruntime-gpu" }  gives onnxruntime-gpu 1.17.0
    "#);
}

#[test]
fn both_07() {
    insta::assert_snapshot!(checked("BOTH-07"), @r#"
    error: faster-whisper==1.1.0 and onnxruntime-gpu==1.22.0 do not go together

      faster-whisper 1.1.0 needs onnxruntime >=1.14,<2
          METADATA of faster-whisper 1.1.0: onnxruntime<2,>=1.14
      onnxruntime and onnxruntime-gpu each install the import package onnxruntime and overwrite each other: only one of them can be there
          file lists and CRCs of the wheels: 285 to 318 shared paths with onnxruntime-gpu

    help: any one of these makes it solvable (each was tried):
      1. env.toml: [options] substitute add { onnxruntime = "onnxruntime-gpu" }  gives faster-whisper 1.1.0, onnxruntime-gpu 1.22.0
      2. env.toml:5: dependencies remove "faster-whisper==1.1.0"  gives onnxruntime-gpu 1.22.0
    "#);
}

#[test]
fn nvp_01() {
    insta::assert_snapshot!(checked("NVP-01"), @r#"
    error: nvidia-cuda-nvrtc-cu12==12.4.99 and torch==2.4.0 do not go together

      torch 2.4.0 needs nvidia-cuda-nvrtc-cu12==12.1.105
          METADATA of torch 2.4.0: nvidia-cuda-nvrtc-cu12 (==12.1.105)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "nvidia-cuda-nvrtc-cu12==12.1.105" instead of "nvidia-cuda-nvrtc-cu12==12.4.99"  gives nvidia-cuda-nvrtc-cu12 12.1.105, torch 2.4.0
      2. env.toml:14: [pytorch] backends ["cu124"] instead of false  gives nvidia-cuda-nvrtc-cu12 12.4.99, torch 2.4.0+cu124
    "#);
}

#[test]
fn nvp_03() {
    insta::assert_snapshot!(checked("NVP-03"), @r#"
    error: pycolmap-cuda12==3.13.0 and torch==2.9.1 do not go together

      pycolmap-cuda12 3.13.0 needs nvidia-cuda-runtime-cu12==12.9.79
          METADATA of pycolmap-cuda12 3.13.0: nvidia-cuda-runtime-cu12==12.9.79
      torch 2.9.1 needs nvidia-cuda-runtime-cu12==12.8.90
          METADATA of torch 2.9.1: nvidia-cuda-runtime-cu12==12.8.90

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "pycolmap-cuda12==4.0.0" instead of "pycolmap-cuda12==3.13.0"  gives pycolmap-cuda12 4.0.0, torch 2.9.1
      2. env.toml:5: dependencies remove "torch==2.9.1"  gives pycolmap-cuda12 3.13.0
    "#);
}

#[test]
fn cudnn_05() {
    insta::assert_snapshot!(checked("CUDNN-05"), @r#"
    error: tensorflow==2.18.0 and torch==2.5.1 do not go together

      tensorflow 2.18.0 needs cuDNN >=9.3.0.75,<10
          tensorflow 2.18.0 uses cuDNN 9.3.0.75 or a newer 9.x; METADATA of tensorflow 2.18.0, extra and-cuda: the cuDNN it is compiled with
      torch 2.5.1 needs cuDNN 9.1.0.70
          METADATA of torch 2.5.1: nvidia-cudnn-cu12 (==9.1.0.70)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "torch==2.7.0" instead of "torch==2.5.1"  gives tensorflow 2.18.0, torch 2.7.0
      2. env.toml:14: [pytorch] backends ["cpu"] instead of false  gives tensorflow 2.18.0, torch 2.5.1+cpu
    "#);
}

#[test]
fn cudnn_08() {
    insta::assert_snapshot!(checked("CUDNN-08"), @r#"
    error: torch==2.6.0 and whisperx==3.3.1 do not go together

      faster-whisper 1.1.0 needs ctranslate2 >=4.0,<5
          METADATA of faster-whisper 1.1.0: ctranslate2<5,>=4.0
      whisperx 3.3.1 needs ctranslate2 <4.5.0
          METADATA of whisperx 3.3.1: ctranslate2<4.5.0
      whisperx 3.3.1 needs faster-whisper==1.1.0
          METADATA of whisperx 3.3.1: faster-whisper==1.1.0
      ctranslate2 4.0.0 to 4.4.0 needs cuDNN 8
          ctranslate2 4.4.0 uses cuDNN 8 or a newer 8.x; libctranslate2 of one wheel per release: opens libcublas.so.12 and libcudnn.so.8
      torch 2.6.0 needs cuDNN 9.1.0.70
          METADATA of torch 2.6.0: nvidia-cudnn-cu12 (==9.1.0.70)

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "torch==2.3.1" instead of "torch==2.6.0"
         env.toml:7: dependencies "torchaudio==2.3.1" instead of "torchaudio==2.6.0"  gives torch 2.3.1, whisperx 3.3.1, torchaudio 2.3.1
      2. env.toml:5: dependencies remove "whisperx==3.3.1"  gives torch 2.6.0
    "#);
}

#[test]
fn np2_05() {
    insta::assert_snapshot!(checked("NP2-05"), @r#"
    error: numpy==2.0.0 and torch==2.2.2 do not go together

      torch 2.2.2 needs numpy <2
          torch before 2.3 is built against NumPy 1, and its METADATA does not bound numpy; NumPy C-API names in libtorch_python of torch 1.13.1 to 2.3.1

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "torch==2.3.0" instead of "torch==2.2.2"  gives numpy 2.0.0, torch 2.3.0
      2. env.toml:6: dependencies "numpy==1.26.4" instead of "numpy==2.0.0"  gives numpy 1.26.4, torch 2.2.2
    "#);
}

#[test]
fn mark_04() {
    insta::assert_snapshot!(checked("MARK-04"), @r#"
    error: onnxruntime-gpu[cuda,cudnn]==1.27.0 cannot be installed

      onnxruntime-gpu 1.27.0 needs libcudart.so.13 at import, its preload_dlls() does not look where CUDA 13 wheels install, and its extra cuda cannot be satisfied

    help: this change makes it solvable (it was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu[cuda,cudnn]==1.28.0" instead of "onnxruntime-gpu[cuda,cudnn]==1.27.0"  gives onnxruntime-gpu 1.28.0
    "#);
}

#[test]
fn mark_05() {
    insta::assert_snapshot!(checked("MARK-05"), @r#"
    error: onnxruntime-gpu does not go with platform macos-arm64

      onnxruntime-gpu has wheels only for linux-aarch64, linux-x86_64 and windows-x86_64

    help: this change makes it solvable (it was tried):
      1. env.toml:7: dependencies "onnxruntime" instead of "onnxruntime-gpu"  gives onnxruntime 1.32.0
    "#);
}

#[test]
fn dock_01() {
    insta::assert_snapshot!(checked("DOCK-01"), @r#"
    error: onnxruntime-gpu>=1.31 does not go with CUDA 12.8.1

      onnxruntime-gpu >=1.31.0 needs CUDA 13
          onnxruntime-gpu 1.31.1 from PyPI is built for CUDA 13 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "onnxruntime-gpu>=1.26.0" instead of "onnxruntime-gpu>=1.31"  gives onnxruntime-gpu 1.26.0
      2. env.toml: [machine] libraries add "wheels"  gives onnxruntime-gpu 1.31.1
    "#);
}

#[test]
fn dock_02() {
    insta::assert_snapshot!(checked("DOCK-02"), @r#"
    error: onnxruntime-gpu==1.20.2 does not go with cuDNN 8.9.6.50

      onnxruntime-gpu 1.20.2 needs cuDNN 9
          onnxruntime-gpu 1.20.2 from PyPI is built for CUDA 12 and cuDNN 9; DT_NEEDED and PTX ISA of one wheel per platform and release

    help: any one of these makes it solvable (each was tried):
      1. env.toml:5: dependencies "onnxruntime-gpu==1.18.0" instead of "onnxruntime-gpu==1.20.2"  gives onnxruntime-gpu 1.18.0
      2. env.toml: [machine] libraries add "wheels"  gives onnxruntime-gpu 1.20.2
    "#);
}

#[test]
fn onnx_02() {
    insta::assert_snapshot!(checked("ONNX-02"), @r#"
    error: ir-version = 9 and onnxruntime==1.14.1 do not go together

      onnxruntime 1.14.1 needs ONNX IR <=8
          onnxruntime 1.14.1 loads models up to ONNX IR 8; hand-made models (IR 3 to 17, opset 7 to 31) loaded with every release, default settings

    help: this change makes it solvable (it was tried):
      1. env.toml:6: dependencies "onnxruntime==1.15.0" instead of "onnxruntime==1.14.1"  gives onnxruntime 1.15.0
    "#);
}

#[test]
fn cudnn_03() {
    insta::assert_snapshot!(checked("CUDNN-03"), @r#"
    error: paddlepaddle-gpu==2.6.2 and torch==2.6.0+cu118 do not go together

      paddlepaddle-gpu 2.6.2 needs cuDNN 8
          paddlepaddle-gpu 2.6.2 uses cuDNN 8 or a newer 8.x; measured: paddle/version/__init__.py of PyPI:paddlepaddle-gpu: CUDA 11.8, cuDNN 8.6.0
      torch 2.6.0+cu118 needs cuDNN >=9.1.0.70,<10
          torch 2.6.0+cu118 contains cuDNN 9.1.0.70; pytorch/pytorch RELEASE.md, CUDA support matrix

    help: any one of these makes it solvable (each was tried):
      1. env.toml:6: dependencies "torch==2.3.1+cu118" instead of "torch==2.6.0+cu118"  gives paddlepaddle-gpu 2.6.2, torch 2.3.1+cu118
      2. env.toml:5: dependencies remove "paddlepaddle-gpu==2.6.2"  gives torch 2.6.0+cu118
    "#);
}
