//! How fields are compressed, as the command lines of clients and servers have it.

use clap::Args;

/// Dynamic tables, where something is stated.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompressionOptions {
    /// QPACK's dynamic table for HTTP/3, at most, in each direction; 0 is none. A server with --site has
    /// 4096 if nothing is stated, all else 0
    #[arg(long, value_name = "BYTES", value_parser = crate::parser::<u32>("compression", "qpack-capacity"))]
    qpack_capacity: Option<u32>,
    /// Streams that the peer may let wait for QPACK's dynamic table (SETTINGS_QPACK_BLOCKED_STREAMS). A
    /// server with --site and a table has 100 if nothing is stated, all else 0
    #[arg(long, value_name = "N")]
    qpack_blocked_streams: Option<u16>,
    /// HPACK's dynamic table for what is sent over HTTP/2, at most; 0 is none. A server with --site has
    /// 4096 if nothing is stated, all else 0
    #[arg(long, value_name = "BYTES", value_parser = crate::parser::<u32>("compression", "hpack-capacity"))]
    hpack_capacity: Option<u32>,
}

/// Dynamic tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// QPACK's, in bytes.
    pub qpack_bytes: u32,
    /// Streams that may wait for it.
    pub qpack_blocked_streams: u16,
    /// HPACK's, in bytes.
    pub hpack_bytes: u32,
}

impl Tables {
    /// Those of pages: HPACK's default (RFC 9113 section 6.5.2), the same for QPACK, and as many streams as
    /// browsers allow.
    pub const OF_PAGES: Self =
        Self { qpack_bytes: 4096, qpack_blocked_streams: 100, hpack_bytes: 4096 };
}

impl CompressionOptions {
    /// What is stated, and what is usual otherwise. Nothing waits for a table that is not there, unless
    /// that is stated.
    #[must_use]
    pub fn or(&self, usual: Tables) -> Tables {
        let qpack_bytes = self.qpack_capacity.unwrap_or(usual.qpack_bytes);
        let blocked_streams = if qpack_bytes > 0 { usual.qpack_blocked_streams } else { 0 };
        Tables {
            qpack_bytes,
            qpack_blocked_streams: self.qpack_blocked_streams.unwrap_or(blocked_streams),
            hpack_bytes: self.hpack_capacity.unwrap_or(usual.hpack_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_goes_before_what_is_usual() {
        let nothing = CompressionOptions::default();
        assert_eq!(nothing.or(Tables::OF_PAGES), Tables::OF_PAGES);
        let without = CompressionOptions { qpack_capacity: Some(0), ..nothing };
        let tables = Tables { qpack_bytes: 0, qpack_blocked_streams: 0, hpack_bytes: 4096 };
        assert_eq!(without.or(Tables::OF_PAGES), tables);
        // A contradiction is for the one who checks it.
        let waiting = CompressionOptions { qpack_blocked_streams: Some(7), ..nothing };
        assert_eq!(waiting.or(Tables::default()).qpack_blocked_streams, 7);
    }
}
