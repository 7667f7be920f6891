//! Encoded field sections (RFC 9204 §4.5).

use bytes::{BufMut, Bytes, BytesMut};

use super::static_table::TABLE;
use crate::fields::{Field, Fields, Line};
use crate::h3::{Error, ErrorCode};
use crate::primitive::{Invalid, Reader, put_integer, put_string};
use crate::static_table::{self, Match};

/// Writes a field section.
pub fn encode_section<'a>(lines: impl IntoIterator<Item = Line<'a>>, out: &mut BytesMut) {
    // Required Insert Count 0, Base 0 (§4.5.1).
    out.put_slice(&[0, 0]);
    for (name, value) in lines {
        encode_line(name, value, out);
    }
}

fn encode_line(name: &[u8], value: &[u8], out: &mut BytesMut) {
    match static_table::find(TABLE, name, value) {
        // Indexed Field Line, static (§4.5.2).
        Match::Line(index) => put_integer(index as u64, 6, 0b1100_0000, out),
        // Literal Field Line with Name Reference, static (§4.5.4).
        Match::Name(index) => {
            put_integer(index as u64, 4, 0b0101_0000, out);
            put_string(value, 7, 0, out);
        }
        // Literal Field Line with Literal Name (§4.5.6).
        Match::Nothing => {
            put_string(name, 3, 0b0010_0000, out);
            put_string(value, 7, 0, out);
        }
    }
}

/// Reads a field section of at most `max_size` bytes, as [`Fields::size`] counts them.
///
/// # Errors
///
/// QPACK_DECOMPRESSION_FAILED on the connection if the section cannot be decoded, which includes any
/// reference to a dynamic table; H3_EXCESSIVE_LOAD on the stream if it is too large.
pub fn decode_section(section: Bytes, max_size: u64) -> Result<Fields, Error> {
    let mut reader = Reader::new(section);
    decode_prefix(&mut reader)?;
    let mut fields = Vec::new();
    let mut size = 0;
    while let Some(first) = reader.peek() {
        let field = decode_line(first, &mut reader)?;
        size += field.size();
        if size > max_size {
            let reason = "a field section larger than the limit";
            return Err(Error::stream(ErrorCode::ExcessiveLoad, reason));
        }
        fields.push(field);
    }
    Ok(fields.into())
}

/// RFC 9204 §4.5.1. Without insertions no section can require any, nor have a Base below 0.
fn decode_prefix(reader: &mut Reader) -> Result<(), Invalid> {
    if reader.integer(8)? != 0 {
        return Err(DYNAMIC_REFERENCE);
    }
    let negative = reader.peek().is_some_and(|byte| byte & 0x80 != 0);
    reader.integer(7)?;
    if negative { Err(Invalid("a negative Base")) } else { Ok(()) }
}

fn decode_line(first: u8, reader: &mut Reader) -> Result<Field, Invalid> {
    if first & 0b1000_0000 != 0 {
        // Indexed Field Line (§4.5.2).
        check_static(first & 0b0100_0000 != 0)?;
        static_entry(reader.integer(6)?)
    } else if first & 0b0100_0000 != 0 {
        // Literal Field Line with Name Reference (§4.5.4).
        check_static(first & 0b0001_0000 != 0)?;
        let name = static_entry(reader.integer(4)?)?.name;
        Ok(Field { name, value: reader.string(7)? })
    } else if first & 0b0010_0000 != 0 {
        // Literal Field Line with Literal Name (§4.5.6).
        Ok(Field { name: reader.string(3)?, value: reader.string(7)? })
    } else {
        // With Post-Base Index or Name Reference (§4.5.3, §4.5.5).
        Err(DYNAMIC_REFERENCE)
    }
}

const DYNAMIC_REFERENCE: Invalid = Invalid("a reference to a dynamic table of capacity 0");

fn check_static(is_static: bool) -> Result<(), Invalid> {
    if is_static { Ok(()) } else { Err(DYNAMIC_REFERENCE) }
}

