//! What each release of torch exports, in a file small enough to lie beside this tool.
//!
//! A symbol is known by 40 bits of its SHA-256, the releases that export it by a bit mask, and a virtual table by its size in
//! each release besides. A hash of 40 bits meets a foreign one by chance once in some ten million questions; that would hide
//! a missing symbol, never invent one.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use pep440_rs::Version;
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::torch_symbols::{belongs_to_torch, is_virtual_table};

/// The exports of several releases.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exports {
    /// The releases, ascending, each with the wheel that was read.
    releases: Vec<(Version, String)>,
    /// Which releases export a symbol: bit n is release n.
    masks: BTreeMap<u64, u64>,
    /// The size of a virtual table in each release, 0 where there is none.
    tables: BTreeMap<u64, Vec<u32>>,
}

/// How an extension stands to one release of torch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Symbols that the release does not export.
    pub symbols: Vec<String>,
    /// Virtual tables of another size than the extension was compiled with.
    pub tables: Vec<String>,
}

impl Missing {
    /// Whether it loads, as far as symbols can tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty() && self.tables.is_empty()
    }
}

impl Exports {
    /// Adds a release; one that is there already is read anew.
    ///
    /// # Errors
    /// When there is no bit left in the masks.
    pub fn add(
        &mut self,
        version: &Version,
        wheel: String,
        symbols: &BTreeMap<String, u64>,
    ) -> Result<(), Error> {
        if let Some(at) = self.releases.iter().position(|(known, _)| known == version) {
            self.releases[at].1 = wheel;
            let bit = 1 << at;
            self.masks.values_mut().for_each(|mask| *mask &= !bit);
            self.tables.values_mut().for_each(|sizes| sizes[at] = 0);
            self.fill(at, symbols);
            return Ok(());
        }
        if self.releases.len() == 64 {
            return Err(Error::Malformed(
                "the masks have room for 64 releases of torch".to_owned(),
            ));
        }
        let at = self
            .releases
            .iter()
            .position(|(known, _)| known > version)
            .unwrap_or(self.releases.len());
        self.releases.insert(at, (version.clone(), wheel));
        // The bits from `at` on make room for the new one.
        let below = (1_u64 << at) - 1;
        for mask in self.masks.values_mut() {
            *mask = (*mask & below) | ((*mask & !below) << 1);
        }
        for sizes in self.tables.values_mut() {
            sizes.insert(at, 0);
        }
        self.fill(at, symbols);
        Ok(())
    }

    fn fill(&mut self, at: usize, symbols: &BTreeMap<String, u64>) {
        let releases = self.releases.len();
        for (symbol, size) in symbols.iter().filter(|(symbol, _)| belongs_to_torch(symbol)) {
            let hash = hash(symbol);
            *self.masks.entry(hash).or_default() |= 1 << at;
            if is_virtual_table(symbol) {
                let sizes = self.tables.entry(hash).or_insert_with(|| vec![0; releases]);
                sizes[at] = u32::try_from(*size).unwrap_or(0);
            }
        }
    }

    /// The releases, ascending.
    pub fn releases(&self) -> impl ExactSizeIterator<Item = &Version> {
        self.releases.iter().map(|(version, _)| version)
    }

    /// What an extension with these symbols misses in release number `at`.
    ///
    /// `undefined` are those that torch has to give; `tables` the virtual tables of torch's classes that the extension brings
    /// copies of, with their sizes.
    #[must_use]
    pub fn missing<'a>(
        &self,
        at: usize,
        undefined: impl Iterator<Item = &'a str>,
        tables: impl Iterator<Item = (&'a str, u64)>,
    ) -> Missing {
        let known =
            |symbol: &&str| self.masks.get(&hash(symbol)).is_some_and(|mask| mask >> at & 1 == 1);
        let symbols = undefined.filter(|symbol| !known(symbol)).map(str::to_owned).collect();
        let differs = |(symbol, size): &(&str, u64)| {
            let sizes = self.tables.get(&hash(symbol));
            let size_here = sizes.and_then(|sizes| sizes.get(at)).copied().unwrap_or(0);
            size_here != 0 && u64::from(size_here) != *size
        };
        Missing {
            symbols,
            tables: tables.filter(differs).map(|(symbol, _)| symbol.to_owned()).collect(),
        }
    }

