//! A connection's events as qlog.
//!
//! Version 0.3, a sequence of JSON texts (RFC 7464): draft-ietf-quic-qlog-main-schema-05,
//! -quic-events-04 and -h3-events-04. Later drafts are still on the move, and qvis opens none of
//! them. What 0.3 has no event or frame for is as in later drafts.
//!
//! Times are counted from the trace's start. An event is one short write into memory; output goes
//! out in large pieces, on [`Qlog::flush`] and on drop.

mod connectivity;
mod frames;
mod http;
mod json;
mod recovery;
mod transport;

use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use connectivity::{CloseCode, CloseTrigger, MigrationState, Owner};
pub use http::{HttpFrame, Way};
pub use recovery::{CarefulResumePhase, LossTrigger, TimerEvent, TimerType};
pub use transport::{DropTrigger, Packet, PacketType, Parameters};

use crate::Metrics;
use crate::buffer::Buffer;
use json::{Members, object};

/// RFC 7464's record separator.
const SEPARATOR: u8 = 0x1e;

/// What a trace is of.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// Of the file.
    pub title: &'a str,
    /// The program that writes it.
    pub program: &'a str,
    /// Which end of the connection it is.
    pub vantage: Vantage,
    /// Destination connection ID of the client's first Initial packet, by which the traces of both
    /// ends belong together.
    pub original_destination_cid: &'a [u8],
    /// Wall clock's time that events' times count from.
    pub start: SystemTime,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// It opened the connection.
    Client,
    /// It accepted it.
    Server,
}

/// Writes one connection's events.
#[derive(Debug)]
pub struct Qlog<W: Write> {
    buffer: Buffer<W>,
    /// What the last `metrics_updated` told, or those before it.
    metrics: Option<Metrics>,
}

impl<W: Write> Qlog<W> {
    /// Begins a trace.
    pub fn new(out: W, header: &Header<'_>) -> Self {
        let mut buffer = Buffer::new(out);
        buffer.append(|out| record(out, |members| write_header(members, header)));
        Self { buffer, metrics: None }
    }

    /// Writes out everything so far.
    ///
    /// # Errors
    ///
    /// If that fails, or has ever failed; nothing is written after an error.
    pub fn flush(&mut self) -> io::Result<()> {
        self.buffer.flush()
    }

    /// Writes an event's record; `fill` its data.
    fn event(&mut self, at: Duration, name: &str, fill: impl FnOnce(&mut Members<'_>)) {
        self.buffer.append(|out| {
            record(out, |members| {
                members.millis("time", at).text("name", name).object("data", fill);
            });
        });
    }
}

fn record(out: &mut Vec<u8>, fill: impl FnOnce(&mut Members<'_>)) {
    out.push(SEPARATOR);
    object(out, fill);
    out.push(b'\n');
}

fn write_header(members: &mut Members<'_>, header: &Header<'_>) {
    let vantage = match header.vantage {
        Vantage::Client => "client",
        Vantage::Server => "server",
    };
    // A clock before 1970 tells nothing.
    let start = header.start.duration_since(UNIX_EPOCH).unwrap_or_default();
    members.text("qlog_version", "0.3").text("qlog_format", "JSON-SEQ");
    members.text("title", header.title);
    members.object("trace", |trace| {
        trace.object("vantage_point", |point| {
            point.text("name", header.program).text("type", vantage);
        });
        trace.object("common_fields", |common| {
            common.hex("ODCID", header.original_destination_cid);
            common.hex("group_id", header.original_destination_cid);
            common.text("time_format", "relative").millis("reference_time", start);
            common.array("protocol_type", |protocols| {
                protocols.text("QUIC");
                protocols.text("HTTP3");
            });
        });
    });
}

#[cfg(test)]
mod tests;
