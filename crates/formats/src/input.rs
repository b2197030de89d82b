//! Readers of everything that people already have, for `audit` and `init`.
//!
//! [`read`] takes the bytes of a file and gives an [`Input`]: what is asked for or installed ([`Entry`]), from which
//! indexes ([`IndexOptions`]), on top of what ([`Environment`]), and everything that is wrong with the file itself
//! ([`Problem`]). The kind of the file is told by its content ([`sniff`]); its name is only a hint.
//!
//! A problem never ends the reading: a line that pip would refuse is reported where it stands, and the rest of the file
//! is read all the same. No reader judges whether the packages fit together; that is what the rules are for.
//!
//! Reading does no I/O of its own. Files that a file includes come through a [`FileLoader`].
//!
//! | module | what |
//! | --- | --- |
//! | `model` | the result, the same for all kinds |
//! | `text`, `decode`, `shell`, `variables` | text with its way back to the file, character encodings, words of a shell, how far variables are replaced |
//! | `link`, `options` | a URL or path, an option, as pip reads them |
//! | `requirements`, `tables`, `conda`, `script`, `yaml`, `environment`, `pyproject`, `poetry`, `locks`, `dockerfile`, `ci`, `commands` | the kinds of files |
//! | `foreign` | files that are known and not read |
//! | `site_packages`, `dist_info`, `elf`, `linkage` | what is installed in a folder |

mod build;
mod ci;
mod commands;
mod conda;
mod decode;
mod dist_info;
mod dockerfile;
mod elf;
mod environment;
mod foreign;
mod install_options;
mod link;
mod linkage;
mod loader;
mod locks;
mod model;
mod options;
mod pixi;
mod poetry;
mod pyproject;
mod read;
mod requirements;
mod script;
mod shell;
mod site_packages;
mod sniff;
mod specifier;
mod surroundings;
mod syntax_error;
mod tables;
mod text;
mod toml_doc;
mod variables;
mod yaml;
mod yaml_flow;

pub use cuda_lock_constraint::secret::redact;
pub use decode::{Encoding, decode, encode};
pub use foreign::{NotRead, not_read};
pub use linkage::{Unresolved, unresolved};
pub use loader::{DiskLoader, FileLoader, LoadError, MemoryLoader};
pub use model::{
    Damaged, Entry, Environment, Group, Hash, Image, Include, IndexOptions, Input, Level, Library,
    Location, NamedIndex, Origin, Position, Problem, ProblemCode, PythonRequest, Requires, Setting,
    Source, SourceFile, SourceTarget, Span, SystemPackage, Wheel,
};
pub use read::{read, read_as};
pub use site_packages::read_site_packages;
pub use sniff::{Kind, sniff};
