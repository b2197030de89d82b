//! What a shared library asks for: the dynamic section of an ELF file.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::read::{ReadCache, ReadRef, StringTable};

/// The entries of the dynamic section that decide about loading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dynamic {
    pub soname: Option<String>,
    /// In the order in which the loader looks for them.
    pub needed: Vec<String>,
    /// RUNPATH, or else RPATH, as written.
    pub search: Vec<String>,
}

/// Reads the library at `path`; only the parts that are needed, as some have gigabytes. `None` when it is no ELF file.
///
/// # Errors
/// When it cannot be opened, or is an ELF file that cannot be understood.
pub(super) fn read(path: &Path) -> Result<Option<Dynamic>, String> {
    let mut file = fs_err::File::open(path).map_err(|e| e.to_string())?.into_file();
    let mut ident = [0; 5];
    if read_start(&mut file, &mut ident).is_err() || !ident.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    let cache = ReadCache::new(file);
    let parsed = match ident {
        [.., 1] => dynamic::<FileHeader32<Endianness>, _>(&cache),
        _ => dynamic::<FileHeader64<Endianness>, _>(&cache),
    };
    parsed.map(Some).map_err(|e| e.to_string())
}

fn read_start(file: &mut File, buffer: &mut [u8]) -> std::io::Result<()> {
    file.read_exact(buffer)
}

fn dynamic<'data, H, R>(data: R) -> object::read::Result<Dynamic>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let mut found = Dynamic::default();
    let mut entries: &[H::Dyn] = &[];
    for segment in segments {
        if let Some(list) = segment.dynamic(endian, data)? {
            entries = list;
        }
    }
    let value = |tag: i64| {
        entries.iter().find(|e| tag_of::<H>(*e, endian) == tag).map(|e| e.d_val(endian).into())
    };
    let (Some(address), Some(size)) = (value(object::elf::DT_STRTAB), value(object::elf::DT_STRSZ))
    else {
        return Ok(found);
    };
    // The table is given by its address in memory; the segment that holds it tells where that is in the file.
    let offset = segments.iter().find_map(|segment| {
        let start: u64 = segment.p_vaddr(endian).into();
        let (from, length) = segment.file_range(endian);
        let within = address.checked_sub(start).filter(|within| *within < length)?;
        (segment.p_type(endian) == object::elf::PT_LOAD).then(|| from.checked_add(within))?
    });
    let Some(offset) = offset else { return Ok(found) };
    let strings = StringTable::new(data, offset, offset.saturating_add(size));
    let text = |entry: &H::Dyn| {
        let at = u32::try_from(entry.d_val(endian).into()).ok()?;
        Some(String::from_utf8_lossy(strings.get(at).ok()?).into_owned())
    };
    let mut rpath = None;
    for entry in entries {
        match tag_of::<H>(entry, endian) {
            0 => break,
            DT_NEEDED => found.needed.extend(text(entry)),
            DT_SONAME => found.soname = text(entry),
            DT_RUNPATH => found.search = split(text(entry)),
            DT_RPATH => rpath = text(entry),
            _ => {}
        }
    }
    if found.search.is_empty() {
        found.search = split(rpath);
    }
    Ok(found)
}

fn tag_of<H: FileHeader<Endian = Endianness>>(entry: &H::Dyn, endian: Endianness) -> i64 {
    entry.d_tag(endian).into()
}

fn split(paths: Option<String>) -> Vec<String> {
    paths.iter().flat_map(|p| p.split(':')).filter(|p| !p.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The smallest 64-bit library that asks for `needed`.
    pub fn library(soname: &str, needed: &[&str]) -> Vec<u8> {
        let mut strings = vec![0_u8];
        let mut add = |text: &str| {
            let at = strings.len() as u64;
            strings.extend_from_slice(text.as_bytes());
            strings.push(0);
            at
        };
        let mut entries: Vec<(u64, u64)> = needed.iter().map(|n| (1, add(n))).collect();
        entries.push((14, add(soname)));
        entries.push((29, add("$ORIGIN:$ORIGIN/../x")));
        let dynamic_at = 64 + 2 * 56;
        let dynamic_size = (entries.len() as u64 + 3) * 16;
        let strings_at = dynamic_at + dynamic_size;
        entries.push((5, 0x1000 + strings_at));
        entries.push((10, strings.len() as u64));
        entries.push((0, 0));
        let total = strings_at + strings.len() as u64;
        let mut out = b"\x7fELF\x02\x01\x01".to_vec();
        out.resize(16, 0);
        out.extend([3_u16, 62].iter().flat_map(|v| v.to_le_bytes()));
        out.extend(1_u32.to_le_bytes());
        out.extend([0_u64, 64, 0].iter().flat_map(|v| v.to_le_bytes()));
        out.extend(0_u32.to_le_bytes());
        out.extend([64_u16, 56, 2, 0, 0, 0].iter().flat_map(|v| v.to_le_bytes()));
        for (kind, at, size) in [(1_u32, 0, total), (2, dynamic_at, dynamic_size)] {
            out.extend([kind, 4].iter().flat_map(|v| v.to_le_bytes()));
            out.extend(
                [at, 0x1000 + at, 0x1000 + at, size, size, 8].iter().flat_map(|v| v.to_le_bytes()),
            );
        }
        out.extend(
            entries.iter().flat_map(|(tag, value)| [*tag, *value]).flat_map(u64::to_le_bytes),
        );
        out.extend(&strings);
        out
    }

    #[test]
    fn the_dynamic_section_is_read() {
        let bytes = library("libx.so.1", &["libcudart.so.12", "libc.so.6"]);
        let found = dynamic::<FileHeader64<Endianness>, _>(bytes.as_slice()).expect("valid");
        assert_eq!(found.soname.as_deref(), Some("libx.so.1"));
        assert_eq!(found.needed, ["libcudart.so.12", "libc.so.6"]);
        assert_eq!(found.search, ["$ORIGIN", "$ORIGIN/../x"]);
        for end in 0..bytes.len() {
            let _ = dynamic::<FileHeader64<Endianness>, _>(&bytes[..end]);
        }
    }
}
