//! An `env.toml` that asks a [`Server`] for PyPI, PyTorch's indexes and ONNX Runtime's feeds, as [`Index::with_replica`]
//! serves them.
//!
//! [`Index::with_replica`]: crate::Index::with_replica

use std::fmt::Write as _;

use crate::server::Server;

/// The feeds that are served under `/feeds/`, as the program calls them.
const FEEDS: [&str; 3] = ["onnxruntime-cuda-11", "onnxruntime-cuda-12", "onnxruntime-cuda-13"];

/// An environment for a machine that can be described in one line.
#[derive(Clone, Debug)]
pub struct Machines {
    base: String,
    python: String,
    platform: String,
    dependencies: Vec<String>,
    machine: String,
    pytorch: String,
    rest: String,
}

impl Machines {
    /// Python 3.11 on Linux x86-64 with a recent glibc.
    #[must_use]
    pub fn new(server: &Server) -> Self {
        Self {
            base: server.at(""),
            python: "3.11".into(),
            platform: "linux-x86_64".into(),
            dependencies: Vec::new(),
            machine: String::new(),
            pytorch: format!("index = \"{}\"\n", server.at("/whl")),
            rest: String::new(),
        }
    }

    /// Asks for this Python.
    #[must_use]
    pub fn python(mut self, python: &str) -> Self {
        python.clone_into(&mut self.python);
        self
    }

    /// For this platform.
    #[must_use]
    pub fn platform(mut self, platform: &str) -> Self {
        platform.clone_into(&mut self.platform);
        self
    }

    /// Adds dependencies.
    #[must_use]
    pub fn depends(mut self, requirements: &[&str]) -> Self {
        self.dependencies.extend(requirements.iter().map(|&r| r.to_owned()));
        self
    }

    /// Adds the driver to `[machine]`.
    #[must_use]
    pub fn driver(self, version: &str) -> Self {
        self.machine(&format!("driver = \"{version}\""))
    }

    /// Adds one GPU to `[machine]`.
    #[must_use]
    pub fn gpu(self, name: &str) -> Self {
        self.machine(&format!("gpus = [\"{name}\"]"))
    }

    /// Adds a line to `[machine]`.
    #[must_use]
    pub fn machine(mut self, line: &str) -> Self {
        self.machine += &format!("{line}\n");
        self
    }

    /// Adds a line to `[pytorch]`.
    #[must_use]
    pub fn pytorch(mut self, line: &str) -> Self {
        self.pytorch += &format!("{line}\n");
        self
    }

    /// Leaves PyTorch's indexes where they are: the user's configuration has to move them.
    #[must_use]
    pub fn without_pytorch_index(mut self) -> Self {
        self.pytorch.clear();
        self
    }

    /// Adds text at the end.
    #[must_use]
    pub fn table(mut self, text: &str) -> Self {
        self.rest += &format!("\n{text}\n");
        self
    }
}

impl Machines {
    /// Only the tables that say where the indexes are, for an env.toml that has everything else.
    #[must_use]
    pub fn places(&self) -> String {
        format!("[pytorch]\n{}\n{}", self.pytorch, indexes(&self.base))
    }
}

impl std::fmt::Display for Machines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { base, python, platform, dependencies, machine, pytorch, rest } = self;
        let mut list = String::new();
        for requirement in dependencies {
            writeln!(list, "  {},", toml::Value::String(requirement.clone()))?;
        }
        write!(
            f,
            "[environment]\nname = \"test\"\npython = \"{python}\"\ndependencies = [\n{list}]\n\n\
             [machine]\nplatform = \"{platform}\"\n{machine}\n[pytorch]\n{pytorch}{rest}\n{}",
            indexes(base)
        )
    }
}

/// Every index that may be asked, on the server: nothing in a test may ask a public host.
fn indexes(base: &str) -> String {
    let mut text =
        format!("[[index]]\nname = \"test\"\nurl = \"{base}/simple/\"\ndefault = true\n");
    for feed in FEEDS {
        let url = format!("{base}/feeds/{feed}/pypi/simple/");
        let _ = write!(text, "\n[[index]]\nname = \"{feed}\"\nurl = \"{url}\"\n");
    }
    let _ = write!(text, "\n[[index]]\nname = \"nvidia\"\nurl = \"{base}/feeds/nvidia/\"\n");
    text
}
