//! Encoded field sections (RFC 9204 §4.5).

use bytes::{BufMut, Bytes, BytesMut};

use super::static_table::TABLE;
use crate::dynamic_table::DynamicTable;
use crate::fields::{Field, Fields};
use crate::h3::{Error, ErrorCode};
use crate::primitive::{Invalid, Reader, put_integer, put_string};
use crate::static_table;

/// What a section's lines are about (§4.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// Insertions that must have arrived before the section can be decoded (§2.1.2).
    pub(super) required: u64,
    /// What indices count from (§3.2.5).
    pub(super) base: u64,
}

impl Prefix {
    /// Writes the prefix. `capacity` is the decoder's maximum, in bytes.
    pub(super) fn encode(self, capacity: u64, out: &mut BytesMut) {
        let Self { required, base } = self;
        if required == 0 {
            out.put_slice(&[0, 0]);
            return;
        }
        put_integer(required % (2 * max_entries(capacity)) + 1, 8, 0, out);
        match base.checked_sub(required) {
            Some(delta) => put_integer(delta, 7, 0, out),
            None => put_integer(required - base - 1, 7, 0b1000_0000, out),
        }
    }

    /// Reads a prefix, with the decoder's maximum capacity in bytes, when its table has had `inserted`
    /// entries.
    pub(super) fn decode(
        reader: &mut Reader,
        capacity: u64,
        inserted: u64,
    ) -> Result<Self, Invalid> {
        let required = required_insert_count(reader.integer(8)?, max_entries(capacity), inserted)?;
        let is_negative = reader.peek().is_some_and(|byte| byte & 0x80 != 0);
        let delta = reader.integer(7)?;
        let base = if is_negative {
            required.checked_sub(delta).and_then(|base| base.checked_sub(1))
        } else {
            required.checked_add(delta)
        };
        Ok(Self { required, base: base.ok_or(Invalid("a negative Base"))? })
    }
}

/// RFC 9204 §4.5.1.1: how many entries a table can have, of which none is smaller than 32 bytes.
const fn max_entries(capacity: u64) -> u64 {
    capacity / 32
}

/// RFC 9204 §4.5.1.1.
fn required_insert_count(encoded: u64, max_entries: u64, inserted: u64) -> Result<u64, Invalid> {
    if encoded == 0 {
        return Ok(0);
    }
    if max_entries == 0 {
        return Err(Invalid("a reference to a dynamic table of capacity 0"));
    }
    let invalid = Invalid("a Required Insert Count that cannot be");
    let full_range = 2 * max_entries;
    if encoded > full_range {
        return Err(invalid);
    }
    let most = inserted + max_entries;
    let wrapped = most / full_range * full_range + encoded - 1;
    let required =
        if wrapped > most { wrapped.checked_sub(full_range).ok_or(invalid)? } else { wrapped };
    if required == 0 { Err(invalid) } else { Ok(required) }
}

/// A line that is not indexed: what there is of it in a table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'a> {
    /// An index of the static table.
    Static(u64),
    /// An absolute index of the dynamic table.
    Dynamic(u64),
    /// The name itself.
    Literal(&'a [u8]),
}

/// Indexed Field Line, static (§4.5.2).
pub(super) fn put_static(index: u64, out: &mut BytesMut) {
    put_integer(index, 6, 0b1100_0000, out);
}

/// Indexed Field Line, of an absolute index of the dynamic table (§4.5.2, §4.5.3).
pub(super) fn put_dynamic(index: u64, base: u64, out: &mut BytesMut) {
    match index.checked_sub(base) {
        Some(post_base) => put_integer(post_base, 4, 0b0001_0000, out),
        None => put_integer(base - index - 1, 6, 0b1000_0000, out),
    }
}

/// Literal Field Line (§4.5.4 to §4.5.6), which nobody on the way may put into a table if it is `secret`.
pub(super) fn put_literal(
    name: Name<'_>,
    value: &[u8],
    secret: bool,
    base: u64,
    out: &mut BytesMut,
) {
    let never = |bit: u8| if secret { bit } else { 0 };
    match name {
        Name::Static(index) => put_integer(index, 4, 0b0101_0000 | never(0b0010_0000), out),
        Name::Dynamic(index) => match index.checked_sub(base) {
            Some(post_base) => put_integer(post_base, 3, never(0b0000_1000), out),
            None => put_integer(base - index - 1, 4, 0b0100_0000 | never(0b0010_0000), out),
        },
        Name::Literal(name) => put_string(name, 3, 0b0010_0000 | never(0b0001_0000), out),
    }
    put_string(value, 7, 0, out);
}

