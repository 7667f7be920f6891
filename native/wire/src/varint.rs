//! QUIC's variable-length integers (RFC 9000 §16).

use bytes::{BufMut, Bytes};

/// The largest integer that can be written: 2^62 - 1.
pub const MAX: u64 = (1 << 62) - 1;

/// The longest encoding in bytes.
pub const MAX_LEN: usize = 8;

/// Bytes of the shortest encoding of `value`.
#[must_use]
pub const fn len(value: u64) -> usize {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

/// Writes `value` in its shortest encoding.
///
/// # Panics
///
/// If `value` exceeds [`MAX`], which no peer can bring about: stream ids come from variable-length integers,
/// and lengths of content are checked where they are chosen.
pub fn encode(value: u64, out: &mut impl BufMut) {
    assert!(value <= MAX, "{value} does not fit a variable-length integer");
    let bytes = value.to_be_bytes();
    let len = len(value);
    let mut encoded = [0; MAX_LEN];
    encoded[..len].copy_from_slice(&bytes[MAX_LEN - len..]);
    // The two highest bits of the first byte are the binary logarithm of the length.
    encoded[0] |= (len.trailing_zeros() as u8) << 6;
    out.put_slice(&encoded[..len]);
}

/// Bytes of the encoding that starts with `first`.
#[must_use]
pub const fn len_from_first(first: u8) -> usize {
    1 << (first >> 6)
}

/// The integer at the start of `bytes` and the length of its encoding; `None` if it is cut short.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let len = len_from_first(first);
    let rest = bytes.get(1..len)?;
    let value =
        rest.iter().fold(u64::from(first & 0x3f), |value, &byte| (value << 8) | u64::from(byte));
    Some((value, len))
}

/// Takes the integer at the start of `bytes`; `None`, and nothing taken, if it is cut short.
pub fn take(bytes: &mut Bytes) -> Option<u64> {
    let (value, len) = decode(bytes)?;
    bytes::Buf::advance(bytes, len);
    Some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        encode(value, &mut out);
        out
    }

    /// The examples of RFC 9000 §A.1.
    #[test]
    fn examples_of_the_rfc() {
        let examples: [(&[u8], u64); 4] = [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x25], 37),
        ];
        for (bytes, value) in examples {
            assert_eq!(decode(bytes), Some((value, bytes.len())));
            assert_eq!(encoded(value), bytes);
        }
        assert_eq!(decode(&[0x40, 0x25]), Some((37, 2)), "longer than needed is legal");
    }

    #[test]
    fn cut_short() {
        assert_eq!(decode(&[]), None);
        let mut bytes = Bytes::from_static(&[0x9d, 0x7f, 0x3e]);
        assert_eq!(take(&mut bytes), None);
        assert_eq!(bytes.len(), 3);
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn too_large() {
        encoded(MAX + 1);
    }

    proptest! {
        #[test]
        fn round_trip(value in 0..=MAX, shift in 0..62u32, tail: Vec<u8>) {
            let value = value >> shift;
            let mut bytes = encoded(value);
            let len = bytes.len();
            prop_assert_eq!(len, super::len(value));
            bytes.extend(tail);
            prop_assert_eq!(decode(&bytes), Some((value, len)));
        }
    }
}
