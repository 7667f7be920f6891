use std::io;
use std::path::Path;
use std::time::Instant;

use headway_http::tls::Protocol;
use headway_reactor::Lines;
use serde::Serialize;

/// What is written about a request when its response is over.
#[derive(Debug, Serialize)]
pub(crate) struct Entry<'a> {
    /// When the request came, in seconds from the program's start.
    pub(crate) at_s: f64,
    /// How long until the response was handed to the transport, in seconds.
    pub(crate) duration_s: f64,
    /// The connection's number; the first is 1.
    pub(crate) connection: u64,
    /// The client's address.
    pub(crate) remote: &'a str,
    /// The version of HTTP.
    pub(crate) protocol: Protocol,
    /// The request's name within the connection: the stream, or its number in HTTP/1.1.
    pub(crate) id: u64,
    /// The request's method.
    pub(crate) method: &'a str,
    /// Its target.
    pub(crate) path: &'a str,
    /// The response's status.
    pub(crate) status: u16,
    /// The response's content that was handed to the transport, in bytes.
    pub(crate) bytes: u64,
    /// What a player told of its state (CMCD, CTA-5004), if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cmcd: Option<&'a str>,
    /// Why the response is incomplete.
    pub(crate) error: Option<&'a str>,
}

/// A JSON line for every request, written when its response is over.
pub(crate) struct AccessLog {
    lines: Lines,
    start: Instant,
}

impl AccessLog {
    /// A log to a file, to the standard output (`-`), or nowhere.
    pub(crate) fn open(path: Option<&Path>, start: Instant) -> io::Result<Self> {
        Ok(Self { lines: Lines::open("headway-server: access log", path)?, start })
    }

    /// Whether anything is written.
    pub(crate) fn is_open(&self) -> bool {
        self.lines.is_open()
    }

    /// Seconds since the program's start.
    pub(crate) fn seconds(&self, at: Instant) -> f64 {
        at.duration_since(self.start).as_secs_f64()
    }

    /// Writes a line, unless nobody reads what was written before.
    pub(crate) fn write(&mut self, entry: &Entry<'_>) {
        if self.lines.is_open() {
            self.lines.write(&serde_json::to_vec(entry).unwrap_or_default());
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
}
