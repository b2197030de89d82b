//! Codes of findings, and how the rules map to them.

use super::finding::Severity;

/// A code with everything that is documented about it.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// In kebab-case. Never changes.
    pub code: &'static str,
    /// How much it counts unless a setting says otherwise.
    pub severity: Severity,
    /// What it means, in one line.
    pub title: &'static str,
    /// Why that is so.
    pub why: &'static str,
    /// Where the rule is from.
    pub source: &'static str,
    /// A file and a machine for which it is found.
    pub example: &'static str,
    /// What to do.
    pub fix: &'static str,
}

impl Code {
    /// The documentation page, in Markdown. The pages under `docs/rules` are this text.
    #[must_use]
    pub fn page(&self) -> String {
        format!(
            "# {}\n\n{}\n\nSeverity: {}\n\n## Why\n\n{}\n\n## Source\n\n{}\n\n## Example\n\n```text\n{}\n```\n\n## Fix\n\n{}\n",
            self.code,
            self.title,
            self.severity.as_str(),
            self.why,
            self.source,
            self.example,
            self.fix
        )
    }
}

/// A code by its name.
#[must_use]
pub fn find_code(code: &str) -> Option<&'static Code> {
    super::table::CODES.iter().find(|row| row.code == code)
}

/// The rule identifiers of facts, with the code that a violation has.
const RULES: &[(&str, &str)] = &[
    ("backend-mismatch", "companion-mismatch"),
    ("broken-release", "broken-release"),
    ("companion-mismatch", "companion-mismatch"),
    ("compiled-here", "companion-mismatch"),
    ("cpu-build", "cpu-only-build"),
    ("cuda-major-mismatch", "cuda-major-mismatch"),
    ("cudnn-abi", "cudnn-mismatch"),
    ("cudnn-mismatch", "cudnn-mismatch"),
    ("deleted-release", "version-not-found"),
    ("driver-branch", "driver-dropped-gpu"),
    ("driver-floor", "driver-too-old"),
    ("foreign-accelerator", "cpu-only-build"),
    ("forward-compat", "driver-too-old"),
    ("host-driver", "library-missing"),
    ("image-driver", "image-driver"),
    ("ir-too-new", "opset-too-new"),
    ("library-cuda", "cuda-major-mismatch"),
    ("library-cudnn", "cudnn-mismatch"),
    ("library-floor", "no-kernel-image"),
    ("lost-wheel", "pin-conflict"),
    ("missing-library", "library-missing"),
    ("module-clash", "module-clash"),
    ("no-kernel-image", "no-kernel-image"),
    ("numpy-abi", "numpy-abi"),
    ("onnx-default-model", "opset-too-new"),
    ("opset-not-written", "opset-too-new"),
    ("old-pip", "glibc-too-old"),
    ("opset-too-new", "opset-too-new"),
    ("own-torch", "image-mismatch"),
    ("placeholder", "library-missing"),
    ("ptx-isa", "ptx-needs-newer-driver"),
    ("shared-files", "module-clash"),
    ("stray-wheel", "index-missing"),
    ("tensorrt-mismatch", "cuda-major-mismatch"),
    ("toolkit-window", "no-kernel-image"),
];

/// The code of a rule. Every rule that the producers name has one.
#[must_use]
pub fn code_of_rule(rule: &str) -> &'static str {
    let found = RULES.iter().find(|(known, _)| *known == rule);
    found.map_or("pin-conflict", |(_, code)| *code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::CODES;

    #[test]
    fn codes_are_sorted_unique_and_documented() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for row in CODES {
            for text in [row.title, row.why, row.source, row.example, row.fix] {
                assert!(text.len() > 8, "{} has an empty part", row.code);
            }
        }
    }

    #[test]
    fn every_rule_has_a_code_that_is_documented() {
        for (rule, code) in RULES {
            assert!(find_code(code).is_some(), "{rule} maps to {code}, which is not documented");
        }
    }

    #[test]
    fn the_pages_are_those_of_the_table() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
        for row in CODES {
            let path = folder.join(format!("{}.md", row.code));
            if std::env::var_os("CUDA_LOCK_WRITE_PAGES").is_some() {
                std::fs::create_dir_all(&folder).expect("docs can be made");
                std::fs::write(&path, row.page()).expect("docs can be written");
            }
            let page = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(page, row.page(), "{} differs: run with CUDA_LOCK_WRITE_PAGES=1", row.code);
        }
    }
}