/// Reads the lines behind a prefix, of at most `max_size` bytes as [`Fields::size`] counts them.
///
/// # Errors
///
/// QPACK_DECOMPRESSION_FAILED on the connection if they cannot be decoded; H3_EXCESSIVE_LOAD on the
/// stream if they are too large.
pub(super) fn decode_lines(
    reader: &mut Reader,
    prefix: Prefix,
    table: &DynamicTable,
    max_size: u64,
) -> Result<Fields, Error> {
    let lines = Lines { prefix, table };
    let mut fields = Vec::new();
    let mut size = 0;
    while let Some(first) = reader.peek() {
        let field = lines.decode(first, reader)?;
        size += field.size();
        if size > max_size {
            let reason = "a field section larger than the limit";
            return Err(Error::stream(ErrorCode::ExcessiveLoad, reason));
        }
        fields.push(field);
    }
    Ok(fields.into())
}

/// What the lines of a section refer to.
struct Lines<'a> {
    prefix: Prefix,
    table: &'a DynamicTable,
}

impl Lines<'_> {
    fn decode(&self, first: u8, reader: &mut Reader) -> Result<Field, Invalid> {
        if first & 0b1000_0000 != 0 {
            // Indexed Field Line (§4.5.2).
            self.entry(first & 0b0100_0000 != 0, reader.integer(6)?)
        } else if first & 0b0100_0000 != 0 {
            // Literal Field Line with Name Reference (§4.5.4).
            let name = self.entry(first & 0b0001_0000 != 0, reader.integer(4)?)?.name;
            Ok(Field { name, value: reader.string(7)? })
        } else if first & 0b0010_0000 != 0 {
            // Literal Field Line with Literal Name (§4.5.6).
            Ok(Field { name: reader.string(3)?, value: reader.string(7)? })
        } else if first & 0b0001_0000 != 0 {
            // Indexed Field Line with Post-Base Index (§4.5.3).
            self.post_base(reader.integer(4)?)
        } else {
            // Literal Field Line with Post-Base Name Reference (§4.5.5).
            let name = self.post_base(reader.integer(3)?)?.name;
            Ok(Field { name, value: reader.string(7)? })
        }
    }

    fn entry(&self, is_static: bool, index: u64) -> Result<Field, Invalid> {
        if is_static {
            return static_entry(index);
        }
        self.dynamic(self.prefix.base.checked_sub(index).and_then(|index| index.checked_sub(1)))
    }

    fn post_base(&self, index: u64) -> Result<Field, Invalid> {
        self.dynamic(self.prefix.base.checked_add(index))
    }

    /// RFC 9204 §2.2.3: neither what was evicted nor what the prefix does not require.
    fn dynamic(&self, index: Option<u64>) -> Result<Field, Invalid> {
        let index = index.filter(|&index| index < self.prefix.required);
        let entry = index.and_then(|index| self.table.get(index)).cloned();
        entry.ok_or(Invalid("a reference to an entry that the dynamic table does not have"))
    }
}

/// The entry of the static table at `index`.
pub(super) fn static_entry(index: u64) -> Result<Field, Invalid> {
    static_table::field(TABLE, index).ok_or(Invalid("an index beyond the static table"))
}

/// Reads a field section that refers to no dynamic table.
///
/// # Errors
///
/// See [`decode_lines`].
pub fn decode_section(section: Bytes, max_size: u64) -> Result<Fields, Error> {
    let mut reader = Reader::new(section);
    let prefix = Prefix::decode(&mut reader, 0, 0)?;
    decode_lines(&mut reader, prefix, &DynamicTable::new(0), max_size)
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::connection(ErrorCode::QpackDecompressionFailed, invalid.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::encode_section;
    use super::*;
    use crate::h3::Scope;
    use crate::static_table::Match;

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
