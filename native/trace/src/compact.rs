//! A sender's state over time, in few bytes.
//!
//! A file is a header and records, all numbers little-endian. The header, [`HEADER_BYTES`] long:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | [`VERSION`] |
//! | 12 | 4 | bytes of a record, [`RECORD_BYTES`] |
//! | 16 | 8 | wall clock's time that records count from, nanoseconds since 1970 |
//!
//! Every record is as long as any other, so that a file that is cut short can be read up to its last
//! whole record:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | kind: 1 for metrics, 2 for a change of state |
//! | 1 | 1 | state before, as [`State`] numbers them; 0 in metrics |
//! | 2 | 1 | state from now on; 0 in metrics |
//! | 3 | 5 | 0 |
//! | 8 | 8 | time in nanoseconds since the trace's start |
//! | 16 | 8 | congestion window in bytes; this and all after it [`NONE`] in a change of state |
//! | 24 | 8 | slow start threshold in bytes, or [`NONE`] |
//! | 32 | 8 | bytes in flight |
//! | 40 | 8 | smoothed round-trip time in nanoseconds, or [`NONE`] |
//! | 48 | 8 | latest round-trip time in nanoseconds, or [`NONE`] |
//! | 56 | 8 | least round-trip time in nanoseconds, or [`NONE`] |
//! | 64 | 8 | pacing rate in bytes per second, or [`NONE`] |

use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::buffer::Buffer;
use crate::{Metrics, State};

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"HWSENDER";
/// Of this layout.
pub const VERSION: u32 = 1;
/// Length of the header.
pub const HEADER_BYTES: usize = 24;
/// Length of a record.
pub const RECORD_BYTES: usize = 72;
/// In place of a number that there is none of.
pub const NONE: u64 = u64::MAX;

const METRICS: u8 = 1;
const STATE: u8 = 2;

/// Writes a trace; its output goes out in large pieces, on [`Compact::flush`] and on drop.
#[derive(Debug)]
pub struct Compact<W: Write> {
    buffer: Buffer<W>,
}

impl<W: Write> Compact<W> {
    /// Begins a trace whose times count from `start`.
    pub fn new(out: W, start: SystemTime) -> Self {
        // A clock before 1970 tells nothing.
        let start = start.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut buffer = Buffer::new(out);
        buffer.append(|out| {
            out.extend_from_slice(&MAGIC);
            out.extend_from_slice(&VERSION.to_le_bytes());
            out.extend_from_slice(&(RECORD_BYTES as u32).to_le_bytes());
            out.extend_from_slice(&nanoseconds(start).to_le_bytes());
        });
        Self { buffer }
    }

    /// The sender's metrics at a time.
    pub fn metrics(&mut self, at: Duration, metrics: &Metrics) {
        let time = |time: Option<Duration>| time.map_or(NONE, nanoseconds);
        let numbers = [
            metrics.cwnd_bytes,
            metrics.ssthresh_bytes.unwrap_or(NONE),
            metrics.in_flight_bytes,
            time(metrics.smoothed_rtt),
            time(metrics.latest_rtt),
            time(metrics.min_rtt),
            metrics.pacing_rate_bytes_per_s.unwrap_or(NONE),
        ];
        self.record([METRICS, 0, 0], at, numbers);
    }

    /// The sender's state changed.
    pub fn state(&mut self, at: Duration, from: State, to: State) {
        self.record([STATE, from as u8, to as u8], at, [NONE; 7]);
    }

    /// Writes out everything so far.
    ///
    /// # Errors
    ///
    /// If that fails, or has ever failed; nothing is written after an error.
    pub fn flush(&mut self) -> io::Result<()> {
        self.buffer.flush()
    }

    fn record(&mut self, [kind, from, to]: [u8; 3], at: Duration, numbers: [u64; 7]) {
        self.buffer.append(|out| {
            out.extend_from_slice(&[kind, from, to, 0, 0, 0, 0, 0]);
            out.extend_from_slice(&nanoseconds(at).to_le_bytes());
            for number in numbers {
                out.extend_from_slice(&number.to_le_bytes());
            }
        });
    }
}

/// Enough for 584 years.
fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(NONE)
}
