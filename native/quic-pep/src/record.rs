//! What is told of a connection that is over.

use std::net::SocketAddr;
use std::time::Instant;

use crate::splitter::{Carried, Peer};

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Who ended it; the proxy itself if none.
    pub by: Option<Peer>,
    /// The application protocol's error code, if there was one.
    pub code: Option<u64>,
    /// In words.
    pub reason: String,
}

/// A client's connection through a proxy, from beginning to end.
#[derive(Clone, Debug)]
pub struct Record {
    /// Which connection of the proxy this was; the first is 1.
    pub number: u64,
    /// Where the client is.
    pub client: SocketAddr,
    /// The server's name that the client asked for.
    pub server_name: Option<String>,
    /// The application protocol, if it was agreed on.
    pub protocol: Option<Vec<u8>>,
    /// Whether the connection to the next hop had been waiting for a client.
    pub pooled: bool,
    /// Whether the next hop accepted early data.
    pub early_data: bool,
    /// When the connection to the next hop was begun.
    pub connecting: Instant,
    /// When its handshake was complete.
    pub connected: Option<Instant>,
    /// When the client's ClientHello was complete.
    pub arrived: Instant,
    /// When the proxy answered it.
    pub accepted: Option<Instant>,
    /// When the handshake with the client was complete.
    pub established: Option<Instant>,
    /// When it was over.
    pub closed: Instant,
    /// Streams that either end opened.
    pub streams: u64,
    /// What the client sent.
    pub to_server: Carried,
    /// What the server sent.
    pub to_client: Carried,
    /// Why it is over.
    pub ending: Ending,
}
