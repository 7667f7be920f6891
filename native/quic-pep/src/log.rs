//! The log: a JSON line for every connection, written when it is over.

use std::net::SocketAddr;

use headway_quic_pep::{Peer, Record};
use headway_reactor::Log;
use serde::Serialize;

/// What is written about a connection when it is over. Times are in seconds from the program's
/// start; those of what did not happen are null.
#[derive(Debug, Serialize)]
pub(crate) struct Entry<'a> {
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

impl<'a> Entry<'a> {
    /// # Arguments
    /// * `log` - counts the seconds.
    pub(crate) fn new(log: &Log, record: &'a Record) -> Self {
        let seconds = |at| log.seconds(at);
        let protocol = record.protocol.as_ref();
        Self {
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
