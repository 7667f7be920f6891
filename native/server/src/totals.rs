use std::io;
use std::path::Path;

use headway_http::counts::HeaderCounts;
use serde::Serialize;

/// What header fields took on all connections: written when the server ends, as `docs/native-server.md`
/// describes it.
#[derive(Debug, Serialize)]
struct Totals {
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

/// Writes them as JSON.
pub(crate) fn write(counts: &HeaderCounts, path: &Path) -> io::Result<()> {
    let totals = Totals {
        sent_raw_bytes: counts.sent.raw,
        sent_bytes: counts.sent.coded,
        received_raw_bytes: counts.received.raw,
        received_bytes: counts.received.coded,
        blocked: counts.blocked,
        blocked_s: counts.blocked_time.as_secs_f64(),
    };
    let mut json = serde_json::to_vec(&totals)?;
    json.push(b'\n');
    std::fs::write(path, json)
}
