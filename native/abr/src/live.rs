//! Live video: when its source makes what, chunks that come, and how fast they came.

use serde::Deserialize;

use crate::error::VideoError;
use crate::history::History;

/// Times below this are no times by which throughput is measured, in seconds.
const LEAST_S: f64 = 1e-3;

/// A video whose source makes it while it is played. Its first segment is the one in which the viewer joins.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// What a chunk plays, in seconds: it can be had when all of it was made.
    pub chunk_s: f64,
    /// How far behind the source the player is to be, in seconds.
    pub latency_s: f64,
    /// By how much the rate of playback may differ from 1.
    pub catch_up: f64,
    /// What of the first segment is not played: it was made before what the viewer sees first, in seconds.
    pub joins_s: f64,
}

impl Live {
    /// # Errors
    /// No player can play it in segments of this length.
    pub(crate) fn check(&self, segment_s: f64) -> Result<(), VideoError> {
        let chunks = segment_s / self.chunk_s;
        let divides = chunks >= 1.0 && (chunks - chunks.round()).abs() < 1e-6;
        let aims = self.latency_s >= self.chunk_s && (0.0..segment_s).contains(&self.joins_s);
        let keeps_pace = (0.0..1.0).contains(&self.catch_up);
        if divides && aims && keeps_pace { Ok(()) } else { Err(VideoError::Live) }
    }

    /// When the source began, in seconds from the session's start.
    pub(crate) fn began_s(&self) -> f64 {
        -self.latency_s - self.joins_s
    }
}

/// A segment that comes chunk by chunk.
#[derive(Debug)]
pub(crate) struct Arrival {
    size: u64,
    chunks: u64,
    bytes: u64,
    /// When each chunk had come.
    pub(crate) came_s: Vec<f64>,
    last_s: f64,
    /// Whether what comes now had been waited for: its chunk had begun before.
    counts: bool,
    busy_bytes: u64,
    busy_s: f64,
}

impl Arrival {
    pub(crate) fn new(size: u64, chunks: u64) -> Self {
        let (came_s, last_s) = (Vec::new(), f64::NEG_INFINITY);
        Self { size, chunks, bytes: 0, came_s, last_s, counts: false, busy_bytes: 0, busy_s: 0.0 }
    }

    /// So much of it has come by now.
    ///
    /// # Returns
    /// How many chunks that completes.
    pub(crate) fn heard(&mut self, now_s: f64, bytes: u64) -> usize {
        if now_s > self.last_s {
            // Behind the end of a chunk the source may have had nothing to send.
            self.counts = self.bytes > self.end(self.came_s.len() as u64);
            if self.counts {
                self.busy_s += now_s - self.last_s;
            }
            self.last_s = now_s;
        }
        if self.counts {
            self.busy_bytes += bytes.saturating_sub(self.bytes);
        }
        self.bytes = bytes;
        let before = self.came_s.len();
        while (self.came_s.len() as u64) < self.chunks
            && self.end(self.came_s.len() as u64 + 1) <= bytes
        {
            self.came_s.push(now_s);
        }
        self.came_s.len() - before
    }

    /// Tells what it says of the throughput: of each chunk what came behind its first bytes, over the time since
    /// those. A chunk that comes at once says nothing.
    pub(crate) fn tell(&self, history: &mut History) {
        if self.busy_bytes > 0 {
            history.add(self.busy_bytes, self.busy_s.max(LEAST_S));
        }
    }

    /// Bytes of so many chunks.
    fn end(&self, chunks: u64) -> u64 {
        let end = u128::from(self.size) * u128::from(chunks) / u128::from(self.chunks);
        u64::try_from(end).expect("no more than the size")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_and_what_comes_behind_their_beginnings_is_the_throughput() {
        let mut arrival = Arrival::new(4003, 4);
        // A kilobyte every half second, in pieces of 250 bytes every 10 ms: 200 kbit/s.
        let mut came = Vec::new();
        let ends = [1000, 2001, 3002, 4003];
        for (chunk, end) in ends.into_iter().enumerate() {
            let begin = if chunk == 0 { 0 } else { ends[chunk - 1] };
            for piece in 1..=4_u32 {
                let now_s = 0.5 * chunk as f64 + 0.01 * f64::from(piece);
                let bytes = if piece == 4 { end } else { begin + 250 * u64::from(piece) };
                for _ in 0..arrival.heard(now_s, bytes) {
                    came.push(now_s);
                }
            }
        }
        assert_eq!(came, arrival.came_s);
        assert_eq!(came.len(), 4);
        assert!((came[3] - 1.54).abs() < 1e-9);
        let mut history = History::default();
        arrival.tell(&mut history);
        let bit_s = history.smoothed_bit_s().unwrap();
        assert!((bit_s - 8.0 * 3003.0 / 0.12).abs() < 1.0, "{bit_s}");
    }

    #[test]
    fn what_comes_at_once_says_nothing() {
        let (mut arrival, mut history) = (Arrival::new(1000, 2), History::default());
        assert_eq!(arrival.heard(1.0, 300), 0);
        assert_eq!(arrival.heard(1.0, 500), 1);
        assert_eq!(arrival.heard(1.5, 1000), 1);
        arrival.tell(&mut history);
        assert_eq!(history.smoothed_bit_s(), None);
    }

    #[test]
    fn live_video_has_whole_chunks_and_a_latency_of_one_or_more() {
        let live = Live { chunk_s: 0.5, latency_s: 3.0, catch_up: 0.05, joins_s: 1.0 };
        assert_eq!(live.check(4.0), Ok(()));
        assert_eq!(live.began_s(), -4.0);
        for wrong in [
            Live { chunk_s: 0.7, ..live },
            Live { chunk_s: 8.0, latency_s: 9.0, ..live },
            Live { latency_s: 0.4, ..live },
            Live { catch_up: 1.0, ..live },
            Live { joins_s: 4.0, ..live },
        ] {
            assert_eq!(wrong.check(4.0), Err(VideoError::Live));
        }
    }
}
