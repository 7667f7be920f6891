//! Reading field blocks (RFC 7541 §3, §6).

use bytes::Bytes;

use super::DEFAULT_TABLE_SIZE;
use super::static_table::TABLE;
use crate::dynamic_table::DynamicTable;
use crate::fields::{Field, Fields};
use crate::h2::{Error, ErrorCode};
use crate::primitive::{Invalid, Reader};
use crate::static_table;

/// Reads the field blocks of a connection, every one of them and in their order.
#[derive(Debug)]
pub struct Decoder {
    table: DynamicTable,
    /// Bytes the peer may make the dynamic table.
    max_table_size: u64,
    /// Bytes of a decoded block, as [`Fields::size`] counts them.
    max_section: u64,
}

/// What a representation stands for.
enum Representation {
    Line(Field),
    TableSize(u64),
}

impl Decoder {
    /// At the start of a connection that leaves SETTINGS_HEADER_TABLE_SIZE at its default. A block may
    /// have `max_section` bytes when decoded.
    #[must_use]
    pub const fn new(max_section: u64) -> Self {
        Self::with_table(DEFAULT_TABLE_SIZE, max_section)
    }

    /// The same with another SETTINGS_HEADER_TABLE_SIZE, in bytes, from the start.
    #[must_use]
    pub const fn with_table(max_table_size: u64, max_section: u64) -> Self {
        Self { table: DynamicTable::new(max_table_size), max_table_size, max_section }
    }

    /// Reads a field block.
    ///
    /// # Errors
    ///
    /// COMPRESSION_ERROR if it cannot be decoded; ENHANCE_YOUR_CALM if it is too large. Both end the
    /// connection.
    pub fn decode(&mut self, block: Bytes) -> Result<Fields, Error> {
        let mut reader = Reader::new(block);
        let mut fields = Vec::new();
        let mut size = 0;
        while let Some(first) = reader.peek() {
            match self.representation(first, &mut reader)? {
                Representation::TableSize(_) if !fields.is_empty() => {
                    return Err(Invalid("a table size update behind a field").into());
                }
                Representation::TableSize(size) if size > self.max_table_size => {
                    return Err(Invalid("a table size above SETTINGS_HEADER_TABLE_SIZE").into());
                }
                Representation::TableSize(size) => self.table.resize(size),
                Representation::Line(field) => {
                    size += field.size();
                    if size > self.max_section {
                        let reason = "a field section larger than the limit";
                        return Err(Error::connection(ErrorCode::EnhanceYourCalm, reason));
                    }
                    fields.push(field);
                }
            }
        }
        Ok(fields.into())
    }

    fn representation(
        &mut self,
        first: u8,
        reader: &mut Reader,
    ) -> Result<Representation, Invalid> {
        let field = if first & 0b1000_0000 != 0 {
            // Indexed Header Field (§6.1).
            self.entry(reader.integer(7)?)?
        } else if first & 0b0100_0000 != 0 {
            // Literal Header Field with Incremental Indexing (§6.2.1).
            let field = self.literal(reader, 6)?;
            self.table.insert(&field.name, &field.value);
            field
        } else if first & 0b0010_0000 != 0 {
            // Dynamic Table Size Update (§6.3).
            return Ok(Representation::TableSize(reader.integer(5)?));
        } else {
            // Literal Header Field without Indexing, or Never Indexed (§6.2.2, §6.2.3).
            self.literal(reader, 4)?
        };
        Ok(Representation::Line(field))
    }

    /// A literal whose name is at an index with a prefix of `bits` bits, or, if that is 0, follows.
    fn literal(&self, reader: &mut Reader, bits: u32) -> Result<Field, Invalid> {
        let name = match reader.integer(bits)? {
            0 => reader.string(7)?,
            index => self.entry(index)?.name,
        };
        Ok(Field { name, value: reader.string(7)? })
    }

