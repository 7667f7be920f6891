//! Writing field blocks (RFC 7541 §6), without the dynamic table.

use bytes::{BufMut, BytesMut};

use super::static_table::TABLE;
use crate::fields::Line;
use crate::primitive::{put_integer, put_string};
use crate::static_table::{self, Match};

/// Dynamic Table Size Update to 0 (RFC 7541 §6.3).
const NO_DYNAMIC_TABLE: u8 = 0b0010_0000;

/// Writes the field blocks of a connection. The first one tells the peer that the dynamic table has no
/// room: whatever table size its SETTINGS ask for, this is within (RFC 7541 §4.2).
#[derive(Debug, Default)]
pub struct Encoder {
    has_announced: bool,
}

impl Encoder {
    /// At the start of a connection.
    #[must_use]
    pub const fn new() -> Self {
        Self { has_announced: false }
    }

    /// Writes a field block. It must be sent, and blocks in the order in which they were written.
    pub fn encode<'a>(&mut self, lines: impl IntoIterator<Item = Line<'a>>, out: &mut BytesMut) {
        if !std::mem::replace(&mut self.has_announced, true) {
            out.put_u8(NO_DYNAMIC_TABLE);
        }
        for (name, value) in lines {
            encode_line(name, value, out);
        }
    }
}

fn encode_line(name: &[u8], value: &[u8], out: &mut BytesMut) {
    match static_table::find(TABLE, name, value) {
        // Indexed Header Field (§6.1).
        Match::Line(index) => put_integer(index as u64 + 1, 7, 0b1000_0000, out),
        // Literal Header Field without Indexing (§6.2.2).
        Match::Name(index) => {
            put_integer(index as u64 + 1, 4, 0, out);
            put_string(value, 7, 0, out);
        }
        Match::Nothing => {
            out.put_u8(0);
            put_string(name, 7, 0, out);
            put_string(value, 7, 0, out);
        }
    }
}
