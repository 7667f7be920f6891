//! What HPACK and QPACK write their field lines with: integers with a prefix (RFC 7541 §5.1,
//! RFC 9204 §4.1.1) and strings (RFC 7541 §5.2, RFC 9204 §4.1.2).

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::huffman;

/// What makes a compressed field section or an instruction unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Invalid(pub(crate) &'static str);

/// Integers need not be longer than 62 bits (RFC 9204 §4.1.1): more is an attack or an error.
const MAX_INTEGER: u64 = (1 << 62) - 1;

/// Bytes of the longest integer: one with the prefix and nine of seven bits each.
const MAX_INTEGER_LEN: usize = 10;

/// Writes `value` with a prefix of `bits` bits; the bits above the prefix are `high`.
pub(crate) fn put_integer(value: u64, bits: u32, high: u8, out: &mut impl BufMut) {
    let prefix = (1 << bits) - 1;
    if value < prefix {
        out.put_u8(high | value as u8);
        return;
    }
    out.put_u8(high | prefix as u8);
    let mut rest = value - prefix;
    while rest >= 0x80 {
        out.put_u8(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.put_u8(rest as u8);
}

/// The integer with a prefix of `bits` bits at the start of `bytes` and the length of its encoding;
/// `None` if it is cut short.
pub(crate) fn integer(bytes: &[u8], bits: u32) -> Result<Option<(u64, usize)>, Invalid> {
    let prefix = (1 << bits) - 1;
    let Some(&first) = bytes.first() else { return Ok(None) };
    let mut value = u64::from(first) & prefix;
    if value < prefix {
        return Ok(Some((value, 1)));
    }
    for (index, &byte) in bytes[1..].iter().enumerate() {
        let shift = 7 * index;
        let part = u64::from(byte & 0x7f);
        let goes_on = byte & 0x80 != 0;
        if part << shift > MAX_INTEGER - value || (goes_on && index + 2 == MAX_INTEGER_LEN) {
            return Err(Invalid("an integer of more than 62 bits"));
        }
        value += part << shift;
        if !goes_on {
            return Ok(Some((value, index + 2)));
        }
    }
    Ok(None)
}

/// Writes a string whose length has a prefix of `bits` bits, below the Huffman flag; the bits above
/// that flag are `high`. Huffman-encoded if that is shorter.
pub(crate) fn put_string(string: &[u8], bits: u32, high: u8, out: &mut BytesMut) {
    let encoded_len = huffman::encoded_len(string);
    if encoded_len < string.len() {
        put_integer(encoded_len as u64, bits, high | (1 << bits), out);
        huffman::encode(string, out);
    } else {
        put_integer(string.len() as u64, bits, high, out);
        out.put_slice(string);
    }
}

/// Reads a whole field section: its end is the end of the bytes.
#[derive(Debug)]
pub(crate) struct Reader {
    rest: Bytes,
}

impl Reader {
    pub(crate) fn new(section: Bytes) -> Self {
        Self { rest: section }
    }

    /// Bytes that were not read.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// The next byte, which stays.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    pub(crate) fn integer(&mut self, bits: u32) -> Result<u64, Invalid> {
        let (value, len) =
            integer(&self.rest, bits)?.ok_or(Invalid("the section ends in an integer"))?;
        self.rest.advance(len);
        Ok(value)
    }

    /// A string whose length has a prefix of `bits` bits, below the Huffman flag. Without Huffman
    /// encoding it shares the section's memory.
    pub(crate) fn string(&mut self, bits: u32) -> Result<Bytes, Invalid> {
        let huffman = self.peek().is_some_and(|byte| byte & (1 << bits) != 0);
        let len = self.integer(bits)?;
        if len > self.rest.len() as u64 {
            return Err(Invalid("the section ends in a string"));
        }
        let string = self.rest.split_to(len as usize);
        if !huffman {
            return Ok(string);
        }
        let mut decoded = BytesMut::with_capacity(huffman::max_decoded_len(string.len()));
        huffman::decode(&string, &mut decoded)
            .map_err(|_| Invalid("not a Huffman-encoded string"))?;
        Ok(decoded.freeze())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(value: u64, bits: u32) -> Vec<u8> {
        let mut out = Vec::new();
        put_integer(value, bits, 0, &mut out);
        out
    }

    /// RFC 7541 §C.1.
    #[test]
    fn integers_of_the_rfc() {
        assert_eq!(encoded(10, 5), [0b01010]);
        assert_eq!(encoded(1337, 5), [0b11111, 0b1001_1010, 0b0000_1010]);
        assert_eq!(encoded(42, 8), [42]);
        assert_eq!(integer(&[0b1110_1010], 5), Ok(Some((10, 1))));
        assert_eq!(integer(&[0xff, 0x9a, 0x0a, 0xff], 5), Ok(Some((1337, 3))));
        assert_eq!(integer(&[42], 8), Ok(Some((42, 1))));
    }

    #[test]
    fn too_long_an_integer() {
        let endless = [&[0x1f][..], &[0x80; 20]].concat();
        assert!(integer(&endless, 5).is_err());
        assert!(integer(&endless[..5], 5).unwrap().is_none(), "not yet");
        assert_eq!(integer(&encoded(MAX_INTEGER, 3), 3).unwrap().unwrap().0, MAX_INTEGER);
        assert!(integer(&encoded(MAX_INTEGER + 1, 3), 3).is_err());
    }

    #[test]
    fn strings_cut_short() {
        for section in [&[][..], &[0x05, b'a'], &[0x7f], &[0x7f, 0xff]] {
            assert!(Reader::new(Bytes::from_static(section)).string(7).is_err(), "{section:?}");
        }
    }

    proptest! {
        #[test]
        fn integer_round_trip(value in 0..=MAX_INTEGER, shift in 0..62u32, bits in 1..=8u32) {
            let value = value >> shift;
            let bytes = encoded(value, bits);
            prop_assert_eq!(integer(&bytes, bits), Ok(Some((value, bytes.len()))));
            prop_assert_eq!(integer(&bytes[..bytes.len() - 1], bits), Ok(None));
        }

        #[test]
        fn string_round_trip(string: Vec<u8>, bits in 3..=7u32) {
            let mut out = BytesMut::new();
            put_string(&string, bits, 0, &mut out);
            let mut reader = Reader::new(out.freeze());
            prop_assert_eq!(reader.string(bits).unwrap(), string);
            prop_assert_eq!(reader.peek(), None);
        }
    }
}
