//! The codes with everything that is documented about them.

use super::code::Page;
use super::finding::Severity;

/// Makes the enum of codes and their pages from one list: a code without a page does not compile.
macro_rules! codes {
    ($($code:ident {
        $name:literal, $severity:ident, $title:literal,
        why: $why:literal,
        source: $source:literal,
        example: $example:literal,
        fix: $fix:literal,
    })+) => {
        /// What a finding is called. A code never changes its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $code,)+
        }

        impl Code {
            /// Every code, by name.
            pub const ALL: &[Self] = &[$(Self::$code,)+];

            /// The name, in kebab-case.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }

            /// What is documented about it.
            #[must_use]
            pub const fn page(self) -> &'static Page {
                match self {
                    $(Self::$code => &Page {
                        severity: Severity::$severity,
                        title: $title,
                        why: $why,
                        source: $source,
                        example: $example,
                        fix: $fix,
                    },)+
                }
            }
        }
    };
}

codes! {
    BrokenRelease {
        "broken-release", Error, "The release itself is broken on this platform.",
        why: "Some builds install and then cannot work whatever else is installed: a wheel that asks for libraries which were never published, or that was built with the wrong options.",
        source: "Rows of `matrices/broken.toml`, each with its issue.",
        example: "onnxruntime-gpu[cuda,cudnn]==1.27.0 on Linux",
        fix: "Take the next release, or the one before.",
    }
    CompanionMismatch {
        "companion-mismatch", Error, "Two distributions of the torch family are not built for each other.",
        why: "torchvision, torchaudio, xformers and others are compiled against one torch and one CUDA build of it. METADATA does not say the CUDA build, and newer torchaudio does not even say the torch. Extensions name their torch in a local label (+cu126torch2.7, +pt21cu118), in the address of their page, or only in the workflow that builds their wheels.",
        source: "METADATA of the releases; rows of `matrices/companions.toml`.",
        example: "torch==2.6.0+cu124\ntorchvision==0.21.0+cu126",
        fix: "Take the release that belongs to the torch you have, with the same local label.",
    }
    CpuOnlyBuild {
        "cpu-only-build", Error, "The build does not use the GPU of the machine.",
        why: "On some platforms PyPI has only builds for the CPU (torch on Windows, torch on Arm before 2.11). They install and run, without the GPU and without an error. The same holds for tensorflow on Windows from 2.11 on, and for conda lines that select no CUDA build.",
        source: "Contents of the wheels; rows of `matrices/torch.toml`.",
        example: "torch on windows-x86_64 with --gpu 'RTX 3090'",
        fix: "Take the build from PyTorch's index for a CUDA version: --index-url .../whl/cu126.",
    }
    CudaMajorMismatch {
        "cuda-major-mismatch", Error, "Two builds in one process want different CUDA major versions.",
        why: "libcudart.so.11, .12 and .13 are different libraries. A build finds only the one it was linked with, and a driver that supports both does not help.",
        source: "NVIDIA CUDA compatibility guide; the build's linked libraries.",
        example: "torch==2.5.1\nonnxruntime-gpu==1.17.0",
        fix: "Take builds of one CUDA major version: another release, or another index of the same release.",
    }
    CudnnMismatch {
        "cudnn-mismatch", Error, "Two builds in one process want different cuDNN versions.",
        why: "cuDNN 8 and 9 have different library names, and a program needs at least the minor version it was compiled with.",
        source: "NVIDIA cuDNN support matrix; METADATA of the releases.",
        example: "torch==2.6.0\nctranslate2==4.4.0",
        fix: "Take builds of one cuDNN major version.",
    }
    DriverDroppedGpu {
        "driver-dropped-gpu", Error, "No driver of this branch supports the GPU.",
        why: "Each driver branch supports a range of GPU generations: old ones are dropped, new ones are added.",
        source: "NVIDIA driver release notes; rows of `matrices/gpus.toml`.",
        example: "--driver 580.65.06 --gpu 'Tesla K80'",
        fix: "Use a driver branch that supports the GPU.",
    }
    DriverTooOld {
        "driver-too-old", Error, "The driver cannot start the CUDA version that the build brings.",
        why: "From CUDA 11 on a driver starts every minor version of its CUDA major version, from a lowest driver on. It starts no newer major version.",
        source: "NVIDIA CUDA compatibility guide, table of minimum drivers.",
        example: "torch==2.1.0+cu121 with --driver 470.86",
        fix: "Take a build for an older CUDA, or update the driver.",
    }
    GlibcTooOld {
        "glibc-too-old", Error, "Every wheel of the release needs a newer glibc.",
        why: "A manylinux tag names the lowest glibc that the wheel runs with. pip passes such wheels over and says that no version was found. A pip that is older than a tag does the same, whatever the glibc.",
        source: "PEP 600; the file names of the release.",
        example: "onnxruntime==1.18.0 with --glibc 2.17",
        fix: "Take an older release whose wheels have a lower tag, or a newer base image.",
    }
    HashMissing {
        "hash-missing", Error, "A line has no hash while hashes are required.",
        why: "As soon as one line has --hash, or --require-hashes is given, pip refuses every file without a hash.",
        source: "pip documentation, secure installs.",
        example: "numpy==1.26.4 --hash=sha256:...\ntorch==2.4.0",
        fix: "Add the hashes of the line, or remove all of them.",
    }
    ImageDriver {
        "image-driver", Error, "The container does not start on this driver.",
        why: "An nvidia/cuda image lists the drivers it accepts in NVIDIA_REQUIRE_CUDA, and the container runtime refuses others.",
        source: "NVIDIA_REQUIRE_CUDA of the images.",
        example: "FROM nvidia/cuda:12.4.1-runtime-ubuntu22.04 with --driver 535.104.05 --gpu 'RTX 3090'",
        fix: "Use an image of an older CUDA, or a newer driver.",
    }
    ImageMismatch {
        "image-mismatch", Error, "The container image is not what the file takes it for.",
        why: "Tags of nvidia/cuda end with an operating system, and the images hold neither Python nor pip. The CUDA in an image is not the one that wheels bring, and images of others may hold a torch that is no release.",
        source: "Docker Hub tags of nvidia/cuda; contents of the images.",
        example: "image: nvidia/cuda:11.3.1-cudnn8-runtime",
        fix: "Write a tag that exists, and install Python in the image.",
    }
    IndexConfusion {
        "index-confusion", Error, "An extra index is named, but the build does not come from it.",
        why: "pip has no order among indexes: it takes the highest version of all. An unpinned line then gets the newest release from PyPI, and not the CUDA build of the extra index.",
        source: "pip documentation, --extra-index-url; PEP 440, local versions.",
        example: "--extra-index-url https://.../whl/cu118\ntorch",
        fix: "Pin the version with its label (torch==2.7.1+cu118), or use --index-url.",
    }
    IndexMissing {
        "index-missing", Error, "The build is on none of the indexes that the file names.",
        why: "PyPI has no versions with a local label. torch==2.3.1+cu118 can only be found on the index for cu118, and only there for the releases that were built for it. Where the build exists and the file names no index at all, it may be meant for an installer that is configured elsewhere: that is a warning in a script, in a list of what is installed and with a GPU given, and a note where a driver is given or the file is a lock.",
        source: "PEP 440, local version identifiers; PyTorch's installation page.",
        example: "torch==2.3.1+cu121",
        fix: "Add the index of the label: --extra-index-url https://.../whl/cu121.",
    }
    IndexUnreachable {
        "index-unreachable", Note, "An index of the file did not answer.",
        why: "What is on it could only be judged by what is known about it.",
        source: "The answer of the server.",
        example: "a file with a private index that asks for a password",
        fix: "Run again when it can be reached.",
    }
    LibraryMissing {
        "library-missing", Error, "A library that the build opens is supplied by nothing.",
        why: "onnxruntime-gpu and others link libcublas, libcudnn and more without requiring them. When one is missing, the CUDA provider is skipped and the program runs on the CPU. tensorflow without its extra opens the CUDA of the system; a Linux driver in WSL or in a container, and folders of LD_LIBRARY_PATH, hide libraries that are there.",
        source: "Linked libraries of the builds; rows of `matrices/onnxruntime.toml`.",
        example: "onnxruntime-gpu==1.23.2",
        fix: "Install onnxruntime-gpu[cuda,cudnn], or torch of the same CUDA major version, or use an image with the libraries.",
    }
    MissingDependency {
        "missing-dependency", Error, "Something that is installed requires a distribution that is not.",
        why: "The file lists everything that is installed, and a requirement in METADATA is met by nothing.",
        source: "METADATA of the releases.",
        example: "pip freeze with torch==2.4.0 and without sympy",
        fix: "Add the distribution.",
    }
    ModuleClash {
        "module-clash", Error, "Two distributions install the same files.",
        why: "onnxruntime and onnxruntime-gpu both write the folder onnxruntime. Whichever is installed last wins, and uninstalling one breaks the other.",
        source: "Contents of the wheels; rows of `matrices/owners.toml`.",
        example: "onnxruntime==1.23.2\nonnxruntime-gpu==1.23.2",
        fix: "Keep one of them; if another package requires the CPU one, uninstall it after the install and install the GPU one again, or substitute it in env.toml.",
    }
    NoKernelImage {
        "no-kernel-image", Error, "The build has no code for the GPU.",
        why: "A cubin runs on the same major capability with the same or a higher minor; PTX runs on any higher capability.",
        source: "cuobjdump of the builds; NVIDIA CUDA programming guide.",
        example: "torch==2.0.1+cu118 with --gpu 'RTX 5090'",
        fix: "Take a build that was compiled for the GPU.",
    }
    NumpyAbi {
        "numpy-abi", Error, "The build was compiled against NumPy 1 and NumPy 2 is installed.",
        why: "NumPy 2 changed its C interface. Builds from before do not say so in METADATA.",
        source: "NumPy 2.0 migration guide; rows of `matrices/numpy_abi.toml`.",
        example: "torch==2.2.2\nnumpy==2.0.0",
        fix: "Add numpy<2, or take a newer build.",
    }
    OpsetTooNew {
        "opset-too-new", Error, "The runtime does not read the model that is written.",
        why: "Each ONNX Runtime reads models up to one opset and one IR version.",
        source: "ONNX Runtime compatibility table; rows of `matrices/onnx.toml`.",
        example: "onnx==1.14.0\nonnxruntime==1.14.1",
        fix: "Export with a lower opset, or take a newer runtime.",
    }
    PinConflict {
        "pin-conflict", Error, "METADATA of one distribution forbids the version of another.",
        why: "pip refuses to install such a set; installed in steps or with --no-deps it fails later. A wheel that is pinned and that the only index has lost makes a set impossible as well.",
        source: "METADATA of the releases.",
        example: "torch==2.4.0\nnvidia-cuda-nvrtc-cu12==12.4.99",
        fix: "Remove the pin that is not needed, or take versions that agree.",
    }
    PlatformUnsupported {
        "platform-unsupported", Error, "The release has no file for this operating system and processor.",
        why: "Wheels are built for a list of platforms; there is none for this one, and no source archive.",
        source: "The file names of the release.",
        example: "onnxruntime-gpu on macos-arm64",
        fix: "Take the distribution that exists for the platform, or a release that has wheels for it.",
    }
    PtxNeedsNewerDriver {
        "ptx-needs-newer-driver", Error, "The GPU is reached only through PTX that the driver cannot compile.",
        why: "PTX is compiled by the driver, which must be at least as new as the toolkit that wrote it. Minor-version compatibility does not cover it.",
        source: "NVIDIA CUDA compatibility guide, section on PTX.",
        example: "torch==1.8.1+cu111 on a GPU newer than its code, with an older driver",
        fix: "Take a build with native code for the GPU, or update the driver.",
    }
    PythonUnsupported {
        "python-unsupported", Error, "The release has no wheel for this Python.",
        why: "Wheels are built for a list of Python versions, and Requires-Python narrows it further. pip says that no version was found.",
        source: "The file names of the release; Requires-Python.",
        example: "torch==2.1.2 with --python 3.12",
        fix: "Use a Python that the release has wheels for, or a newer release.",
    }
    Syntax {
        "syntax", Error, "pip does not read the line, or reads it as something else.",
        why: "A file that pip refuses installs nothing at all. pip from 24.1 on also refuses releases whose own METADATA has such lines.",
        source: "pip documentation, requirements file format; PEP 440; PEP 508.",
        example: "torch>=2.13.0+cpu,<3.0",
        fix: "Write the line as the message says.",
    }
    Unpinned {
        "unpinned", Note, "The line allows any version.",
        why: "What is installed tomorrow may differ from what was judged today.",
        source: "pip documentation, repeatable installs.",
        example: "torch, without a version",
        fix: "Pin the version.",
    }
    VersionNotFound {
        "version-not-found", Error, "No index that was asked has this version.",
        why: "The version never existed under this name, was deleted, is a name of another package manager, is a nightly build that is no longer kept, or is newer than the channel that should have it.",
        source: "The index page of the project.",
        example: "setuptools==49.6.0.post20201009",
        fix: "Take a version that exists.",
    }
    Yanked {
        "yanked", Warning, "The author has withdrawn the release.",
        why: "A yanked release is only taken by an exact pin (PEP 592); the reason says what is wrong with it.",
        source: "PEP 592; the index page of the project.",
        example: "a pin on a yanked release",
        fix: "Take another release.",
    }
}
