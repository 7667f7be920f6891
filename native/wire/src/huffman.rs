//! The Huffman code of HPACK and QPACK (RFC 7541 §5.2 and appendix B).
//!
//! The code is canonical: among the symbols of one length codes count up with the symbol, and each
//! length continues where the one before it stopped. The lengths alone therefore say all of it.

use bytes::BufMut;

/// The string is not the Huffman encoding of anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a Huffman-encoded string")]
pub struct Invalid;

/// Symbol 256, "end of string": its first bits pad the last byte, and it is never written whole.
const EOS: u16 = 256;
const SYMBOLS: usize = 257;
const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// Bits of each symbol's code (RFC 7541 appendix B).
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];

struct Code {
    /// Each symbol's code, in its lowest bits.
    codes: [u32; SYMBOLS],
    /// The symbols in the order of their codes.
    symbols: [u16; SYMBOLS],
    /// For each length: the first code of that length at the top of 32 bits.
    first: [u32; LONGEST + 1],
    /// For each length: the place of that first code's symbol in `symbols`.
    place: [u16; LONGEST + 1],
    /// For each length: the largest 32 bits that start with a code of at most that length.
    last: [u32; LONGEST + 1],
}

static CODE: Code = canonical();

const fn canonical() -> Code {
    let mut code = Code {
        codes: [0; SYMBOLS],
        symbols: [0; SYMBOLS],
        first: [0; LONGEST + 1],
        place: [0; LONGEST + 1],
        last: [0; LONGEST + 1],
    };
    let mut next: u64 = 0; // the next code at the top of 32 bits
    let mut place = 0;
    let mut length = SHORTEST;
    while length <= LONGEST {
        code.first[length] = next as u32;
        code.place[length] = place as u16;
        let mut symbol = 0;
        while symbol < SYMBOLS {
            if LENGTHS[symbol] as usize == length {
                code.codes[symbol] = (next >> (32 - length)) as u32;
                code.symbols[place] = symbol as u16;
                place += 1;
                next += 1 << (32 - length);
            }
            symbol += 1;
        }
        code.last[length] = (next - 1) as u32;
        length += 1;
    }
    code
}

/// Bytes of the encoding of `bytes`.
#[must_use]
pub fn encoded_len(bytes: &[u8]) -> usize {
    let bits: usize = bytes.iter().map(|&byte| usize::from(LENGTHS[usize::from(byte)])).sum();
    bits.div_ceil(8)
}

/// Writes the encoding of `bytes`.
pub fn encode(bytes: &[u8], out: &mut impl BufMut) {
    let mut pending: u64 = 0; // bits not yet written, in the lowest `count` bits
    let mut count = 0;
    for &byte in bytes {
        let length = LENGTHS[usize::from(byte)];
        pending = (pending << length) | u64::from(CODE.codes[usize::from(byte)]);
        count += length;
        while count >= 8 {
            count -= 8;
            out.put_u8((pending >> count) as u8);
        }
    }
    if count > 0 {
        out.put_u8((pending << (8 - count)) as u8 | (0xff >> count));
    }
}

/// An upper bound of the decoded length in bytes: no code is shorter than five bits.
#[must_use]
pub const fn max_decoded_len(encoded: usize) -> usize {
    encoded * 8 / SHORTEST
}

/// Writes what `encoded` stands for; at most [`max_decoded_len`] bytes.
///
/// # Errors
///
/// RFC 7541 §5.2: padding of more than seven bits, padding that is not ones, or an EOS symbol.
pub fn decode(encoded: &[u8], out: &mut impl BufMut) -> Result<(), Invalid> {
    let mut input = encoded.iter();
    let mut pending: u64 = 0; // bits not yet decoded, at the top
    let mut count = 0;
    loop {
        while count <= 56 {
            let Some(&byte) = input.next() else { break };
            pending |= u64::from(byte) << (56 - count);
            count += 8;
        }
        // Ones where there is no input: they start no code but that of EOS.
        let window = ((pending | u64::MAX.checked_shr(count).unwrap_or(0)) >> 32) as u32;
        let length = code_length(window);
        if length > count {
            let padding_is_ones = pending.leading_ones() >= count;
            return if count < 8 && padding_is_ones { Ok(()) } else { Err(Invalid) };
        }
        let within = (window - CODE.first[length as usize]) >> (32 - length);
        let symbol = CODE.symbols[usize::from(CODE.place[length as usize]) + within as usize];
        if symbol == EOS {
            return Err(Invalid);
        }
        out.put_u8(symbol as u8);
        pending <<= length;
        count -= length;
    }
}

/// Bits of the code at the top of `window`.
fn code_length(window: u32) -> u32 {
    let length = (SHORTEST..LONGEST).find(|&length| window <= CODE.last[length]);
    length.unwrap_or(LONGEST) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        encode(bytes, &mut out);
        out
    }

    fn decoded(bytes: &[u8]) -> Result<Vec<u8>, Invalid> {
        let mut out = Vec::new();
        decode(bytes, &mut out).map(|()| out)
    }

    /// Codes written out in RFC 7541 appendix B, one or more of every region of the table.
    #[test]
    fn codes_of_the_rfc() {
        let examples = [
            (0, 0x1ff8),
            (usize::from(b'0'), 0x0),
            (usize::from(b'a'), 0x3),
            (usize::from(b' '), 0x14),
            (usize::from(b'X'), 0xfc),
            (usize::from(b'\\'), 0x7fff0),
            (128, 0xfffe6),
            (199, 0x1ff_ffec),
            (249, 0xfff_fffe),
            (255, 0x3ff_ffee),
            (256, 0x3fff_ffff),
        ];
        for (symbol, code) in examples {
            assert_eq!(CODE.codes[symbol], code, "symbol {symbol}");
        }
    }

    /// RFC 7541 §C.4.1 and §C.6.1.
    #[test]
    fn strings_of_the_rfc() {
        let examples: [(&str, &[u8]); 3] = [
            (
                "www.example.com",
                &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff],
            ),
            ("302", &[0x64, 0x02]),
            ("private", &[0xae, 0xc3, 0x77, 0x1a, 0x4b]),
        ];
        for (text, bytes) in examples {
            assert_eq!(encoded(text.as_bytes()), bytes);
            assert_eq!(decoded(bytes).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn rejects() {
        assert_eq!(decoded(&[0x64, 0x02, 0xff]), Err(Invalid), "eight bits of padding");
        assert_eq!(decoded(&[0b0001_1000]), Err(Invalid), "padding of zeros after 'a'");
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), Err(Invalid), "EOS");
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xfc]), Err(Invalid), "EOS to the bit");
        assert_eq!(decoded(&[0xff]), Err(Invalid), "nothing but padding, and a whole byte");
        assert_eq!(decoded(&[]), Ok(vec![]));
    }

    proptest! {
        #[test]
        fn round_trip(bytes: Vec<u8>) {
            let encoded = encoded(&bytes);
            prop_assert_eq!(encoded.len(), encoded_len(&bytes));
            prop_assert_eq!(decoded(&encoded).unwrap(), bytes);
        }

        /// Whatever is accepted was written in the only way there is.
        #[test]
        fn one_encoding_each(bytes: Vec<u8>) {
            if let Ok(text) = decoded(&bytes) {
                prop_assert!(text.len() <= max_decoded_len(bytes.len()));
                prop_assert_eq!(encoded(&text), bytes);
            }
        }
    }
}
