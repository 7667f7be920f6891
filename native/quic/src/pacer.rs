use std::time::Duration;

use headway_congestion::{Rate, Time};

/// Bursts last about this long at the pacing rate, as Linux sizes its segments for TCP.
const BURST: Duration = Duration::from_millis(1);
/// But are at least this many datagrams.
const MIN_BURST_DATAGRAMS: u64 = 2;
/// And at most this many: RFC 9002 section 7.7 limits bursts to the initial window.
const MAX_BURST_DATAGRAMS: u64 = 10;

/// Spreads packets over time (RFC 9002 section 7.7): a bucket that fills at the pacing rate and
/// releases a burst whenever it is full.
#[derive(Debug)]
pub(crate) struct Pacer {
    max_datagram: u64,
    rate: Option<Rate>,
    /// Bytes that may leave; negative after a packet larger than what was left.
    tokens: f64,
    filled_at: Time,
    /// A burst is over, and the bucket is not full again.
    refilling: bool,
}

impl Pacer {
    /// A pacer that holds nothing back until it knows a rate.
    pub(crate) fn new(max_datagram: u64) -> Self {
        Self { max_datagram, rate: None, tokens: 0.0, filled_at: Time::ZERO, refilling: false }
    }

    /// Paces at another rate from now on; at none, nothing is held back.
    pub(crate) fn set_rate(&mut self, now: Time, rate: Option<Rate>) {
        let was_paced = self.rate.is_some();
        self.fill(now);
        self.rate = rate;
        if !was_paced {
            self.tokens = self.burst();
            self.filled_at = now;
            self.refilling = false;
        }
    }

    /// Whether a datagram may leave now.
    pub(crate) fn allows(&mut self, now: Time) -> bool {
        self.fill(now);
        if self.rate.is_none() {
            return true;
        }
        // Less than a byte short is rounding.
        let needed = if self.refilling { self.burst() - 1.0 } else { 0.0 };
        self.refilling = self.tokens <= needed;
        !self.refilling
    }

    /// When the next datagram may leave; `None` if nothing is held back.
    pub(crate) fn release(&self) -> Option<Time> {
        let rate = self.rate.filter(|_| self.refilling)?;
        let missing = (self.burst() - self.tokens).max(0.0);
        Some(self.filled_at.saturating_add(rate.time_for(missing.ceil() as u64)))
    }

    /// A datagram left.
    pub(crate) fn spend(&mut self, bytes: u64) {
        if self.rate.is_some() {
            self.tokens -= bytes as f64;
        }
    }

    fn fill(&mut self, now: Time) {
        if let Some(rate) = self.rate {
            let elapsed = now.saturating_sub(self.filled_at).as_secs_f64();
            let filled = self.tokens + elapsed * rate.bytes_per_second() as f64;
            self.tokens = filled.min(self.burst());
            self.filled_at = now;
        }
    }

    fn burst(&self) -> f64 {
        let bytes = self.rate.map_or(0, |rate| rate.bytes_in(BURST));
        let (min, max) = (MIN_BURST_DATAGRAMS, MAX_BURST_DATAGRAMS);
        bytes.clamp(min * self.max_datagram, max * self.max_datagram) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATAGRAM: u64 = 1250;

    /// When datagrams leave if there are always more.
    fn departures(rate_mbit: u64, count: usize) -> Vec<Time> {
        let mut pacer = Pacer::new(DATAGRAM);
        let mut now = Time::ZERO;
        pacer.set_rate(now, Some(Rate::from_bytes_per_second(rate_mbit * 125_000)));
        let mut departures = Vec::new();
        while departures.len() < count {
            if pacer.allows(now) {
                pacer.spend(DATAGRAM);
                departures.push(now);
            } else {
                now = pacer.release().expect("it holds something back");
            }
        }
        departures
    }

    #[test]
    fn slow_rates_leave_in_pairs() {
        // 10 Mbit/s: 1 ms a datagram, 2 ms a pair.
        let ms: Vec<u128> = departures(10, 7).iter().map(Duration::as_millis).collect();
        assert_eq!(ms, [0, 0, 2, 2, 4, 4, 6]);
    }

    #[test]
    fn bursts_of_a_millisecond_and_no_more_than_ten_datagrams() {
        // 50 Mbit/s: 5 datagrams in 1 ms.
        let at_50 = departures(50, 11);
        assert_eq!(at_50.iter().filter(|at| at.is_zero()).count(), 5);
        assert_eq!(at_50[5].as_micros(), 1000);
        // 1 Gbit/s: 100 would be in 1 ms; ten take 0.1 ms.
        let at_1000 = departures(1000, 11);
        assert_eq!(at_1000[9], Time::ZERO);
        assert_eq!(at_1000[10].as_micros(), 100);
    }

    #[test]
    fn the_mean_rate_is_exact() {
        // 10,000 datagrams of 1250 bytes at 20 Mbit/s: 0.5 ms each.
        let last = *departures(20, 10_001).last().expect("there are some");
        assert!(last.abs_diff(Time::from_secs(5)) < Duration::from_millis(1), "{last:?}");
    }

    #[test]
    fn without_a_rate_nothing_is_held_back() {
        let mut pacer = Pacer::new(DATAGRAM);
        for _ in 0..1000 {
            assert!(pacer.allows(Time::ZERO));
            pacer.spend(DATAGRAM);
        }
        assert_eq!(pacer.release(), None);
    }
}
