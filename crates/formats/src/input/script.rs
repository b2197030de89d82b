//! A Python script that says what it needs: the block of comments that PEP 723 defines.

use super::build::Builder;
use super::pyproject;

const START: &str = "# /// script";
const END: &str = "# ///";
/// What the block stands for in a pyproject.toml; no longer than [`START`].
const TABLE: &str = "[project]";

/// Whether a text has such a block.
pub(super) fn is_script<'a>(lines: impl IntoIterator<Item = &'a str>) -> bool {
    let mut lines = lines.into_iter().map(str::trim_end).skip_while(|line| *line != START).skip(1);
    lines.any(|line| line == END)
}

/// Reads the file at `file`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    pyproject::read_text(builder, &as_pyproject(&text), file);
}

/// The block as a pyproject.toml in which every byte stands where it stands in the script: the marks of comments and the code
/// around the block are blanks.
fn as_pyproject(text: &str) -> String {
    let mut inside = false;
    let mut done = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let marked = content.trim_end();
        let shown = if !inside && !done && marked == START {
            inside = true;
            Some(TABLE)
        } else if inside && marked == END {
            (inside, done) = (false, true);
            None
        } else if inside {
            // `#` alone is an empty line of the block; anything without the mark ends it.
            let body = content.strip_prefix("# ").or_else(|| content.strip_prefix('#'));
            inside = body.is_some();
            body
        } else {
            None
        };
        let before = match shown {
            Some(TABLE) | None => 0,
            Some(body) => content.len() - body.len(),
        };
        let shown = shown.unwrap_or_default();
        out.extend(std::iter::repeat_n(' ', before));
        out.push_str(shown);
        out.extend(std::iter::repeat_n(' ', content.len() - before - shown.len()));
        out.push_str(line.get(content.len()..).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Kind, MemoryLoader, sniff};

    const SCRIPT: &str = "#!/usr/bin/env python\n\
        # /// script\n\
        # requires-python = \">=3.11\"\n\
        # dependencies = [\n\
        #   \"torch==2.6.0\",\n\
        #   \"numpy<2\",  # what it was built with\n\
        # ]\n\
        #\n\
        # [tool.uv]\n\
        # exclude-newer = \"2026-01-01T00:00:00Z\"\n\
        # ///\n\
        import torch\n\
        é = \"dependencies = ['nothing']\"\n";

    #[test]
    fn a_block_is_read_where_it_stands() {
        assert_eq!(sniff(SCRIPT.as_bytes(), "train.py"), Kind::Script);
        let input = crate::input::read(SCRIPT.as_bytes(), "train.py", &MemoryLoader::default());
        assert!(input.problems.is_empty(), "{:?}", input.problems);
        let names: Vec<&str> = input.entries.iter().map(|entry| entry.raw_name.as_str()).collect();
        assert_eq!(names, ["torch", "numpy"]);
        let torch = &input.entries[0].span;
        assert_eq!(SCRIPT.get(torch.start..torch.end), Some("torch==2.6.0"));
        assert_eq!(input.python.map(|python| python.specifiers).as_deref(), Some(">=3.11"));
    }

    #[test]
    fn every_byte_keeps_its_place() {
        for text in
            [SCRIPT, "# /// script\n# a = 1", "é\r\n# /// script\r\n#\r\n#x = 1\r\n# ///\r\n"]
        {
            let blanked = as_pyproject(text);
            assert_eq!(blanked.len(), text.len());
            let table = blanked.find(TABLE).expect("the block begins") + TABLE.len();
            for (at, byte) in blanked.bytes().enumerate().skip(table).filter(|(_, b)| *b != b' ') {
                assert_eq!(text.as_bytes().get(at), Some(&byte), "{at} of {text}");
            }
        }
    }
}
