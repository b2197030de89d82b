//! `[machine]`: where it should run.

use cuda_lock_constraint::machine::{Libc, Libraries, Platform};
use cuda_lock_constraint::version::{Range, SystemVersion, system_range};
use serde_spanned::Spanned;
use toml::de::DeTable;

use crate::document::{Report, owned, text, texts};
use crate::schema::{Key, Kind};

pub(super) const PLATFORM: Key = Key::new(
    "platform",
    Kind::Choice(&[
        "linux-x86_64",
        "linux-aarch64",
        "windows-x86_64",
        "macos-arm64",
        "macos-x86_64",
    ]),
    "\"linux-x86_64\"",
    "Operating system and processor.",
);
pub(super) const GLIBC: Key = Key::new(
    "glibc",
    Kind::Text,
    "\"2.31\"",
    "The glibc version of a Linux machine (`ldd --version`).",
);
pub(super) const MUSL: Key =
    Key::new("musl", Kind::Text, "\"1.2\"", "The musl version of a Linux machine without glibc.");
pub(super) const MACOS: Key = Key::new(
    "macos",
    Kind::Text,
    "\"12.0\"",
    "The macOS version. Without it, the lowest that the newest releases have wheels for is part of the answer.",
);
pub(super) const DRIVER: Key = Key::new(
    "driver",
    Kind::Text,
    "\"535.104.05\"",
    "The NVIDIA driver, as nvidia-smi prints it. Without it, the minimum is solved for and reported.",
);
pub(super) const GPUS: Key = Key::new(
    "gpus",
    Kind::TextOrTexts,
    "[\"RTX 3090\"]",
    "Product names or compute capabilities; an empty list says that there is none.",
);
pub(super) const CUDA: Key = Key::new(
    "cuda",
    Kind::Text,
    "\">=12\"",
    "Which CUDA runtimes will do: a range, or 12.4 for any 12.4.",
);
pub(super) const CUDNN: Key = Key::new(
    "cudnn",
    Kind::Text,
    "\"9\"",
    "Which cuDNN versions will do: a range, or 9 for any 9.",
);
pub(super) const LIBRARIES: Key = Key::new(
    "libraries",
    Kind::Choice(&["wheels", "system"]),
    "\"wheels\"",
    "Where libcudart and libcudnn come from: wheels of the environment, or the system.",
);
pub(super) const IMAGE: Key = Key::new(
    "image",
    Kind::Text,
    "\"nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04\"",
    "A container image that gives CUDA, cuDNN and glibc of a system stack.",
);

/// The keys of `[machine]`.
pub(super) const KEYS: &[Key] =
    &[PLATFORM, GLIBC, MUSL, MACOS, DRIVER, GPUS, CUDA, CUDNN, LIBRARIES, IMAGE];

/// `[machine]`, or the machine keys of a `[target.NAME]`. What is `None` is not written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineTable {
    /// Operating system and processor.
    pub platform: Option<Spanned<Platform>>,
    /// `glibc` or `musl`.
    pub libc: Option<Spanned<Libc>>,
    /// The macOS version.
    pub macos: Option<Spanned<SystemVersion>>,
    /// The NVIDIA driver.
    pub driver: Option<Spanned<SystemVersion>>,
    /// GPUs as written: product names or compute capabilities. An empty list says that there is none.
    pub gpus: Option<Vec<Spanned<String>>>,
    /// A wish for the CUDA runtime.
    pub cuda: Option<Spanned<SystemWish>>,
    /// A wish for cuDNN.
    pub cudnn: Option<Spanned<SystemWish>>,
    /// Where the CUDA libraries come from.
    pub libraries: Option<Spanned<Libraries>>,
    /// A container image.
    pub image: Option<Spanned<String>>,
}

/// A range of a system layer with the text it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemWish {
    /// As written.
    pub text: String,
    /// What it allows.
    pub range: Range,
}