    /// The entry at `index` of both tables (§2.3.3).
    fn entry(&self, index: u64) -> Result<Field, Invalid> {
        let index = index.checked_sub(1).ok_or(Invalid("index 0"))?;
        static_table::field(TABLE, index)
            .or_else(|| {
                // The newest has the lowest index.
                let age = index.checked_sub(TABLE.len() as u64)?;
                self.table.get(self.table.inserted().checked_sub(age + 1)?).cloned()
            })
            .ok_or(Invalid("an index beyond the tables"))
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Self::connection(ErrorCode::CompressionError, invalid.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::h2::Scope;

    fn hex(text: &str) -> Bytes {
        let digits: Vec<u8> = text
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .map(|byte| char::from(byte).to_digit(16).unwrap() as u8)
            .collect();
        digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect()
    }

    fn lines(fields: &Fields) -> String {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        fields.lines().map(|(name, value)| format!("{}: {}\n", text(name), text(value))).collect()
    }

    /// Decodes blocks of one connection, and compares what they say and what is then in the table.
    fn check(table_size: u64, blocks: &[(&str, &str, &[&str], u64)]) {
        let mut decoder = Decoder::with_table(table_size, 1000);
        for (block, expected, entries, size) in blocks {
            assert_eq!(lines(&decoder.decode(hex(block)).unwrap()), *expected);
            let table: Fields = decoder.table.entries().cloned().collect();
            assert_eq!(lines(&table).lines().collect::<Vec<_>>(), *entries);
            assert_eq!(decoder.table.size(), *size);
        }
    }

    /// RFC 7541 §C.2.
    #[test]
    fn representations_of_the_rfc() {
        let custom = "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572";
        check(4096, &[(custom, "custom-key: custom-header\n", &["custom-key: custom-header"], 55)]);
        let path = "040c 2f73 616d 706c 652f 7061 7468";
        check(4096, &[(path, ":path: /sample/path\n", &[], 0)]);
        check(
            4096,
            &[("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret\n", &[], 0)],
        );
        check(4096, &[("82", ":method: GET\n", &[], 0)]);
    }

    const FIRST: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n";
    const SECOND: &str = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n\
                          cache-control: no-cache\n";
    const THIRD: &str = ":method: GET\n:scheme: https\n:path: /index.html\n\
                         :authority: www.example.com\ncustom-key: custom-value\n";
    const REQUEST_TABLE: [&str; 3] =
        ["custom-key: custom-value", "cache-control: no-cache", ":authority: www.example.com"];

    /// RFC 7541 §C.3 without and §C.4 with Huffman encoding.
    #[test]
    fn requests_of_the_rfc() {
        let plain = [
            "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
            "8286 84be 5808 6e6f 2d63 6163 6865",
            "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
        ];
        let huffman = [
            "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
            "8286 84be 5886 a8eb 1064 9cbf",
            "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
        ];
        for blocks in [plain, huffman] {
            check(
                4096,
                &[
                    (blocks[0], FIRST, &REQUEST_TABLE[2..], 57),
                    (blocks[1], SECOND, &REQUEST_TABLE[1..], 110),
                    (blocks[2], THIRD, &REQUEST_TABLE, 164),
                ],
            );
        }
    }

    const COOKIE: &str = "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1";

    /// RFC 7541 §C.5 without and §C.6 with Huffman encoding: a table that evicts.
    #[test]
    fn responses_of_the_rfc() {
        let plain = [
            "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
             2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70
             6c65 2e63 6f6d",
            "4803 3330 37c1 c0bf",
            "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
             54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
             5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e
             3d31",
        ];
        let huffman = [
            "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
             2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
            "4883 640e ffc1 c0bf",
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
             77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
             9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        ];
        let location = "location: https://www.example.com";
        let (early, late) =
            ("date: Mon, 21 Oct 2013 20:13:21 GMT", "date: Mon, 21 Oct 2013 20:13:22 GMT");
        let private = "cache-control: private";
        let encoding = "content-encoding: gzip";
        let first = format!(":status: 302\n{private}\n{early}\n{location}\n");
        let second = format!(":status: 307\n{private}\n{early}\n{location}\n");
        let third = format!(":status: 200\n{private}\n{late}\n{location}\n{encoding}\n{COOKIE}\n");
        for blocks in [plain, huffman] {
            check(
                256,
                &[
                    (blocks[0], &first, &[location, early, private, ":status: 302"], 222),
                    (blocks[1], &second, &[":status: 307", location, early, private], 222),
                    (blocks[2], &third, &[COOKIE, encoding, late], 215),
                ],
            );
        }
    }

    #[test]
    fn compression_errors() {
        let bad = [
            "80",                                  // index 0
            "be",                                  // index 62 of an empty table
            "ff 80 01",                            // and one far beyond
            "7e 01 61",                            // a name that is not there
            "82 20",                               // a size update behind a field
            "3f e2 1f",                            // a size update to 4097
            "41",                                  // cut short
            "41 05 61",                            // cut shorter
            "41 81 ff",                            // not Huffman
            "1f ff ff ff ff ff ff ff ff ff ff 7f", // an endless integer
        ];
        for block in bad {
            let error = Decoder::new(1000).decode(hex(block)).unwrap_err();
            assert_eq!(error.code, ErrorCode::CompressionError, "{block}");
            assert_eq!(error.scope, Scope::Connection);
        }
    }

    #[test]
    fn table_size_updates() {
        let mut decoder = Decoder::new(1000);
        decoder.decode(hex("4001 6101 62")).unwrap();
        assert_eq!(decoder.table.size(), 34);
        decoder.decode(hex("20 3fe11f 82")).unwrap(); // to 0 and back to 4096
        assert_eq!(decoder.table.size(), 0);
        decoder.decode(hex("3f02")).unwrap(); // to 33
        decoder.decode(hex("4001 6101 62")).unwrap();
        assert_eq!(decoder.table.size(), 0, "an entry larger than the table empties it");
    }

    #[test]
    fn section_limit() {
        // :method and GET are 10 bytes, and 32 on top.
        assert_eq!(Decoder::new(84).decode(hex("82 82")).unwrap().len(), 2);
        let error = Decoder::new(83).decode(hex("82 82")).unwrap_err();
        assert_eq!((error.code, error.scope), (ErrorCode::EnhanceYourCalm, Scope::Connection));
    }

    proptest! {
        #[test]
        fn round_trip(sections in prop::collection::vec(prop::collection::vec(
            prop_oneof![
                (0..TABLE.len()).prop_map(|index| static_table::field(TABLE, index as u64).unwrap()),
                any::<(Vec<u8>, Vec<u8>)>().prop_map(|(name, value)| Field::new(name, value)),
            ], 0..10), 1..4),
            table_size in prop_oneof![Just(0), Just(100), Just(4096)])
        {
            let mut encoder = super::super::Encoder::new(table_size);
            let mut decoder = Decoder::new(u64::MAX);
            for section in sections {
                let section = Fields::from(section);
                let mut block = bytes::BytesMut::new();
                encoder.encode(section.lines(), &mut block);
                prop_assert_eq!(decoder.decode(block.freeze()).unwrap(), section);
            }
        }

        #[test]
        fn any_bytes(blocks: Vec<Vec<u8>>, max_section in 0..4096_u64) {
            let mut decoder = Decoder::with_table(256, max_section);
            for block in blocks {
                if let Ok(fields) = decoder.decode(block.into()) {
                    prop_assert!(fields.size() <= max_section);
                }
                prop_assert!(decoder.table.size() <= 256);
            }
        }
    }
}
