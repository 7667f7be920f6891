//! HTTP/2 frames (RFC 9113). Streams and their states are the business of the connection above.

mod decoder;
pub mod encode;
mod error;
mod header_block;
mod payload;
mod settings;

use bytes::Bytes;

pub use decoder::{Decoder, Limits};
pub use error::{Error, ErrorCode, Scope};
pub use settings::Settings;

pub use crate::Role;
use crate::priority::Dependency;

/// What a client sends first (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest payload that any peer accepts: the initial SETTINGS_MAX_FRAME_SIZE, and its minimum.
pub const DEFAULT_MAX_FRAME_SIZE: usize = 1 << 14;

/// The initial flow-control window in bytes (RFC 9113 §6.9.2).
pub const DEFAULT_WINDOW: u32 = 65_535;

/// The largest flow-control window and window increment in bytes (RFC 9113 §6.9.1).
pub const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The largest stream id.
pub const MAX_STREAM: u32 = (1 << 31) - 1;

/// What a connection carries. Streams are given by their id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A piece of a DATA frame.
    Data {
        /// The stream.
        stream: u32,
        /// Content, in the memory it arrived in. May be empty.
        data: Bytes,
        /// Bytes that flow control counts: the content, and padding if there is any.
        flow: u32,
        /// Whether the content ends here.
        end_stream: bool,
    },
    /// HEADERS, with the CONTINUATION frames behind it.
    Headers {
        /// The stream.
        stream: u32,
        /// The field block: to be decoded even if the stream is of no interest any more, as HPACK has
        /// state.
        block: Bytes,
        /// The priority as RFC 7540 has it, if there is one.
        dependency: Option<Dependency>,
        /// Whether there is no content.
        end_stream: bool,
    },
    /// PRIORITY (RFC 7540 §6.3).
    Priority {
        /// The stream.
        stream: u32,
        /// Its new place.
        dependency: Dependency,
    },
    /// RST_STREAM.
    ResetStream {
        /// The stream.
        stream: u32,
        /// An error code, perhaps unknown.
        code: u32,
    },
    /// SETTINGS, to be acknowledged.
    Settings(Settings),
    /// The acknowledgment of SETTINGS.
    SettingsAck,
    /// PING.
    Ping {
        /// Whether it is the answer to one; if not, it wants one.
        ack: bool,
        /// Opaque.
        payload: [u8; 8],
    },
    /// GOAWAY.
    GoAway {
        /// The last stream that may have been processed.
        last_stream: u32,
        /// An error code, perhaps unknown.
        code: u32,
        /// For people.
        debug: Bytes,
    },
    /// WINDOW_UPDATE.
    WindowUpdate {
        /// The stream; 0 is the connection.
        stream: u32,
        /// Bytes: 1 to [`MAX_WINDOW`].
        increment: u32,
    },
    /// PRIORITY_UPDATE (RFC 9218 §7.1), from a client.
    PriorityUpdate {
        /// The prioritized stream.
        stream: u32,
        /// The new value of the Priority field, to be parsed as such.
        value: Bytes,
    },
}

/// Frame types (RFC 9113 §6, RFC 9218 §7.1).
mod frame_type {
    pub(super) const DATA: u8 = 0x0;
    pub(super) const HEADERS: u8 = 0x1;
    pub(super) const PRIORITY: u8 = 0x2;
    pub(super) const RST_STREAM: u8 = 0x3;
    pub(super) const SETTINGS: u8 = 0x4;
    pub(super) const PUSH_PROMISE: u8 = 0x5;
    pub(super) const PING: u8 = 0x6;
    pub(super) const GOAWAY: u8 = 0x7;
    pub(super) const WINDOW_UPDATE: u8 = 0x8;
    pub(super) const CONTINUATION: u8 = 0x9;
    pub(super) const PRIORITY_UPDATE: u8 = 0x10;
}

/// Flags (RFC 9113 §6); which frames have which is said there.
mod flag {
    pub(super) const ACK: u8 = 0x1;
    pub(super) const END_STREAM: u8 = 0x1;
    pub(super) const END_HEADERS: u8 = 0x4;
    pub(super) const PADDED: u8 = 0x8;
    pub(super) const PRIORITY: u8 = 0x20;
}

/// Bytes of a frame header.
const HEADER_LEN: usize = 9;

/// A frame header (RFC 9113 §4.1).
#[derive(Clone, Copy, Debug)]
struct Header {
    len: usize,
    frame_type: u8,
    flags: u8,
    stream: u32,
}

impl Header {
    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}
