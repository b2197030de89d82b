//! All rules on what is installed.

use std::collections::BTreeMap;

use super::absent;
use super::around;
use super::beside;
use super::conda;
use super::finding::{FactText, Finding, Severity, Verdict};
use super::install::{Installed, Installer, Taken};
use super::layers;
use super::pick::{Picked, Picker};
use super::places;
use super::question::Question;
use super::table::Code;
use crate::catalog::Catalog;
use crate::check::{Assignment, violations};
use crate::constraint::{Constraint, Fact, Force, Reason};
use crate::machine::{Libc, Libraries, Machine};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::RequirementCache;
use crate::rules::Rule;
use crate::rules::torch::TORCH;
use crate::rules::{self, Build, Origin, advice, companion, library, onnxruntime, opens, unjudged};
use crate::version::{DistVersion, SourceId, Version};
use crate::wheel::WheelName;

/// Everything that is gathered about one environment.
pub(super) struct Case<'a> {
    pub(super) question: &'a Question,
    pub(super) picker: &'a Picker<'a>,
    pub(super) requirements: &'a RequirementCache,
    pub(super) installed: Installed,
    /// The machine, with libraries of the system where nothing else brings them.
    pub(super) machine: Machine,
    pub(super) constraints: Vec<Constraint>,
    pub(super) findings: Vec<Finding>,
}

/// Judges one environment of a file on its machine.
///
/// Blocks on the catalog, as [`crate::solve::solve`] does. What the catalog cannot tell is said in
/// [`Verdict::unchecked`].
#[must_use]
pub fn audit(question: &Question, catalog: &dyn Catalog) -> Verdict {
    let picker = Picker::new(question, catalog);
    let requirements = RequirementCache::new(question.target.marker_environment());
    let installer = Installer::new(&picker, &requirements);
    let mut installed = installer.run();
    let mut findings = Vec::new();
    places::named_wheels(&picker, &mut installed, &mut findings);
    conda::packages(&picker, &mut installed, &mut findings);
    around::torch_of_image(&picker, &mut installed);
    let mut machine = question.machine.clone();
    let has_torch = Name::new(TORCH).is_ok_and(|torch| installed.taken.contains_key(&torch));
    if question.image.is_some() && !has_torch {
        machine.libraries = Libraries::System;
    }
    let mut case = Case {
        question,
        picker: &picker,
        requirements: &requirements,
        installed,
        machine,
        constraints: Vec::new(),
        findings,
    };
    absent::judge(&mut case);
    case.gather(&installer);
    case.evaluate();
    layers::judge(&mut case);
    places::judge(&mut case);
    around::judge(&mut case);
    beside::judge(&mut case);
    case.finish()
}

