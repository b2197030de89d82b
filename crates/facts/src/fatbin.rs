//! Which GPUs the code in a fat binary is for.
//!
//! The layout of NVIDIA's container is not published; it was read from wheels, and every toolkit from 11.0 to 13.2 writes the
//! same one. A section holds containers one after another, each with entries; the architecture, the kind and the flags stand
//! in an entry's header, in front of its payload, so that nothing need be decompressed.

use std::collections::BTreeMap;
use std::fmt;

const MAGIC: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
const KIND_PTX: u16 = 1;
const KIND_CUBIN: u16 = 2;
/// Bits of an entry's flags: the target ends in `a` (this capability alone) or in `f` (a family of them).
const ARCHITECTURE_SPECIFIC: u64 = 0x10_0000;
const FAMILY_SPECIFIC: u64 = 0x20_0000;

/// Code for one target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code {
    /// The architecture's number (`86`, `120`), which sorts as people read it.
    number: u32,
    /// `a`, `f` or nothing.
    suffix: &'static str,
    /// For PTX, the version of the ISA that it is written in; absent for machine code.
    pub ptx_isa: Option<(u16, u16)>,
}

#[cfg(test)]
impl Code {
    /// Machine code for a plain target.
    pub fn machine(number: u32) -> Self {
        Self { number, suffix: "", ptx_isa: None }
    }
}

impl fmt::Display for Code {
    /// `sm_86` for machine code, `compute_86` for PTX.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.ptx_isa.is_some() { "compute" } else { "sm" };
        write!(f, "{prefix}_{}{}", self.number, self.suffix)
    }
}

/// A section that is not a row of containers.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the fat binary: {what}")]
pub struct Malformed {
    /// Where, in bytes from the start of the section.
    pub at: usize,
    /// What was expected.
    pub what: &'static str,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    number(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// Every target that has code in a section such as `.nv_fatbin`, with the number of its entries: one for each file that was
/// compiled for it.
///
/// # Errors
/// When something stands there that is no container.
pub fn targets(section: &[u8]) -> Result<BTreeMap<Code, usize>, Malformed> {
    let mut found = BTreeMap::new();
    let mut at = 0;
    while let Some(start) = next_container(section, at) {
        let bad = |what| Malformed { at: start, what };
        let header = u16_at(section, start + 6).ok_or(bad("a container is cut off"))?;
        let size = u64_at(section, start + 8).ok_or(bad("a container is cut off"))?;
        let size = usize::try_from(size).map_err(|_| bad("a container is too large"))?;
        let body = start + usize::from(header);
        let end = body.checked_add(size).filter(|end| *end <= section.len());
        let end = end.ok_or(bad("a container is longer than its section"))?;
        entries(section, body, end, &mut found)?;
        at = end;
    }
    Ok(found)
}

/// Containers are padded with zeros to their alignment.
fn next_container(section: &[u8], from: usize) -> Option<usize> {
    let rest = section.get(from..)?;
    let skipped = rest.iter().position(|byte| *byte != 0)?;
    rest.get(skipped..)?.starts_with(&MAGIC).then_some(from + skipped)
}

fn entries(
    section: &[u8],
    mut at: usize,
    end: usize,
    found: &mut BTreeMap<Code, usize>,
) -> Result<(), Malformed> {
    while at < end {
        let bad = |what| Malformed { at, what };
        let kind = u16_at(section, at).ok_or(bad("an entry is cut off"))?;
        let header = u32_at(section, at + 4).ok_or(bad("an entry is cut off"))?;
        let payload = u64_at(section, at + 8).ok_or(bad("an entry is cut off"))?;
        let architecture = u32_at(section, at + 28).ok_or(bad("an entry is cut off"))?;
        let flags = u64_at(section, at + 40).ok_or(bad("an entry is cut off"))?;
        let isa = || Some((u16_at(section, at + 26)?, u16_at(section, at + 24)?));
        let suffix = match flags {
            flags if flags & ARCHITECTURE_SPECIFIC != 0 => "a",
            flags if flags & FAMILY_SPECIFIC != 0 => "f",
            _ => "",
        };
        match kind {
            KIND_CUBIN => {
                *found.entry(Code { number: architecture, suffix, ptx_isa: None }).or_default() +=
                    1;
            }
            KIND_PTX => {
                let ptx_isa = Some(isa().ok_or(bad("an entry is cut off"))?);
                *found.entry(Code { number: architecture, suffix, ptx_isa }).or_default() += 1;
            }
            // Intermediate code for linking, debug information: nothing that a driver loads.
            _ => {}
        }
        let step = u64::from(header).checked_add(payload).filter(|step| *step > 0);
        let step = step.and_then(|step| usize::try_from(step).ok());
        at = step.and_then(|step| at.checked_add(step)).ok_or(bad("an entry without a length"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as nvcc writes it, with `payload` zeros behind its header of 64 bytes.
    fn entry(kind: u16, isa: (u16, u16), architecture: u32, flags: u64, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0_u8; 64 + payload];
        bytes[0..2].copy_from_slice(&kind.to_le_bytes());
        bytes[2..4].copy_from_slice(&0x101_u16.to_le_bytes());
        bytes[4..8].copy_from_slice(&64_u32.to_le_bytes());
        bytes[8..16].copy_from_slice(&(payload as u64).to_le_bytes());
        bytes[24..26].copy_from_slice(&isa.1.to_le_bytes());
        bytes[26..28].copy_from_slice(&isa.0.to_le_bytes());
        bytes[28..32].copy_from_slice(&architecture.to_le_bytes());
        bytes[40..48].copy_from_slice(&flags.to_le_bytes());
        bytes
    }

    fn container(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(1_u16.to_le_bytes());
        bytes.extend(16_u16.to_le_bytes());
        bytes.extend((body.len() as u64).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    fn names(section: &[u8]) -> Vec<String> {
        targets(section).expect("valid").keys().map(ToString::to_string).collect()
    }

    #[test]
    fn kinds_flags_and_padding_between_containers() {
        let first = container(&[entry(2, (0, 0), 86, 0, 8), entry(1, (8, 4), 90, 0, 16)]);
        let second = container(&[
            entry(2, (0, 0), 90, ARCHITECTURE_SPECIFIC, 0),
            entry(2, (0, 0), 100, FAMILY_SPECIFIC, 24),
            entry(8, (0, 0), 880, 0, 8),
        ]);
        let section = [first, vec![0; 24], second, vec![0; 8]].concat();
        assert_eq!(names(&section), ["sm_86", "compute_90", "sm_90a", "sm_100f"]);
        let isa: Vec<_> =
            targets(&section).expect("valid").keys().filter_map(|c| c.ptx_isa).collect();
        assert_eq!(isa, [(8, 4)]);
    }

    #[test]
    fn what_is_cut_off_or_endless_is_an_error() {
        let whole = container(&[entry(2, (0, 0), 86, 0, 8)]);
        assert!(targets(&whole[..whole.len() - 1]).is_err());
        let mut endless = container(&[entry(2, (0, 0), 86, 0, 0)]);
        endless[20..24].copy_from_slice(&0_u32.to_le_bytes());
        assert!(targets(&endless).is_err());
        assert_eq!(names(&[]), Vec::<String>::new());
        assert_eq!(names(b"no container at all"), Vec::<String>::new());
    }
}
