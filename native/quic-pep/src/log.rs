use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use headway_quic_pep::{Peer, Record};
use headway_reactor::Lines;
use serde::Serialize;

/// What is written about a connection when it is over. Times are in seconds from the program's
/// start; those of what did not happen are null.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    connection: u64,
    client: SocketAddr,
    server_name: Option<&'a str>,
    protocol: Option<String>,
    pooled: bool,
    early_data: bool,
    connecting_s: f64,
    connected_s: Option<f64>,
    arrived_s: f64,
    accepted_s: Option<f64>,
    established_s: Option<f64>,
    first_byte_up_s: Option<f64>,
    first_byte_down_s: Option<f64>,
    closed_s: f64,
    up_bytes: u64,
    down_bytes: u64,
    streams: u64,
    ended_by: &'static str,
    code: Option<u64>,
    reason: &'a str,
}

/// A JSON line for every connection, written when it is over.
pub(crate) struct Log {
    lines: Lines,
    start: Instant,
}

impl Log {
    /// A log to a file, to the standard output (`-`), or nowhere.
    pub(crate) fn open(path: Option<&Path>, start: Instant) -> io::Result<Self> {
        Ok(Self { lines: Lines::open("headway-quic-pep: log", path)?, start })
    }

    /// Writes a line, unless nobody reads what was written before.
    pub(crate) fn write(&mut self, record: &Record) {
        if self.lines.is_open() {
            let line = serde_json::to_vec(&self.entry(record)).unwrap_or_default();
            self.lines.write(&line);
        }
    }

    /// Writes what waits for a reader, as far as that is possible at once.
    pub(crate) fn flush(&mut self) {
        self.lines.flush();
    }

    /// The last lines have been written.
    pub(crate) fn end(&mut self) {
        self.lines.end();
    }

    fn entry<'a>(&self, record: &'a Record) -> Entry<'a> {
        let seconds = |at: Instant| at.duration_since(self.start).as_secs_f64();
        let protocol = record.protocol.as_ref();
        Entry {
            connection: record.number,
            client: record.client,
            server_name: record.server_name.as_deref(),
            protocol: protocol.map(|name| String::from_utf8_lossy(name).into_owned()),
            pooled: record.pooled,
            early_data: record.early_data,
            connecting_s: seconds(record.connecting),
            connected_s: record.connected.map(seconds),
            arrived_s: seconds(record.arrived),
            accepted_s: record.accepted.map(seconds),
            established_s: record.established.map(seconds),
            first_byte_up_s: record.to_server.first.map(seconds),
            first_byte_down_s: record.to_client.first.map(seconds),
            closed_s: seconds(record.closed),
            up_bytes: record.to_server.bytes,
            down_bytes: record.to_client.bytes,
            streams: record.streams,
            ended_by: match record.ending.by {
                Some(Peer::Client) => "client",
                Some(Peer::Server) => "server",
                None => "proxy",
            },
            code: record.ending.code,
            reason: &record.ending.reason,
        }
    }
}
