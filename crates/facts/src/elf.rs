//! What a shared object says of itself: the libraries it needs, the symbols it takes and gives, and its GPU code.

use std::collections::{BTreeMap, BTreeSet};

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
use object::read::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::fatbin::{self, Code};

/// A shared object.
#[derive(Debug, Default)]
pub struct SharedObject {
    /// `DT_NEEDED`, in the order of the file.
    pub needed: Vec<String>,
    /// Symbols that another library has to give, weak ones left out: without a strong one it does not load.
    pub undefined: BTreeSet<String>,
    /// Symbols that it gives, with their sizes in bytes.
    pub defined: BTreeMap<String, u64>,
    /// The GPUs that it has code for, with the number of compiled files for each.
    pub code: BTreeMap<Code, usize>,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// It is no ELF file of 64 bits, or a damaged one.
    #[error("{0}")]
    Object(#[from] object::Error),
    /// Its GPU code is not laid out as is known.
    #[error("{0}")]
    Fatbin(#[from] fatbin::Malformed),
}

/// Reads a shared object for 64-bit Linux.
///
/// # Errors
/// When it is no such file.
pub fn read(bytes: &[u8]) -> Result<SharedObject, ElfError> {
    let file = ElfFile64::<Endianness>::parse(bytes)?;
    let mut read = SharedObject { needed: needed(bytes)?, ..SharedObject::default() };
    for symbol in file.dynamic_symbols() {
        let Ok(name) = symbol.name() else { continue };
        if name.is_empty() {
            continue;
        }
        if !symbol.is_undefined() {
            read.defined.insert(name.to_owned(), symbol.size());
        } else if !symbol.is_weak() {
            read.undefined.insert(name.to_owned());
        }
    }
    for section in file.sections() {
        if section.name().is_ok_and(|name| matches!(name, ".nv_fatbin" | "__nv_relfatbin")) {
            for (target, files) in fatbin::targets(section.data()?)? {
                *read.code.entry(target).or_default() += files;
            }
        }
    }
    Ok(read)
}

fn needed(bytes: &[u8]) -> Result<Vec<String>, object::Error> {
    let header = FileHeader64::<Endianness>::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let Some((dynamic, link)) = sections.dynamic(endian, bytes)? else { return Ok(Vec::new()) };
    let strings = sections.strings(endian, bytes, link)?;
    let names = dynamic.iter().filter(|entry| entry.d_tag.get(endian) == DT_NEEDED);
    names
        .map(|entry| Ok(String::from_utf8_lossy(entry.string(endian, strings)?).into_owned()))
        .collect()
}
