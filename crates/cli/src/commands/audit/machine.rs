//! The machine of an audit: from flags and an env.toml, and from the file itself where it says one.

use std::path::Path;
use std::str::FromStr as _;

use cuda_lock_commands::Failure;
use cuda_lock_commands::detect::{Host, detect};
use cuda_lock_commands::plan;
use cuda_lock_constraint::machine::{Gpu, Libc, Libraries, Machine, Platform};
use cuda_lock_constraint::rules::image::{Image, parse_image};
use cuda_lock_constraint::rules::onnx_model::Model;
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::version::SystemVersion;
use cuda_lock_formats::manifest::{AuditSettings, Manifest, PythonRequest};
use pep440_rs::Version as Pep440;

use crate::args::Audit;

/// What flags and env.toml say.
pub struct Given {
    /// Operating system and processor.
    pub platform: Option<Platform>,
    /// The C library.
    pub libc: Option<Libc>,
    /// The driver.
    pub driver: Option<SystemVersion>,
    /// GPUs that are known.
    pub gpus: Option<Vec<Gpu>>,
    /// GPUs of which nothing is known but the name, with the reason.
    pub unknown_gpus: Vec<(String, String)>,
    /// The Python.
    pub python: Option<Pep440>,
    /// The image.
    pub image: Option<Image>,
    /// The model.
    pub model: Option<Model>,
    /// `[audit]` of env.toml.
    pub settings: AuditSettings,
    /// What could not be seen of this machine.
    pub remarks: Vec<String>,
}

/// Reads the machine. Flags win over env.toml.
///
/// # Errors
/// When a flag or the file cannot be used.
pub fn given(args: &Audit) -> Result<Given, Failure> {
    let mut given = match args.machine.as_deref() {
        Some("auto") => of_this_machine(),
        Some(reference) => of_manifest(reference)?,
        None => Given::nothing(),
    };
    if let Some(text) = &args.platform {
        given.platform = Some(platform(text)?);
    }
    if let Some(text) = &args.driver {
        given.driver = Some(driver(text)?);
    }
    if let Some(text) = &args.glibc {
        given.libc = Some(Libc::Glibc(number("--glibc", text)?));
    }
    if let Some(text) = &args.python {
        let read = Pep440::from_str(text)
            .map_err(|_| bad(&format!("--python: '{text}' is not a version")))?;
        given.python = Some(read);
    }
    if !args.gpu.is_empty() {
        let mut gpus = Vec::new();
        given.unknown_gpus.clear();
        for name in &args.gpu {
            match find_gpu(name) {
                Ok(gpu) => gpus.push(gpu),
                Err(why) => given.unknown_gpus.push((name.clone(), why.to_string())),
            }
        }
        given.gpus = (!gpus.is_empty()).then_some(gpus);
    }
    if let Some(reference) = &args.image {
        let platform = given.platform.unwrap_or(Platform::LinuxX86_64);
        let image =
            parse_image(reference, platform).map_err(|why| bad(&format!("--image: {why}")))?;
        given.image = Some(image);
    }
    if !args.model.is_empty() {
        given.model = Some(model(&args.model)?);
    }
    Ok(given)
}

fn bad(text: &str) -> Failure {
    Failure::argument(text)
}

fn number(flag: &str, text: &str) -> Result<SystemVersion, Failure> {
    text.parse().map_err(|why| bad(&format!("{flag}: {why}")))
}

/// `535.x` stands for some driver of the branch: only what no driver of it can do is reported.
fn driver(text: &str) -> Result<SystemVersion, Failure> {
    match text.strip_suffix(".x") {
        Some(branch) => number("--driver", &format!("{branch}.999")),
        None => number("--driver", text),
    }
}

fn platform(text: &str) -> Result<Platform, Failure> {
    Platform::ALL.into_iter().find(|platform| platform.as_str() == text).ok_or_else(|| {
        let all: Vec<&str> = Platform::ALL.iter().map(|platform| platform.as_str()).collect();
        bad(&format!("--platform: '{text}' is none of {}", all.join(", ")))
    })
}

