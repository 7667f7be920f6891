//! HTTP/3 (RFC 9114): the streams of a connection, and the frames on them.
//!
//! Server push is not offered: a client never sends MAX_PUSH_ID, so whatever a server pushes is an
//! error, and a server never pushes.
//!
//! The stream decoders are all used in the same way: `decode` takes bytes off the front of its input
//! until it has something to return, and returns `None` when it needs more.

mod control;
pub mod encode;
mod error;
mod framing;
mod request;
mod settings;
mod streams;

pub use control::{ControlFrame, ControlStream};
pub use error::{Error, ErrorCode, Scope};
pub use request::{RequestFrame, RequestStream};
pub use settings::Settings;
pub use streams::{StreamType, StreamTypeReader, UniStreams};

pub use crate::Role;

/// Frame types (RFC 9114 §7.2, RFC 9218 §7.2).
pub mod frame_type {
    /// DATA.
    pub const DATA: u64 = 0x00;
    /// HEADERS.
    pub const HEADERS: u64 = 0x01;
    /// CANCEL_PUSH.
    pub const CANCEL_PUSH: u64 = 0x03;
    /// SETTINGS.
    pub const SETTINGS: u64 = 0x04;
    /// PUSH_PROMISE.
    pub const PUSH_PROMISE: u64 = 0x05;
    /// GOAWAY.
    pub const GOAWAY: u64 = 0x07;
    /// MAX_PUSH_ID.
    pub const MAX_PUSH_ID: u64 = 0x0d;
    /// PRIORITY_UPDATE of a request.
    pub const PRIORITY_UPDATE: u64 = 0xf0700;
    /// PRIORITY_UPDATE of a push.
    pub const PRIORITY_UPDATE_PUSH: u64 = 0xf0701;

    /// Whether HTTP/2 used the type for a frame that HTTP/3 does not have (RFC 9114 §7.2.8).
    #[must_use]
    pub const fn is_of_http2(frame_type: u64) -> bool {
        matches!(frame_type, 0x02 | 0x06 | 0x08 | 0x09)
    }
}

/// The `n`th identifier of frames, streams, settings and errors that is reserved to be sent, without
/// meaning, so that peers learn to ignore what they do not know (RFC 9114 §7.2.8).
#[must_use]
pub const fn reserved(n: u64) -> u64 {
    0x1f * n + 0x21
}
