//! HTTP/3 (RFC 9114): connections over QUIC.
//!
//! Unlike those over a byte pipe, these do not own what carries them: each call is given the QUIC
//! connection, and what QUIC tells of it is passed on to them.

mod client;
mod content;
mod exchange;
mod link;
mod message;
mod open;
mod server;

pub use client::{Client, Exchange};
pub use link::Compression;
pub use server::Server;
