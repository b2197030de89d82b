//! Codes of findings: how rules map to them, and what is documented about each.

use super::finding::Severity;
pub use super::table::Code;
use crate::rules::Rule;

/// What is documented about a code.
#[derive(Clone, Copy, Debug)]
pub struct Page {
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
    /// The code of a violated rule. The match is complete: a rule without a code does not compile.
    #[must_use]
    pub const fn of(rule: Rule) -> Self {
        match rule {
            Rule::BackendMismatch
            | Rule::CompanionMismatch
            | Rule::CompiledHere
            | Rule::ExtensionSkipped => Self::CompanionMismatch,
            Rule::BrokenRelease => Self::BrokenRelease,
            Rule::CpuBuild | Rule::ForeignAccelerator => Self::CpuOnlyBuild,
            Rule::CudaMajorMismatch | Rule::LibraryCuda | Rule::TensorrtMismatch => {
                Self::CudaMajorMismatch
            }
            Rule::CudnnAbi | Rule::CudnnMismatch | Rule::LibraryCudnn => Self::CudnnMismatch,
            Rule::DeletedRelease => Self::VersionNotFound,
            Rule::DriverBranch => Self::DriverDroppedGpu,
            Rule::DriverFloor | Rule::ForwardCompat => Self::DriverTooOld,
            Rule::HostDriver | Rule::MissingLibrary | Rule::Placeholder => Self::LibraryMissing,
            Rule::ImageDriver => Self::ImageDriver,
            Rule::IrTooNew | Rule::OnnxDefaultModel | Rule::OpsetNotWritten | Rule::OpsetTooNew => {
                Self::OpsetTooNew
            }
            Rule::LibraryFloor | Rule::NoKernelImage | Rule::ToolkitWindow => Self::NoKernelImage,
            Rule::LostWheel => Self::PinConflict,
            Rule::ModuleClash | Rule::SharedFiles => Self::ModuleClash,
            Rule::NumpyAbi => Self::NumpyAbi,
            Rule::OldPip => Self::GlibcTooOld,
            Rule::OwnTorch => Self::ImageMismatch,
            Rule::PtxIsa => Self::PtxNeedsNewerDriver,
            Rule::StrayWheel => Self::IndexMissing,
        }
    }

    /// A code by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// The documentation, in Markdown. The pages under `docs/rules` are this text.
    #[must_use]
    pub fn markdown(self) -> String {
        let page = self.page();
        format!(
            "# {self}\n\n{}\n\nSeverity: {}\n\n## Why\n\n{}\n\n## Source\n\n{}\n\n## Example\n\n```text\n{}\n```\n\n## Fix\n\n{}\n",
            page.title,
            page.severity.as_str(),
            page.why,
            page.source,
            page.example,
            page.fix
        )
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_sorted_unique_and_documented() {
        assert!(Code::ALL.windows(2).all(|pair| pair[0].as_str() < pair[1].as_str()));
        for code in Code::ALL {
            assert_eq!(Code::find(code.as_str()), Some(*code));
            let page = code.page();
            for text in [page.title, page.why, page.source, page.example, page.fix] {
                assert!(text.len() > 8, "{code} has an empty part");
            }
        }
    }

    #[test]
    fn the_folder_has_one_page_for_each_code() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
        for code in Code::ALL {
            let path = folder.join(format!("{code}.md"));
            if std::env::var_os("CUDA_LOCK_WRITE_PAGES").is_some() {
                std::fs::create_dir_all(&folder).expect("docs can be made");
                std::fs::write(&path, code.markdown()).expect("docs can be written");
            }
            let page = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(page, code.markdown(), "{code} differs: run with CUDA_LOCK_WRITE_PAGES=1");
        }
        let files = std::fs::read_dir(folder).expect("docs are there");
        let names =
            files.map(|file| file.expect("read").file_name().to_string_lossy().into_owned());
        let pages: BTreeSet<String> = names.collect();
        let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
        assert_eq!(pages, codes, "a page without a code");
    }
}