    /// Reads the file; an absent one has no releases.
    ///
    /// # Errors
    /// When it cannot be read, or is not such a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let packed = match fs_err::read(path) {
            Ok(packed) => packed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error.into()),
        };
        let mut bytes = Vec::new();
        ZlibDecoder::new(packed.as_slice()).read_to_end(&mut bytes)?;
        let bad = || Error::Malformed(format!("{} is no table of exports", path.display()));
        Reader { rest: &bytes }.exports().ok_or_else(bad)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&self.to_bytes())?;
        fs_err::write(path, packer.finish()?)?;
        Ok(())
    }

    /// A line for each release, an empty line, then hashes in ascending order: 5 bytes, the mask in 8, for a table the sizes.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (version, wheel) in &self.releases {
            bytes.extend(format!("{version} {wheel}\n").into_bytes());
        }
        bytes.push(b'\n');
        bytes.extend((self.masks.len() as u64).to_le_bytes());
        // Columns: hashes lie close together and compress badly, masks repeat and compress well.
        for hash in self.masks.keys() {
            bytes.extend(&hash.to_le_bytes()[..5]);
        }
        for mask in self.masks.values() {
            bytes.extend(mask.to_le_bytes());
        }
        for (hash, sizes) in &self.tables {
            bytes.extend(&hash.to_le_bytes()[..5]);
            for size in sizes {
                bytes.extend(size.to_le_bytes());
            }
        }
        bytes
    }
}

/// What is left to be read of the file.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn exports(mut self) -> Option<Exports> {
        let mut exports = Exports::default();
        loop {
            let end = self.rest.iter().position(|byte| *byte == b'\n')?;
            let line = std::str::from_utf8(self.rest.get(..end)?).ok()?.to_owned();
            self.rest = self.rest.get(end + 1..)?;
            if line.is_empty() {
                break;
            }
            let (version, wheel) = line.split_once(' ')?;
            exports.releases.push((version.parse().ok()?, wheel.to_owned()));
        }
        let count = usize::try_from(self.number::<8>()?).ok()?;
        let hashes: Option<Vec<u64>> = (0..count).map(|_| self.number::<5>()).collect();
        for hash in hashes? {
            exports.masks.insert(hash, self.number::<8>()?);
        }
        while !self.rest.is_empty() {
            let hash = self.number::<5>()?;
            let size =
                |reader: &mut Self| reader.number::<4>().and_then(|size| u32::try_from(size).ok());
            let sizes: Option<Vec<u32>> =
                (0..exports.releases.len()).map(|_| size(&mut self)).collect();
            exports.tables.insert(hash, sizes?);
        }
        Some(exports)
    }

    fn number<const N: usize>(&mut self) -> Option<u64> {
        let (number, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(number.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    }
}

fn hash(symbol: &str) -> u64 {
    let digest = Sha256::digest(symbol.as_bytes());
    digest.iter().take(5).rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: &str = "_ZTVN5torch8autograd4NodeE";
    const CHECK: &str = "_ZN3c106detail14torchCheckFailEv";
    const STABLE: &str = "aoti_torch_get_data_ptr";

    fn symbols(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
        list.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect()
    }

    fn three() -> Exports {
        let mut exports = Exports::default();
        let mut add = |version: &str, list: &[(&str, u64)]| {
            exports
                .add(
                    &version.parse().expect("valid"),
                    format!("torch-{version}.whl"),
                    &symbols(list),
                )
                .expect("room");
        };
        add("2.4.1", &[(NODE, 64), (CHECK, 0)]);
        add("2.9.1", &[(NODE, 72), (STABLE, 0), ("_ZN6vision3nmsEv", 0)]);
        // Between the two, and once more with other symbols.
        add("2.8.0", &[(NODE, 64)]);
        add("2.8.0", &[(CHECK, 0), (STABLE, 0)]);
        exports
    }

    fn missing(exports: &Exports, at: usize) -> Missing {
        exports.missing(at, [CHECK, STABLE].into_iter(), [(NODE, 64)].into_iter())
    }

    #[test]
    fn releases_are_kept_in_order_and_read_anew() {
        let exports = three();
        let versions: Vec<String> = exports.releases().map(ToString::to_string).collect();
        assert_eq!(versions, ["2.4.1", "2.8.0", "2.9.1"]);
        assert_eq!(
            missing(&exports, 0),
            Missing { symbols: vec![STABLE.to_owned()], tables: vec![] }
        );
        assert!(missing(&exports, 1).is_empty());
        let newest = Missing { symbols: vec![CHECK.to_owned()], tables: vec![NODE.to_owned()] };
        assert_eq!(missing(&exports, 2), newest);
    }

    #[test]
    fn the_file_holds_what_was_saved() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("exports");
        assert_eq!(Exports::load(&path).expect("absent is empty"), Exports::default());
        three().save(&path).expect("saved");
        assert_eq!(Exports::load(&path).expect("loaded"), three());
        fs_err::write(&path, b"nonsense").expect("written");
        assert!(Exports::load(&path).is_err());
    }
}
