//! Bodies of answers: unpacked, within bounds.

use std::io::{ErrorKind, Read};

use flate2::read::MultiGzDecoder;
use http::header::CONTENT_ENCODING;

use crate::net::Head;

/// The most bytes of a page, and of METADATA, that are read.
pub(crate) const PAGE_LIMIT: u64 = 128 << 20;
pub(crate) const METADATA_LIMIT: u64 = 8 << 20;

/// Undoes the compression that the answer names.
///
/// # Errors
/// When it is another than was asked for, is broken, or unpacks to more than `limit` bytes.
pub(crate) fn unpack(head: &Head, bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>, String> {
    match head.text(CONTENT_ENCODING).map(str::trim) {
        None | Some("" | "identity") => Ok(bytes),
        Some(kind) if kind.eq_ignore_ascii_case("gzip") || kind.eq_ignore_ascii_case("x-gzip") => {
            gunzip(&bytes, limit)
        }
        Some(kind) => Err(format!("the body is compressed as '{kind}', which was not asked for")),
    }
}

fn gunzip(bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    // Pages shrink to about a fifth.
    let mut unpacked = Vec::with_capacity(bytes.len().saturating_mul(6).min(16 << 20));
    let mut decoder = MultiGzDecoder::new(bytes).take(limit + 1);
    match decoder.read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() as u64 > limit => {
            Err(format!("the body unpacks to more than {limit} bytes"))
        }
        Ok(_) => Ok(unpacked),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err("the compressed body was cut off; try again".to_owned())
        }
        Err(error) => Err(format!("the compressed body is damaged ({error}); try again")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_whole_bodies_within_the_limit_pass() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&[7; 1000]).expect("a vector takes everything");
        let packed = encoder.finish().expect("a vector takes everything");
        assert_eq!(gunzip(&packed, 1000).expect("whole"), [7; 1000]);
        assert!(gunzip(&packed, 999).expect_err("too long").contains("more than 999"));
        let cut = packed.get(..packed.len() - 9).expect("longer");
        assert!(gunzip(cut, 1000).expect_err("cut").contains("cut off"));
        assert!(gunzip(b"no gzip at all, but text", 1000).is_err());
    }
}
