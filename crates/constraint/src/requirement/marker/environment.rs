//! The variables of markers, and their values on a target.

/// The values of PEP 508's environment marker variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerEnvironment {
    /// `os.name`: `posix`, `nt`.
    pub os_name: String,
    /// `sys.platform`: `linux`, `darwin`, `win32`.
    pub sys_platform: String,
    /// `platform.machine()`: `x86_64`, `aarch64`, `AMD64`, `arm64`.
    pub platform_machine: String,
    /// `platform.python_implementation()`: `CPython`.
    pub platform_python_implementation: String,
    /// `platform.release()`: empty when it is not known.
    pub platform_release: String,
    /// `platform.system()`: `Linux`, `Darwin`, `Windows`.
    pub platform_system: String,
    /// `platform.version()`: empty when it is not known.
    pub platform_version: String,
    /// Major and minor of Python: `3.11`.
    pub python_version: String,
    /// The whole version of Python: `3.11.4`.
    pub python_full_version: String,
    /// `sys.implementation.name`: `cpython`.
    pub implementation_name: String,
    /// `sys.implementation.version`: `3.11.4`.
    pub implementation_version: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::requirement) enum Variable {
    OsName,
    SysPlatform,
    PlatformMachine,
    PlatformPythonImplementation,
    PlatformRelease,
    PlatformSystem,
    PlatformVersion,
    PythonVersion,
    PythonFullVersion,
    ImplementationName,
    ImplementationVersion,
    Extra,
    /// A set that is empty wherever requirements are read: PEP 751's and PEP 825's variables, by name.
    EmptySet(&'static str),
}

impl Variable {
    /// The variable called `word`; the dotted names are those of PEP 345, which PEP 508 keeps.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "os_name" | "os.name" => Self::OsName,
            "sys_platform" | "sys.platform" => Self::SysPlatform,
            "platform_machine" | "platform.machine" => Self::PlatformMachine,
            "platform_python_implementation"
            | "platform.python_implementation"
            | "python_implementation" => Self::PlatformPythonImplementation,
            "platform_release" => Self::PlatformRelease,
            "platform_system" => Self::PlatformSystem,
            "platform_version" | "platform.version" => Self::PlatformVersion,
            "python_version" => Self::PythonVersion,
            "python_full_version" => Self::PythonFullVersion,
            "implementation_name" => Self::ImplementationName,
            "implementation_version" => Self::ImplementationVersion,
            "extra" => Self::Extra,
            "extras" => Self::EmptySet("extras"),
            "dependency_groups" => Self::EmptySet("dependency_groups"),
            "variant_namespaces" => Self::EmptySet("variant_namespaces"),
            "variant_features" => Self::EmptySet("variant_features"),
            "variant_properties" => Self::EmptySet("variant_properties"),
            "variant_label" => Self::EmptySet("variant_label"),
            _ => return None,
        })
    }

    /// Whether it is the version of Python.
    pub(super) fn is_python(self) -> bool {
        matches!(self, Self::PythonVersion | Self::PythonFullVersion)
    }

    /// Its name in PEP 508.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OsName => "os_name",
            Self::SysPlatform => "sys_platform",
            Self::PlatformMachine => "platform_machine",
            Self::PlatformPythonImplementation => "platform_python_implementation",
            Self::PlatformRelease => "platform_release",
            Self::PlatformSystem => "platform_system",
            Self::PlatformVersion => "platform_version",
            Self::PythonVersion => "python_version",
            Self::PythonFullVersion => "python_full_version",
            Self::ImplementationName => "implementation_name",
            Self::ImplementationVersion => "implementation_version",
            Self::Extra => "extra",
            Self::EmptySet(name) => name,
        }
    }

    /// Whether PEP 825 has it, which no pip knows.
    pub(super) fn is_of_variants(self) -> bool {
        matches!(self, Self::EmptySet(name) if name.starts_with("variant_"))
    }

    /// Whether the values are versions.
    pub(super) fn is_version(self) -> bool {
        matches!(
            self,
            Self::PythonVersion
                | Self::PythonFullVersion
                | Self::ImplementationVersion
                | Self::PlatformRelease
        )
    }
}

impl MarkerEnvironment {
    /// The value of a variable; `extra` is not the environment's.
    pub(super) fn value(&self, variable: Variable) -> &str {
        match variable {
            Variable::OsName => &self.os_name,
            Variable::SysPlatform => &self.sys_platform,
            Variable::PlatformMachine => &self.platform_machine,
            Variable::PlatformPythonImplementation => &self.platform_python_implementation,
            Variable::PlatformRelease => &self.platform_release,
            Variable::PlatformSystem => &self.platform_system,
            Variable::PlatformVersion => &self.platform_version,
            Variable::PythonVersion => &self.python_version,
            Variable::PythonFullVersion => &self.python_full_version,
            Variable::ImplementationName => &self.implementation_name,
            Variable::ImplementationVersion => &self.implementation_version,
            Variable::Extra | Variable::EmptySet(_) => "",
        }
    }
}