fn static_entry(index: u64) -> Result<Field, Invalid> {
    static_table::field(TABLE, index).ok_or(Invalid("an index beyond the static table"))
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::connection(ErrorCode::QpackDecompressionFailed, invalid.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::h3::Scope;

    fn encoded(fields: &Fields) -> Bytes {
        let mut out = BytesMut::new();
        encode_section(fields.lines(), &mut out);
        out.freeze()
    }

    fn decoded(section: &'static [u8]) -> Result<Fields, Error> {
        decode_section(Bytes::from_static(section), 1000)
    }

    /// RFC 9204 §B.1.
    #[test]
    fn example_of_the_rfc() {
        let section = b"\x00\x00\x51\x0b/index.html";
        let fields: Fields = [Field::new(":path", "/index.html")].into_iter().collect();
        assert_eq!(decoded(section).unwrap(), fields);
        // Ours is shorter: it is Huffman-encoded.
        let ours = encoded(&fields);
        assert_eq!(ours[..4], [0, 0, 0x51, 0x88]);
        assert_eq!(decode_section(ours, 1000).unwrap(), fields);
    }

    #[test]
    fn shortest_forms() {
        let mut fields = Fields::new();
        fields.push(":method", "GET"); // 17
        fields.push("x-frame-options", "sameorigin"); // 98: one more byte
        fields.push("server", "!"); // a name that is there, number 92
        fields.push("x", "!!"); // neither
        let expected = b"\x00\x00\xd1\xff\x23\x5f\x4d\x01!\x21x\x02!!";
        assert_eq!(encoded(&fields)[..], expected[..]);
    }

    #[test]
    fn the_table_is_whole() {
        assert_eq!(TABLE.len(), 99);
        for (index, entry) in TABLE.iter().enumerate() {
            let found = static_table::find(TABLE, entry.0.as_bytes(), entry.1.as_bytes());
            assert_eq!(found, Match::Line(index));
        }
    }

    #[test]
    fn decompression_failed() {
        let bad: [&[u8]; 14] = [
            b"",                                                         // no prefix
            b"\x00",                                                     // half a prefix
            b"\x01\x00",                                                 // a Required Insert Count
            b"\x00\x80",                                                 // a negative Base
            b"\x00\x00\x80",                                             // dynamic index
            b"\x00\x00\x40\x00",                                         // dynamic name
            b"\x00\x00\x10",                                             // post-base index
            b"\x00\x00\x00\x00",                                         // post-base name
            b"\x00\x00\xff\x24",                                         // static index 99
            b"\x00\x00\x5f\x54\x00",                                     // static name 99
            b"\x00\x00\x51\x0b/index",                                   // cut short
            b"\x00\x00\x51",                                             // cut shorter
            b"\x00\x00\x51\x81\xff",                                     // not Huffman
            b"\x00\x00\xff\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", // endless integer
        ];
        for section in bad {
            let error = decoded(section).unwrap_err();
            assert_eq!(error.code, ErrorCode::QpackDecompressionFailed, "{section:?}");
            assert_eq!(error.scope, Scope::Connection);
        }
    }

    #[test]
    fn size_limit() {
        // :path and / are six bytes, and 32 on top.
        let section = Bytes::from_static(b"\x00\x00\xc1\xc1");
        assert_eq!(decode_section(section.clone(), 76).unwrap().size(), 76);
        let error = decode_section(section, 75).unwrap_err();
        assert_eq!((error.code, error.scope), (ErrorCode::ExcessiveLoad, Scope::Stream));
    }

    fn any_field() -> impl Strategy<Value = Field> {
        let known = (0..TABLE.len()).prop_map(|index| static_table::field(TABLE, index as u64));
        let known = known.prop_map(|field| field.expect("an index of the table"));
        prop_oneof![
            known.clone(),
            (known, any::<Vec<u8>>()).prop_map(|(field, value)| Field::new(field.name, value)),
            any::<(Vec<u8>, Vec<u8>)>().prop_map(|(name, value)| Field::new(name, value)),
        ]
    }

    proptest! {
        #[test]
        fn round_trip(fields in prop::collection::vec(any_field(), 0..20)) {
            let fields = Fields::from(fields);
            prop_assert_eq!(decode_section(encoded(&fields), u64::MAX).unwrap(), fields);
        }

        #[test]
        fn any_bytes(section: Vec<u8>, max_size in 0..4096_u64) {
            let section = [&[0, 0], &section[..]].concat();
            if let Ok(fields) = decode_section(section.into(), max_size) {
                prop_assert!(fields.size() <= max_size);
            }
        }
    }
}
