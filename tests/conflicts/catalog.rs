//! An index in memory with releases of the real projects, and problems to solve with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, CoreMetadata, File, Metadata, OnMetadata, OnProject, Project,
};
use cuda_lock_constraint::machine::{Libc, Machine, Platform};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::solve::{Problem, Source, SourceKind};
use cuda_lock_constraint::target::Target;
use cuda_lock_constraint::version::SourceId;

/// One release: tags, requirements, and what the index says of its files.
#[derive(Clone, Default)]
pub struct Release {
    pub tags: Vec<String>,
    requires: Vec<Arc<str>>,
    requires_python: Option<Arc<str>>,
    yanked: Option<Arc<str>>,
    uploaded: Option<String>,
}

#[derive(Clone, Default)]
pub struct Index(BTreeMap<Name, BTreeMap<pep440_rs::Version, Release>>);

impl Index {
    pub fn release(&mut self, name: &str, version: &str) -> &mut Release {
        let name = Name::new(name).unwrap();
        self.0.entry(name).or_default().entry(version.parse().unwrap()).or_default()
    }

    /// A pure release.
    pub fn with(mut self, name: &str, version: &str, requires: &[&str]) -> Self {
        let release = self.release(name, version);
        release.tags = vec!["py3-none-any".to_owned()];
        release.requires = requires.iter().map(|text| Arc::from(*text)).collect();
        self
    }

    /// A release with wheels for these Pythons and this glibc: `cp38 cp311@2_17`.
    pub fn built(mut self, name: &str, version: &str, built: &str, requires: &[&str]) -> Self {
        let (pythons, glibc) = built.split_once('@').unwrap();
        let release = self.release(name, version);
        let tag = |python| format!("{python}-{python}-manylinux_{glibc}_x86_64");
        release.tags = pythons.split(' ').map(tag).collect();
        release.requires = requires.iter().map(|text| Arc::from(*text)).collect();
        self
    }

    pub fn yanked(mut self, name: &str, version: &str, why: &str) -> Self {
        self.release(name, version).yanked = Some(why.into());
        self
    }

    pub fn uploaded(mut self, name: &str, version: &str, day: &str) -> Self {
        self.release(name, version).uploaded = Some(format!("{day}T00:00:00Z"));
        self
    }

    pub fn python(mut self, name: &str, version: &str, specifiers: &str) -> Self {
        self.release(name, version).requires_python = Some(specifiers.into());
        self
    }
}

impl Catalog for Index {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        let Some(releases) = self.0.get(&name).filter(|_| source == SourceId(0)) else {
            return Ok(None);
        };
        let files = |(version, release): (&pep440_rs::Version, &Release)| {
            let file = |tag: &String| {
                let filename = format!("{}-{version}-{tag}.whl", name.as_str().replace('-', "_"));
                File {
                    url: format!("https://index.example/{filename}"),
                    filename,
                    sha256: None,
                    size: None,
                    requires_python: release.requires_python.clone(),
                    yanked: release.yanked.clone(),
                    upload_time: release.uploaded.as_ref().map(|time| time.parse().unwrap()),
                    core_metadata: CoreMetadata::Yes,
                }
            };
            release.tags.iter().map(file).collect::<Vec<_>>()
        };
        Ok(Some(Arc::new(Project {
            versions: releases.keys().cloned().collect::<Vec<_>>().into(),
            files: Box::new(releases.iter().map(files).collect::<Vec<_>>()),
        })))
    }

    fn metadata(
        &self,
        _: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        let version = file.filename.split('-').nth(1).unwrap();
        let release = &self.0[&name][&version.parse().unwrap()];
        Ok(Arc::new(Metadata {
            name: name.to_string(),
            version: version.to_owned(),
            requires_dist: release.requires.clone(),
            requires_python: release.requires_python.clone(),
            provides_extra: vec!["and-cuda".to_owned()],
            source: None,
        }))
    }

    fn expect_project(&self, _: SourceId, _: Name, _: OnProject) {}

    fn expect_metadata(&self, _: SourceId, _: Name, _: &File, _: OnMetadata) {}

    fn wants_hints(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<CatalogError> {
        None
    }
}

