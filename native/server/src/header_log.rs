use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use headway_http::counts::HeaderCounts;
use serde::Serialize;

/// What header fields took on a connection, as `docs/native-server.md` describes it.
#[derive(Debug, Serialize)]
struct Entry {
    /// When the connection began, in seconds since 1970.
    began_unix_s: f64,
    /// Names and values of fields sent, in bytes.
    sent_raw_bytes: u64,
    /// What was on the wire for them.
    sent_bytes: u64,
    /// The same of fields received.
    received_raw_bytes: u64,
    received_bytes: u64,
    /// Requests that waited for the dynamic table.
    blocked: u64,
    /// How long they did, one after the other.
    blocked_s: f64,
}

/// A JSON line for every connection on which fields were compressed, written when it is over.
#[derive(Default)]
pub(crate) struct HeaderLog(Option<Open>);

struct Open {
    file: File,
    start: Instant,
    start_unix_s: f64,
}

impl HeaderLog {
    /// A log to a file, or nowhere.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (start, start_unix_s) = (Instant::now(), since.as_secs_f64());
        Ok(Self(Some(Open { file: File::create(path)?, start, start_unix_s })))
    }

    /// Writes of a connection that is over. Only a disk that is full can fail this, and then there is nothing
    /// to be done about it.
    pub(crate) fn write(&mut self, began: Instant, counts: &HeaderCounts) {
        let Some(open) = self.0.as_mut().filter(|_| *counts != HeaderCounts::default()) else {
            return;
        };
        let entry = Entry {
            began_unix_s: open.start_unix_s + began.duration_since(open.start).as_secs_f64(),
            sent_raw_bytes: counts.sent.raw,
            sent_bytes: counts.sent.coded,
            received_raw_bytes: counts.received.raw,
            received_bytes: counts.received.coded,
            blocked: counts.blocked,
            blocked_s: counts.blocked_time.as_secs_f64(),
        };
        let mut line = serde_json::to_vec(&entry).unwrap_or_default();
        line.push(b'\n');
        let _ = open.file.write_all(&line);
    }
}
