use std::time::Duration;

use headway_congestion::{Rate, Time};

/// How much leaves at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// What lasts so long at the pacing rate.
    lasts: Duration,
    /// But at least so many datagrams.
    least: u64,
    /// And at most so many.
    most: u64,
}

impl Burst {
    /// As Linux sizes its segments for TCP, but for `most` datagrams.
    pub(crate) fn usual(most: u64) -> Self {
        Self { lasts: Duration::from_millis(1), least: 2, most: most.max(2) }
    }

    /// What a queue of L4S does not feel (RFC 9331, section 4.3, item 6).
    pub(crate) fn scalable(most: u64) -> Self {
        Self { lasts: Duration::from_micros(250), least: 1, most }
    }
}

/// Spreads packets over time (RFC 9002 section 7.7): a bucket that fills at the pacing rate and
/// releases a burst whenever it is full.
#[derive(Debug)]
pub(crate) struct Pacer {
    max_datagram: u64,
    burst: Burst,
    rate: Option<Rate>,
    /// Bytes that may leave; negative after a packet larger than what was left.
    tokens: f64,
    filled_at: Time,
    /// A burst is over, and the bucket is not full again.
    refilling: bool,
}

impl Pacer {
    /// A pacer that holds nothing back until it knows a rate.
    ///
    /// # Arguments
    /// * `max_datagram` - bytes in a full datagram.
    /// * `burst` - what leaves at once.
    pub(crate) fn new(max_datagram: u64, burst: Burst) -> Self {
        Self {
            max_datagram,
            burst,
            rate: None,
            tokens: 0.0,
            filled_at: Time::ZERO,
            refilling: false,
        }
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

    /// Bytes of the burst that are left; `None` if nothing is held back.
    pub(crate) fn allowance(&self) -> Option<u64> {
        self.rate.map(|_| self.tokens.max(0.0) as u64)
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
        let bytes = self.rate.map_or(0, |rate| rate.bytes_in(self.burst.lasts));
        let datagrams = [self.burst.least, self.burst.most];
        let [min, max] = datagrams.map(|number| number * self.max_datagram);
        bytes.clamp(min, max) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATAGRAM: u64 = 1250;

    /// When datagrams leave if there are always more.
    fn departures(rate_mbit: u64, count: usize) -> Vec<Time> {
        departures_in_bursts(10, rate_mbit, count)
    }

    fn departures_in_bursts(max_burst: u64, rate_mbit: u64, count: usize) -> Vec<Time> {
        let mut pacer = Pacer::new(DATAGRAM, Burst::usual(max_burst));
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
    fn larger_bursts_leave_if_they_may() {
        // 1 Gbit/s: 44 of the 100 in 1 ms, for the time of 44.
        let at_1000 = departures_in_bursts(44, 1000, 45);
        assert_eq!(at_1000[43], Time::ZERO);
        assert_eq!(at_1000[44].as_micros(), 440);
        // 50 Mbit/s: five in 1 ms, however many may leave.
        let at_50 = departures_in_bursts(44, 50, 6);
        assert_eq!(at_50[5].as_micros(), 1000);
    }

    #[test]
    fn what_is_left_of_a_burst_shrinks_as_datagrams_leave() {
        let mut pacer = Pacer::new(DATAGRAM, Burst::usual(10));
        assert_eq!(pacer.allowance(), None);
        pacer.set_rate(Time::ZERO, Some(Rate::from_bytes_per_second(125_000_000)));
        assert_eq!(pacer.allowance(), Some(10 * DATAGRAM));
        for _ in 0..9 {
            pacer.spend(DATAGRAM);
        }
        assert_eq!(pacer.allowance(), Some(DATAGRAM));
        pacer.spend(DATAGRAM + 1);
        assert_eq!(pacer.allowance(), Some(0));
    }

    #[test]
    fn the_mean_rate_is_exact() {
        // 10,000 datagrams of 1250 bytes at 20 Mbit/s: 0.5 ms each.
        let last = *departures(20, 10_001).last().expect("there are some");
        assert!(last.abs_diff(Time::from_secs(5)) < Duration::from_millis(1), "{last:?}");
    }

    #[test]
    fn without_a_rate_nothing_is_held_back() {
        let mut pacer = Pacer::new(DATAGRAM, Burst::usual(10));
        for _ in 0..1000 {
            assert!(pacer.allows(Time::ZERO));
            pacer.spend(DATAGRAM);
        }
        assert_eq!(pacer.release(), None);
    }
}
