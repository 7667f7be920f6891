use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use headway_http::tls::Protocol;
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
    /// Why the response is incomplete.
    pub(crate) error: Option<&'a str>,
}

/// A JSON line for every request, written when its response is over.
pub(crate) struct AccessLog {
    out: Option<Box<dyn Write>>,
    start: Instant,
}

impl AccessLog {
    /// A log to a file, to the standard output (`-`), or nowhere.
    pub(crate) fn open(path: Option<&Path>, start: Instant) -> io::Result<Self> {
        let out: Option<Box<dyn Write>> = match path {
            None => None,
            Some(path) if path == Path::new("-") => Some(Box::new(io::stdout())),
            Some(path) => Some(Box::new(File::create(path)?)),
        };
        Ok(Self { out, start })
    }

    /// Seconds since the program's start.
    pub(crate) fn seconds(&self, at: Instant) -> f64 {
        at.duration_since(self.start).as_secs_f64()
    }

    /// Writes a line. What cannot be written is lost, said once on the standard error.
    pub(crate) fn write(&mut self, entry: &Entry<'_>) {
        let Some(out) = &mut self.out else { return };
        let mut line = serde_json::to_vec(entry).unwrap_or_default();
        line.push(b'\n');
        if let Err(error) = out.write_all(&line).and_then(|()| out.flush()) {
            eprintln!("headway-server: access log: {error}");
            self.out = None;
        }
    }
}