impl MachineTable {
    pub(super) fn read(table: &DeTable<'_>, report: &mut Report) -> Self {
        let platform = text(table, "platform").and_then(|text| {
            let platform = Platform::ALL.into_iter().find(|p| p.as_str() == *text.get_ref());
            platform.map(|platform| Spanned::new(text.span(), platform))
        });
        let glibc = text(table, "glibc").and_then(|text| version(&text, "glibc", "2.31", report));
        let musl = text(table, "musl").and_then(|text| version(&text, "musl", "1.2", report));
        if let (Some(glibc), Some(musl)) = (&glibc, &musl) {
            let later = if glibc.span().start > musl.span().start { glibc } else { musl };
            report
                .error(later.span(), "`glibc` and `musl` exclude each other")
                .help("keep the one that the machine has");
        }
        let libc = match (glibc, musl) {
            (Some(glibc), _) => Some(Spanned::new(glibc.span(), Libc::Glibc(glibc.into_inner()))),
            (None, Some(musl)) => Some(Spanned::new(musl.span(), Libc::Musl(musl.into_inner()))),
            (None, None) => None,
        };
        let macos = text(table, "macos").and_then(|text| version(&text, "macos", "12.0", report));
        let driver =
            text(table, "driver").and_then(|text| version(&text, "driver", "535.104.05", report));
        let gpus = texts(table, "gpus").map(|gpus| {
            for gpu in gpus.iter().filter(|gpu| gpu.get_ref().trim().is_empty()) {
                report
                    .error(gpu.span(), "the GPU has no name")
                    .help("write a product name, such as \"RTX 3090\", or a compute capability, such as \"8.6\"");
            }
            gpus.iter().map(owned).collect()
        });
        let libraries = text(table, "libraries").map(|text| {
            let system = *text.get_ref() == "system";
            Spanned::new(text.span(), if system { Libraries::System } else { Libraries::Wheels })
        });
        let image = text(table, "image").and_then(|image| {
            if image.get_ref().trim().is_empty() {
                report
                    .error(image.span(), "`image` is empty")
                    .help(format!("for example image = {}", IMAGE.example));
                return None;
            }
            Some(owned(&image))
        });
        let this = Self {
            platform,
            libc,
            macos,
            driver,
            gpus,
            cuda: wish(table, "cuda", report),
            cudnn: wish(table, "cudnn", report),
            libraries,
            image,
        };
        this.check_platform(report);
        this
    }

    /// `glibc`, `musl` and `image` are about Linux, `macos` is about macOS.
    pub(super) fn check_platform(&self, report: &mut Report) {
        let Some(platform) = &self.platform else { return };
        let platform = *platform.get_ref();
        if let Some(macos) = self.macos.as_ref().filter(|_| !platform.is_macos()) {
            report
                .error(macos.span(), format!("`macos` is about macOS, but platform is {platform}"))
                .help("remove `macos`");
        }
        if platform.is_linux() {
            return;
        }
        if let Some(libc) = &self.libc {
            let key = match libc.get_ref() {
                Libc::Glibc(_) => "glibc",
                Libc::Musl(_) => "musl",
            };
            report
                .error(libc.span(), format!("`{key}` is about Linux, but platform is {platform}"))
                .help(format!("remove `{key}`"));
        }
        if let Some(image) = &self.image {
            report
                .error(
                    image.span(),
                    format!("a container image runs Linux, but platform is {platform}"),
                )
                .help("remove `image`, or set platform = \"linux-x86_64\"");
        }
    }
}

/// A version of at least two numbers: a lone 535 or 2 does not say which.
fn version(
    text: &Spanned<&str>,
    key: &str,
    example: &str,
    report: &mut Report,
) -> Option<Spanned<SystemVersion>> {
    let raw = text.get_ref().trim();
    match raw.parse::<SystemVersion>() {
        Ok(version) if raw.contains('.') => Some(Spanned::new(text.span(), version)),
        _ => {
            report
                .error(text.span(), format!("invalid `{key}` \"{}\"", text.get_ref()))
                .help(format!("write the whole version, such as {key} = \"{example}\""));
            None
        }
    }
}

fn wish(table: &DeTable<'_>, key: &str, report: &mut Report) -> Option<Spanned<SystemWish>> {
    let text = text(table, key)?;
    match system_range(text.get_ref()) {
        Ok(range) if range.is_empty() => {
            report
                .error(text.span(), format!("`{key}` \"{}\" allows no version", text.get_ref()))
                .help("the bounds exclude each other");
            None
        }
        Ok(range) => {
            let wish = SystemWish { text: text.get_ref().trim().to_owned(), range };
            Some(Spanned::new(text.span(), wish))
        }
        Err(error) => {
            report.error(text.span(), format!("invalid `{key}`: {error}"));
            None
        }
    }
}
