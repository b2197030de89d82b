//! What pip from 24.1 on refuses in METADATA that earlier ones took.
//!
//! This program reads such lines as they are meant; pip passes a release with one of them over, and says that it has invalid
//! metadata.

use std::str::FromStr as _;

use pep440_rs::Version;

/// Why pip refuses a `Requires-Dist` line; `None` when it does not.
#[must_use]
pub fn refused(line: &str) -> Option<String> {
    let text = line.split(';').next().unwrap_or(line);
    if text.contains('@') {
        return None;
    }
    let start = text.find(['<', '>', '=', '!', '~'])?;
    let specifiers = text.get(start..)?.trim().trim_end_matches(')');
    specifiers.split(',').find_map(|clause| refused_clause(clause.trim()))
}

fn refused_clause(clause: &str) -> Option<String> {
    let operators = ["===", "==", "!=", "~=", ">=", "<=", ">", "<"];
    let operator = operators.into_iter().find(|operator| clause.starts_with(operator))?;
    let version = clause.get(operator.len()..)?.trim();
    if operator == "===" {
        return None;
    }
    let equality = matches!(operator, "==" | "!=");
    if let Some(prefix) = version.strip_suffix(".*") {
        if !equality {
            return Some(format!("'.*' can only be used with == or !=, not with {operator}"));
        }
        return Version::from_str(prefix).is_err().then(|| format!("'{version}' is no version"));
    }
    match Version::from_str(version) {
        Ok(version) if version.is_local() && !equality => {
            Some(format!("a local label can only be used with == or !=, not with {operator}"))
        }
        Ok(_) => None,
        Err(_) => Some(format!("'{version}' is no version")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pip_refuses() {
        for line in
            ["torch (>=1.9.*)", "torch>=1.9.*", "torch (>=2.0+cpu)", "pytz>dev; extra == 'a'"]
        {
            assert!(refused(line).is_some(), "{line}");
        }
    }

    #[test]
    fn what_pip_takes() {
        for line in [
            "torch (>=1.9,<2)",
            "torch==1.9.*",
            "torch!=2.0.*,>=1",
            "torch",
            "numpy>=1.21; python_version >= '3.10'",
            "torch==2.1.0+cu118",
            "x===any thing",
            "pip @ https://index.example/pip-1.zip",
            "a[b] (~=1.2)",
        ] {
            assert_eq!(refused(line), None, "{line}");
        }
    }
}
