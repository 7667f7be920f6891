//! The report, as `docs/native-client.md` describes it.

use std::io::{self, Write};
use std::path::Path;

use headway_abr::Session;
use headway_http::tcp::{Security, TcpInfo};
use headway_http::tls::Protocol;
use headway_quic::HeadOfLine;
use serde::Serialize;

/// All that the program has seen. Moments are in seconds from its start.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The program's version.
    pub(crate) version: &'static str,
    /// The start, in seconds since 1970.
    pub(crate) started_unix_s: f64,
    /// The end.
    pub(crate) ended_s: f64,
    /// The version of HTTP that was asked for.
    pub(crate) protocol: Protocol,
    /// When a resolver had told the addresses; none if none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) looked_up_s: Option<f64>,
    /// A row for every URL, in their order.
    pub(crate) requests: Vec<RequestRow>,
    /// A row for every connection, in the order in which they were begun.
    pub(crate) connections: Vec<ConnectionRow>,
    /// Content received per interval.
    pub(crate) goodput: Goodput,
    /// What a viewer saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<Session>,
}

/// What became of a URL.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RequestRow {
    /// The URL's number, from 1.
    pub(crate) number: u64,
    /// The URL.
    pub(crate) url: String,
    /// The Priority field sent.
    pub(crate) priority: Option<String>,
    /// The number of its connection.
    pub(crate) connection: Option<u64>,
    /// How often it was sent; more than once if servers refused it.
    pub(crate) attempts: u32,
    /// When it was due.
    pub(crate) queued_s: f64,
    /// When its connection was begun; before it was due if another URL had needed it.
    pub(crate) connect_start_s: Option<f64>,
    /// When TCP's handshake was over.
    pub(crate) connected_s: Option<f64>,
    /// When TLS' handshake was over.
    pub(crate) secured_s: Option<f64>,
    /// When the request was given to the transport.
    pub(crate) sent_s: Option<f64>,
    /// Of its content, how much was sent before the response was complete.
    pub(crate) sent_bytes: Option<u64>,
    /// When the server said that it wanted the content.
    pub(crate) continued_s: Option<f64>,
    /// When the response's head had come.
    pub(crate) first_byte_s: Option<f64>,
    /// When its first content came.
    pub(crate) first_content_s: Option<f64>,
    /// When it was complete, or known to have failed.
    pub(crate) last_byte_s: Option<f64>,
    /// The response's status.
    pub(crate) status: Option<u16>,
    /// Bytes of content received.
    pub(crate) bytes: u64,
    /// What waited behind gaps of the response; only QUIC tells that for each.
    pub(crate) head_of_line: Option<HeadOfLineRow>,
    /// The content's SHA-256, if asked for.
    pub(crate) sha256: Option<String>,
    /// Messages of the response, if asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<MessageRow>,
    /// Why it failed.
    pub(crate) error: Option<String>,
}

/// A message that an application sent over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct MessageRow {
    /// Its place in its series, from 1.
    pub(crate) number: u64,
    /// When it was made, by what it says itself.
    pub(crate) made_s: f64,
    /// Of an answer, when the message that it answers had come, by what it says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answered_s: Option<f64>,
    /// When all of it had come.
    pub(crate) came_s: f64,
}

/// A connection.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConnectionRow {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// The version of HTTP.
    pub(crate) protocol: Protocol,
    /// The server's address.
    pub(crate) remote: String,
    /// This side's address.
    pub(crate) local: Option<String>,
    /// When it was begun.
    pub(crate) connect_start_s: f64,
    /// When TCP's handshake was over.
    pub(crate) connected_s: Option<f64>,
    /// When TLS' handshake was over.
    pub(crate) secured_s: Option<f64>,
    /// What TLS agreed on.
    pub(crate) tls: Option<Security>,
    /// Why it ended before its time.
    pub(crate) error: Option<String>,
    /// Attempts to connect to one of several addresses, in the order in which they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tried: Vec<TriedRow>,
    /// What TCP adds; none for QUIC.
    pub(crate) tcp: Option<TcpRow>,
    /// What QUIC adds; none for TCP.
    pub(crate) quic: Option<QuicRow>,
}

