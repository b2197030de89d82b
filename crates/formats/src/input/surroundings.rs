//! Comments that say what surrounds a requirements file: `# env: NAME=VALUE` and `# apt: PACKAGE`.
//!
//! A requirements file cannot say with which variables pip is run, or what the system holds. People write it in a comment;
//! written this way it is read, and counts as if the file stood in a Dockerfile with an `ENV` and an `apt-get install`.

use super::build::Builder;
use super::commands;
use super::model::{IndexOptions, SystemPackage};

use super::text::{LineEnds, Mapped, lines};
use super::variables::Variables;

/// Reads the comments of the file at `file`.
pub(super) fn read(builder: &mut Builder<'_>, file: usize) {
    let text = builder.text(file);
    let mut variables = Variables::default();
    for (start, line) in lines(&text, LineEnds::Python) {
        let Some((key, value)) = noted(line) else { continue };
        let Some(at) = line.find(value) else { continue };
        let mut mapped = Mapped::new(file);
        mapped.push(value, start + at);
        match key {
            "env" => {
                let Some((name, text)) = value.split_once('=') else { continue };
                let name = name.trim().trim_start_matches("export ").trim();
                let from = value.len() - text.len();
                let value = mapped.slice(from, value.len()).trim();
                commands::remember(builder, name, &value);
                variables.insert(name.to_owned(), value.as_str().to_owned());
            }
            _ => {
                let name = value.split([' ', '(', ',']).next().unwrap_or_default();
                let span = mapped.slice(0, name.len()).whole();
                let package = SystemPackage { name: name.to_owned(), version: None, span };
                builder.target().system_packages.push(package);
            }
        }
    }
    if !variables.is_empty() {
        let set = commands::options_of(&variables, &Variables::default());
        merge(builder.options(), set);
    }
}

/// The key and the value of `# env: VALUE` or `# apt: VALUE`.
fn noted(line: &str) -> Option<(&'static str, &str)> {
    let comment = line.trim().strip_prefix('#')?.trim_start_matches('#').trim();
    ["env", "apt"].into_iter().find_map(|key| {
        let head = comment.get(..key.len())?;
        let value = comment.get(key.len()..)?.strip_prefix(':')?.trim();
        (head.eq_ignore_ascii_case(key) && !value.is_empty()).then_some((key, value))
    })
}

/// Variables go behind the options of the file, and are added where both add.
fn merge(options: &mut IndexOptions, set: IndexOptions) {
    options.index_url = options.index_url.take().or(set.index_url);
    options.extra_index_urls.extend(set.extra_index_urls);
    options.find_links.extend(set.find_links);
    options.trusted_hosts.extend(set.trusted_hosts);
    options.no_index |= set.no_index;
    options.pre |= set.pre;
    options.torch_backend = options.torch_backend.take().or(set.torch_backend);
}

#[cfg(test)]
mod tests {
    use crate::input::{MemoryLoader, read};

    #[test]
    fn variables_and_packages_in_comments_count() {
        let text = "# env: PIP_EXTRA_INDEX_URL=https://mirror.example/whl/cpu/\n\
                    # ENV: LD_LIBRARY_PATH=/usr/local/cudnn-8.2/lib\n\
                    # apt: cuda (meta package)\n\
                    --index-url https://index.example/simple\ntorch\n";
        let input = read(text.as_bytes(), "requirements.txt", &MemoryLoader::default());
        let options = &input.indexes[0];
        assert_eq!(options.index_url.as_deref(), Some("https://index.example/simple"));
        assert_eq!(options.extra_index_urls, ["https://mirror.example/whl/cpu/"]);
        let environment = &input.environments[0];
        assert_eq!(environment.system_packages[0].name, "cuda");
        let path = environment.variables.iter().find(|v| v.key == "LD_LIBRARY_PATH");
        assert_eq!(path.map(|v| v.value.as_str()), Some("/usr/local/cudnn-8.2/lib"));
        assert_eq!(input.text(path.unwrap().span), "/usr/local/cudnn-8.2/lib");
    }

    #[test]
    fn other_comments_are_left_alone() {
        let input = read(
            b"# environment: test\n# env\n# apt:\nnumpy\n",
            "requirements.txt",
            &MemoryLoader::default(),
        );
        assert!(input.environments[0].variables.is_empty());
        assert!(input.environments[0].system_packages.is_empty());
    }
}
