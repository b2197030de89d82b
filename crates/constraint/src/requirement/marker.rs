//! Environment markers: PEP 508 as PyPA's dependency-specifier specification has it today.
//!
//! A marker is evaluated on one environment, so it stays a plain expression. Two questions are asked of it: does it hold
//! ([`Marker::evaluate`]), and, for the many evaluations of one solve, what is left of it once everything but `extra` is
//! known (`Marker::reduce`).
//!
//! - Variables that hold versions compare as versions when the other side is a version specifier; everything else compares
//!   as text, where an order holds only through equality, and `~=` never holds.
//! - `extra` is the empty text for the distribution itself and the extra's name for `name[extra]`; names compare
//!   normalised (PEP 685).
//! - `extras` and `dependency_groups` (PEP 751) and the `variant_*` variables (PEP 825) are empty sets: outside a lock
//!   file nothing is selected through them, and variant wheels are never chosen here.

mod environment;
mod grammar;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use pep440_rs::Version as Pep440;

use super::Mode;
use super::error::RequirementError;
use super::parse::parse_specifiers;
use crate::name::Name;
use crate::version::{DistVersion, SourceId, dist_range};

pub use environment::MarkerEnvironment;
use environment::Variable;

/// A marker, such as `python_version < "3.11" and extra == "test"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    text: Box<str>,
    expression: Expression,
}

/// What is left of a marker when only `extra` is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    Constant(bool),
    /// `extra == "name"` (`None`: the empty text), or its negation.
    Extra {
        extra: Option<Name>,
        equal: bool,
    },
    Compare(Box<Comparison>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    left: Operand,
    operator: MarkerOperator,
    right: Operand,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Variable(Variable),
    Text(Box<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkerOperator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Compatible,
    Arbitrary,
    In,
    NotIn,
}

impl MarkerOperator {
    /// As a marker writes it.
    fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Compatible => "~=",
            Self::Arbitrary => "===",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }

    /// Whether it compares versions when both sides are some.
    fn orders(self) -> bool {
        !matches!(self, Self::Arbitrary | Self::In | Self::NotIn)
    }
}

impl Marker {
    /// Reads a marker.
    ///
    /// # Errors
    /// When it cannot be read in `mode`.
    pub fn read(text: &str, mode: Mode) -> Result<Self, RequirementError> {
        let expression = grammar::parse(text, mode)?;
        Ok(Self { text: text.trim().into(), expression })
    }

    /// Whether the marker holds on `environment`, for the distribution itself or for one extra of it.
    #[must_use]
    pub fn evaluate(&self, environment: &MarkerEnvironment, extra: Option<Name>) -> bool {
        self.expression.holds(Some(environment), extra)
    }

    /// Whether a version of Python occurs in it.
    #[must_use]
    pub fn names_python(&self) -> bool {
        self.expression.names_python()
    }

    /// The marker as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The marker in one spelling, which is that of `packaging`: double quotes, single blanks, the current names of variables.
    #[must_use]
    pub fn canonical(&self) -> String {
        grammar::canonical(&self.text).0
    }

    /// Where, in [`as_str`](Self::as_str), `extra == …` stands without which the marker never holds.
    #[must_use]
    pub fn needs_extra(&self) -> Option<Range<usize>> {
        grammar::canonical(&self.text).1
    }

    /// What is left to evaluate on `environment`: a constant, or an expression over `extra` alone.
    pub(super) fn reduce(&self, environment: &MarkerEnvironment) -> Expression {
        self.expression.reduce(environment)
    }
}

impl FromStr for Marker {
    type Err = RequirementError;

    /// Reads it with repairs.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text, Mode::Repair)
    }
}

