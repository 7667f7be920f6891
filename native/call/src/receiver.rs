use std::time::{Duration, Instant};

use crate::message::Media;
use crate::report::{Delays, Heard, Interval};

/// A series has no more: what comes later is counted, but not in it.
const MOST_INTERVALS: usize = 1_000_000;

/// What came of a call's media.
#[derive(Debug)]
pub(crate) struct Receiver {
    began: Instant,
    count: u32,
    interval: Duration,
    /// Whether each of them came.
    seen: Vec<bool>,
    /// The highest number that came.
    newest: u32,
    received: u32,
    received_bytes: u64,
    duplicates: u32,
    reordered: u32,
    delays_ns: Vec<u64>,
    jitter_ns: f64,
    last: Instant,
    series: Vec<Interval>,
}

impl Receiver {
    /// The first datagram came.
    pub(crate) fn begin(media: &Media, now: Instant) -> Self {
        Self {
            began: now,
            count: media.count,
            interval: Duration::from_nanos(media.interval_ns),
            seen: Vec::new(),
            newest: 0,
            received: 0,
            received_bytes: 0,
            duplicates: 0,
            reordered: 0,
            delays_ns: Vec::new(),
            jitter_ns: 0.0,
            last: now,
            series: Vec::new(),
        }
    }

    /// When something came last.
    pub(crate) fn last(&self) -> Instant {
        self.last
    }

    /// A datagram came.
    ///
    /// # Arguments
    /// * `clock_ns` - the host's clock, on which the sender has said when it sent.
    pub(crate) fn received(&mut self, media: &Media, bytes: usize, now: Instant, clock_ns: u64) {
        self.last = now;
        // What another call of the same address left is none of this one's.
        let place = media.number as usize;
        if media.number >= self.count {
            return;
        }
        if self.seen.len() <= place {
            self.seen.resize(place + 1, false);
        }
        if std::mem::replace(&mut self.seen[place], true) {
            self.duplicates += 1;
            return;
        }
        self.reordered += u32::from(media.number < self.newest);
        self.newest = self.newest.max(media.number);
        self.received += 1;
        self.received_bytes += bytes as u64;
        let delay_ns = clock_ns.saturating_sub(media.sent_ns);
        if let Some(&before_ns) = self.delays_ns.last() {
            // RFC 3550, section 6.4.1.
            self.jitter_ns += (delay_ns.abs_diff(before_ns) as f64 - self.jitter_ns) / 16.0;
        }
        self.delays_ns.push(delay_ns);
        self.note(bytes, now, delay_ns);
    }

    fn note(&mut self, bytes: usize, now: Instant, delay_ns: u64) {
        let place = (now - self.began).as_nanos() / self.interval.as_nanos();
        let Some(place) = usize::try_from(place).ok().filter(|&place| place < MOST_INTERVALS)
        else {
            return;
        };
        if self.series.len() <= place {
            self.series.resize_with(place + 1, Interval::default);
        }
        let interval = &mut self.series[place];
        interval.received_bytes += bytes as u64;
        interval.received += 1;
        interval.delay_max_s = interval.delay_max_s.max(delay_ns as f64 * 1e-9);
    }

    /// What there is to tell.
    pub(crate) fn report(mut self, start_s: f64, end_s: f64) -> Heard {
        self.delays_ns.sort_unstable();
        Heard {
            start_s,
            end_s,
            interval_s: self.interval.as_secs_f64(),
            count: self.count,
            received: self.received,
            received_bytes: self.received_bytes,
            duplicates: self.duplicates,
            reordered: self.reordered,
            delay: Delays::of(&self.delays_ns),
            jitter_s: self.jitter_ns * 1e-9,
            series: self.series,
        }
    }

    /// When the first datagram came.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL_NS: u64 = 100_000_000;

    fn media(number: u32) -> Media {
        let sent_ns = u64::from(number) * 20_000_000;
        Media { number, sent_ns, count: 10, interval_ns: INTERVAL_NS }
    }

    fn heard(arrivals: &[(u32, u64)]) -> Heard {
        let start = Instant::now();
        let mut receiver = Receiver::begin(&media(0), start);
        for &(number, at_ms) in arrivals {
            let now = start + Duration::from_millis(at_ms);
            receiver.received(&media(number), 100, now, at_ms * 1_000_000);
        }
        receiver.report(0.0, 1.0)
    }

    #[test]
    fn what_came_is_counted_once() {
        let heard = heard(&[(0, 50), (1, 70), (3, 110), (2, 115), (3, 120), (9, 230)]);
        assert_eq!((heard.count, heard.received, heard.received_bytes), (10, 5, 500));
        assert_eq!((heard.duplicates, heard.reordered), (1, 1));
        let bytes: Vec<_> = heard.series.iter().map(|one| one.received_bytes).collect();
        assert_eq!(bytes, [200, 200, 100]);
    }

    #[test]
    fn delays_and_their_jitter_are_those_of_rfc_3550() {
        // Every one takes 50 ms, but the last, which takes 66 ms.
        let heard = heard(&[(0, 50), (1, 70), (2, 90), (3, 126)]);
        assert!((heard.delay.p50_s - 0.05).abs() < 1e-9);
        assert!((heard.delay.max_s - 0.066).abs() < 1e-9);
        assert!((heard.jitter_s - 0.001).abs() < 1e-9);
    }

    #[test]
    fn numbers_of_another_call_are_left_out() {
        let start = Instant::now();
        let mut receiver = Receiver::begin(&media(0), start);
        receiver.received(&Media { number: 10, count: 11, ..media(0) }, 100, start, 0);
        assert_eq!(receiver.report(0.0, 1.0).received, 0);
    }
}
