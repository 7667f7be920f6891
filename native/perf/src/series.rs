use std::time::{Duration, Instant};

use crate::report::{Interval, SenderState};
use headway_reactor::Clock;

/// Counts what happens in intervals of equal length.
#[derive(Debug)]
pub(crate) struct Meter {
    clock: Clock,
    length: Duration,
    /// When the present interval ends.
    due: Instant,
    received: u64,
    sent: u64,
    sent_before: u64,
    intervals: Vec<Interval>,
}

impl Meter {
    /// The first interval begins now.
    pub(crate) fn begin(clock: Clock, length: Duration, now: Instant) -> Self {
        let (received, sent, sent_before) = (0, 0, 0);
        let intervals = Vec::new();
        Self { clock, length, due: now + length, received, sent, sent_before, intervals }
    }

    /// When the present interval ends.
    pub(crate) fn due(&self) -> Instant {
        self.due
    }

    /// Bytes came.
    pub(crate) fn received(&mut self, bytes: u64) {
        self.received += bytes;
    }

    /// So many bytes were sent so far.
    pub(crate) fn sent_in_all(&mut self, bytes: u64) {
        // What is sent and what waits are asked for one after the other.
        self.sent = self.sent.max(bytes);
    }

    /// Closes the intervals that have ended. What was counted last belongs to the first of them.
    pub(crate) fn close(&mut self, now: Instant, sender: Option<SenderState>) {
        while self.due <= now {
            self.push(self.due, sender);
            self.due += self.length;
        }
    }

    /// Closes the last interval, which is shorter.
    pub(crate) fn end(&mut self, now: Instant, sender: Option<SenderState>) {
        self.close(now, sender);
        if self.due - self.length < now {
            self.push(now, sender);
        }
    }

    /// What was counted.
    pub(crate) fn intervals(self) -> Vec<Interval> {
        self.intervals
    }

    fn push(&mut self, end: Instant, sender: Option<SenderState>) {
        self.intervals.push(Interval {
            end_s: self.clock.seconds(end),
            received_bytes: std::mem::take(&mut self.received),
            sent_bytes: self.sent - self.sent_before,
            sender,
        });
        self.sent_before = self.sent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_belong_to_the_interval_in_which_they_came() {
        let (clock, start) = (Clock::start(), Instant::now());
        let at = |ms| start + Duration::from_millis(ms);
        let mut meter = Meter::begin(clock, Duration::from_millis(100), start);
        meter.received(10);
        meter.close(at(50), None);
        meter.received(5);
        // Nothing in the second interval, and the third one is cut short.
        meter.close(at(230), None);
        meter.received(7);
        meter.sent_in_all(40);
        meter.end(at(250), None);
        let intervals = meter.intervals();
        let received: Vec<_> = intervals.iter().map(|i| i.received_bytes).collect();
        assert_eq!(received, [15, 0, 7]);
        assert_eq!(intervals.iter().map(|i| i.sent_bytes).collect::<Vec<_>>(), [0, 0, 40]);
        let last = intervals[2].end_s - intervals[1].end_s;
        assert!((last - 0.05).abs() < 1e-9, "{last}");
    }

    #[test]
    fn an_end_between_two_intervals_adds_none() {
        let (clock, start) = (Clock::start(), Instant::now());
        let mut meter = Meter::begin(clock, Duration::from_secs(1), start);
        meter.sent_in_all(3);
        meter.end(start + Duration::from_secs(2), None);
        assert_eq!(meter.intervals().iter().map(|i| i.sent_bytes).collect::<Vec<_>>(), [3, 0]);
    }
}
