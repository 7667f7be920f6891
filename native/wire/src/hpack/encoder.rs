//! Writing field blocks (RFC 7541 §6).

use bytes::BytesMut;

use super::DEFAULT_TABLE_SIZE;
use super::static_table::TABLE;
use crate::dynamic_table::{DynamicTable, line_size};
use crate::fields::Line;
use crate::indexing::{Indexing, indexing};
use crate::primitive::{put_integer, put_string};
use crate::static_table::{self, Match};

/// Writes the field blocks of a connection.
#[derive(Debug)]
pub struct Encoder {
    table: DynamicTable,
    /// Bytes it may have, whatever the peer allows.
    limit: u64,
    /// The least size since the last block, if the peer has to be told of a change (§4.2).
    least_since: Option<u64>,
}

impl Default for Encoder {
    /// One without a dynamic table.
    fn default() -> Self {
        Self::new(0)
    }
}

impl Encoder {
    /// At the start of a connection, with a dynamic table of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        let mut encoder =
            Self { table: DynamicTable::new(DEFAULT_TABLE_SIZE), limit, least_since: None };
        encoder.allow(DEFAULT_TABLE_SIZE);
        encoder
    }

    /// Heeds the peer's SETTINGS_HEADER_TABLE_SIZE, once that is acknowledged: blocks that are written
    /// from now on must be sent after the acknowledgment.
    pub fn allow(&mut self, header_table_size: u64) {
        let size = header_table_size.min(self.limit);
        if size != self.table.capacity() {
            self.table.resize(size);
            self.least_since = Some(self.least_since.map_or(size, |least| least.min(size)));
        }
    }

    /// Writes a field block. It must be sent, and blocks in the order in which they were written.
    pub fn encode<'a>(&mut self, lines: impl IntoIterator<Item = Line<'a>>, out: &mut BytesMut) {
        self.announce(out);
        for (name, value) in lines {
            self.encode_line(name, value, out);
        }
    }

    /// Dynamic Table Size Updates (§4.2, §6.3): the least size on the way, and the present one.
    fn announce(&mut self, out: &mut BytesMut) {
        let Some(least) = self.least_since.take() else { return };
        let size = self.table.capacity();
        if least < size {
            put_integer(least, 5, 0b0010_0000, out);
        }
        put_integer(size, 5, 0b0010_0000, out);
    }

    fn encode_line(&mut self, name: &[u8], value: &[u8], out: &mut BytesMut) {
        let indexing = indexing(name, value);
        let index = match self.find(name, value) {
            // Indexed Header Field (§6.1).
            Match::Line(index) if indexing != Indexing::Never => {
                return put_integer(index as u64, 7, 0b1000_0000, out);
            }
            Match::Line(index) | Match::Name(index) => index,
            // A name that follows.
            Match::Nothing => 0,
        };
        let fits = line_size(name, value) <= self.table.capacity();
        let (bits, pattern) = match indexing {
            // Literal Header Field with Incremental Indexing (§6.2.1).
            Indexing::Insert if fits => (6, 0b0100_0000),
            // Never Indexed (§6.2.3).
            Indexing::Never => (4, 0b0001_0000),
            // Without Indexing (§6.2.2).
            _ => (4, 0),
        };
        put_integer(index as u64, bits, pattern, out);
        if index == 0 {
            put_string(name, 7, 0, out);
        }
        put_string(value, 7, 0, out);
        if bits == 6 {
            self.table.insert(name, value);
        }
    }

    /// The best entry of both tables, by its index on the wire (§2.3.3).
    fn find(&self, name: &[u8], value: &[u8]) -> Match {
        let fixed = match static_table::find(TABLE, name, value) {
            Match::Line(index) => return Match::Line(index + 1),
            Match::Name(index) => Match::Name(index + 1),
            Match::Nothing => Match::Nothing,
        };
        let on_wire = |index| TABLE.len() + self.table.inserted() as usize - index;
        match (self.table.find(name, value), fixed) {
            (Match::Line(index), _) => Match::Line(on_wire(index)),
            (Match::Name(index), Match::Nothing) => Match::Name(on_wire(index)),
            (_, fixed) => fixed,
        }
    }
}
