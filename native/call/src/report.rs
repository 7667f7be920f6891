//! What is told of a call. Moments are seconds from the start of the program that tells.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use headway_reactor::Clock;
use serde::Serialize;

use crate::Failure;

/// The host's clock since 1970, which both ends of a call share in a lab.
pub(crate) fn host_clock_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// One side's report.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    /// When the program started, in seconds since 1970.
    pub(crate) started_unix_s: f64,
    /// The other side.
    pub(crate) peer: String,
    /// When the client first asked, or sent; at the server when the first datagram came.
    pub(crate) start_s: f64,
    /// When the call was over.
    pub(crate) end_s: f64,
    /// Datagrams of media that this side sent.
    pub(crate) sent: u32,
    /// What this side received.
    pub(crate) heard: Option<&'a Heard>,
}

/// What came of the media.
#[derive(Debug, Serialize)]
pub(crate) struct Heard {
    /// When the first came.
    pub(crate) start_s: f64,
    /// When the last came.
    pub(crate) end_s: f64,
    /// Length of an interval of the series, which begins with the first datagram.
    pub(crate) interval_s: f64,
    /// How many were sent, or were to be.
    pub(crate) count: u32,
    /// Different ones that came.
    pub(crate) received: u32,
    /// Their payload.
    pub(crate) received_bytes: u64,
    /// Those that came again.
    pub(crate) duplicates: u32,
    /// Those that came after one with a higher number.
    pub(crate) reordered: u32,
    /// From sending to receiving; right only where both sides share a clock.
    pub(crate) delay: Delays,
    /// Interarrival jitter (RFC 3550, section 6.4.1), at the end.
    pub(crate) jitter_s: f64,
    /// What came in each interval.
    pub(crate) series: Vec<Interval>,
}

/// Quantiles of delays; all zero if nothing came.
#[derive(Debug, Serialize)]
pub(crate) struct Delays {
    pub(crate) min_s: f64,
    pub(crate) p50_s: f64,
    pub(crate) p95_s: f64,
    pub(crate) p99_s: f64,
    pub(crate) max_s: f64,
}

impl Delays {
    /// Of delays in their order.
    pub(crate) fn of(sorted_ns: &[u64]) -> Self {
        let last = sorted_ns.len().saturating_sub(1);
        // The nearest rank.
        let quantile = |share: f64| {
            let rank = (share * sorted_ns.len() as f64).ceil() as usize;
            sorted_ns.get(rank.saturating_sub(1).min(last)).map_or(0.0, |&ns| ns as f64 * 1e-9)
        };
        Self {
            min_s: quantile(0.0),
            p50_s: quantile(0.5),
            p95_s: quantile(0.95),
            p99_s: quantile(0.99),
            max_s: quantile(1.0),
        }
    }
}

/// An interval of a series.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Interval {
    pub(crate) received_bytes: u64,
    pub(crate) received: u32,
    /// The longest delay of what came.
    pub(crate) delay_max_s: f64,
}

/// Where reports go.
pub(crate) struct Output {
    path: PathBuf,
    to: Box<dyn Write>,
    clock: Clock,
}

impl Output {
    /// A file, or the standard output for `-`.
    pub(crate) fn open(path: &Path, clock: Clock) -> Result<Self, Failure> {
        let opened: io::Result<Box<dyn Write>> = if path == Path::new("-") {
            Ok(Box::new(io::stdout()))
        } else {
            File::create(path).map(|file| Box::new(file) as _)
        };
        let to = opened.map_err(|source| Failure::Report { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), to, clock })
    }

    /// Writes one report, as a line of JSON.
    pub(crate) fn write(
        &mut self,
        peer: std::net::SocketAddr,
        span: (Instant, Instant),
        sent: u32,
        heard: Option<&Heard>,
    ) -> Result<(), Failure> {
        let report = Report {
            started_unix_s: self.clock.started_unix_s(),
            peer: peer.to_string(),
            start_s: self.clock.seconds(span.0),
            end_s: self.clock.seconds(span.1),
            sent,
            heard,
        };
        let failed = |source| Failure::Report { path: self.path.clone(), source };
        let mut line = serde_json::to_vec(&report).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.to.write_all(&line).and_then(|()| self.to.flush()).map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let delays: Vec<u64> = (1..=100).map(|ms| ms * 1_000_000).collect();
        let found = Delays::of(&delays);
        let ms = |s: f64| (s * 1e3).round() as u64;
        assert_eq!([ms(found.min_s), ms(found.p50_s), ms(found.p95_s)], [1, 50, 95]);
        assert_eq!([ms(found.p99_s), ms(found.max_s)], [99, 100]);
        assert_eq!(ms(Delays::of(&[]).max_s), 0);
    }
}
