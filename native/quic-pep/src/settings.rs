//! What a proxy does.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use headway_knobs::limits::Limits as _;
use headway_quic::Config;
use headway_schedule::Strategy;

use crate::limits::Limits;

/// The order of the two handshakes (Kosek 2022, section II-D).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The client is accepted at once, while the handshake with the next hop runs.
    #[default]
    Default,
    /// The client is accepted when the handshake with the next hop is complete, so that what the
    /// server sends first can be the first that the client gets.
    H3Capable,
    /// As that, but by the first packet that the client sends again after it: what came before is
    /// answered then.
    Probed,
}

/// Connections to the next hop that wait, their handshake complete, for a client.
#[derive(Clone, Debug)]
pub struct Pool {
    /// How many.
    pub size: usize,
    /// The server's name in them; clients that ask for another get a connection of their own.
    pub server_name: String,
    /// The application protocol of them; clients that do not offer it get one of their own.
    pub protocol: Vec<u8>,
}

/// What a proxy does.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The next hop: the next proxy, or the server.
    pub next_hop: SocketAddr,
    /// The name by which the next hop is asked for and verified; the client's if none.
    pub next_hop_name: Option<String>,
    /// The order of the handshakes.
    pub mode: Mode,
    /// QUIC towards clients.
    pub downstream: Arc<Config>,
    /// QUIC towards the next hop.
    pub upstream: Arc<Config>,
    /// Whose turn it is when several streams have something to send, on both sides.
    pub scheduler: Strategy,
    /// How long the handshake with the next hop may take.
    pub connect_timeout: Duration,
    /// The application's error code that one end gets if the other's connection fails and has none.
    pub failure_code: u64,
    /// Connections that wait for clients.
    pub pool: Option<Pool>,
    /// Clients at a time; further ones are refused.
    pub max_clients: usize,
    /// What clients may take.
    pub limits: Limits,
}

impl Settings {
    /// A proxy that leaves everything as it is by default, and limits nothing.
    #[must_use]
    pub fn towards(next_hop: SocketAddr) -> Self {
        Self {
            next_hop,
            next_hop_name: None,
            mode: Mode::Default,
            downstream: Arc::default(),
            upstream: Arc::default(),
            scheduler: Strategy::RoundRobin,
            connect_timeout: Duration::from_secs(10),
            failure_code: H3_INTERNAL_ERROR,
            pool: None,
            max_clients: 900,
            limits: Limits::OFF,
        }
    }
}

/// RFC 9114 section 8.1. Other protocols may have no meaning for it.
const H3_INTERNAL_ERROR: u64 = 0x102;