fn model(texts: &[String]) -> Result<Model, Failure> {
    let mut model = Model::default();
    for text in texts.iter().flat_map(|text| text.split(',')) {
        let wrong = || bad(&format!("--model: '{text}' is not opset=NUMBER or ir=NUMBER"));
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        let value: u64 = value.trim().parse().map_err(|_| wrong())?;
        match key.trim() {
            "opset" => model.opset = Some(value),
            "ir" | "ir-version" => model.ir = Some(value),
            _ => return Err(wrong()),
        }
    }
    Ok(model)
}

/// This machine, as far as it can be seen. What cannot is said, as what is not given is.
fn of_this_machine() -> Given {
    let seen = detect(&Host::this());
    Given {
        platform: seen.platform,
        libc: seen.libc,
        driver: seen.driver,
        gpus: (!seen.gpus.is_empty()).then_some(seen.gpus),
        unknown_gpus: seen.unknown_gpus,
        python: seen.python,
        remarks: seen.remarks,
        ..Given::nothing()
    }
}

fn of_manifest(reference: &str) -> Result<Given, Failure> {
    let (path, target) = match reference.rsplit_once(':') {
        Some((path, target)) if !Path::new(reference).exists() && !target.contains(['/', '\\']) => {
            (path, Some(target))
        }
        _ => (reference, None),
    };
    let bytes = fs_err::read(path).map_err(Failure::system)?;
    let manifest = Manifest::parse_bytes(&bytes, path)?;
    let spec = manifest.target(target).map_err(|why| bad(&format!("{path}: {why}")))?;
    let Machine { platform, libc, driver, gpus, .. } = manifest.machine_of(&spec)?;
    let python = match spec.python.get_ref() {
        PythonRequest::Version(version) | PythonRequest::FreeThreaded(version) => {
            Some(version.clone())
        }
        PythonRequest::Range(_) => None,
    };
    let image =
        spec.machine.image.as_ref().and_then(|image| parse_image(image.get_ref(), platform).ok());
    Ok(Given {
        platform: Some(platform),
        libc,
        driver,
        gpus,
        unknown_gpus: Vec::new(),
        python,
        image,
        model: plan::model(manifest.model.as_ref()),
        settings: manifest.audit.clone(),
        remarks: Vec::new(),
    })
}

impl Given {
    fn nothing() -> Self {
        Self {
            platform: None,
            libc: None,
            driver: None,
            gpus: None,
            unknown_gpus: Vec::new(),
            python: None,
            image: None,
            model: None,
            settings: AuditSettings::default(),
            remarks: Vec::new(),
        }
    }

    /// What was given, for reports.
    #[must_use]
    pub fn shown(&self) -> Vec<(&'static str, String)> {
        let mut shown = Vec::new();
        let mut add = |key, value: Option<String>| {
            if let Some(value) = value {
                shown.push((key, value));
            }
        };
        add("platform", self.platform.map(|platform| platform.to_string()));
        add("python", self.python.as_ref().map(ToString::to_string));
        add("driver", self.driver.as_ref().map(ToString::to_string));
        let gpus = self.gpus.iter().flatten().map(|gpu| gpu.name.clone());
        let names: Vec<String> =
            gpus.chain(self.unknown_gpus.iter().map(|(name, _)| name.clone())).collect();
        add("gpus", (!names.is_empty()).then(|| names.join(", ")));
        add("image", self.image.as_ref().map(|image| image.tag.clone()));
        match &self.libc {
            Some(Libc::Glibc(version)) => add("glibc", Some(version.to_string())),
            Some(Libc::Musl(version)) => add("musl", Some(version.to_string())),
            None => {}
        }
        shown
    }

    /// The machine that files are judged on.
    #[must_use]
    pub fn machine(&self, image: Option<&Image>) -> Machine {
        let of_image = image.and_then(|image| image.glibc.clone()).map(Libc::Glibc);
        Machine {
            platform: self.platform.unwrap_or(Platform::LinuxX86_64),
            libc: self.libc.clone().or(of_image),
            driver: self.driver.clone(),
            gpus: self.gpus.clone(),
            cuda: None,
            cudnn: None,
            libraries: Libraries::Wheels,
        }
    }
}
