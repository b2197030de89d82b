//! SHA-256 digests between their hexadecimal text and their bytes.

/// Reads 64 hexadecimal digits of either case, `None` for anything else.
#[must_use]
pub fn parse_sha256(hex: &str) -> Option<[u8; 32]> {
    let hex = hex.as_bytes();
    if hex.len() != 64 {
        return None;
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(hex.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = (digit(*high)? << 4) | digit(*low)?;
    }
    Some(digest)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// The 64 lower-case hexadecimal digits of a digest.
#[must_use]
pub fn sha256_hex(digest: &[u8; 32]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    digest
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_64_hexadecimal_digits_are_a_digest() {
        let upper = "AB".repeat(32);
        assert_eq!(parse_sha256(&upper), Some([0xab; 32]));
        for bad in ["", "ab", &"ab".repeat(33), &"xy".repeat(32), &"é".repeat(32)] {
            assert_eq!(parse_sha256(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn text_and_bytes_agree(digest: [u8; 32]) {
            prop_assert_eq!(parse_sha256(&sha256_hex(&digest)), Some(digest));
        }
    }
}
