//! What is installed, as all checks see it.

use std::collections::{BTreeMap, BTreeSet};

use super::installer::{Installed, Installer, Picker, Taken, conda, image, named};
use super::question::Question;
use crate::constraint::{Constraint, Fact, Force, Reason};
use crate::machine::{Libc, Libraries, Machine};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::RequirementCache;
use crate::rules::torch::TORCH;
use crate::rules::{self, Build, Origin, advice, library, loading, onnxruntime, opens, torch};
use crate::version::{SystemVersion, Version};

/// Everything that is gathered about one environment before it is judged.
pub(super) struct Case<'a> {
    pub(super) question: &'a Question,
    pub(super) picker: &'a Picker<'a>,
    pub(super) requirements: &'a RequirementCache,
    pub(super) installed: Installed,
    /// Wheels that lines name and that do not fit.
    pub(super) misnamed: Vec<named::Misfit>,
    /// What conda lines select wrongly.
    pub(super) conda: Vec<conda::Fault>,
    /// The machine, with libraries of the system where nothing else brings them.
    pub(super) machine: Machine,
    /// What must hold.
    pub(super) constraints: Vec<Constraint>,
    /// Builds that cannot be used at all.
    pub(super) unusable: Vec<(Name, Fact)>,
    /// What METADATA of each build brings along.
    pub(super) brings: BTreeMap<Name, BTreeSet<Name>>,
}

impl<'a> Case<'a> {
    /// Finds out which builds the lines mean, and gathers all constraints on them.
    pub(super) fn new(picker: &'a Picker<'a>, requirements: &'a RequirementCache) -> Self {
        let question = picker.question;
        let installer = Installer::new(picker, requirements);
        let mut installed = installer.run();
        let misnamed = named::wheels(picker, &mut installed);
        let conda = conda::packages(picker, &mut installed);
        image::torch(picker, &mut installed);
        let mut machine = question.machine.clone();
        let has_torch = Name::new(TORCH).is_ok_and(|torch| installed.taken.contains_key(&torch));
        if question.image.is_some() && !has_torch {
            machine.libraries = Libraries::System;
        }
        let mut case = Self {
            question,
            picker,
            requirements,
            installed,
            misnamed,
            conda,
            machine,
            constraints: Vec::new(),
            unusable: Vec::new(),
            brings: BTreeMap::new(),
        };
        case.gather(&installer);
        case
    }

    fn gather(&mut self, installer: &Installer<'_>) {
        let mut constraints = Vec::new();
        let mut unusable: Vec<(Name, Fact)> = Vec::new();
        let mut brings: BTreeMap<Name, BTreeSet<Name>> = BTreeMap::new();
        for (name, taken) in &self.installed.taken {
            let build = self.build(*name, taken);
            match rules::constraints(&build, &self.machine, self.question.model.as_ref()) {
                Ok(found) => constraints.extend(found),
                Err(fact) => unusable.push((*name, fact)),
            }
            constraints.extend(advice::constraints(&build, self.question.model.as_ref()));
            let subject = (Package::dist(*name), Version::Dist(taken.build.version.clone()));
            for requirement in installer.required(taken) {
                brings.entry(*name).or_default().insert(requirement.name);
                // What cannot be installed brings nothing along; it still clashes with what other lines ask for.
                let asked =
                    |name| self.installed.taken.get(&name).is_some_and(|other| other.direct);
                if !taken.expands && !asked(requirement.name) {
                    continue;
                }
                let reason = Reason::Metadata { requirement: requirement.text().clone() };
                let edge = |package, range| Constraint {
                    subject: subject.clone(),
                    package,
                    range,
                    force: Force::Requires,
                    reason: reason.clone(),
                };
                constraints
                    .push(edge(Package::dist(requirement.name), requirement.range().clone()));
                for limit in
                    library::layer_of_requirement(requirement.name, &requirement.specifiers)
                {
                    constraints.push(edge(limit.package, limit.range));
                }
            }
        }
        self.constraints = constraints;
        self.unusable = unusable;
        self.brings = brings;
    }

