//! The codecs of HTTP: bytes in, values out, and back.
//!
//! Nothing here reads a socket, a clock or a file. Every decoder is incremental where its input is a
//! stream, takes its input as [`bytes::Bytes`] so that content is passed on without a copy, keeps no
//! more than a stated number of bytes, never panics on what a peer may send, and names the error code
//! with which its RFC wants the connection, the stream or the message to be ended.
//!
//! * [`fields`]: requests and responses, the same for all three versions of HTTP
//! * [`h1`], [`h2`], [`h3`]: framing
//! * [`hpack`], [`qpack`]: field compression, over [`huffman`]
//! * [`priority`], [`range`]: the header fields the endpoints act on
//! * [`varint`]: QUIC's integers

mod dynamic_table;
mod error_codes;
pub mod fields;
mod gather;
pub mod h1;
pub mod h2;
pub mod h3;
pub mod hpack;
pub mod huffman;
mod indexing;
mod primitive;
pub mod priority;
pub mod qpack;
pub mod range;
mod static_table;
mod structured;
pub mod varint;

pub use fields::{Field, Fields, Malformed, Request, Response};
pub use priority::{Dependency, Priority};

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The client: its peer is a server.
    Client,
    /// The server: its peer is a client.
    Server,
}
