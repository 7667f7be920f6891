//! The log: two JSON lines for every connection, when it is established and when it is over.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use headway_reactor::Log;
use headway_sockopt::{TcpInfo, tcp_info};
use serde::Serialize;
use socket2::SockRef;

use crate::connection::{Connection, End, UNREACHABLE};
use crate::half::Half;

/// What is written about a connection when it is established, and when it is over.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    /// The connection's number; the first is 1.
    connection: u64,
    /// When the client's half was accepted, in seconds from the program's start.
    at_s: f64,
    /// How long the server's half took to be established, in seconds; none if it never was.
    connect_s: Option<f64>,
    /// How long it has lasted, in seconds.
    duration_s: f64,
    /// What the server's socket was given, in bytes.
    up_bytes: u64,
    /// What the client's socket was given, in bytes.
    down_bytes: u64,
    /// Why it is over; none if it goes on.
    end: Option<&'static str>,
    /// What the kernel says of that.
    error: Option<String>,
    /// The half between client and proxy.
    client: HalfEntry,
    /// The half between proxy and server.
    server: HalfEntry,
}

/// One half, as the kernel knows it. At the end of a complete connection, what the peer has not
/// acknowledged is still delivered.
#[derive(Debug, Serialize)]
struct HalfEntry {
    /// The peer's address.
    peer: SocketAddr,
    /// The proxy's own; towards the client that is the server's if the proxy is transparent, and
    /// the client's towards the server.
    local: Option<SocketAddr>,
    /// Its congestion control.
    congestion_control: Option<String>,
    /// TCP_INFO.
    tcp: Option<TcpInfo>,
}

impl HalfEntry {
    fn new(half: &Half) -> Self {
        let name = SockRef::from(&half.stream).tcp_congestion().ok();
        Self {
            peer: half.peer,
            local: half.stream.local_addr().ok(),
            congestion_control: name
                .map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()),
            tcp: tcp_info(&half.stream).ok(),
        }
    }

    /// A half that never was.
    fn none(peer: SocketAddr) -> Self {
        Self { peer, local: None, congestion_control: None, tcp: None }
    }
}

impl Entry {
    /// Of a connection that is established or over.
    ///
    /// # Arguments
    /// * `log` - counts the seconds.
    pub(crate) fn new(
        log: &Log,
        number: u64,
        of: &Connection,
        end: Option<&End>,
        now: Instant,
    ) -> Self {
        Self {
            connection: number,
            at_s: log.seconds(of.accepted),
            connect_s: of.connect_time.map(|time| time.as_secs_f64()),
            duration_s: now.duration_since(of.accepted).as_secs_f64(),
            up_bytes: of.up.bytes(),
            down_bytes: of.down.bytes(),
            end: end.map(End::name),
            error: end.and_then(End::error),
            client: HalfEntry::new(&of.client),
            server: HalfEntry::new(&of.server),
        }
    }

    /// Of a client for which not even a socket towards the server could be had.
    pub(crate) fn refused(
        at_s: f64,
        number: u64,
        client: &Half,
        server: SocketAddr,
        error: &io::Error,
    ) -> Self {
        Self {
            connection: number,
            at_s,
            connect_s: None,
            duration_s: 0.0,
            up_bytes: 0,
            down_bytes: 0,
            end: Some(UNREACHABLE),
            error: Some(error.to_string()),
            client: HalfEntry::new(client),
            server: HalfEntry::none(server),
        }
    }
}
