//! What header fields take, and what compressing them costs.

use std::time::Duration;

use headway_wire::Fields;
use headway_wire::fields::Line;

/// Counts of a connection, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderCounts {
    /// What this side sent.
    pub sent: FieldBytes,
    /// What it received.
    pub received: FieldBytes,
    /// Messages received whose fields had to wait for the dynamic table, which QPACK's can
    /// (RFC 9204 section 2.1.2).
    pub blocked: u64,
    /// How long they waited, one after the other.
    pub blocked_time: Duration,
}

/// Bytes of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldBytes {
    /// Names and values, pseudo-header fields among them.
    pub raw: u64,
    /// What was on the wire for them: field blocks, and the streams of QPACK's encoder and of its decoder on
    /// the other side.
    pub coded: u64,
}

impl HeaderCounts {
    /// Adds those of another connection.
    pub fn add(&mut self, other: &Self) {
        self.sent.add(other.sent);
        self.received.add(other.received);
        self.blocked += other.blocked;
        self.blocked_time += other.blocked_time;
    }
}

impl FieldBytes {
    fn add(&mut self, other: Self) {
        self.raw += other.raw;
        self.coded += other.coded;
    }

    /// Counts a line that is written.
    pub(crate) fn line(&mut self, line: Line<'_>) {
        self.raw += (line.0.len() + line.1.len()) as u64;
    }

    /// Counts fields that were read.
    pub(crate) fn fields(&mut self, fields: &Fields) {
        fields.lines().for_each(|line| self.line(line));
    }

    /// Counts bytes on the wire.
    pub(crate) fn coded(&mut self, bytes: usize) {
        self.coded += bytes as u64;
    }
}