/// Whether `text` is a marker in `mode`.
pub(super) fn check(text: &str, mode: Mode) -> Result<(), RequirementError> {
    grammar::parse(text, mode).map(drop)
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl Expression {
    /// Without an environment every variable of it is empty; a reduced expression has none left.
    pub(super) fn holds(
        &self,
        environment: Option<&MarkerEnvironment>,
        extra: Option<Name>,
    ) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Extra { extra: named, equal } => (*named == extra) == *equal,
            Self::Compare(comparison) => comparison.holds(environment, extra),
            Self::And(parts) => parts.iter().all(|part| part.holds(environment, extra)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(environment, extra)),
        }
    }

    fn names_python(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Extra { .. } => false,
            Self::Compare(comparison) => {
                let python =
                    |operand: &Operand| matches!(operand, Operand::Variable(v) if v.is_python());
                python(&comparison.left) || python(&comparison.right)
            }
            Self::And(parts) | Self::Or(parts) => parts.iter().any(Self::names_python),
        }
    }

    fn reduce(&self, environment: &MarkerEnvironment) -> Self {
        match self {
            Self::Constant(_) | Self::Extra { .. } => self.clone(),
            Self::Compare(comparison) if comparison.names_extra() => self.clone(),
            Self::Compare(comparison) => Self::Constant(comparison.holds(Some(environment), None)),
            Self::And(parts) => Self::join(parts, environment, true),
            Self::Or(parts) => Self::join(parts, environment, false),
        }
    }

    /// Joins reduced parts; `neutral` is the constant that changes nothing: true for `and`, false for `or`.
    fn join(parts: &[Self], environment: &MarkerEnvironment, neutral: bool) -> Self {
        let mut open = Vec::new();
        for part in parts {
            match part.reduce(environment) {
                Self::Constant(value) if value == neutral => {}
                Self::Constant(value) => return Self::Constant(value),
                rest => open.push(rest),
            }
        }
        match open.pop() {
            None => Self::Constant(neutral),
            Some(only) if open.is_empty() => only,
            Some(last) => {
                open.push(last);
                if neutral { Self::And(open) } else { Self::Or(open) }
            }
        }
    }
}

impl Comparison {
    fn names_extra(&self) -> bool {
        [&self.left, &self.right].contains(&&Operand::Variable(Variable::Extra))
    }

    fn holds(&self, environment: Option<&MarkerEnvironment>, extra: Option<Name>) -> bool {
        let value = |operand: &'_ Operand| match operand {
            Operand::Text(text) => text.to_string(),
            Operand::Variable(Variable::Extra) => {
                extra.map_or_else(String::new, |name| name.as_str().to_owned())
            }
            Operand::Variable(variable) => {
                environment.map_or("", |environment| environment.value(*variable)).to_owned()
            }
        };
        let (left, right) = (value(&self.left), value(&self.right));
        let is_version =
            |operand: &Operand| matches!(operand, Operand::Variable(v) if v.is_version());
        let versions = is_version(&self.left) || is_version(&self.right);
        let compared = if versions { self.compare_versions(&left, &right) } else { None };
        compared.unwrap_or_else(|| self.compare_texts(&left, &right))
    }

    /// `None` when the right side is no version to compare with; a left side that is none matches nothing then.
    fn compare_versions(&self, left: &str, right: &str) -> Option<bool> {
        if !self.operator.orders() {
            return None;
        }
        let specifiers = parse_specifiers(&format!("{}{right}", self.operator.as_str())).ok()?;
        if specifiers.len() != 1 {
            return None;
        }
        let range = dist_range(&specifiers);
        let version = left.parse::<Pep440>();
        Some(version.is_ok_and(|v| range.contains(&DistVersion::new(v, SourceId(0)).into())))
    }

    fn compare_texts(&self, left: &str, right: &str) -> bool {
        match self.operator {
            MarkerOperator::Equal
            | MarkerOperator::Arbitrary
            | MarkerOperator::LessEqual
            | MarkerOperator::GreaterEqual => left == right,
            MarkerOperator::NotEqual => left != right,
            MarkerOperator::Less | MarkerOperator::Greater | MarkerOperator::Compatible => false,
            MarkerOperator::In => right.contains(left),
            MarkerOperator::NotIn => !right.contains(left),
        }
    }
}

#[cfg(test)]
mod tests;