/// An attempt to connect.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TriedRow {
    /// The version of HTTP.
    pub(crate) protocol: Protocol,
    /// The server's address.
    pub(crate) remote: String,
    /// When it was begun.
    pub(crate) connect_start_s: f64,
    /// When it was connected.
    pub(crate) connected_s: Option<f64>,
    /// Why it failed.
    pub(crate) error: Option<String>,
}

impl TriedRow {
    pub(crate) fn of(row: &ConnectionRow) -> Self {
        Self {
            protocol: row.protocol,
            remote: row.remote.clone(),
            connect_start_s: row.connect_start_s,
            connected_s: row.connected_s,
            error: row.error.clone(),
        }
    }
}

/// What is known of a QUIC connection.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct QuicRow {
    /// Whether early data (0-RTT) was accepted.
    pub(crate) early_data: bool,
    /// When this side's address changed.
    pub(crate) moved_s: Vec<f64>,
    /// Packets sent by this side.
    pub(crate) sent_packets: Option<u64>,
    /// Of these, packets declared lost.
    pub(crate) lost_packets: Option<u64>,
    /// Responses that waited for the dynamic table of QPACK.
    pub(crate) blocked: u64,
    /// How long they did, one after the other.
    pub(crate) blocked_s: f64,
    /// The least round-trip time.
    pub(crate) min_rtt_s: Option<f64>,
    /// The smoothed round-trip time at the end.
    pub(crate) smoothed_rtt_s: Option<f64>,
}

/// What waited behind missing data of the same response.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct HeadOfLineRow {
    /// Bytes that came before bytes in front of them.
    pub(crate) blocked_bytes: u64,
    /// The most that waited at a time.
    pub(crate) most_bytes: u64,
    /// The longest that any waited.
    pub(crate) longest_s: f64,
    /// Bytes times the seconds that they waited.
    pub(crate) byte_seconds: f64,
}

impl From<HeadOfLine> for HeadOfLineRow {
    fn from(blocked: HeadOfLine) -> Self {
        Self {
            blocked_bytes: blocked.blocked_bytes,
            most_bytes: blocked.most_bytes,
            longest_s: blocked.longest.as_secs_f64(),
            byte_seconds: blocked.byte_seconds,
        }
    }
}

/// What is known of a TCP connection.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct TcpRow {
    /// The kernel's `TCP_INFO` at the end.
    pub(crate) info: Option<TcpInfo>,
    /// Bytes that waited in the kernel behind a gap, over the connection's life.
    pub(crate) held_bytes: u64,
    /// When such bytes became readable.
    pub(crate) releases: Vec<ReleaseRow>,
}

/// Bytes that became readable because a gap before them was filled.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ReleaseRow {
    /// When.
    pub(crate) at_s: f64,
    /// When bytes had become readable before, which is about when the gap opened.
    pub(crate) since_s: f64,
    /// How many had waited.
    pub(crate) bytes: u64,
}

/// Content received, over all requests.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Goodput {
    /// Length of an interval.
    pub(crate) interval_s: f64,
    /// Bytes in each, from the start on.
    pub(crate) bytes: Vec<u64>,
}

impl Goodput {
    pub(crate) fn new(interval_s: f64) -> Self {
        Self { interval_s, bytes: Vec::new() }
    }

    /// Counts content that came at a moment.
    pub(crate) fn add(&mut self, at_s: f64, bytes: u64) {
        let interval = (at_s / self.interval_s) as usize;
        if self.bytes.len() <= interval {
            self.bytes.resize(interval + 1, 0);
        }
        self.bytes[interval] += bytes;
    }
}

impl Report {
    /// Writes it as JSON, to a file or to the standard output (`-`).
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        if path == Path::new("-") {
            io::stdout().write_all(&json)
        } else {
            std::fs::write(path, json)
        }
    }

    /// Says in a line each how the requests went.
    pub(crate) fn summarise(&self, out: &mut impl Write) -> io::Result<()> {
        for row in &self.requests {
            let seconds = row.last_byte_s.unwrap_or(self.ended_s) - row.queued_s;
            let status = row.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            writeln!(out, "{status} {} bytes in {seconds:.6} s {}", row.bytes, row.url)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_is_per_interval() {
        let mut goodput = Goodput::new(0.1);
        for (at, bytes) in [(0.01, 5), (0.099, 6), (0.31, 7)] {
            goodput.add(at, bytes);
        }
        assert_eq!(goodput.bytes, [11, 0, 0, 7]);
    }
}