    /// A build as the rules see it.
    pub(super) fn build<'b>(&'b self, name: Name, taken: &'b Taken) -> Build<'b> {
        let source = self.question.source(taken.build.version.source());
        Build {
            name,
            version: &taken.build.version,
            filename: taken.build.file.as_ref().map(|file| file.filename.as_str()),
            origin: source.map_or(Origin::Other, |source| source.origin()),
            metadata: taken.metadata.as_deref(),
            requirements: self.requirements,
        }
    }

    /// What is taken for a package.
    pub(super) fn taken(&self, package: Package) -> Option<&Taken> {
        self.installed.taken.get(&package.dist_name()?)
    }

    /// Whether a line names it.
    pub(super) fn is_direct(&self, package: Package) -> bool {
        self.taken(package).is_some_and(|taken| taken.direct)
    }

    /// `name version` of what is installed.
    pub(super) fn title(&self, package: Package) -> String {
        match self.taken(package) {
            Some(taken) => format!("{package} {}", taken.build.version),
            None => package.to_string(),
        }
    }

    /// The line through which a package is there.
    pub(super) fn line_of(&self, package: Package) -> Option<usize> {
        self.taken(package)?.line
    }

    /// The torch that is there.
    pub(super) fn torch(&self) -> Option<(Name, &Taken)> {
        let name = Name::new(TORCH).ok()?;
        Some((name, self.installed.taken.get(&name)?))
    }

    /// The torch that is there, and the CUDA that it is for; 0.0 for the CPU.
    pub(super) fn accelerator(&self) -> Option<(Name, SystemVersion)> {
        let (name, taken) = self.torch()?;
        let found = torch::accelerator(&self.build(name, taken), self.machine.platform)?;
        Some((name, found.cuda))
    }

    /// The wheels that supply the library of a layer ([`Package::Cuda`] or [`Package::Cudnn`]): what an image or the system
    /// has of it does not count then.
    pub(super) fn brings(&self, layer: Package) -> impl Iterator<Item = (Name, &Taken)> {
        let all = self.installed.taken.iter().map(|(name, taken)| (*name, taken));
        all.filter(move |(name, _)| library::brings(*name) == Some(layer))
    }

    /// Whether some wheel supplies the library of a layer.
    pub(super) fn has_layer(&self, layer: Package) -> bool {
        self.brings(layer).next().is_some()
    }

    /// The layers that the machine fixes.
    pub(super) fn machine_layers(&self) -> BTreeMap<Package, Version> {
        let machine = &self.question.machine;
        let mut layers = BTreeMap::new();
        if let Some(Libc::Glibc(glibc)) = &machine.libc {
            layers.insert(Package::Glibc, Version::System(glibc.clone()));
        }
        if let Some(macos) = &machine.macos {
            layers.insert(Package::Macos, Version::System(macos.clone()));
        }
        if let Some(driver) = &machine.driver {
            layers.insert(Package::Driver, Version::System(driver.clone()));
        }
        for (n, gpu) in (0_u8..).zip(machine.gpus.iter().flatten()) {
            layers.insert(Package::Gpu(n), Version::System(gpu.capability.clone()));
        }
        layers
    }

    /// A layer of the machine in words.
    pub(super) fn machine_words(&self, package: Package, version: &Version) -> String {
        match package {
            Package::Gpu(n) => {
                let gpus = self.question.machine.gpus.as_deref().unwrap_or_default();
                match gpus.get(usize::from(n)) {
                    Some(gpu) if gpu.name != gpu.capability.as_str() => {
                        format!("{} (compute capability {version})", gpu.name)
                    }
                    _ => format!("a GPU of compute capability {version}"),
                }
            }
            package => format!("{package} {version}"),
        }
    }

    /// What a program has to do before it finds the libraries that are installed: what `resolve` prints for the same builds.
    pub(super) fn steps(&self) -> Vec<loading::Step> {
        let builds: Vec<Build<'_>> =
            self.installed.taken.iter().map(|(name, taken)| self.build(*name, taken)).collect();
        let find = |name: &str| builds.iter().find(|build| build.name.as_str() == name).copied();
        let of_runtime = find(onnxruntime::GPU).map(|runtime| {
            loading::steps(&loading::Stack {
                runtime,
                torch: find(TORCH),
                platform: self.machine.platform,
                libraries: self.machine.libraries,
            })
        });
        let others = builds.iter().filter_map(|build| opens::step(build, &builds, &self.machine));
        of_runtime.into_iter().flatten().chain(others).collect()
    }
}
