//! Version specifiers of pip, conda and Poetry as PEP 440 specifiers.

use std::str::FromStr;

use pep440_rs::{Operator, Version, VersionSpecifier, VersionSpecifiers};

use super::model::Origin;

/// Translates `text`, which is in the syntax of `origin`.
pub(super) fn to_pep440(text: &str, origin: Origin) -> Option<VersionSpecifiers> {
    let text = text.trim();
    match origin {
        Origin::Conda => conda(text),
        Origin::Poetry => poetry(text),
        Origin::CondaList if !text.is_empty() => None,
        _ => VersionSpecifiers::from_str(text.trim_end_matches([',', ' '])).ok(),
    }
}

/// conda: `=1.2` and `1.2.*` are prefixes, `1.2` and `==1.2` exact, `,` is "and"; alternatives are not one set of
/// specifiers.
fn conda(text: &str) -> Option<VersionSpecifiers> {
    let mut all = Vec::new();
    for clause in text.split(',').map(str::trim).filter(|c| !c.is_empty() && *c != "*") {
        if clause.contains('|') {
            return None;
        }
        let operators = ["==", "!=", "<=", ">=", "~=", "<", ">", "="];
        let operator = operators.into_iter().find(|o| clause.starts_with(o)).unwrap_or("");
        let rest = clause.get(operator.len()..)?.trim();
        // A trailing star means the prefix with or without a dot: `2.6*` and `2.6.*` differ only for 2.60.
        let (version, starred) = match rest.strip_suffix(".*").or_else(|| rest.strip_suffix('*')) {
            Some(prefix) => (prefix.trim_end_matches('.'), true),
            None => (rest, false),
        };
        let version = Version::from_str(version).ok()?;
        all.push(match operator {
            "=" => VersionSpecifier::from_version(Operator::EqualStar, version).ok()?,
            "==" | "" if starred => {
                VersionSpecifier::from_version(Operator::EqualStar, version).ok()?
            }
            "==" | "" => VersionSpecifier::from_version(Operator::Equal, version).ok()?,
            "!=" if starred => {
                VersionSpecifier::from_version(Operator::NotEqualStar, version).ok()?
            }
            other => VersionSpecifier::from_str(&format!("{other}{version}")).ok()?,
        });
    }
    Some(all.into_iter().collect())
}

/// Poetry: `^1.2.3`, `~1.2`, `1.2.*`, and a bare version that is exact; `,` or a blank is "and".
fn poetry(text: &str) -> Option<VersionSpecifiers> {
    if text.contains('|') {
        return None;
    }
    let mut all = Vec::new();
    for clause in clauses(text) {
        if clause == "*" {
            continue;
        }
        if let Some(version) = clause.strip_prefix('^') {
            let version = Version::from_str(version.trim()).ok()?;
            let zeros = version.release().iter().take_while(|n| **n == 0).count();
            let place = zeros.min(version.release().len().saturating_sub(1));
            all.extend(between(version, place)?);
        } else if let Some(version) = clause.strip_prefix('~').filter(|rest| !rest.starts_with('='))
        {
            let version = Version::from_str(version.trim()).ok()?;
            let place = version.release().len().saturating_sub(1).min(1);
            all.extend(between(version, place)?);
        } else if clause.starts_with(['<', '>', '!', '~', '=']) {
            let clause = if clause.starts_with('=') && !clause.starts_with("==") {
                format!("={clause}")
            } else {
                clause
            };
            all.push(VersionSpecifier::from_str(&clause).ok()?);
        } else {
            all.push(VersionSpecifier::from_str(&format!("=={clause}")).ok()?);
        }
    }
    Some(all.into_iter().collect())
}

/// Clauses apart by commas or by white space that no operator precedes.
fn clauses(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    for part in text.split([',', ' ']).filter(|p| !p.is_empty()) {
        match clauses.last_mut() {
            Some(last) if last.ends_with(['<', '>', '=', '^', '~', '!']) => last.push_str(part),
            _ => clauses.push(part.to_owned()),
        }
    }
    clauses
}

/// From `version` to the next number at `place`, with as many numbers as the version has up to there.
fn between(version: Version, place: usize) -> Option<[VersionSpecifier; 2]> {
    let mut upper: Vec<u64> = version.release().iter().take(place + 1).copied().collect();
    let last = upper.last_mut()?;
    *last = last.checked_add(1)?;
    while upper.len() < version.release().len() {
        upper.push(0);
    }
    let upper = Version::new(upper).with_epoch(version.epoch());
    Some([
        VersionSpecifier::from_version(Operator::GreaterThanEqual, version.without_local()).ok()?,
        VersionSpecifier::from_version(Operator::LessThan, upper).ok()?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(text: &str, origin: Origin) -> String {
        to_pep440(text, origin).map_or("none".to_owned(), |s| s.to_string())
    }

    #[test]
    fn each_syntax_keeps_its_meaning() {
        for (text, expected) in [
            ("^1.26", ">=1.26, <2.0"),
            ("^0.2.3", ">=0.2.3, <0.3.0"),
            ("^0.0.3", ">=0.0.3, <0.0.4"),
            ("^0", ">=0, <1"),
            ("~3.10", ">=3.10, <3.11"),
            ("~0.18.1", ">=0.18.1, <0.19.0"),
            ("~1", ">=1, <2"),
            ("2.3.1+cu121", "==2.3.1+cu121"),
            (">=1.18,<1.19", ">=1.18, <1.19"),
            (">= 1.18 <1.19", ">=1.18, <1.19"),
            ("*", ""),
            ("^1 || ^2", "none"),
        ] {
            assert_eq!(translated(text, Origin::Poetry), expected, "{text}");
        }
        for (text, expected) in [
            ("=3.10", "==3.10.*"),
            ("==2.2.2", "==2.2.2"),
            ("2.6*", "==2.6.*"),
            ("=2.6*", "==2.6.*"),
            (">=1.24,<2", ">=1.24, <2"),
            ("2.4.0", "==2.4.0"),
            ("3.11.*", "==3.11.*"),
            ("1.1.1w", "none"),
        ] {
            assert_eq!(translated(text, Origin::Conda), expected, "{text}");
        }
        assert_eq!(translated("<2,>=1.26", Origin::Pip), ">=1.26, <2");
        assert_eq!(translated("===what", Origin::Pip), "none");
    }
}
