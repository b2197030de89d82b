//! Pins and a judge over them, for tests of rules.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::Metadata;
use crate::constraint::{Constraint, Force, Reason};
use crate::machine::{Machine, Platform};
use crate::name::Name;
use crate::package::Package;
use crate::requirement::RequirementCache;
use crate::rules::broken;
use crate::rules::build::{Build, Origin};
use crate::rules::onnx_model::Model;
use crate::target::Target;
use crate::version::{DistVersion, Range, SourceId, Version};

/// Linux on x86-64.
pub(crate) fn linux() -> Platform {
    Platform::LinuxX86_64
}

/// A Linux machine whose CUDA libraries come from wheels.
pub(crate) fn machine() -> Machine {
    Machine::new(linux())
}

/// A pinned build.
#[derive(Clone)]
pub(crate) struct Pin {
    name: Name,
    version: DistVersion,
    origin: Origin<'static>,
    metadata: Option<Metadata>,
    requirements: Rc<RequirementCache>,
}

impl Pin {
    fn new(name: &str, version: &str, origin: Origin<'static>) -> Self {
        let target = Target::new(linux(), &"3.11".parse().expect("valid version"));
        Self {
            name: Name::new(name).expect("valid name"),
            version: DistVersion::new(version.parse().expect("valid version"), SourceId(0)),
            origin,
            metadata: None,
            requirements: Rc::new(RequirementCache::new(target.marker_environment())),
        }
    }

    /// From PyPI, or by its local label.
    pub(crate) fn pypi(name: &str, version: &str) -> Self {
        Self::new(name, version, Origin::PyPi)
    }

    /// From one of ONNX Runtime's feeds.
    pub(crate) fn feed(name: &str, version: &str, feed: &'static str) -> Self {
        Self::new(name, version, Origin::OrtFeed { name: feed })
    }

    /// From one of PyTorch's indexes.
    pub(crate) fn pytorch(name: &str, version: &str, backend: &'static str) -> Self {
        Self::new(name, version, Origin::PyTorch { backend })
    }

    /// With METADATA that has these requirements.
    pub(crate) fn requiring(mut self, lines: &[&str]) -> Self {
        self.metadata = Some(Metadata {
            requires_dist: lines.iter().map(|line| Arc::from(*line)).collect(),
            ..Metadata::default()
        });
        self
    }

    /// On another platform than Linux.
    pub(crate) fn on(mut self, platform: Platform) -> Self {
        let target = Target::new(platform, &"3.11".parse().expect("valid version"));
        self.requirements = Rc::new(RequirementCache::new(target.marker_environment()));
        self
    }

    pub(crate) fn build(&self) -> Build<'_> {
        Build {
            name: self.name,
            version: &self.version,
            filename: None,
            origin: self.origin,
            metadata: self.metadata.as_ref(),
            requirements: &self.requirements,
        }
    }
}

/// The rules that a set of pins violates. A layer (CUDA, cuDNN, a backend …) is violated when no version of it satisfies
/// every pin; a distribution when the pinned version does not, or when a required one is not pinned.
pub(crate) fn violations(
    pins: &[Pin],
    machine: &Machine,
    model: Option<&Model>,
) -> BTreeSet<&'static str> {
    let mut violated = BTreeSet::new();
    let mut by_package: BTreeMap<Package, Vec<Constraint>> = BTreeMap::new();
    for pin in pins {
        violated.extend(
            broken::unusable(&pin.build(), machine.platform).map(|fact| fact.rule.as_str()),
        );
        for constraint in super::constraints(&pin.build(), machine, model) {
            by_package.entry(constraint.package).or_default().push(constraint);
        }
    }
    if let Some(model) = model {
        let wish = |number: u64| {
            Range::singleton(Version::System(number.to_string().parse().expect("a number")))
        };
        for (package, number) in [(Package::Opset, model.opset), (Package::OnnxIr, model.ir)] {
            if let (Some(number), Some(constraints)) = (number, by_package.get_mut(&package)) {
                let mut own = constraints[0].clone();
                own.range = wish(number);
                constraints.insert(0, own);
            }
        }
    }
    for (package, constraints) in by_package {
        match package.dist_name() {
            Some(name) => violated.extend(against_pin(pins, name, &constraints)),
            None => violated.extend(without_common_version(&constraints)),
        }
    }
    violated
}

fn against_pin(pins: &[Pin], name: Name, constraints: &[Constraint]) -> Vec<&'static str> {
    let pinned = pins.iter().find(|pin| pin.name == name).map(|pin| &pin.version);
    let holds = |constraint: &&Constraint| match pinned {
        Some(version) => constraint.range.contains(&Version::Dist(version.clone())),
        None => constraint.force == Force::IfPresent,
    };
    constraints.iter().filter(|c| !holds(c)).map(rule).collect()
}

fn without_common_version(constraints: &[Constraint]) -> Option<&'static str> {
    let mut common = Range::full();
    for constraint in constraints {
        common = common.intersection(&constraint.range);
        if common.is_empty() {
            return Some(rule(constraint));
        }
    }
    None
}

fn rule(constraint: &Constraint) -> &'static str {
    match &constraint.reason {
        Reason::Matrix(fact) => fact.rule.as_str(),
        other => panic!("a rule gives facts, not {other:?}"),
    }
}
