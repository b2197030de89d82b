//! The header of an ONNX model: the IR version and the operator set, read without reading the graph.
//!
//! A model is a protobuf message (`ModelProto` of onnx.proto). Of its fields only `ir_version` (1) and `opset_import` (8)
//! matter; everything else, weights of gigabytes included, is stepped over.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// What a model says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnnxModel {
    /// The version of the file format.
    pub ir_version: u32,
    /// The version of the default operator set (`ai.onnx`).
    pub opset: u32,
}

/// Why a file gives no header.
#[derive(Debug, thiserror::Error)]
pub enum OnnxModelError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// It ends inside a field.
    #[error("ends early: a download that broke off, or a Git LFS pointer")]
    Truncated,
    /// It is no protobuf message.
    #[error("is no ONNX model")]
    NoModel,
    /// It is a message without one of the two fields.
    #[error("is no ONNX model: it states no {0}")]
    Missing(&'static str),
}

/// Fields of `ModelProto` and of `OperatorSetIdProto`.
const IR_VERSION: u64 = 1;
const OPSET_IMPORT: u64 = 8;
const DOMAIN: u64 = 1;
const VERSION: u64 = 2;

/// Longest entry of `opset_import`, in bytes: a domain and a number.
const LONGEST_IMPORT: u64 = 4096;

/// Most fields of a model that are looked at.
const MOST_FIELDS: usize = 100_000;

/// Reads the header of a model file.
///
/// # Errors
/// When it cannot be read, ends early or is no model.
pub fn read_model(path: &Path) -> Result<OnnxModel, OnnxModelError> {
    read_from(BufReader::new(fs_err::File::open(path)?))
}

/// Reads the header of a model.
///
/// # Errors
/// As [`read_model`].
pub fn read_from(mut model: impl Read + Seek) -> Result<OnnxModel, OnnxModelError> {
    let end = model.seek(SeekFrom::End(0))?;
    model.seek(SeekFrom::Start(0))?;
    let (mut ir, mut opset) = (None, None);
    for _ in 0..MOST_FIELDS {
        let at = model.stream_position()?;
        if at == end {
            break;
        }
        match field(&mut model)? {
            (IR_VERSION, Value::Number(number)) => ir = Some(number),
            (OPSET_IMPORT, Value::Bytes(length)) if length <= LONGEST_IMPORT => {
                let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
                model.read_exact(&mut bytes).map_err(early)?;
                opset = default_opset(&bytes)?.or(opset);
            }
            (_, Value::Bytes(length)) => {
                let next = model.stream_position()?.checked_add(length);
                let next = next.filter(|next| *next <= end).ok_or(OnnxModelError::Truncated)?;
                model.seek(SeekFrom::Start(next))?;
            }
            (_, Value::Number(_)) => {}
        }
    }
    let small = |number: Option<u64>| number.and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    Ok(OnnxModel {
        ir_version: small(ir).ok_or(OnnxModelError::Missing("ir_version"))?,
        opset: small(opset).ok_or(OnnxModelError::Missing("operator set"))?,
    })
}

/// The value of a field: a number, or how many bytes of content follow.
enum Value {
    Number(u64),
    Bytes(u64),
}

/// The number of the next field and its value. Fixed-width numbers are contents of that width.
fn field(message: &mut impl Read) -> Result<(u64, Value), OnnxModelError> {
    let key = varint(message)?;
    let value = match key & 7 {
        0 => Value::Number(varint(message)?),
        1 => Value::Bytes(8),
        2 => Value::Bytes(varint(message)?),
        5 => Value::Bytes(4),
        _ => return Err(OnnxModelError::NoModel),
    };
    if key >> 3 == 0 { Err(OnnxModelError::NoModel) } else { Ok((key >> 3, value)) }
}

fn varint(message: &mut impl Read) -> Result<u64, OnnxModelError> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        message.read_exact(&mut byte).map_err(early)?;
        number |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(OnnxModelError::NoModel)
}

/// The version, when an entry of `opset_import` is about the default operator set.
fn default_opset(entry: &[u8]) -> Result<Option<u64>, OnnxModelError> {
    let (mut rest, mut version, mut is_default) = (entry, None, true);
    while !rest.is_empty() {
        match field(&mut rest)? {
            (VERSION, Value::Number(number)) => version = Some(number),
            (number, Value::Bytes(length)) => {
                let length = usize::try_from(length).map_err(|_| OnnxModelError::Truncated)?;
                let (text, after) =
                    rest.split_at_checked(length).ok_or(OnnxModelError::Truncated)?;
                if number == DOMAIN {
                    is_default = text.is_empty() || text == b"ai.onnx";
                }
                rest = after;
            }
            _ => {}
        }
    }
    Ok(version.filter(|_| is_default))
}

fn early(error: std::io::Error) -> OnnxModelError {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => OnnxModelError::Truncated,
        _ => OnnxModelError::Io(error),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// IR 8, a producer, a graph of three bytes, opset 17 of the default set and 1 of another.
    const MODEL: &[u8] =
        b"\x08\x08\x12\x04test\x3a\x03abc\x42\x04\x0a\x00\x10\x11\x42\x08\x0a\x04corp\x10\x01";

    fn read(bytes: &[u8]) -> Result<OnnxModel, OnnxModelError> {
        read_from(Cursor::new(bytes))
    }

    #[test]
    fn the_header_is_found_around_the_graph() {
        assert_eq!(read(MODEL).expect("a model"), OnnxModel { ir_version: 8, opset: 17 });
    }

    #[test]
    fn what_is_no_model_says_so() {
        let said = |bytes: &[u8]| read(bytes).expect_err("no model").to_string();
        insta::assert_snapshot!(said(b""), @"is no ONNX model: it states no ir_version");
        insta::assert_snapshot!(said(b"\x08\x08"), @"is no ONNX model: it states no operator set");
        insta::assert_snapshot!(said(b"\x08\x08\x3a\xff\xff\x03abc"), @"ends early: a download that broke off, or a Git LFS pointer");
        insta::assert_snapshot!(said(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), @"is no ONNX model");
    }

    #[test]
    fn no_prefix_and_no_damage_is_a_panic() {
        for end in 0..MODEL.len() {
            let _ = read(MODEL.get(..end).unwrap_or_default());
            let mut damaged = MODEL.to_vec();
            for value in [0, 0x7f, 0xff] {
                damaged[end] = value;
                let _ = read(&damaged);
            }
        }
    }
}
