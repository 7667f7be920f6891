//! HTTP/1.1 connections (RFC 9112).

mod client;
mod server;
mod upgrade;

pub use client::Client;
pub use server::Server;

/// Bytes of a head, at most.
const MAX_HEAD_BYTES: usize = 64 << 10;