/// torch, its companions and what else the cases need, as PyPI has them.
pub fn pypi() -> Index {
    let to_311 = "cp38 cp39 cp310 cp311@2_17";
    let to_312 = "cp38 cp39 cp310 cp311 cp312@2_17";
    let to_313 = "cp39 cp310 cp311 cp312 cp313@2_17";
    let new = "cp310 cp311 cp312 cp313@2_28";
    let cu121 = "nvidia-cuda-runtime-cu12 (==12.1.105) ; platform_system == \"Linux\"";
    let cudnn8 = "nvidia-cudnn-cu12 (==8.9.2.26) ; platform_system == \"Linux\"";
    let cudnn91 = "nvidia-cudnn-cu12==9.1.0.70; platform_system == \"Linux\"";
    let cu128 = "nvidia-cuda-runtime-cu12==12.8.90; platform_system == \"Linux\"";
    let cudnn910 = "nvidia-cudnn-cu12==9.10.2.21; platform_system == \"Linux\"";
    let torch_2_0 = ["nvidia-cuda-runtime-cu11 (==11.7.99)", "nvidia-cudnn-cu11 (==8.5.0.96)"];
    let tensorflow = [
        "nvidia-cuda-runtime-cu12==12.3.101; extra == \"and-cuda\"",
        "nvidia-cudnn-cu12==8.9.7.29; extra == \"and-cuda\"",
    ];
    let mut index = Index::default()
        .built("torch", "2.0.1", to_311, &torch_2_0)
        .built("torch", "2.1.2", to_311, &[cu121, cudnn8])
        .built("torch", "2.2.2", to_312, &[cu121, cudnn8])
        .built("torch", "2.3.1", to_312, &[cu121, cudnn8])
        .built("torch", "2.4.0", to_312, &[cu121, cudnn91])
        .built("torch", "2.6.0", to_313, &["nvidia-cuda-runtime-cu12==12.4.127", cudnn91])
        .built("torch", "2.8.0", new, &[cu128, cudnn910])
        .built("torch", "2.10.0", new, &[cu128, cudnn910])
        .built(
            "torch",
            "2.11.0",
            new,
            &["cuda-toolkit[cudart]==13.0.2", "nvidia-cudnn-cu13==9.19.0.56"],
        )
        .built("torchvision", "0.15.2", to_311, &["torch (==2.0.1)"])
        .built("torchvision", "0.18.1", to_312, &["torch (==2.3.1)"])
        .built("torchvision", "0.19.0", to_312, &["torch (==2.4.0)"])
        .built("torchvision", "0.21.0", to_313, &["torch==2.6.0"])
        .built("torchvision", "0.26.0", new, &["torch==2.11.0"])
        .built("torchaudio", "2.3.1", to_312, &["torch==2.3.1"])
        .built("torchaudio", "2.6.0", to_313, &["torch==2.6.0"])
        .built("torchaudio", "2.11.0", new, &[])
        .built("onnxruntime-gpu", "1.16.3", to_311, &[])
        .built("onnxruntime-gpu", "1.18.1", "cp38 cp39 cp310 cp311 cp312@2_28", &[])
        .built("onnxruntime-gpu", "1.19.2", "cp38 cp39 cp310 cp311 cp312@2_28", &[])
        .built("onnxruntime-gpu", "1.23.2", new, &[])
        .built("onnxruntime-gpu", "1.31.1", "cp311 cp312 cp313@2_28", &[])
        .built("onnxruntime", "1.18.1", "cp38 cp311 cp312@2_27", &["numpy>=1.21.6"])
        .built("onnxruntime", "1.23.2", "cp311 cp312 cp313@2_27", &["numpy>=1.21.6"])
        .built("xformers", "0.0.27", to_312, &["torch==2.3.1"])
        .built("tensorflow", "2.16.1", to_312, &tensorflow)
        .with("faster-whisper", "1.1.0", &["onnxruntime<2,>=1.14"])
        .with("cuda-toolkit", "13.0.2", &["nvidia-cuda-runtime==13.0.96; extra == \"cudart\""]);
    for (name, versions) in [
        ("numpy", "1.26.4 2.3.5"),
        ("nvidia-cuda-runtime", "13.0.96"),
        ("nvidia-cudnn-cu13", "9.19.0.56"),
        ("nvidia-cuda-runtime-cu11", "11.7.99 11.8.89"),
        ("nvidia-cudnn-cu11", "8.5.0.96"),
        ("nvidia-cuda-runtime-cu12", "12.1.105 12.3.101 12.4.127 12.8.90"),
        ("nvidia-cudnn-cu12", "8.9.2.26 8.9.7.29 9.1.0.70 9.10.2.21"),
        ("nvidia-cublas-cu11", "11.11.3.6"),
        ("nvidia-cublas-cu12", "12.4.5.8"),
        ("nvidia-cublas", "13.1.0.3"),
        ("nvidia-cufft-cu11", "10.9.0.58"),
        ("nvidia-cufft-cu12", "11.2.1.3"),
        ("nvidia-cufft", "12.0.0.61"),
        ("nvidia-curand-cu11", "10.3.0.86"),
        ("nvidia-curand-cu12", "10.3.5.147"),
        ("nvidia-curand", "10.4.0.35"),
        ("nvidia-cuda-nvrtc-cu11", "11.8.89"),
        ("nvidia-cuda-nvrtc-cu12", "12.4.127"),
        ("nvidia-cuda-nvrtc", "13.0.88"),
    ] {
        for version in versions.split(' ') {
            index = index.with(name, version, &[]);
        }
    }
    index
}

/// A problem on Linux x86-64, from PyPI alone.
pub fn problem(python: &str, requirements: &[&str]) -> Problem {
    let target = Target::new(Platform::LinuxX86_64, &python.parse().unwrap());
    let parse = |text: &&str| Arc::new(text.parse::<Requirement>().unwrap());
    let source = Source {
        id: SourceId(0),
        name: "pypi".to_owned(),
        kind: SourceKind::PyPi,
        only: None,
        explicit: false,
        plain_linux: false,
    };
    let machine = Machine::new(target.platform);
    Problem::new(target, machine, requirements.iter().map(parse).collect(), vec![source])
}

pub fn on(driver: &str, gpu: &str, requirements: &[&str]) -> Problem {
    let mut problem = problem("3.11", requirements);
    problem.machine.driver = Some(driver.parse().unwrap());
    if !gpu.is_empty() {
        problem.machine.gpus = Some(vec![find_gpu(gpu).unwrap()]);
    }
    problem
}

pub fn glibc(version: &str, requirements: &[&str]) -> Problem {
    let mut problem = problem("3.11", requirements);
    let libc = Libc::Glibc(version.parse().unwrap());
    problem.machine.libc = Some(libc.clone());
    problem.target.libc = Some(libc);
    problem
}