impl Case<'_> {
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

    /// `name version` of what is installed.
    pub(super) fn title(&self, package: Package) -> String {
        let taken = package.dist_name().and_then(|name| self.installed.taken.get(&name));
        match taken {
            Some(taken) => format!("{package} {}", taken.build.version),
            None => package.to_string(),
        }
    }

    pub(super) fn line_of(&self, package: Package) -> Option<usize> {
        self.installed.taken.get(&package.dist_name()?)?.line
    }

    fn gather(&mut self, installer: &Installer<'_>) {
        let mut constraints = Vec::new();
        let mut broken: Vec<(Name, Fact)> = Vec::new();
        for (name, taken) in &self.installed.taken {
            let build = self.build(*name, taken);
            match rules::constraints(&build, &self.machine, self.question.model.as_ref()) {
                Ok(found) => constraints.extend(found),
                Err(fact) => broken.push((*name, fact)),
            }
            constraints.extend(advice::constraints(&build, self.question.model.as_ref()));
            let subject = (Package::dist(*name), Version::Dist(taken.build.version.clone()));
            for requirement in installer.required(taken) {
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
        for (name, fact) in broken {
            let package = Package::dist(name);
            let message = format!("{} cannot be used: {}", self.title(package), fact.text);
            self.findings.push(Finding {
                code: Code::of(fact.rule),
                severity: Severity::Error,
                package: Some(name),
                message,
                line: self.line_of(package),
                facts: vec![FactText::of(&fact)],
                symptom: fact.symptom.clone(),
                fix: None,
            });
        }
    }

    /// What the machine fixes and what is installed.
    fn assignment(&self) -> Assignment {
        let mut pins: Assignment = self
            .installed
            .taken
            .iter()
            .map(|(name, taken)| (Package::dist(*name), Version::Dist(taken.build.version.clone())))
            .collect();
        pins.extend(self.machine_layers());
        pins
    }

    /// The layers that the machine fixes.
    pub(super) fn machine_layers(&self) -> BTreeMap<Package, Version> {
        let machine = &self.question.machine;
        let mut layers = BTreeMap::new();
        if let Some(Libc::Glibc(glibc)) = &machine.libc {
            layers.insert(Package::Glibc, Version::System(glibc.clone()));
        }
        if let Some(driver) = &machine.driver {
            layers.insert(Package::Driver, Version::System(driver.clone()));
        }
        for (n, gpu) in (0_u8..).zip(machine.gpus.iter().flatten()) {
            layers.insert(Package::Gpu(n), Version::System(gpu.capability.clone()));
        }
        layers
    }

    /// Constraints on distributions and on what the machine fixes. The layers that are left to decide are judged together
    /// by [`layers::judge`].
    fn evaluate(&mut self) {
        let pins = self.assignment();
        let mut found = Vec::new();
        let mut libraries: BTreeMap<Name, Vec<Constraint>> = BTreeMap::new();
        for violation in violations(&pins, &self.constraints) {
            let constraint = violation.constraint;
            let is_dist = constraint.package.dist_name().is_some();
            if !is_dist && violation.found.is_none() {
                continue;
            }
            let rule = match &constraint.reason {
                Reason::Matrix(fact) => Some(fact.rule),
                _ => None,
            };
            if violation.found.is_none() {
                match rule {
                    Some(Rule::MissingLibrary) => {
                        if let Some(name) = constraint.subject.0.dist_name() {
                            libraries.entry(name).or_default().push(constraint.clone());
                        }
                    }
                    Some(_) => found.push(self.not_installed(constraint)),
                    None if self.question.closed => found.push(self.not_installed(constraint)),
                    None => {}
                }
                continue;
            }
            found.push(self.violated(constraint, violation.found));
        }
        self.findings.extend(found.into_iter().flatten());
        for (name, missing) in libraries {
            self.findings.extend(self.missing_libraries(name, &missing));
        }
    }

    /// What is required is not there, and nothing is known to bring it.
    fn not_installed(&self, constraint: &Constraint) -> Option<Finding> {
        let name = constraint.package.dist_name()?;
        if self.installed.missing.iter().any(|(missing, ..)| *missing == name) {
            return None;
        }
        // Whether it is required at all depends on a Python that is not known.
        let hangs_on_python = matches!(&constraint.reason, Reason::Metadata { requirement }
            if requirement.split_once(';').is_some_and(|(_, marker)| marker.contains("python_")));
        if hangs_on_python && !self.question.python_known {
            return None;
        }
        // A package whose index could not be read may be there.
        let unread = self.picker.unchecked.borrow().iter().any(|text| {
            text.starts_with(&format!("{name}:")) || text.starts_with(&format!("{name} on "))
        });
        if unread {
            return None;
        }
        let subject = self.title(constraint.subject.0);
        Some(Finding {
            code: Code::MissingDependency,
            severity: Severity::Error,
            package: constraint.subject.0.dist_name(),
            message: format!("{subject} needs {name}, which nothing installs"),
            line: self.line_of(constraint.subject.0),
            facts: vec![FactText::of_reason(&subject, &constraint.reason)],
            symptom: Some(format!(
                "ModuleNotFoundError: No module named '{}'",
                name.as_str().replace('-', "_")
            )),
            fix: Some(format!("add {name}")),
        })
    }

    fn violated(&self, constraint: &Constraint, found: Option<&Version>) -> Option<Finding> {
        let subject = self.title(constraint.subject.0);
        let (code, mut severity, symptom) = match &constraint.reason {
            Reason::Matrix(fact) => (Code::of(fact.rule), Severity::Error, fact.symptom.clone()),
            Reason::RequiresPython { .. } => (Code::PythonUnsupported, Severity::Error, None),
            _ => (self.pin_code(constraint), Severity::Error, None),
        };
        if let Reason::Matrix(fact) = &constraint.reason {
            // A weekly build of onnx is there for what the next one writes; with a release, models may come from elsewhere.
            let weekly =
                constraint.subject.0.dist_name().is_some_and(|n| n.as_str() == "onnx-weekly");
            let depends = match fact.rule {
                Rule::OnnxDefaultModel => !weekly && !self.both_pinned(constraint),
                Rule::CompiledHere => true,
                _ => false,
            };
            if depends {
                severity = Severity::Warning;
            }
        }
        let have = match (constraint.package, found) {
            (Package::Driver | Package::Glibc | Package::Gpu(_), Some(version)) => {
                self.machine_words(constraint.package, version)
            }
            (package, _) => self.title(package),
        };
        let reason = FactText::of_reason(&subject, &constraint.reason);
        let message = format!("{subject} does not go with {have}: {}", reason.text);
        let mut facts = vec![reason];
        if constraint.package.dist_name().is_some() {
            facts.push(self.place_of(constraint.package));
        } else {
            facts.push(FactText::new(format!("the machine has {have}"), "the machine"));
        }
        let line = self.blamed(constraint);
        Some(Finding {
            code,
            severity,
            package: constraint.subject.0.dist_name(),
            message,
            line,
            facts,
            symptom,
            fix: None,
        })
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

    /// Why a distribution is there.
    fn place_of(&self, package: Package) -> FactText {
        let title = self.title(package);
        let taken = package.dist_name().and_then(|name| self.installed.taken.get(&name));
        match taken {
            Some(taken) if taken.pinned && taken.direct => {
                FactText::new(format!("{title} is pinned"), "the file")
            }
            Some(taken) if taken.direct => {
                FactText::new(format!("{title} is what an installer takes today"), "the index")
            }
            _ => FactText::new(format!("{title} is brought along"), "METADATA"),
        }
    }

    fn both_pinned(&self, constraint: &Constraint) -> bool {
        [constraint.subject.0, constraint.package].into_iter().all(|package| {
            package
                .dist_name()
                .and_then(|name| self.installed.taken.get(&name))
                .is_some_and(|taken| taken.pinned && taken.direct)
        })
    }

    /// The code of a METADATA requirement that another build does not meet.
    fn pin_code(&self, constraint: &Constraint) -> Code {
        let in_family = |package: Package| {
            package.dist_name().is_some_and(|name| companion::family(name).is_some())
        };
        if in_family(constraint.subject.0) && in_family(constraint.package) {
            Code::CompanionMismatch
        } else {
            Code::PinConflict
        }
    }

    /// The line to point at: that of the subject if a line names it, else that of the other side.
    fn blamed(&self, constraint: &Constraint) -> Option<usize> {
        let direct = |package: Package| {
            let taken = self.installed.taken.get(&package.dist_name()?)?;
            taken.direct.then_some(taken.line).flatten()
        };
        direct(constraint.subject.0)
            .or_else(|| direct(constraint.package))
            .or_else(|| self.line_of(constraint.subject.0))
    }

    /// Libraries that no wheel brings: torch of the same CUDA major version brings its own.
    fn missing_libraries(&self, name: Name, missing: &[Constraint]) -> Option<Finding> {
        let taken = self.installed.taken.get(&name)?;
        let build = self.build(name, taken);
        let of_runtime = name.as_str() == onnxruntime::GPU;
        let cuda_major = if of_runtime {
            onnxruntime::target(&build).map(|target| target.cuda_major)
        } else {
            opens::cuda_major(&build, &self.machine)
        };
        let torch = Name::new(TORCH)
            .ok()
            .and_then(|torch| Some((torch, self.installed.taken.get(&torch)?)));
        if let (Some((torch, torch_taken)), Some(cuda_major)) = (torch, cuda_major) {
            let accelerator =
                rules::torch::accelerator(&self.build(torch, torch_taken), self.machine.platform);
            // Another CUDA is reported as that. The same one brings the libraries, in its wheel or by its METADATA.
            let same = accelerator.is_some_and(|a| !a.is_cpu() && a.cuda.major() == cuda_major);
            let brings = torch_taken.metadata.as_ref().is_none_or(|metadata| {
                !metadata.requires_dist.iter().any(|line| line.starts_with("nvidia-"))
            });
            if same && (brings || !self.machine.platform.is_linux()) {
                return None;
            }
        }
        let any = self.installed.taken.keys().any(|name| library::is_library(*name));
        // Of a wheel from elsewhere only the name is known, not for which CUDA it was built.
        // What else opens libraries may find those of the system: only the plain name is asked for.
        let unknown = !of_runtime || taken.build.version.source() == SourceId::MAX;
        let assumed = unknown
            || missing.iter().any(|constraint| match &constraint.reason {
                Reason::Matrix(fact) => fact.text.contains(rules::ASSUMED),
                _ => false,
            });
        let subject = self.title(Package::dist(name));
        let facts: Vec<FactText> = missing
            .iter()
            .map(|constraint| FactText::of_reason(&subject, &constraint.reason))
            .collect();
        let wheels: Vec<String> =
            missing.iter().map(|constraint| constraint.package.to_string()).collect();
        let symptom = missing.iter().find_map(|constraint| match &constraint.reason {
            Reason::Matrix(fact) => fact.symptom.clone(),
            _ => None,
        });
        Some(Finding {
            code: Code::LibraryMissing,
            severity: if any || assumed { Severity::Warning } else { Severity::Error },
            package: Some(name),
            message: format!(
                "{subject} opens libraries that nothing here supplies: {}",
                wheels.join(", ")
            ),
            line: taken.line,
            facts,
            symptom,
            fix: Some(format!(
                "add {}, or torch of the same CUDA major version",
                wheels.join(", ")
            )),
        })
    }

    fn finish(mut self) -> Verdict {
        let mut seen = std::collections::BTreeSet::new();
        self.findings.retain(|finding| {
            let other = finding.facts.first().map(|fact| fact.text.clone());
            let key = if matches!(
                finding.code,
                Code::CompanionMismatch | Code::PinConflict | Code::ModuleClash
            ) {
                (finding.code, finding.package, None)
            } else {
                (finding.code, finding.package, other)
            };
            seen.insert(key)
        });
        self.findings.sort_by(|a, b| {
            let key = |finding: &Finding| {
                (
                    finding.line.unwrap_or(usize::MAX),
                    std::cmp::Reverse(finding.severity),
                    finding.code,
                )
            };
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        let mut unchecked = self.picker.unchecked.borrow().clone();
        for (name, taken) in &self.installed.taken {
            if unjudged::is_gpu_code_unknown(&self.build(*name, taken), &self.machine) {
                let title = self.title(Package::dist(*name));
                unchecked.insert(format!("GPU code of {title}: no fact about it"));
            }
        }
        let checked = self
            .installed
            .taken
            .iter()
            .map(|(name, taken)| (*name, taken.build.version.clone()))
            .collect();
        let opaque = self.installed.taken.iter().filter(|(_, taken)| taken.metadata.is_none());
        let opaque = opaque.map(|(name, _)| *name).collect();
        Verdict { findings: self.findings, checked, opaque, unchecked }
    }
}

/// A wheel that a line names, as a build.
pub(super) fn named(wheel: &WheelName, line: usize) -> Taken {
    Taken {
        build: Picked {
            version: DistVersion::new(wheel.version.clone(), SourceId::MAX),
            file: None,
            yanked: None,
            unfit: None,
        },
        metadata: None,
        extras: std::collections::BTreeSet::new(),
        line: Some(line),
        direct: true,
        pinned: true,
        expands: true,
    }
}
